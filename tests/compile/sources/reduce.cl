// A sum in LDS, in OpenCL without its device library.
__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void reduce(__global const float *a, __global float *out) {
  __local float part[128];
  uint lane = __builtin_amdgcn_workitem_id_x();
  part[lane] = a[lane];
  for (uint half_of = 64; half_of > 0; half_of /= 2) {
    __builtin_amdgcn_s_barrier();
    if (lane < half_of) part[lane] += part[lane + half_of];
  }
  if (lane == 0) *out = part[0];
}
