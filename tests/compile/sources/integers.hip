// 64-bit integers and a division.
#include "closed.h"
extern "C" __global__ void remainders(long long *a, long long n) { a[THREAD] = a[THREAD] / n + a[THREAD] % n; }
