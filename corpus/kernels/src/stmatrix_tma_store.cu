// An epilogue: results are stored to shared memory with stmatrix, then to global memory with a tensor copy, two buffers in turn.
// Keeps: stmatrix writes through the generic proxy, so each thread fences before the barrier (PX7); the thread that stores
// waits with .read 1 before a buffer is written again, and a barrier orders the others after it (BK12).
// targets: sm_90a
#include <cuda.h>
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128)
stmatrix_tma_store(const __grid_constant__ CUtensorMap map, const uint4* in, int tiles) {
  __shared__ alignas(128) uint16_t stage[2][64 * 16];
  const int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    const uint4 v = in[(blockIdx.x * tiles + i) * 128 + t];
    if (t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<1>());
    __syncthreads();
    const uint32_t row = static_cast<uint32_t>(__cvta_generic_to_shared(&stage[i & 1][(t / 32 * 16 + t % 16) * 16 + (t % 32) / 16 * 8]));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
      const int at[2] = {i * 16, static_cast<int>(blockIdx.x) * 64};
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, stage[i & 1]);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (t == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}
