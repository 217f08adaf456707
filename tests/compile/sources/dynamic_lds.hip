// LDS whose size the launch sets.
#include "closed.h"
extern __shared__ float tile[];
extern "C" __global__ void reverse(float *a, int n) {
  tile[THREAD] = a[THREAD];
  __syncthreads();
  a[THREAD] = tile[n - THREAD];
}
