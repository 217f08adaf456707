// A loop over global memory, in OpenCL.
__kernel void stencil(__global const float *a, __global float *b, int n) {
  uint x = __builtin_amdgcn_workitem_id_x();
  for (int y = 1; y < n; y++) b[y * n + x] = a[y * n + x - 1] + a[(y - 1) * n + x] + a[y * n + x + 1];
}
