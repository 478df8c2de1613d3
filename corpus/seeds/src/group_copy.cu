// Staging by cooperative_groups::memcpy_async: all threads of the block start one copy together and wait for it together.
// Keeps: cg::wait waits for the copies of each thread and then synchronizes the threads, so that all may read all of the tile;
// a barrier before the next copy into the same tile.
// targets: sm_80 sm_90a
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

constexpr int kThreads = 256, kTile = 4 * kThreads;

extern "C" __global__ void __launch_bounds__(kThreads) group_copy(const float* source, float* target, int tiles) {
  __shared__ alignas(16) float tile[kTile];
  auto block = cg::this_thread_block();
  for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
    cg::memcpy_async(block, tile, source + i * kTile, cuda::aligned_size_t<16>(sizeof(tile)));
    cg::wait(block);
    for (int at = block.thread_rank(); at < kTile; at += kThreads)
      target[i * kTile + at] = tile[at] + tile[kTile - 1 - at];
    block.sync();
  }
}
