// A local array that is indexed by a value unknown to the compiler: scratch.
#include "closed.h"
extern "C" __global__ void histogram(const int *a, int *out, int n) {
  int bins[64];
  for (int i = 0; i < 64; i++) bins[i] = 0;
  for (int i = 0; i < n; i++) bins[a[i + THREAD] & 63]++;
  for (int i = 0; i < 64; i++) out[THREAD * 64 + i] = bins[i];
}
