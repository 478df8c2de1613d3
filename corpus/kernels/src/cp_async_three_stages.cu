// Three stages of cp.async in a ring; the loop commits a group in every iteration, an empty one when nothing is left to load.
// Keeps: empty groups keep the count right in the epilogue (CA4), so wait_group 1 always covers the tile that is read; the
// barrier after the wait publishes it, and also orders the last iteration's reads before the copy that refills their slot.
// targets: sm_80
#include <cuda_pipeline.h>

extern "C" __global__ void __launch_bounds__(256) cp_async_three_stages(const float4* in, float* out, int tiles) {
  __shared__ float4 ring[3][256];
  const int t = threadIdx.x;
  for (int i = 0; i < 2; ++i) {
    if (i < tiles) __pipeline_memcpy_async(&ring[i][t], in + i * 256 + t, 16);
    __pipeline_commit();
  }
  float sum = 0;
  int slot = 0, refill = 2;
  for (int i = 0; i < tiles; ++i) {
    __pipeline_wait_prior(1);
    __syncthreads();
    if (i + 2 < tiles) __pipeline_memcpy_async(&ring[refill][t], in + (i + 2) * 256 + t, 16);
    __pipeline_commit();
    sum += ring[slot][(t + 17) & 255].x;
    slot = slot == 2 ? 0 : slot + 1;
    refill = refill == 2 ? 0 : refill + 1;
  }
  out[blockIdx.x * 256 + t] = sum;
}
