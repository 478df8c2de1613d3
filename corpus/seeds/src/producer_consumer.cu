// Two roles: one warp fills two buffers in turn, eight warps read them. For each buffer one barrier signals that it may be filled
// and one that it is filled.
// Keeps: barriers are initialized for the threads of both roles before the roles diverge; the producer waits until a buffer may be
// filled, the consumers until it is filled; both arrive when they have written or read; all threads of a block participate in all phases.
// targets: sm_80 sm_90a
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

using Barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int kProducers = 32, kConsumers = 256, kThreads = kProducers + kConsumers, kTile = 1024;

__device__ void produce(Barrier* ready, Barrier* filled, float (*buffer)[kTile], const float* source, int tiles) {
  for (int i = 0; i < tiles; ++i) {
    ready[i % 2].arrive_and_wait();
    for (int at = threadIdx.x; at < kTile; at += kProducers) buffer[i % 2][at] = source[i * kTile + at];
    (void)filled[i % 2].arrive();
  }
}

__device__ void consume(Barrier* ready, Barrier* filled, float (*buffer)[kTile], float* target, int tiles) {
  const int t = threadIdx.x - kProducers;
  (void)ready[0].arrive();
  (void)ready[1].arrive();
  for (int i = 0; i < tiles; ++i) {
    filled[i % 2].arrive_and_wait();
    for (int at = t; at < kTile; at += kConsumers)
      target[i * kTile + at] = buffer[i % 2][at] + buffer[i % 2][kTile - 1 - at];
    (void)ready[i % 2].arrive();
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
producer_consumer(const float* source, float* target, int tiles) {
  __shared__ float buffer[2][kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier ready[2], filled[2];
  auto block = cg::this_thread_block();
  if (block.thread_rank() < 2) {
    init(&ready[block.thread_rank()], kThreads);
    init(&filled[block.thread_rank()], kThreads);
  }
  block.sync();
  const int first = blockIdx.x * tiles * kTile;  // `tiles` of them for each block
  if (threadIdx.x < kProducers)
    produce(ready, filled, buffer, source + first, tiles);
  else
    consume(ready, filled, buffer, target + first, tiles);
}
