// Words of HIP for sources that need no headers; with HIP's headers nothing of it.
#ifdef FREESTANDING
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define __noinline__ __attribute__((noinline))
#define THREAD __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define __syncthreads() __builtin_amdgcn_s_barrier()
#else
#include <hip/hip_runtime.h>
#define THREAD threadIdx.x
#define GROUP blockIdx.x
#endif
