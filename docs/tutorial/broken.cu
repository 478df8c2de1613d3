#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kTile = 1024;  // floats of one CTA

extern "C" __global__ void __launch_bounds__(256) scale(const float* in, float* out, float factor) {
  __shared__ alignas(128) float tile[kTile];
  __shared__ alignas(8) uint64_t full;
  const bool leader = threadIdx.x == 0;

  if (leader) {
    ptx::mbarrier_init(&full, 1);
  }
  __syncthreads();

  if (leader) {  // global memory -> tile
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof(tile));
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + blockIdx.x * kTile, sizeof(tile), &full);
  }
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
  }

  for (int i = threadIdx.x; i < kTile; i += blockDim.x) {
    tile[i] *= factor;
  }
  __syncthreads();

  if (leader) {  // tile -> global memory
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * kTile, tile, sizeof(tile));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  }
}
