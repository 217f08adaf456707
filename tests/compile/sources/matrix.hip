// Two nested loops over registers.
#include "closed.h"
extern "C" __global__ void __launch_bounds__(64) outer(const float *a, const float *b, float *c, int n) {
  float sum[4][4] = {};
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) sum[i][j] += a[k * 256 + THREAD * 4 + i] * b[k * 256 + THREAD * 4 + j];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) c[(THREAD * 4 + i) * 256 + j] = sum[i][j];
}
