// A long product in Tensor Memory by roles: warp 0 copies, warp 1 issues, two stages of operands; then all four warps read.
// Keeps: a stage is refilled after the commit that covers its multiplication has arrived (TC9); one thread issues and commits
// (TC10); the waits are followed by fence::after_thread_sync (TC11); loads are waited for, then all threads synchronize, then the
// columns are deallocated (TC13, TC2).
// targets: sm_100a
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kStages = 2, kA = 4096, kB = 1024;

extern "C" __global__ void __launch_bounds__(128, 1) tcgen05_ring(const char* a, const char* b, float* out, int tiles) {
  __shared__ alignas(1024) char ringA[kStages][kA];
  __shared__ alignas(1024) char ringB[kStages][kB];
  __shared__ alignas(16) uint32_t base;
  __shared__ alignas(8) uint64_t full[kStages], empty[kStages], done;
  const int t = threadIdx.x;
  if (t < 32) {
    ptx::tcgen05_alloc(ptx::cta_group_1, &base, 32u);
    ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
  }
  if (t == 32) {
    for (int s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], 1);
    }
    ptx::mbarrier_init(&done, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  ptx::tcgen05_fence_before_thread_sync();
  __syncthreads();
  ptx::tcgen05_fence_after_thread_sync();
  const uint32_t d = base;
  if (t == 0) {
    for (int i = 0; i < tiles; ++i) {
      const int s = i % kStages;
      while (!ptx::mbarrier_try_wait_parity(&empty[s], ((i / kStages) & 1) ^ 1)) {}
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], kA + kB);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, ringA[s], a + (blockIdx.x * tiles + i) * kA, kA, &full[s]);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, ringB[s], b + i * kB, kB, &full[s]);
    }
  } else if (t == 32) {
    auto descriptor = [](const void* p) {
      const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(p));
      return uint64_t((address & 0x3FFFF) >> 4) | (uint64_t(128 >> 4) << 16) | (uint64_t(256 >> 4) << 32) | (uint64_t(1) << 46);
    };
    constexpr uint32_t kShape = (1u << 4) | ((32u >> 3) << 17) | ((128u >> 4) << 24);
    for (int i = 0; i < tiles; ++i) {
      const int s = i % kStages;
      while (!ptx::mbarrier_try_wait_parity(&full[s], (i / kStages) & 1)) {}
      ptx::tcgen05_fence_after_thread_sync();
      ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, d, descriptor(ringA[s]), descriptor(ringB[s]), kShape, i > 0);
      ptx::tcgen05_commit(ptx::cta_group_1, &empty[s]);
    }
    ptx::tcgen05_commit(ptx::cta_group_1, &done);
  }
  __syncwarp();
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
