// Warp-specialized ring: a producer warp group releases registers with setmaxnreg, two consumer warp groups request them.
// Keeps: the whole warp group executes setmaxnreg (BR9); consumers arrive once a warp group after a named barrier of that
// group; tensor copies of 64 x 64 half, 8192 bytes a stage.
// targets: sm_90a
#include <cuda.h>
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kStages = 4, kBytes = 8192;

extern "C" __global__ void __launch_bounds__(384, 1) ring_setmaxnreg(const __grid_constant__ CUtensorMap map, float* out, int tiles) {
  __shared__ alignas(1024) char ring[kStages][kBytes];
  __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
  const int t = threadIdx.x, group = t / 128;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], 2);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (t == 0) {
      for (int i = 0; i < tiles; ++i) {
        const int s = i % kStages;
        while (!ptx::mbarrier_try_wait_parity(&empty[s], ((i / kStages) & 1) ^ 1)) {}
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], kBytes);
        const int at[2] = {i * 64, static_cast<int>(blockIdx.x) * 64};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, ring[s], &map, at, &full[s]);
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      const int s = i % kStages;
      while (!ptx::mbarrier_try_wait_parity(&full[s], (i / kStages) & 1)) {}
      for (int j = t - 128; j < kBytes / 4; j += 256) sum += reinterpret_cast<const float*>(ring[s])[j];
      asm volatile("bar.sync %0, 128;" ::"r"(group) : "memory");
      if (t % 128 == 0) ptx::mbarrier_arrive(&empty[s]);
    }
    out[blockIdx.x * 256 + t - 128] = sum;
  }
}
