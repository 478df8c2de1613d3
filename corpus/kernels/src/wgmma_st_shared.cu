// A 64 x 8 x 16 product whose operands are written with ordinary shared stores.
// Keeps: every writer fences for the async proxy before the barrier, since wgmma reads shared memory through that proxy and
// wgmma.fence orders registers only (PX1, WG2); accumulators are read after wait_group 0 (WG3).
// targets: sm_90a
#include <cuda_fp16.h>
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128, 1) wgmma_st_shared(const uint4* in, const uint4* in2, float* out) {
  __shared__ alignas(128) uint4 a[128];
  __shared__ alignas(128) uint4 b[16];
  const int t = threadIdx.x;
  a[t] = in[blockIdx.x * 128 + t];
  if (t < 16) b[t] = in2[t];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  auto descriptor = [](const void* p) {
    const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(p));
    return uint64_t((address & 0x3FFFF) >> 4) | (uint64_t(128 >> 4) << 16) | (uint64_t(256 >> 4) << 32);
  };
  float d[4] = {0, 0, 0, 0};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(a)), "l"(descriptor(b)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : : "memory");
  for (int i = 0; i < 4; ++i) out[(blockIdx.x * 4 + i) * 128 + t] = d[i];
}
