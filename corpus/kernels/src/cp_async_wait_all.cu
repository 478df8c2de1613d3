// cp.async with zero fill at the edge, waited for by wait_all without a commit.
// Keeps: wait_all covers copies that no group holds (CA3); src-size stays within cp-size (CA7); barrier before others read (CA2).
// targets: sm_80
#include <cstdint>

extern "C" __global__ void __launch_bounds__(128) cp_async_wait_all(const float4* in, float4* out, int n) {
  __shared__ float4 tile[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  const uint32_t slot = static_cast<uint32_t>(__cvta_generic_to_shared(&tile[t]));
  const int bytes = i < n ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(slot), "l"(in + (i < n ? i : 0)), "r"(bytes) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  if (i < n) out[i] = tile[t ^ 31];
}
