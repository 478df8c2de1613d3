// Staging by cuda::memcpy_async with a cuda::barrier: the phase that the threads wait for ends when all of them have arrived
// and the copy is complete.
// Keeps: the barrier is initialized by one thread before the others use it; the tile is read after the wait; a barrier of the
// block before the next copy into the same tile.
// targets: sm_80 sm_90a
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

constexpr int kThreads = 256, kTile = 4 * kThreads;

extern "C" __global__ void __launch_bounds__(kThreads) barrier_copy(const float* source, float* target, int tiles) {
  __shared__ alignas(128) float tile[kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> there;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&there, kThreads);
  block.sync();
  for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
    cuda::memcpy_async(block, tile, source + i * kTile, cuda::aligned_size_t<16>(sizeof(tile)), there);
    there.arrive_and_wait();
    for (int at = block.thread_rank(); at < kTile; at += kThreads)
      target[i * kTile + at] = tile[at] + tile[kTile - 1 - at];
    block.sync();
  }
}
