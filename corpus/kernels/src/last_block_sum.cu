// Every block stores a sum in global memory and counts itself; the last block adds all sums. With the classic fences.
// Keeps: the sum is written before a fence at gpu scope and the counter after it; the last block has a fence between the counter
// and the sums; a barrier orders the other threads after it, and one separates the uses of the shared buffer.
// targets: sm_80
extern "C" __global__ void __launch_bounds__(128) last_block_sum(const float* in, float* partial, unsigned* counter, float* out) {
  __shared__ float buffer[128];
  __shared__ bool last;
  const int t = threadIdx.x;
  buffer[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int step = 64; step > 0; step >>= 1) {
    if (t < step) buffer[t] += buffer[t + step];
    __syncthreads();
  }
  if (t == 0) {
    partial[blockIdx.x] = buffer[0];
    __threadfence();
    last = atomicAdd(counter, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  float sum = 0;
  for (unsigned i = t; i < gridDim.x; i += 128) sum += __ldcg(partial + i);
  buffer[t] = sum;
  __syncthreads();
  for (int step = 64; step > 0; step >>= 1) {
    if (t < step) buffer[t] += buffer[t + step];
    __syncthreads();
  }
  if (t == 0) *out = buffer[0];
}
