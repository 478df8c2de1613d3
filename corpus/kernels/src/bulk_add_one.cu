// One tile a CTA: bulk copy in, add one in place, bulk copy out. Every writer fences, then the barrier, then one thread copies.
// Keeps: init before use (MB3), expected bytes equal the bytes copied (BK5), the copy in is observed before the tile is
// touched (PX5), the fence is between the generic writes and the asynchronous read (PX1), commit and wait by the issuer
// (BK7), and the CTA does not end before the copy out has read its source (BK12).
// targets: sm_90
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(256) bulk_add_one(const int* in, int* out) {
  __shared__ alignas(128) int tile[1024];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (t == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + blockIdx.x * 1024, sizeof(tile), &bar);
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0u)) {}
  for (int i = t; i < 1024; i += 256) tile[i] += 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * 1024, tile, sizeof(tile));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
