// A partitioned cuda::pipeline: threads of even rank copy, threads of odd rank compute, with two stages between them.
// Keeps: producers acquire, copy and commit; consumers wait, read and release; each thread in one role for the whole life of
// the pipeline.
// targets: sm_80 sm_90a
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

constexpr int kThreads = 256, kHalf = kThreads / 2, kTile = 1024, kStages = 2, kUnit = 4;

extern "C" __global__ void __launch_bounds__(kThreads) pipeline_roles(const float* source, float* target, int tiles) {
  __shared__ alignas(16) float stage[kStages][kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cg::this_thread_block();
  const bool produces = block.thread_rank() % 2 == 0;
  const auto role = produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  const int number = block.thread_rank() / 2;
  source += blockIdx.x * tiles * kTile;  // `tiles` of them for each block
  target += blockIdx.x * tiles * kTile;
  if (produces) {
    for (int i = 0; i < tiles; ++i) {
      pipe.producer_acquire();
      for (int at = number * kUnit; at < kTile; at += kHalf * kUnit)
        cuda::memcpy_async(&stage[i % kStages][at], &source[i * kTile + at], cuda::aligned_size_t<16>(16), pipe);
      pipe.producer_commit();
    }
  } else {
    for (int i = 0; i < tiles; ++i) {
      pipe.consumer_wait();
      for (int at = number; at < kTile; at += kHalf)
        target[i * kTile + at] = stage[i % kStages][at] + stage[i % kStages][kTile - 1 - at];
      pipe.consumer_release();
    }
  }
}
