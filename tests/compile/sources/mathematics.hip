// Functions of the device library, which HIP's headers declare.
#include <hip/hip_runtime.h>
extern "C" __global__ void waves(double *a) { a[threadIdx.x] = sin(a[threadIdx.x]) * exp(a[blockIdx.x]); }
extern "C" __global__ void roots(float *a) { a[threadIdx.x] = sqrtf(a[threadIdx.x]) + powf(a[blockIdx.x], 1.5f); }
