// Half precision, from a header of HIP.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
extern "C" __global__ void axpy(__half *a, const __half *b, __half k) {
  a[threadIdx.x] = __hfma(k, b[threadIdx.x], a[threadIdx.x]);
}
