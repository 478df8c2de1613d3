// Programmatic dependent launch: set up barriers, wait for the previous grid, copy its result in, let the next grid start.
// Keeps: the data of the earlier grid is read only after griddepcontrol.wait (BR10); set-up that accesses none of it may
// run before; launch_dependents promises nothing about memory.
// targets: sm_90
#include <cstdint>
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128) dependent_launch(const float* in, float* out) {
  __shared__ alignas(128) float tile[256];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (t == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + blockIdx.x * 256, sizeof(tile), &bar);
  }
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  while (!ptx::mbarrier_try_wait_parity(&bar, 0u)) {}
  out[blockIdx.x * 128 + t] = tile[t] + tile[t + 128];
}
