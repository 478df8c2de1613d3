// A ring filled by two producer warps, each with its own half of every stage: `full` needs two arrivals.
// Keeps: each producer expects and copies its own bytes, the sum over the arrivals is the stage (BK5); all 64 consumers
// arrive on `empty` (MB7); leaders are selected by elect.sync (BR7); stage and parity are carried, not computed.
// targets: sm_90a
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kStages = 3, kConsumers = 64, kBytes = 4096;

__device__ __forceinline__ bool elect_one() {
  uint32_t elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return elected != 0;
}

extern "C" __global__ void __launch_bounds__(128) ring_two_producers(const char* in, int* out, int tiles) {
  extern __shared__ __align__(128) char ring[];
  __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
  const int t = threadIdx.x, warp = t / 32;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&full[s], 2);
      ptx::mbarrier_init(&empty[s], kConsumers);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  int stage = 0;
  uint32_t phase = 0;
  if (warp < 2) {
    if (elect_one()) {
      for (int i = 0; i < tiles; ++i) {
        while (!ptx::mbarrier_try_wait_parity(&empty[stage], phase ^ 1)) {}
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[stage], kBytes / 2);
        char* half = ring + stage * kBytes + warp * (kBytes / 2);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, half, in + size_t(i) * kBytes + warp * (kBytes / 2), kBytes / 2,
                           &full[stage]);
        if (++stage == kStages) {
          stage = 0;
          phase ^= 1;
        }
      }
    }
  } else {
    int sum = 0;
    for (int i = 0; i < tiles; ++i) {
      while (!ptx::mbarrier_try_wait_parity(&full[stage], phase)) {}
      const int* words = reinterpret_cast<const int*>(ring + stage * kBytes);
      for (int j = t - 64; j < kBytes / 4; j += kConsumers) sum += words[j];
      ptx::mbarrier_arrive(&empty[stage]);
      if (++stage == kStages) {
        stage = 0;
        phase ^= 1;
      }
    }
    out[blockIdx.x * kConsumers + t - 64] = sum;
  }
}
