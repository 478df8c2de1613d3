// Sums tiles that cp.async copies to shared memory, one stage, no overlap.
// Keeps: the group is committed (CA3), waited for by its issuer (CA1), published to the neighbors by a barrier (CA2),
// and a second barrier precedes the next copy, which overwrites words that others may still read (CA12).
// targets: sm_80
#include <cuda_pipeline.h>

extern "C" __global__ void __launch_bounds__(128) cp_async_one_stage(const float4* in, float4* out, int tiles) {
  __shared__ float4 tile[128];
  const int t = threadIdx.x;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int i = 0; i < tiles; ++i) {
    __pipeline_memcpy_async(&tile[t], in + i * 128 + t, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const float4 v = tile[t ^ 1];
    sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sum;
}
