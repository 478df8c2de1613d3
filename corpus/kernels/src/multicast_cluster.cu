// Two CTAs of a cluster share a tile: rank 0 multicasts it into both, four stages deep, each CTA computes with its own copy.
// Keeps: barriers of both CTAs are initialized and published by fence.mbarrier_init and a cluster barrier (MB5); each CTA
// expects its own bytes (BK6); both CTAs release a slot at rank 0, which waits for two arrivals before it copies again (MB7);
// cluster barrier before the exit, since copies and arrivals access the other CTA (CL2).
// targets: sm_90a
#include <cuda.h>
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kStages = 4, kBytes = 8192;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(160, 1)
multicast_cluster(const __grid_constant__ CUtensorMap map, float* out, int tiles) {
  __shared__ alignas(1024) char ring[kStages][kBytes];
  __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
  const int t = threadIdx.x;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], 2);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  if (t == 128) {
    for (int i = 0; i < tiles; ++i) {
      const int s = i % kStages;
      const uint32_t lap = (i / kStages) & 1;
      if (rank == 0) {
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &empty[s], lap ^ 1)) {}
      }
      if (rank == 1 && i >= kStages) {
        while (!ptx::mbarrier_try_wait_parity(&full[s], lap ^ 1)) {}
      }
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], kBytes);
      if (rank == 0) {
        const int at[2] = {i * 64, static_cast<int>(blockIdx.x / 2) * 64};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, ring[s], &map, at, &full[s], uint16_t(3));
      }
    }
  } else if (t < 128) {
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      const int s = i % kStages;
      while (!ptx::mbarrier_try_wait_parity(&full[s], (i / kStages) & 1)) {}
      for (int j = t; j < kBytes / 4; j += 128) sum += reinterpret_cast<const float*>(ring[s])[j];
      asm volatile("bar.sync 1, 128;" ::: "memory");
      if (t == 0) {
        asm volatile("{ .reg .b32 at; mapa.shared::cluster.u32 at, %0, 0; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at]; }" ::
                         "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&empty[s]))) : "memory");
      }
    }
    out[blockIdx.x * 128 + t] = sum;
  }
  __syncwarp();
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}
