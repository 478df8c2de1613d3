// Tensor copies of rank 1 to 5: in through an mbarrier, changed in place, out through a bulk group.
// A box has 256 elements along a dimension at most, so those of rank 1 are copied in four parts.
// Keeps: expected bytes are the full boxes of each map (BK13), whose sizes the host puts in the maps; one fence a writer
// before the barrier (PX1); the maps are grid constants, so they need no tensormap fence (TM1).
// targets: sm_90 sm_90a
#include <cuda.h>
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

template <int Rank>
__device__ __forceinline__ void copy(const CUtensorMap* from, const CUtensorMap* to, const int (&at)[Rank]) {
  __shared__ alignas(128) float box[1024];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&bar, 128);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (t == 0) {
    if constexpr (Rank == 1) {
      for (int i = 0; i < 1024; i += 256) {
        const int part[1] = {at[0] + i};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box + i, from, part, &bar);
      }
    } else {
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, from, at, &bar);
    }
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(box));
  } else {
    ptx::mbarrier_arrive(&bar);
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0u)) {}
  for (int i = t; i < 1024; i += 128) box[i] += 1.0f;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    if constexpr (Rank == 1) {
      for (int i = 0; i < 1024; i += 256) {
        const int part[1] = {at[0] + i};
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, to, part, box + i);
      }
    } else {
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, to, at, box);
    }
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

extern "C" __global__ void __launch_bounds__(128)
tensor_1d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  const int at[1] = {static_cast<int>(blockIdx.x) * 1024};
  copy<1>(&from, &to, at);
}
extern "C" __global__ void __launch_bounds__(128)
tensor_2d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  const int at[2] = {static_cast<int>(blockIdx.x) * 32, static_cast<int>(blockIdx.y) * 32};
  copy<2>(&from, &to, at);
}
extern "C" __global__ void __launch_bounds__(128)
tensor_3d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  const int at[3] = {static_cast<int>(blockIdx.x) * 16, static_cast<int>(blockIdx.y) * 8, static_cast<int>(blockIdx.z) * 8};
  copy<3>(&from, &to, at);
}
extern "C" __global__ void __launch_bounds__(128)
tensor_4d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int n) {
  const int at[4] = {static_cast<int>(blockIdx.x) * 16, static_cast<int>(blockIdx.y) * 8, static_cast<int>(blockIdx.z) * 4, n};
  copy<4>(&from, &to, at);
}
extern "C" __global__ void __launch_bounds__(128)
tensor_5d(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int n, int m) {
  const int at[5] = {static_cast<int>(blockIdx.x) * 8, static_cast<int>(blockIdx.y) * 8, static_cast<int>(blockIdx.z) * 4, n, m};
  copy<5>(&from, &to, at);
}
