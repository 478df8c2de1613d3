// cuda::pipeline at block scope, all threads produce and consume, three stages of cuda::memcpy_async.
// Keeps: the library's requirements: acquire, copy, commit, wait, release in this order for each stage; neighbors' data is
// read, which the block-wide pipeline orders.
// targets: sm_80 sm_90
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

extern "C" __global__ void __launch_bounds__(128) libcudacxx_pipeline(const int* in, int* out, int tiles) {
  constexpr int kStages = 3;
  __shared__ alignas(16) int ring[kStages][512];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int i = 0, next = 0; i < tiles; ++i) {
    for (; next < tiles && next < i + kStages; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, ring[next % kStages], in + next * 512, cuda::aligned_size_t<16>(sizeof(ring[0])), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += ring[i % kStages][threadIdx.x * 4] + ring[i % kStages][511 - threadIdx.x];
    pipe.consumer_release();
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}
