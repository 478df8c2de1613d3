"""Triton kernels that scripts/build_corpus compiles without a GPU: `KERNELS[name]` says how.

fn: the kernel; signature: name -> Triton's type, or `constexpr`; constexprs: (index,) -> value; aligned: the indices of
arguments that are multiples of 16, without which Triton emits no asynchronous copies; options: of the compiler.
"""

import triton
import triton.language as tl


@triton.jit
def desc_copy(x, y, m, n, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    target = tl.make_tensor_descriptor(y, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    for row in range(0, m, BM):
        target.store([row, tl.program_id(0) * BN], source.load([row, tl.program_id(0) * BN]) * 2)


@triton.jit
def gather_sum(x, index, y, n, D: tl.constexpr, B: tl.constexpr):
    total = tl.zeros((D,), tl.float32)
    for i in tl.range(0, n, B, num_stages=3):
        rows = tl.load(index + tl.program_id(0) * n + i + tl.arange(0, B))
        total += tl.sum(tl.load(x + rows[:, None] * D + tl.arange(0, D)[None, :]).to(tl.float32), 0)
    tl.store(y + tl.program_id(0) * D + tl.arange(0, D), total)


@triton.jit
def attention(q, k, v, o, scale, n, H: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows, cols, wide = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, H)
    base = tl.program_id(1) * n * H
    query = tl.load(q + base + rows[:, None] * H + wide[None, :])
    top = tl.full((BM,), float("-inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, H), tl.float32)
    for i in range(0, n, BN):
        key = tl.load(k + base + (i + cols)[None, :] * H + wide[:, None])
        score = tl.dot(query, key) * scale
        higher = tl.maximum(top, tl.max(score, 1))
        part = tl.exp2(score - higher[:, None])
        shrink = tl.exp2(top - higher)
        weight = weight * shrink + tl.sum(part, 1)
        value = tl.load(v + base + (i + cols)[:, None] * H + wide[None, :])
        result = tl.dot(part.to(tl.float16), value, result * shrink[:, None])
        top = higher
    tl.store(o + base + rows[:, None] * H + wide[None, :], (result / weight[:, None]).to(tl.float16))


def _kernel(fn, types, constants, *, warps, stages):
    names = fn.arg_names
    signature = dict(zip(names, types.split(), strict=False)) | dict.fromkeys(constants, "constexpr")
    return {
        "fn": fn,
        "signature": signature,
        "constexprs": {(names.index(name),): value for name, value in constants.items()},
        "aligned": [i for i, name in enumerate(names) if signature[name] not in ("constexpr", "fp32")],
        "options": {"num_warps": warps, "num_stages": stages},
    }


KERNELS = {
    "desc_copy": _kernel(desc_copy, "*fp16 *fp16 i32 i32", {"BM": 64, "BN": 64}, warps=4, stages=3),
    "gather_sum": _kernel(gather_sum, "*fp16 *i32 *fp32 i32", {"D": 128, "B": 32}, warps=4, stages=3),
    "attention": _kernel(
        attention, "*fp16 *fp16 *fp16 *fp16 fp32 i32", {"H": 64, "BM": 64, "BN": 32}, warps=4, stages=4
    ),
}
