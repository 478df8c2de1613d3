// Staging through shared memory by ordinary loads and stores: each tile is folded about its middle, so that each thread reads
// the elements of another one.
// Keeps: a barrier between the stores and the loads of other threads, and another before the next tile overwrites this one.
// targets: sm_80
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int kThreads = 256, kTile = 4 * kThreads;

extern "C" __global__ void __launch_bounds__(kThreads) plain_staging(const float* source, float* target, int tiles) {
  __shared__ float tile[kTile];
  auto block = cg::this_thread_block();
  for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
    for (int at = block.thread_rank(); at < kTile; at += kThreads) tile[at] = source[i * kTile + at];  // through a register
    block.sync();
    for (int at = block.thread_rank(); at < kTile; at += kThreads)
      target[i * kTile + at] = tile[at] + tile[kTile - 1 - at];
    block.sync();
  }
}
