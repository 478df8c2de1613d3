// The copies that cooperative_groups::memcpy_async and cuda::memcpy_async become, by alignment, size, object and target.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

// Nothing is known of the addresses: the code tests how they lie.
extern "C" __global__ void group_bytes(const char* in, char* out, int n) {
  __shared__ char tile[1024];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, n);
  cg::wait(block);
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

extern "C" __global__ void group_aligned(const int4* in, int4* out) {
  __shared__ int4 tile[128];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof(tile)));
  cg::wait(block);
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

extern "C" __global__ void one_each(const float4* in, float4* out) {
  __shared__ float4 tile[128];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[threadIdx.x], in + threadIdx.x, sizeof(float4), pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
  pipe.consumer_release();
}

extern "C" __global__ void one_byte_each(const char* in, char* out) {
  __shared__ char tile[128];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[threadIdx.x], in + threadIdx.x, 1, pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
  pipe.consumer_release();
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void barrier_aligned(const int* in, int* out) {
  __shared__ alignas(128) int tile[2048];
  __shared__ barrier bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof(tile)), bar);
  bar.arrive_and_wait();
  out[threadIdx.x] = tile[threadIdx.x ^ 7];
}

extern "C" __global__ void barrier_ints(const int* in, int* out) {
  __shared__ alignas(128) int tile[2048];
  __shared__ barrier bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  cuda::memcpy_async(block, tile, in, sizeof(tile), bar);
  bar.arrive_and_wait();
  out[threadIdx.x] = tile[threadIdx.x ^ 7];
}

// A test written manually, and its workaround.
extern "C" __global__ void tested(const char* in, char* out, unsigned n) {
  __shared__ alignas(16) char tile[4096];
  if (((size_t)in & 15) == 0 && (n & 15) == 0) {
    for (unsigned i = threadIdx.x * 16; i < n; i += blockDim.x * 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(tile + i)),
                   "l"(in + i));
    asm volatile("cp.async.wait_all;");
  } else {
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) tile[i] = in[i];
  }
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
#endif
