// Four stages of cp.async, every size of copy (4, 8 and 16 bytes), the tail drained with shrinking waits.
// Keeps: three groups may stay pending in the steady state; the three tiles of the tail are waited for with wait_group 2, 1, 0.
// targets: sm_80
#include <cstdint>

__device__ __forceinline__ void load(uint32_t slot, const char* from, int t) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(slot + t * 16), "l"(from + t * 16) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(slot + 1024 + t * 8), "l"(from + 1024 + t * 8) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(slot + 1536 + t * 4), "l"(from + 1536 + t * 4) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(64) cp_async_four_stages(const char* in, float* out, int tiles) {
  __shared__ alignas(16) char ring[4][1792];
  const int t = threadIdx.x;
  const uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(ring));
  if (tiles < 4) return;
  for (int i = 0; i < 3; ++i) load(base + i * 1792, in + i * 1792, t);
  float sum = 0;
  auto use = [&](int i) {
    const char* slot = ring[i & 3];
    sum += *reinterpret_cast<const float*>(slot + (t ^ 5) * 16) + *reinterpret_cast<const float*>(slot + 1024 + (t ^ 9) * 8) +
           *reinterpret_cast<const float*>(slot + 1536 + (t ^ 2) * 4);
  };
  int i = 0;
  for (; i + 3 < tiles; ++i) {
    load(base + ((i + 3) & 3) * 1792, in + (i + 3) * 1792, t);
    asm volatile("cp.async.wait_group 3;" ::: "memory");
    __syncthreads();
    use(i);
    __syncthreads();
  }
  asm volatile("cp.async.wait_group 2;" ::: "memory");
  __syncthreads();
  use(i++);
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  use(i++);
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  use(i);
  out[blockIdx.x * 64 + t] = sum;
}
