// Two CTAs of a cluster add a tile to a sum in the other's shared memory with the bulk reduction.
// Keeps: tile and sum are written by the generic proxy, so every writer fences before the cluster barrier, and the thread that
// reduces fences again after it, for the writes of the other CTA (PX1, PX3, PX10); the bytes are expected before the barrier
// (BK5, MB5); no CTA exits while the other still reads or writes (CL2).
// targets: sm_90
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) reduce_to_peer(const unsigned* in, unsigned* out) {
  __shared__ alignas(128) unsigned tile[128];
  __shared__ alignas(128) unsigned sum[128];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  tile[t] = in[blockIdx.x * 128 + t];
  sum[t] = 1;
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
  }
  ptx::fence_proxy_async();
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  if (t == 0) {
    ptx::fence_proxy_async();
    uint32_t to, at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(sum))), "r"(rank ^ 1));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&bar))), "r"(rank ^ 1));
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], %2, [%3];" ::"r"(to),
                 "r"(static_cast<uint32_t>(__cvta_generic_to_shared(tile))), "r"(512), "r"(at)
                 : "memory");
  }
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0u)) {}
  out[blockIdx.x * 128 + t] = sum[t ^ 5];
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}
