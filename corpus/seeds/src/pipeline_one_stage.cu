// cuda::pipeline with one stage: all threads copy a tile, wait for it, process it and release it. Nothing overlaps.
// Keeps: acquire, copy, commit, wait, release in this order.
// targets: sm_80 sm_90a
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

constexpr int kThreads = 256, kTile = 4 * kThreads;

extern "C" __global__ void __launch_bounds__(kThreads)
pipeline_one_stage(const float* source, float* target, int tiles) {
  __shared__ alignas(16) float tile[kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, tile, source + i * kTile, cuda::aligned_size_t<16>(sizeof(tile)), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    for (int at = block.thread_rank(); at < kTile; at += kThreads)
      target[i * kTile + at] = tile[at] + tile[kTile - 1 - at];
    pipe.consumer_release();
  }
}
