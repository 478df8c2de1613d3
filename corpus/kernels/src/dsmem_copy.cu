// Each CTA of a cluster fills a tile and sends it to its neighbor's shared memory with a bulk copy.
// Keeps: the receiver initializes its barrier and expects the bytes, a cluster barrier publishes that (MB5, CL1); the
// sender fences its writes for the async proxy before the barrier (PX1); destination and mbarrier are in the same CTA,
// another than the sender's (BK3, BK4); a cluster barrier before the exit keeps the source alive (CL2).
// targets: sm_90
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) dsmem_copy(const float* in, float* out) {
  __shared__ alignas(128) float mine[256];
  __shared__ alignas(128) float theirs[256];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(theirs));
  }
  for (int i = t; i < 256; i += 128) mine[i] = in[blockIdx.x * 256 + i] + rank;
  ptx::fence_proxy_async(ptx::space_shared);
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
  if (t == 0) {
    asm volatile(
        "{ .reg .b32 to, at; mapa.shared::cluster.u32 to, %0, %4; mapa.shared::cluster.u32 at, %1, %4;\n"
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [%2], %3, [at]; }" ::"r"(
            static_cast<uint32_t>(__cvta_generic_to_shared(theirs))),
        "r"(static_cast<uint32_t>(__cvta_generic_to_shared(&bar))), "r"(static_cast<uint32_t>(__cvta_generic_to_shared(mine))),
        "r"(static_cast<uint32_t>(sizeof(mine))), "r"(rank ^ 1) : "memory");
  }
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0u)) {}
  for (int i = t; i < 256; i += 128) out[blockIdx.x * 256 + i] = theirs[i ^ 1];
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}
