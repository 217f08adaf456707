// LDS of a size that the source states.
#include "closed.h"
extern "C" __global__ void __launch_bounds__(256) transpose(float *a) {
  __shared__ float tile[32][33];
  int x = THREAD % 32, y = THREAD / 32;
  for (int i = 0; i < 32; i += 8) tile[y + i][x] = a[(y + i) * 32 + x];
  __syncthreads();
  for (int i = 0; i < 32; i += 8) a[(y + i) * 32 + x] = tile[x][y + i];
}
