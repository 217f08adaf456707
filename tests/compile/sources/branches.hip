// Divergent branches and a loop that ends differently in each lane.
#include "closed.h"
extern "C" __global__ void collatz(const unsigned *a, int *steps) {
  unsigned n = a[GROUP * 256 + THREAD];
  int count = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    count++;
  }
  steps[GROUP * 256 + THREAD] = count;
}
