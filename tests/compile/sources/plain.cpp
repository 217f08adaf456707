// A kernel in a file named as C++.
#include "closed.h"
extern "C" __global__ void fill(int *a, int value) { a[GROUP * 64 + THREAD] = value; }
