// A source named as for CUDA that includes HIP.
#include <hip/hip_runtime.h>
extern "C" __global__ void count(const int *a, int *bins) { atomicAdd(&bins[a[threadIdx.x] & 255], 1); }
extern "C" __global__ void most(const unsigned *a, unsigned *out) {
  unsigned value = a[threadIdx.x];
  for (int i = 1; i < warpSize; i *= 2) {
    unsigned other = __shfl_xor(value, i);
    value = other > value ? other : value;
  }
  if (threadIdx.x % warpSize == 0) atomicMax(out, value);
}
