// Two warp groups exchange one generic-proxy buffer with named barriers: the writer arrives, the reader syncs.
// Keeps: every generation of a barrier gets all 256 threads, arrivals and syncs together (BR1, BR3); arrive only orders
// nothing for the arriver, so before it writes again it syncs on the barrier that releases the buffer (BR4).
// targets: sm_80
extern "C" __global__ void __launch_bounds__(256) named_barriers(const float* in, float* out, int rounds) {
  __shared__ float buffer[128];
  const int t = threadIdx.x & 127;
  if (threadIdx.x < 128) {
    for (int i = 0; i < rounds; ++i) {
      if (i) asm volatile("bar.sync 2, 256;" ::: "memory");
      buffer[t] = in[i * 128 + t];
      asm volatile("bar.arrive 1, 256;" ::: "memory");
    }
  } else {
    float sum = 0;
    for (int i = 0; i < rounds; ++i) {
      asm volatile("bar.sync 1, 256;" ::: "memory");
      sum += buffer[t ^ 32];
      if (i + 1 < rounds) asm volatile("bar.arrive 2, 256;" ::: "memory");
    }
    out[blockIdx.x * 128 + t] = sum;
  }
}
