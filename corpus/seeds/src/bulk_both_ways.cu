// A bulk copy of one dimension in, the tile doubled in place, and a bulk copy out.
// Keeps: the bytes expected are those copied; the tile is accessed after the wait; each thread fences its stores for the
// copy engine before the barrier of the block; one thread copies out, commits the group and waits until its source was read.
// targets: sm_90a
#include <cuda/barrier>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kThreads = 256, kTile = 1024;

extern "C" __global__ void __launch_bounds__(kThreads) bulk_both_ways(const float* source, float* target) {
  __shared__ alignas(128) float tile[kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> there;
  const size_t first = static_cast<size_t>(blockIdx.x) * kTile;
  if (threadIdx.x == 0) {
    init(&there, kThreads);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(tile, source + first, cuda::aligned_size_t<16>(sizeof(tile)), there);
    token = there.arrive();
  } else {
    token = there.arrive();
  }
  there.wait(cuda::std::move(token));
  for (int i = threadIdx.x; i < kTile; i += kThreads) tile[i] *= 2.0f;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, target + first, tile, sizeof(tile));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
