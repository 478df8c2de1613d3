// Warp 0's elected lane initializes, expects, copies in and copies out; it stays the leader for commit and wait.
// Keeps: the same mask elects the same lane (BR7), so one thread issues, commits and waits (BK7); the writers fence first.
// targets: sm_90 sm_100a
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128) elected_leader(const float* in, float* out) {
  __shared__ alignas(128) float tile[512];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  uint32_t elected = 0;
  if (t < 32) asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  if (elected) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (elected) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + blockIdx.x * 512, 1024, &bar);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile + 256, in + blockIdx.x * 512 + 256, 1024, &bar);
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0u)) {}
  const float v = tile[t] + tile[t + 128] + tile[t + 256] + tile[t + 384];
  __syncthreads();
  tile[t] = v;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (elected) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * 128, tile, 512);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
