// The life of a barrier: initialized for four arrivals, counted down by one thread, complete, counting from four again, and
// from three after a thread dropped out; invalidated, and its memory used for an element.
// Keeps: one thread executes all of it, so no order is required; no arrival beyond the count of a phase, and none in the next
// one before the phase was waited for; no operation on the object after it was invalidated, and no other access before.
// targets: sm_80 sm_90a
#include <cuda_awbarrier_primitives.h>

constexpr int kArrivals = 4, kPhases = 3;

extern "C" __global__ void __launch_bounds__(32) barrier_life(const float* source, float* target) {
  __shared__ __mbarrier_t barrier;
  if (threadIdx.x != 0) return;
  target += blockIdx.x * (2 * (kPhases * kArrivals - 1) + 1);
  __mbarrier_init(&barrier, kArrivals);
#pragma unroll
  for (int phase = 0; phase < kPhases; ++phase) {
    const int arrivals = phase < 2 ? kArrivals : kArrivals - 1;
    __mbarrier_token_t token;
#pragma unroll
    for (int i = 0; i < arrivals; ++i) {
      const bool drops = phase == 1 && i == arrivals - 1;
      token = drops ? __mbarrier_arrive_and_drop(&barrier) : __mbarrier_arrive(&barrier);
      *target++ = static_cast<float>(__mbarrier_token_pending_count(token));
      *target++ = __mbarrier_test_wait(&barrier, token) ? 1.0f : 0.0f;
    }
    while (!__mbarrier_test_wait(&barrier, token)) {}
  }
  __mbarrier_inval(&barrier);
  auto* memory = reinterpret_cast<volatile float*>(&barrier);
  *memory = source[blockIdx.x];
  *target = *memory;
}
