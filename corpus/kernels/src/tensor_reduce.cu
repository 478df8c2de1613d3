// Adds tiles into a tensor with the tensor reduction, two buffers in turn, then waits until the sums are written.
// Keeps: a fence by each writer before the barrier (PX1); wait_group.read 1 by the issuer before a buffer is written again,
// published by a barrier (BK12); one thread issues, commits and waits (BK7).
// targets: sm_90a
#include <cuda.h>
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128)
tensor_reduce(const __grid_constant__ CUtensorMap map, const float* in, int tiles) {
  __shared__ alignas(128) float tile[2][16 * 32];
  const int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
    __syncthreads();
    for (int j = 0; j < 4; ++j) tile[i & 1][j * 128 + t] = in[(i * 4 + j) * 128 + t];
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
      const int at[2] = {static_cast<int>(blockIdx.x) * 32, i * 16};
      ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, at, tile[i & 1]);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (t == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}
