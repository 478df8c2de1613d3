// A barrier in two halves: a thread arrives when the elements of the others are written, executes other work, and waits only when it
// needs the elements of the others.
// Keeps: the token of an arrival is waited for before the neighbor's element is read; the barrier is initialized before use;
// each tile is written to the half of the buffer that the previous tile did not use, so that one wait a tile is enough.
// targets: sm_80 sm_90a
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/std/utility>
namespace cg = cooperative_groups;

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
split_barrier(const float* source, float* target, int tiles) {
  __shared__ float tile[2][kThreads];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> written;
  auto block = cg::this_thread_block();
  const int t = block.thread_rank();
  if (t == 0) init(&written, kThreads);
  block.sync();
  int half = 0;
  for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
    const float mine = source[i * kThreads + t];
    tile[half][t] = mine;
    auto token = written.arrive();
    const float own = __fmul_rn(mine, mine);  // needs no other thread
    written.wait(cuda::std::move(token));
    target[i * kThreads + t] = __fadd_rn(own, tile[half][kThreads - 1 - t]);
    half ^= 1;
  }
}
