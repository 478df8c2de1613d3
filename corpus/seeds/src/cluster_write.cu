// Distributed shared memory: each block of a cluster writes its tile to the shared memory of the next one, which stores it.
// Keeps: a barrier of the cluster before the first access to another block's memory, so that the block has started, and one
// between the stores and the loads; no block ends before the stores to its memory, which the second barrier ensures.
// targets: sm_90a
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int kThreads = 256, kBlocks = 4;

extern "C" __global__ void __cluster_dims__(kBlocks, 1, 1) __launch_bounds__(kThreads)
cluster_write(const float* source, float* target) {
  __shared__ float tile[kThreads];
  auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, next = (cluster.block_rank() + 1) % kBlocks;
  const size_t mine = static_cast<size_t>(blockIdx.x) * kThreads + t;
  cluster.sync();
  float* there = cluster.map_shared_rank(tile, next);
  there[t] = source[mine];
  cluster.sync();
  target[mine] = tile[t];
}
