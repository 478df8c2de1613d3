// Constructs a tensor map for its own block of memory on the device, publishes it, and copies with it.
// Keeps: the map is changed in shared memory, published by the warp-wide copy-and-fence with release semantics (TM2, TM6),
// and acquired for the tensormap proxy before the tensor copy (TM2, TM4); lanes are ordered by __syncwarp in between.
// targets: sm_90a
#include <cuda.h>
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128)
tensormap_replace(const __grid_constant__ CUtensorMap model, CUtensorMap* maps, float* const* blocks, float* out) {
  __shared__ alignas(128) uint32_t map[32];
  __shared__ alignas(128) float tile[1024];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) ptx::mbarrier_init(&bar, 1);
  CUtensorMap* mine = maps + blockIdx.x;
  if (t < 32) {
    map[t] = reinterpret_cast<const uint32_t*>(&model)[t];
    __syncwarp();
    if (t == 0) ptx::tensormap_replace_global_address(ptx::space_shared, &map, blocks[blockIdx.x]);
    __syncwarp();
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, mine, &map, ptx::n32_t<128>());
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, mine, ptx::n32_t<128>());
  }
  __syncthreads();
  if (t == 0) {
    const int at[2] = {0, 0};
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, mine, at, &bar);
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0u)) {}
  for (int i = t; i < 1024; i += 128) out[blockIdx.x * 1024 + i] = tile[i];
}
