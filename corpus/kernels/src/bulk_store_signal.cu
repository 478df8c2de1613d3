// Fills a tile, copies it out, waits until the writes are done, and only then raises a flag in global memory for another grid.
// Keeps: plain wait_group, not `.read`, before the flag (BK8, BK9); release at gpu scope publishes them.
// targets: sm_90
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128) bulk_store_signal(float* out, unsigned* flag, float value) {
  __shared__ alignas(128) float tile[128];
  const int t = threadIdx.x;
  tile[t] = value * t;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * 128, tile, sizeof(tile));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    ptx::fence_proxy_async(ptx::space_global);
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(__cvta_generic_to_global(flag)) : "memory");
  }
}
