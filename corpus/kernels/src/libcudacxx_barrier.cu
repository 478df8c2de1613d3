// cuda::barrier and cuda::memcpy_async: the library selects the bulk copy, and waits with its own back-off loop.
// Keeps: the library's requirements; the barrier is initialized by one thread and published by a barrier (MB3), the tile is
// written again and copied out by a bulk copy after a proxy fence (PX1).
// targets: sm_80 sm_90a sm_100a
#include <cuda/barrier>
#include <utility>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace device = cuda::device::experimental;

extern "C" __global__ void __launch_bounds__(256) libcudacxx_barrier(const int* in, int* out) {
  __shared__ alignas(128) int tile[1024];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar;
  const int t = threadIdx.x;
  if (t == 0) init(&bar, 256);
  __syncthreads();
  if (t == 0) cuda::memcpy_async(tile, in + blockIdx.x * 1024, cuda::aligned_size_t<16>(sizeof(tile)), bar);
  bar.arrive_and_wait();
  const int v = tile[t] + tile[(t + 511) & 1023];
  bar.arrive_and_wait();
  tile[t] = v;
#if __CUDA_ARCH__ >= 900
  device::fence_proxy_async_shared_cta();
  __syncthreads();
  if (t == 0) {
    device::cp_async_bulk_shared_to_global(out + blockIdx.x * 256, tile, 1024);
    device::cp_async_bulk_commit_group();
    device::cp_async_bulk_wait_group_read<0>();
  }
#else
  __syncthreads();
  out[blockIdx.x * 256 + t] = tile[t ^ 1];
#endif
}
