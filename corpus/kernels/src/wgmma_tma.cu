// A 64 x 8 product whose operands are loaded by tensor copies, two stages, one warp group does everything.
// Keeps: one barrier for A and B with the sum of both boxes (BK5); wgmma.fence before the first mma (WG1); the slot is
// refilled only after wait_group 0 and a barrier (WG6); the operands were written by the async proxy, so no proxy fence (PX8).
// targets: sm_90a
#include <cuda.h>
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kA = 64 * 64 * 2, kB = 8 * 64 * 2;

__device__ __forceinline__ uint64_t descriptor(uint32_t address) {
  return uint64_t((address & 0x3FFFF) >> 4) | (uint64_t(1) << 16) | (uint64_t(1024 >> 4) << 32) | (uint64_t(1) << 62);
}

__device__ __forceinline__ void mma(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(128, 1)
wgmma_tma(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, float* out, int tiles) {
  __shared__ alignas(1024) char a[2][kA];
  __shared__ alignas(1024) char b[2][kB];
  __shared__ alignas(8) uint64_t full[2];
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full[0], 1);
    ptx::mbarrier_init(&full[1], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  auto load = [&](int i) {
    const int s = i & 1;
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], kA + kB);
    const int atA[2] = {i * 64, static_cast<int>(blockIdx.x) * 64}, atB[2] = {i * 64, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, a[s], &mapA, atA, &full[s]);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, b[s], &mapB, atB, &full[s]);
  };
  if (t == 0 && tiles > 0) load(0);
  float d[4] = {0, 0, 0, 0};
  for (int i = 0; i < tiles; ++i) {
    const int s = i & 1;
    if (t == 0 && i + 1 < tiles) load(i + 1);
    while (!ptx::mbarrier_try_wait_parity(&full[s], (i >> 1) & 1)) {}
    const uint64_t da = descriptor(static_cast<uint32_t>(__cvta_generic_to_shared(a[s])));
    const uint64_t db = descriptor(static_cast<uint32_t>(__cvta_generic_to_shared(b[s])));
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; ++k) mma(d, da + 2 * k, db + 2 * k);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : : "memory");
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) out[(blockIdx.x * 4 + i) * 128 + t] = d[i];
}
