// Threads of two CTAs count into each other's shared memory with red.async; each adds to one of 16 counters of the other CTA.
// Keeps: the counters are zero before the cluster barrier that releases and acquires (CL1); 128 x 4 bytes are expected before
// it (SA2, MB5); counter and mbarrier are in the same, other CTA (SA1); no CTA exits before the other is finished (SA5, CL2).
// targets: sm_90
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) red_async_count(const unsigned* in, unsigned* out) {
  __shared__ alignas(16) unsigned counters[16];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t < 16) counters[t] = 0;
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 128 * sizeof(unsigned));
  }
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  const unsigned value = in[blockIdx.x * 128 + t];
  uint32_t to, at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&counters[value % 16]))), "r"(rank ^ 1));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&bar))), "r"(rank ^ 1));
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(to), "r"(1u), "r"(at)
               : "memory");
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0u)) {}
  if (t < 16) out[blockIdx.x * 16 + t] = counters[t];
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}
