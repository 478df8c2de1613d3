// A persistent loop that executes the work of CTAs not yet launched, with clusterlaunchcontrol.try_cancel.
// Keeps: 16 bytes are expected for each response, parity flips (MB12); the response is read by all, then a fence and a barrier
// precede the next request, which overwrites it (CL7); after a refused request no further one is made.
// targets: sm_100a
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128) cluster_launch_control(const float* in, float* out) {
  __shared__ alignas(16) int4 answer;
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  int block = blockIdx.x;
  uint32_t phase = 0;
  while (true) {
    if (t == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 16);
      ptx::clusterlaunchcontrol_try_cancel(&answer, &bar);
    }
    out[block * 128 + t] = in[block * 128 + t] * 2.0f;
    while (!ptx::mbarrier_try_wait_parity(&bar, phase)) {}
    phase ^= 1;
    const int4 got = answer;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(got)) break;
    block = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(got);
  }
}
