// Shared memory whose size the launch determines, used by two element types: floats from its beginning on, and after them a
// 16-bit index for each. The device finds the number of elements from the size.
// Keeps: the array of the wider type comes first, so both are aligned; a barrier between the stores and the loads of others.
// targets: sm_80
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
launch_sized(const float* source, float* target, const unsigned* order) {
  extern __shared__ __align__(16) unsigned char memory[];
  unsigned bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  const unsigned count = bytes / (sizeof(float) + sizeof(uint16_t));
  auto* values = reinterpret_cast<float*>(memory);
  auto* places = reinterpret_cast<uint16_t*>(values + count);
  auto block = cg::this_thread_block();
  const size_t first = static_cast<size_t>(blockIdx.x) * count;
  for (unsigned i = threadIdx.x; i < count; i += kThreads) {
    values[i] = source[first + i];
    places[i] = static_cast<uint16_t>(order[i]);
  }
  block.sync();
  for (unsigned i = threadIdx.x; i < count; i += kThreads) target[first + i] = values[places[i]];
}
