"""Attention on the GPU, compared with cuDNN through PyTorch."""

from __future__ import annotations

import importlib
from typing import Any

from gpu_lib.ab_timing import report_throughput

#: The heads of a problem have so many elements together, and its sequences so many tokens.
HIDDEN, TOKENS = 2048, 16384
#: The largest norm of the difference of two results in bf16, relative to that of a result.
TOLERANCE = 1e-2


def attention(torch: Any) -> None:
    """Measures bf16 forward, with and without a causal mask."""
    for head in (128, 64, 256):
        for length in (16384, 4096):
            for causal in (False, True):
                _attention(torch, head, length, causal)


def _attention(torch: Any, head: int, length: int, causal: bool) -> None:
    from ptxkit.kernels.scaled_dot_product import Attention

    backends = importlib.import_module("torch.nn.attention")
    batch, heads = TOKENS // length, HIDDEN // head
    q, k, v = (torch.randn(batch, length, heads, head, device="cuda").bfloat16() for _ in range(3))
    transposed = [each.transpose(1, 2) for each in (q, k, v)]
    packed = [each.contiguous() for each in transposed]
    out = torch.empty_like(q)
    plan = Attention(batch, length, heads, head, causal=causal)
    arguments = plan.arguments(q, k, v, out)
    mine = lambda: plan.launch(arguments)  # noqa: E731

    def cudnn(peers: list[Any]) -> Any:
        with backends.sdpa_kernel([backends.SDPBackend.CUDNN_ATTENTION]):
            return torch.nn.functional.scaled_dot_product_attention(*peers, is_causal=causal)

    mine()
    wanted = cudnn(packed).transpose(1, 2).float()
    assert ((out - wanted).norm() / wanted.norm()).item() < TOLERANCE, "attention is wrong"
    operations = 4 * batch * heads * length**2 * head // (2 if causal else 1)
    name = f"attention, d {head}, {length}{', causal' if causal else ''}"
    rivals = {"cuDNN": lambda: cudnn(packed), "cuDNN on transposed tensors": lambda: cudnn(transposed)}
    report_throughput(torch, name, operations, mine, rivals)
