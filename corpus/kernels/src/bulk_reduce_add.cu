// Adds tiles of partial sums into global memory with the bulk reduction, two tiles in flight, buffers alternate.
// Keeps: a fence by each writer before the barrier; wait_group.read 1 by the issuer before the older buffer is written
// again, published by the barrier; nothing pending at the end (BK7, BK12).
// targets: sm_90
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(256) bulk_reduce_add(const int* in, int* sums, int tiles) {
  __shared__ alignas(128) int tile[2][256];
  const int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
    __syncthreads();
    tile[i & 1][t] = in[(blockIdx.x * tiles + i) * 256 + t] * 7;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
      ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sums + i * 256, tile[i & 1], sizeof(tile[0]));
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}
