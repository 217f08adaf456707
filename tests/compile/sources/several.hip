// Several kernels, with one name in two namespaces.
#include "closed.h"
namespace one { __global__ void copy(int *a, const int *b) { a[THREAD] = b[THREAD]; } }
namespace two { __global__ void copy(long *a, const long *b) { a[THREAD] = b[THREAD]; } }
extern "C" __global__ void nothing() {}
