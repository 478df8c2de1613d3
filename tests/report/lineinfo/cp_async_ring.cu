// Sums tiles that a ring of three cp.async stages copies to shared memory; every thread copies two pieces of each tile.
#include <cuda_pipeline.h>

constexpr int kStages = 3, kThreads = 128;

template <int Pieces>
__device__ __forceinline__ void load_tile(float4* stage, const float4* from) {
#pragma unroll
  for (int p = 0; p < Pieces; ++p) {
    const int at = p * kThreads + threadIdx.x;
    __pipeline_memcpy_async(&stage[at], from + at, 16);  // expect 4
  }
}

__global__ void __launch_bounds__(kThreads) sum_tiles(const float4* in, float4* out, int tiles) {
  __shared__ float4 ring[kStages][2 * kThreads];
  const int t = threadIdx.x;
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < tiles) load_tile<2>(ring[s], in + s * 2 * kThreads);
    __pipeline_commit();
  }
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
#if FAULT == 1
    __pipeline_wait_prior(kStages - 1);  // expect 1: one group too many may be pending
#elif FAULT != 2
    __pipeline_wait_prior(kStages - 2);
#endif
#if FAULT != 3
    __syncthreads();
#endif
    sum += ring[i % kStages][(t ^ 1)].x + ring[i % kStages][kThreads + (t ^ 1)].y;  // expect 1 2 3
    const int next = i + (FAULT == 4 ? kStages : kStages - 1);  // expect 4
    if (next < tiles) load_tile<2>(ring[next % kStages], in + next * 2 * kThreads);  // expect 4: still read by others
    __pipeline_commit();
  }
  out[blockIdx.x * kThreads + t] = make_float4(sum, 0, 0, 0);
}
