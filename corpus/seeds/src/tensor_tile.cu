// A box of a matrix in by a tensor map, its elements doubled, and the box out by another tensor map.
// Keeps: the bytes expected are those of the whole box, also at the edge of the matrix; maps are grid constants; the box is
// accessed after the wait; each thread fences its stores before the barrier; the group of the copy out is committed and waited for.
// targets: sm_90a
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/std/utility>
namespace cde = cuda::device::experimental;

constexpr int kThreads = 256, kWidth = 32, kHeight = 32;

extern "C" __global__ void __launch_bounds__(kThreads)
tensor_tile(const __grid_constant__ CUtensorMap source, const __grid_constant__ CUtensorMap target) {
  __shared__ alignas(128) float box[kHeight][kWidth];
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier there;
  const int x = blockIdx.x * kWidth, y = blockIdx.y * kHeight;
  if (threadIdx.x == 0) {
    init(&there, kThreads);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(box, &source, x, y, there);
    token = cuda::device::barrier_arrive_tx(there, 1, sizeof(box));
  } else {
    token = there.arrive();
  }
  there.wait(cuda::std::move(token));
  for (int i = threadIdx.x; i < kWidth * kHeight; i += kThreads) box[i / kWidth][i % kWidth] *= 2.0f;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&target, x, y, box);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}
