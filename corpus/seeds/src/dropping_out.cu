// Threads leave a barrier in halves: a sum by halves, in which a thread whose part another one has added drops out
// and continues independently, so that each phase waits only for those that still have work.
// Keeps: a thread that dropped out does not use the barrier again; the others wait for the token of their arrival before they
// read the elements of the leaving half.
// targets: sm_80 sm_90a
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads) dropping_out(const float* source, float* target) {
  __shared__ float part[kThreads];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> meeting;
  auto block = cg::this_thread_block();
  const unsigned t = block.thread_rank();
  if (t == 0) init(&meeting, kThreads);
  block.sync();
  float sum = source[blockIdx.x * kThreads + t];
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (t >= half) {
      part[t] = sum;
      meeting.arrive_and_drop();
      return;
    }
    meeting.arrive_and_wait();
    sum += part[t + half];
  }
  target[blockIdx.x] = sum;
}
