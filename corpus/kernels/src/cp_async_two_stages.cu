// Double-buffered cp.async: the next tile is in flight while this one is read; the last tile is peeled off.
// Keeps: wait_group 1 leaves only the newer group pending (CA4), the epilogue waits for all (wait_group 0), barriers on
// both sides of the reads (CA2, CA12).
// targets: sm_80 sm_90
#include <cuda_pipeline.h>

extern "C" __global__ void __launch_bounds__(128) cp_async_two_stages(const float4* in, float4* out, int tiles) {
  __shared__ float4 tile[2][128];
  const int t = threadIdx.x;
  if (tiles < 1) return;
  __pipeline_memcpy_async(&tile[0][t], in + t, 16);
  __pipeline_commit();
  float sum = 0;
  for (int i = 0; i + 1 < tiles; ++i) {
    __pipeline_memcpy_async(&tile[(i + 1) & 1][t], in + (i + 1) * 128 + t, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tile[i & 1][t ^ 1].x;
    __syncthreads();
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  sum += tile[(tiles - 1) & 1][127 - t].y;
  out[blockIdx.x * 128 + t] = make_float4(sum, sum, sum, sum);
}
