// A 128 x 32 x 16 product in Tensor Memory: operands by bulk copies, one thread issues, the result is read by four warps.
// Keeps: one warp allocates, the address is published by a barrier (TC1, TC6); mma and commit by one thread (TC10); the
// barrier wait is followed by fence::after_thread_sync (TC11); loads are waited for before their registers are used and
// before the deallocation (TC13, TC2, TC19).
// targets: sm_100a
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128, 1) tcgen05_product(const char* a, const char* b, float* out) {
  __shared__ alignas(1024) char tileA[4096];
  __shared__ alignas(1024) char tileB[1024];
  __shared__ alignas(16) uint32_t base;
  __shared__ alignas(8) uint64_t full, done;
  const int t = threadIdx.x;
  if (t < 32) {
    ptx::tcgen05_alloc(ptx::cta_group_1, &base, 32u);
    ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
  }
  if (t == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::mbarrier_init(&done, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  const uint32_t d = base;
  if (t == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof(tileA) + sizeof(tileB));
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tileA, a + blockIdx.x * sizeof(tileA), sizeof(tileA), &full);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tileB, b, sizeof(tileB), &full);
    while (!ptx::mbarrier_try_wait_parity(&full, 0u)) {}
    auto descriptor = [](const void* p) {
      const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(p));
      return uint64_t((address & 0x3FFFF) >> 4) | (uint64_t(128 >> 4) << 16) | (uint64_t(256 >> 4) << 32) | (uint64_t(1) << 46);
    };
    constexpr uint32_t kShape = (1u << 4) | ((32u >> 3) << 17) | ((128u >> 4) << 24);
    ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, d, descriptor(tileA), descriptor(tileB), kShape, false);
    ptx::tcgen05_commit(ptx::cta_group_1, &done);
  }
  while (!ptx::mbarrier_try_wait_parity(&done, 0u)) {}
  ptx::tcgen05_fence_after_thread_sync();
  uint32_t r[32];
  ptx::tcgen05_ld_32x32b(r, d + (uint32_t(t / 32 * 32) << 16));
  ptx::tcgen05_wait_ld();
  for (int i = 0; i < 32; ++i) out[(blockIdx.x * 32 + i) * 128 + t] = __uint_as_float(r[i]);
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  if (t < 32) {
    ptx::tcgen05_fence_after_thread_sync();
    ptx::tcgen05_dealloc(ptx::cta_group_1, d, 32u);
  }
}
