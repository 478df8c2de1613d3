// A ring of tensor copies between one producer warp and four consumer warps.
#include <cuda.h>
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kStages = 3, kWarps = 4, kBox = 32 * 32;

struct Pipe {
  uint64_t* full;
  uint64_t* empty;
  __device__ void wait(uint64_t* bars, int i, uint32_t parity) const {
    while (!ptx::mbarrier_try_wait_parity(&bars[i % kStages], parity)) {}  // expect 1 3 4
  }
};

__global__ void __launch_bounds__(32 * (kWarps + 1)) sum_boxes(const __grid_constant__ CUtensorMap map, float* out, int boxes) {
  __shared__ alignas(128) float ring[kStages][kBox];
  __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
  const int t = threadIdx.x, warp = t / 32;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], FAULT == 4 ? 32 * kWarps : kWarps);  // expect 4
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  const Pipe pipe{full, empty};
  if (warp == kWarps) {
    if (t % 32 == 0) {
      for (int i = 0; i < boxes; ++i) {
#if FAULT == 1
        pipe.wait(empty, i, i / kStages & 1);  // expect 1 3 4: nothing frees the slot before the first lap
#else
        pipe.wait(empty, i, (i / kStages & 1) ^ 1);  // expect 1 3 4
#endif
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[i % kStages], sizeof(ring[0]));
        const int at[2] = {i * 32, static_cast<int>(blockIdx.x) * 32};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, ring[i % kStages], &map, at, &full[i % kStages]);  // expect 2
      }
    }
    return;
  }
  float sum = 0;
  for (int i = 0; i < boxes; ++i) {
#if FAULT != 2
    pipe.wait(full, i, i / kStages & 1);
#endif
    for (int j = t; j < kBox; j += 32 * kWarps) sum += ring[i % kStages][j ^ 1];  // expect 2
#if FAULT != 3
    __syncwarp();
    if (t % 32 == 0) ptx::mbarrier_arrive(&empty[i % kStages]);
#endif
  }
  out[blockIdx.x * 32 * kWarps + t] = sum;
}
