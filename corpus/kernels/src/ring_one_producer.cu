// A ring of four bulk-copied stages between one producer thread and four consumer warps.
// Keeps: `full` needs one arrival plus the bytes, `empty` one arrival of each consumer warp; the producer waits with the
// opposite parity, which passes at first (MB11); parities flip on every wrap (MB12); each consumer warp is
// converged before its lane 0 releases the slot.
// targets: sm_90 sm_90a
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kStages = 4, kConsumers = 128, kFloats = 512;

extern "C" __global__ void __launch_bounds__(160) ring_one_producer(const float* in, float* out, int tiles) {
  __shared__ alignas(128) float ring[kStages][kFloats];
  __shared__ alignas(8) uint64_t full[kStages], empty[kStages];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&empty[s], kConsumers / 32);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (t >= kConsumers) {
    if (t == kConsumers) {
      for (int i = 0; i < tiles; ++i) {
        const int s = i % kStages;
        const uint32_t lap = (i / kStages) & 1;
        while (!ptx::mbarrier_try_wait_parity(&empty[s], lap ^ 1)) {}
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], sizeof(ring[0]));
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, ring[s], in + i * kFloats, sizeof(ring[0]), &full[s]);
      }
    }
    return;
  }
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    const int s = i % kStages;
    while (!ptx::mbarrier_try_wait_parity(&full[s], (i / kStages) & 1)) {}
    for (int j = t; j < kFloats; j += kConsumers) sum += ring[s][j ^ 3];
    __syncwarp();
    if (t % 32 == 0) ptx::mbarrier_arrive(&empty[s]);
  }
  out[blockIdx.x * kConsumers + t] = sum;
}
