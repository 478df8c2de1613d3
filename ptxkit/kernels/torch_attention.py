"""Attention as an operator of PyTorch, with a gradient, which `torch.compile` supports.

    attention = attention_operator()
    out, lse = attention(q, k, v, causal=True)            # shapes (batch, sequence, heads, head)
    out.sum().backward()

The forward is the kernel `attention`. A kernel for the gradient is missing: FlashAttention of PyTorch computes it, from
the output and the logarithms of this forward, so that nothing is computed twice.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ptxkit.device.torch_operators import import_torch
from ptxkit.kernels.scaled_dot_product import attend

OPERATOR = "ptxkit::attention"
SCHEMA = "(Tensor q, Tensor k, Tensor v, bool causal=False, float? scale=None) -> (Tensor, Tensor)"


@cache
def attention_operator() -> Any:
    """Registers `ptxkit::attention` and returns it: q (batch, queries, heads, head), and k and v (batch, keys,
    key_heads, head), to the output, of the shape of q, and the natural logarithms of the sums of exponentials, f32
    (batch, heads, queries), which have no gradient.

    `causal`, `scale` and shared heads are those of `Attention`. Raises `MissingLibraryError` without PyTorch.
    """
    torch = import_torch("attention_operator")

    def allocate(q: Any, *_: Any) -> tuple[Any, Any]:
        batch, queries, heads, _ = q.shape
        return q.new_empty(q.shape), q.new_empty((batch, heads, queries), dtype=torch.float32)

    def run(q: Any, k: Any, v: Any, causal: bool = False, scale: float | None = None) -> tuple[Any, Any]:
        with torch.cuda.device_of(q):
            out, lse = allocate(q)
            attend(q, k, v, out, lse, causal=causal, scale=scale)
        return out, lse

    def keep_for_gradient(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, Any]) -> None:
        q, k, v, ctx.causal, ctx.scale = inputs
        ctx.save_for_backward(q, k, v, *output)
        ctx.mark_non_differentiable(output[1])

    def differentiate(ctx: Any, gradient: Any, _: Any) -> tuple[Any, ...]:
        q, k, v, out, lse = ctx.saved_tensors
        lengths = None, None, q.shape[1], k.shape[1]  # not packed sequences, so without their ends
        dropout = 0.0
        random = None, None
        found = torch.ops.aten._flash_attention_backward(
            gradient, q, k, v, out, lse, *lengths, dropout, ctx.causal, *random, scale=ctx.scale
        )
        return (*found, None, None)

    operator = torch.library.custom_op(OPERATOR, run, mutates_args=(), device_types="cuda", schema=SCHEMA)
    operator.register_fake(allocate)
    operator.register_autograd(differentiate, setup_context=keep_for_gradient)
    return operator
