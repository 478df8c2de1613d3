; One asynchronous copy a thread through LLVM's nvvm intrinsics: an instruction sampler, not a correct kernel
; (every thread initialises the mbarrier, and nothing orders that before its first use).
target triple = "nvptx64-nvidia-cuda"

@s = internal addrspace(3) global [1024 x i8] undef, align 16
@bar = internal addrspace(3) global i64 undef, align 8

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
declare i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3))
declare i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3), i64)

define ptx_kernel void @k(ptr addrspace(1) %g, ptr addrspace(1) %o) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t64 = zext i32 %t to i64
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) @bar, i32 128)
  %off = mul i64 %t64, 16
  %src = getelementptr i8, ptr addrspace(1) %g, i64 %off
  %dst = getelementptr i8, ptr addrspace(3) @s, i64 %off
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %dst, ptr addrspace(1) %src)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 0)
  %state = call i64 @llvm.nvvm.mbarrier.arrive.shared(ptr addrspace(3) @bar)
  br label %w
w:
  %done = call i1 @llvm.nvvm.mbarrier.test.wait.shared(ptr addrspace(3) @bar, i64 %state)
  br i1 %done, label %x, label %w
x:
  %other = xor i64 %t64, 3
  %in = getelementptr i32, ptr addrspace(3) @s, i64 %other
  %v = load i32, ptr addrspace(3) %in, align 4
  %out = getelementptr i32, ptr addrspace(1) %o, i64 %t64
  store i32 %v, ptr addrspace(1) %out, align 4
  ret void
}
