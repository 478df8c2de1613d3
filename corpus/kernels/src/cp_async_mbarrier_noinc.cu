// cp.async tracked by an mbarrier with .noinc, two buffers, the phase flips with every second iteration.
// Keeps: the .noinc arrivals are counted in the init count (CA10); the parity follows the reuse of each barrier (MB12); a
// barrier orders the reads before the copies that refill their slot (CA12).
// targets: sm_80 sm_90a
#include <cstdint>

extern "C" __global__ void __launch_bounds__(128) cp_async_mbarrier_noinc(const float4* in, float* out, int tiles) {
  __shared__ float4 tile[2][128];
  __shared__ alignas(8) uint64_t bar[2];
  const int t = threadIdx.x;
  const uint32_t b = static_cast<uint32_t>(__cvta_generic_to_shared(bar));
  const uint32_t s = static_cast<uint32_t>(__cvta_generic_to_shared(&tile[0][t]));
  if (t < 2) asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(b + t * 8) : "memory");
  __syncthreads();
  auto load = [&](int i) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s + (i & 1) * 2048), "l"(in + i * 128 + t) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b + (i & 1) * 8) : "memory");
  };
  load(0);
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) load(i + 1);
    uint32_t done = 0;
    while (!done)
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done) : "r"(b + (i & 1) * 8), "r"((i >> 1) & 1) : "memory");
    sum += tile[i & 1][t ^ 64].x;
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sum;
}
