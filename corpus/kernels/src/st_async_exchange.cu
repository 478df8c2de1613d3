// Threads of two CTAs exchange values with st.async: each store completes four bytes on the receiver's barrier.
// Keeps: the receiver expects 128 x 4 bytes before the cluster barrier (SA2, MB5); value and mbarrier are in the same CTA
// (SA1); st.async is a generic-proxy write, so no proxy fence is required; no CTA exits early (SA5).
// targets: sm_90
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) st_async_exchange(const int* in, int* out) {
  __shared__ alignas(16) int inbox[128];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(inbox));
  }
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  uint32_t to, at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&inbox[t]))), "r"(rank ^ 1));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&bar))), "r"(rank ^ 1));
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];" ::"r"(to), "r"(in[blockIdx.x * 128 + t]), "r"(at)
               : "memory");
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0u)) {}
  out[blockIdx.x * 128 + t] = inbox[127 - t];
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}
