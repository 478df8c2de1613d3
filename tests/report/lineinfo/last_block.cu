// Every block leaves a sum in global memory and counts itself; the block that comes last adds all sums.
template <int Threads>
__device__ __forceinline__ void tree_sum(float* buffer) {
#pragma unroll
  for (int step = Threads / 2; step > 0; step >>= 1) {
    if (threadIdx.x < step) buffer[threadIdx.x] += buffer[threadIdx.x + step];  // expect 3 4
#if FAULT != 4
    __syncthreads();
#endif
  }
}

__global__ void __launch_bounds__(128) sum_all(const float* in, float* partial, unsigned* counter, float* out) {
  __shared__ float buffer[128];
  __shared__ bool last;
  const int t = threadIdx.x;
  buffer[t] = in[blockIdx.x * 128 + t];
#if FAULT != 3
  __syncthreads();
#endif
  tree_sum<128>(buffer);  // expect 3 4
  if (t == 0) {
    partial[blockIdx.x] = buffer[0];  // expect 1
#if FAULT != 1
    __threadfence();
#endif
    last = atomicAdd(counter, 1) == gridDim.x - 1;  // expect 1 2
    __threadfence();
  }
#if FAULT != 2
  __syncthreads();
#endif
  if (!last) return;  // expect 2
  float sum = 0;
  for (unsigned i = t; i < gridDim.x; i += 128) sum += __ldcg(partial + i);  // expect 1
  __syncthreads();
  buffer[t] = sum;
  __syncthreads();
  tree_sum<128>(buffer);  // expect 4
  if (t == 0) *out = buffer[0];
}
