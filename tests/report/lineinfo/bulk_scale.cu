// Scales rows: a bulk copy loads a tile, all threads change it in place, a bulk copy stores it.
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kFloats = 1024;

__device__ __forceinline__ void wait(uint64_t* bar, uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(bar, parity)) {}  // expect 1 2
}

__global__ void __launch_bounds__(256) scale_rows(const float* in, float* out, float factor) {
  __shared__ alignas(128) float tile[kFloats];
  __shared__ alignas(8) uint64_t ready;
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&ready, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
#if FAULT != 1
  __syncthreads();
#endif
  if (t == 0) {
#if FAULT == 2
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &ready, sizeof(tile) / 2);  // expect 2
#else
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &ready, sizeof(tile));
#endif
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + blockIdx.x * kFloats, sizeof(tile), &ready);  // expect 2
  }
  wait(&ready, 0);  // expect 1 2
#pragma unroll
  for (int i = 0; i < kFloats / 256; ++i) tile[i * 256 + t] *= factor;  // expect 3
#if FAULT != 3
  ptx::fence_proxy_async(ptx::space_shared);
#endif
  __syncthreads();
  if (t == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + blockIdx.x * kFloats, tile, sizeof(tile));  // expect 3 4
    ptx::cp_async_bulk_commit_group();
#if FAULT != 4
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
#endif
  }
}
