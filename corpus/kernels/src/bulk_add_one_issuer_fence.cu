// The tile kernel with the fence after the barrier, executed by the thread that issues the copy out, and unrestricted.
// Keeps: the fence is on the path from the writes to the asynchronous read (PX1, PX9: accepted by the text, a warning only
// under the strict policy). The copy is issued before expect_tx, which is correct while the arrival is still pending (MB9).
// targets: sm_90
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128) bulk_add_one_issuer_fence(const float* in, float* out) {
  __shared__ alignas(128) float tile[512];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) ptx::mbarrier_init(&bar, 1);
  __syncthreads();
  if (t == 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + blockIdx.x * 512, sizeof(tile), &bar);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0u)) {}
  for (int i = t; i < 512; i += 128) tile[i] = tile[i] * 2.0f + 1.0f;
  __syncthreads();
  if (t == 0) {
    ptx::fence_proxy_async();
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * 512, tile, sizeof(tile));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}
