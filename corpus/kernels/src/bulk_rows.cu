// A warp gathers 32 rows with one bulk copy a lane; one lane expects the sum of their bytes before.
// Keeps: expect_tx for all rows precedes the last arrival, and __syncwarp orders it before the other lanes' copies (MB9, BK5).
// targets: sm_90a
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128) bulk_rows(const float* in, const int* index, float* out) {
  __shared__ alignas(128) float rows[32][64];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) ptx::mbarrier_init(&bar, 1);
  __syncthreads();
  if (t < 32) {
    const int row = index[blockIdx.x * 32 + t];
    if (t == 0) ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 32 * 256);
    __syncwarp();
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, rows[t], in + row * 64, 256, &bar);
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0u)) {}
  float sum = 0;
  for (int r = 0; r < 32; ++r) sum += rows[r][t & 63];
  out[blockIdx.x * 128 + t] = sum;
}
