// cp.async tracked by an mbarrier, without .noinc: every thread makes its copies arrive and then arrives itself.
// Keeps: the tracked arrival adds one and takes one, so the init count is the number of plain arrivals (CA10); init is
// ordered by a barrier (MB3); all threads wait on the token of the phase they arrived at (MB21).
// targets: sm_80
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128) cp_async_mbarrier(const float4* in, float4* out) {
  __shared__ float4 tile[2][128];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  const uint32_t b = static_cast<uint32_t>(__cvta_generic_to_shared(&bar));
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(b) : "memory");
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    const uint32_t slot = static_cast<uint32_t>(__cvta_generic_to_shared(&tile[i][t]));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(slot), "l"(in + i * 128 + t) : "memory");
  }
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(b) : "memory");
  uint64_t token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(b) : "memory");
  uint32_t done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(b), "l"(token) : "memory");
  float4 v = tile[0][t ^ 1];
  v.x += tile[1][127 - t].x;
  out[blockIdx.x * 128 + t] = v;
}
