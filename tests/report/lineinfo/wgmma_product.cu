// A 64 x 8 product of two tiles that tensor copies load, two stages in turn; one warp group does everything.
#include <cuda.h>
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kA = 64 * 64 * 2, kB = 8 * 64 * 2;

__device__ __forceinline__ uint64_t descriptor(const void* p) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(p));
  return uint64_t((address & 0x3FFFF) >> 4) | (uint64_t(1) << 16) | (uint64_t(1024 >> 4) << 32) | (uint64_t(1) << 62);
}

__device__ __forceinline__ void mma(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile(  // expect 1 2 3
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"  // expect 1
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(128, 1) product(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, float* out, int tiles) {
  __shared__ alignas(1024) char a[2][kA];
  __shared__ alignas(1024) char b[2][kB];
  __shared__ alignas(8) uint64_t full[2];
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&full[0], 1);
    ptx::mbarrier_init(&full[1], FAULT == 4 ? 2 : 1);  // expect 4
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  auto load = [&](int i) {
    const int s = i & 1;
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], kA + kB);
    const int atA[2] = {i * 64, static_cast<int>(blockIdx.x) * 64}, atB[2] = {i * 64, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, a[s], &mapA, atA, &full[s]);  // expect 2 3
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, b[s], &mapB, atB, &full[s]);  // expect 2 3
  };
  if (t == 0 && tiles > 0) load(0);
  float d[4] = {0, 0, 0, 0};
  for (int i = 0; i < tiles; ++i) {
    if (t == 0 && i + 1 < tiles) load(i + 1);
#if FAULT != 3
    while (!ptx::mbarrier_try_wait_parity(&full[i & 1], i >> 1 & 1)) {}  // expect 4
#endif
    const uint64_t da = descriptor(a[i & 1]), db = descriptor(b[i & 1]);
#if FAULT != 1
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
    for (int k = 0; k < 4; ++k) mma(d, da + 2 * k, db + 2 * k);  // expect 1 2 3
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#if FAULT != 2
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : : "memory");
#endif
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) out[(blockIdx.x * 4 + i) * 128 + t] = d[i];  // expect 2
}
