// Kernels that other files cannot name.
#include "closed.h"
namespace {
__global__ void hidden(float *a) { a[THREAD] *= 2; }
}
static __global__ void local(float *a) { a[GROUP] += 1; }
#ifdef FREESTANDING
__attribute__((used)) static void *keep[] = {(void *)&hidden, (void *)&local};
#else
void launch(float *a) {
  hidden<<<1, 64>>>(a);
  local<<<1, 64>>>(a);
}
#endif
