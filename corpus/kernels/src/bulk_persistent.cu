// A persistent CTA iterates over tiles: bulk copy in, scale into a second buffer, bulk copy out; one barrier, its phase flips.
// Keeps: parity per round (MB12); the input buffer is refilled only after a barrier after the reads; the output buffer is
// rewritten only after a `.read` wait for the previous copy out, which the barrier publishes (BK12).
// targets: sm_90a
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(256) bulk_persistent(const float* in, float* out, int tiles) {
  __shared__ alignas(128) float from[1024];
  __shared__ alignas(128) float to[1024];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  uint32_t phase = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    if (t == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(from));
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, from, in + tile * 1024, sizeof(from), &bar);
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, phase)) {}
    phase ^= 1;
    __syncthreads();
    for (int i = t; i < 1024; i += 256) to[i] = from[i ^ 1] * 3.0f;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + tile * 1024, to, sizeof(to));
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}
