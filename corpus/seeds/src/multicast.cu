// One bulk copy for a cluster of two: rank 0 multicasts a tile to both blocks, and each reads its own copy of it.
// Keeps: both barriers are initialized and published to the cluster before the copy; each block expects the bytes that it
// receives; no block exits while a copy or an arrival may still access it.
// targets: sm_90a
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int kThreads = 256, kTile = 1024, kBlocks = 2;

extern "C" __global__ void __cluster_dims__(kBlocks, 1, 1) __launch_bounds__(kThreads)
multicast(const float* source, float* target) {
  __shared__ alignas(128) float tile[kTile];
  __shared__ alignas(8) uint64_t there;
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &there, sizeof(tile));
  }
  cluster.sync();
  if (rank == 0 && threadIdx.x == 0) {
    const float* from = source + static_cast<size_t>(blockIdx.x / kBlocks) * kTile;
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, from, sizeof(tile), &there,
                       static_cast<uint16_t>((1 << kBlocks) - 1));
  }
  while (!ptx::mbarrier_try_wait_parity(&there, 0u)) {}
  const float factor = static_cast<float>(rank + 1);
  for (int i = threadIdx.x; i < kTile; i += kThreads)
    target[static_cast<size_t>(blockIdx.x) * kTile + i] = tile[i] * factor;
  cluster.sync();
}
