// A device function that is called, not inlined.
#include "closed.h"
__device__ __noinline__ float far(float x, int n) {
  for (int i = 0; i < n; i++) x = x * x + 1.0f;
  return x;
}
extern "C" __global__ void calls(float *a, int n) { a[THREAD] = far(a[THREAD], n) + far(a[GROUP], n); }
