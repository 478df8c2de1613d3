// cuda::pipeline with two stages: the copy of the next tile is in flight while all threads process the current tile.
// Keeps: acquire, copy, commit for each tile in order, then wait and release for each tile in the same order.
// targets: sm_80 sm_90a
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

constexpr int kThreads = 256, kTile = 4 * kThreads, kStages = 2;

extern "C" __global__ void __launch_bounds__(kThreads)
pipeline_two_stages(const float* source, float* target, int tiles) {
  __shared__ alignas(16) float stage[kStages][kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int first = blockIdx.x * tiles;  // `tiles` of them for each block
  for (int i = 0, next = 0; i < tiles; ++i) {
    for (; next < tiles && next < i + kStages; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[next % kStages], source + (first + next) * kTile,
                         cuda::aligned_size_t<16>(sizeof(stage[0])), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    for (int at = block.thread_rank(); at < kTile; at += kThreads)
      target[(first + i) * kTile + at] = stage[i % kStages][at] + stage[i % kStages][kTile - 1 - at];
    pipe.consumer_release();
  }
}
