// More live values than registers at this launch bound: they spill.
#include "closed.h"
extern "C" __global__ void __launch_bounds__(1024) crowded(double *p, int n) {
  double v[48];
  for (int i = 0; i < 48; i++) v[i] = p[i * n];
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 48; i++) v[i] = v[i] * v[(i * 7 + 1) % 48] + p[j];
  for (int i = 0; i < 48; i++) p[i * n] = v[i];
}
