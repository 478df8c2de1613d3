// Tensor copies in im2col mode, rank 3 to 5: a box of pixels by channels is copied in, changed in place, and copied out.
// Keeps: rank - 2 offsets for copies in and none for copies out (BK16); expected bytes are the full box, which the host puts in
// the maps (BK13); one fence a writer before the barrier (PX1).
// targets: sm_90a
#include <cuda.h>
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int kFloats = 1024;

template <int Rank>
__device__ __forceinline__ void copy(const CUtensorMap* from, const CUtensorMap* to, int c, int w, int h, int d, int n) {
  __shared__ alignas(128) float box[kFloats];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(box));
  const uint32_t full = static_cast<uint32_t>(__cvta_generic_to_shared(&bar));
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (t == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(box));
    const uint16_t x = 1, y = 2, z = 0;
    if constexpr (Rank == 3) {
      asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5], {%6};"
                   ::"r"(at), "l"(from), "r"(c), "r"(w), "r"(n), "r"(full), "h"(x) : "memory");
    } else if constexpr (Rank == 4) {
      asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                   ::"r"(at), "l"(from), "r"(c), "r"(w), "r"(h), "r"(n), "r"(full), "h"(x), "h"(y) : "memory");
    } else {
      asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};"
                   ::"r"(at), "l"(from), "r"(c), "r"(w), "r"(h), "r"(d), "r"(n), "r"(full), "h"(x), "h"(y), "h"(z) : "memory");
    }
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0u)) {}
  for (int i = t; i < kFloats; i += 128) box[i] *= 0.5f;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    if constexpr (Rank == 3) {
      asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%1, {%2, %3, %4}], [%0];"
                   ::"r"(at), "l"(to), "r"(c), "r"(w), "r"(n) : "memory");
    } else if constexpr (Rank == 4) {
      asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%1, {%2, %3, %4, %5}], [%0];"
                   ::"r"(at), "l"(to), "r"(c), "r"(w), "r"(h), "r"(n) : "memory");
    } else {
      asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.im2col_no_offs.bulk_group [%1, {%2, %3, %4, %5, %6}], [%0];"
                   ::"r"(at), "l"(to), "r"(c), "r"(w), "r"(h), "r"(d), "r"(n) : "memory");
    }
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

extern "C" __global__ void __launch_bounds__(128)
im2col_3d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  copy<3>(&from, &to, blockIdx.y * 16, blockIdx.x * 64, 0, 0, blockIdx.z);
}
extern "C" __global__ void __launch_bounds__(128)
im2col_4d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int h) {
  copy<4>(&from, &to, blockIdx.y * 16, blockIdx.x * 64, h, 0, blockIdx.z);
}
extern "C" __global__ void __launch_bounds__(128)
im2col_5d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int h, int d) {
  copy<5>(&from, &to, blockIdx.y * 16, blockIdx.x * 64, h, d, blockIdx.z);
}
