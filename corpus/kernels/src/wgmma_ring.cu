// A 64 x 8 product by roles: one producer thread, a ring of three stages, a warp group that keeps one multiplication in flight.
// Keeps: wgmma.fence before the first mma of each iteration (WG1); accumulators are not accessed while a group is pending (WG3);
// a slot is released after wait_group 1, when the previous group has read it (WG6); each consumer warp releases with one arrival (MB7).
// targets: sm_90a
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kStages = 3, kA = 64 * 64 * 2, kB = 8 * 64 * 2;

__device__ __forceinline__ uint64_t descriptor(const void* p) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(p));
  return uint64_t((address & 0x3FFFF) >> 4) | (uint64_t(1) << 16) | (uint64_t(1024 >> 4) << 32) | (uint64_t(1) << 62);
}

extern "C" __global__ void __launch_bounds__(160, 1) wgmma_ring(const char* inA, const char* inB, float* out, int tiles) {
  __shared__ alignas(1024) char a[kStages][kA];
  __shared__ alignas(1024) char b[kStages][kB];
  __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], 4);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (t >= 128) {
    if (t == 128) {
      int s = 0;
      uint32_t lap = 0;
      for (int i = 0; i < tiles; ++i) {
        while (!ptx::mbarrier_try_wait_parity(&empty[s], lap ^ 1)) {}
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], kA + kB);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, a[s], inA + (blockIdx.x * tiles + i) * kA, kA, &full[s]);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, b[s], inB + i * kB, kB, &full[s]);
        if (++s == kStages) {
          s = 0;
          lap ^= 1;
        }
      }
    }
    return;
  }
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  int s = 0, last = 0;
  uint32_t lap = 0;
  for (int i = 0; i < tiles; ++i) {
    while (!ptx::mbarrier_try_wait_parity(&full[s], lap)) {}
    const uint64_t da = descriptor(a[s]), db = descriptor(b[s]);
    asm volatile(
        "wgmma.fence.sync.aligned;\n\t"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %6, %7, 1, 1, 1, 0, 0;\n\t"
        "wgmma.commit_group.sync.aligned;\n\t"
        "wgmma.wait_group.sync.aligned 1;"
        : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "l"(da), "l"(db), "l"(da + 2), "l"(db + 2) : "memory");
    if (i > 0 && t % 32 == 0) ptx::mbarrier_arrive(&empty[last]);
    last = s;
    if (++s == kStages) {
      s = 0;
      lap ^= 1;
    }
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : : "memory");
  out[blockIdx.x * 512 + t] = d0;
  out[blockIdx.x * 512 + 128 + t] = d1;
  out[blockIdx.x * 512 + 256 + t] = d2;
  out[blockIdx.x * 512 + 384 + t] = d3;
}
