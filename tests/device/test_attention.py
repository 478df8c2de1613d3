"""Attention on the GPU, compared with PyTorch's of fp64, and as an operator with a gradient."""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest

from ptxkit.device import MissingLibraryError
from ptxkit.kernels.scaled_dot_product import LONG_SEQUENCE, Attention, attend
from ptxkit.kernels.torch_attention import attention_operator

TOLERANCE = {"bf16": 8e-3, "f16": 1e-3}
"""The largest norm of the difference of two outputs, relative to that of the output."""
LARGE = 1e300
"""Its negative replaces the maximum -infinity of a query that sees no key."""
GRADIENT_TOLERANCE = 1e-2
"""The same of gradients in bf16."""


def draw(element: str, *shape: int, gradient: bool = False) -> Any:
    torch = pytest.importorskip("torch")
    kind = torch.bfloat16 if element == "bf16" else torch.float16
    return torch.randn(shape, device="cuda").to(kind).requires_grad_(gradient)


def attend_exactly(q: Any, k: Any, v: Any, *, causal: bool) -> tuple[Any, Any]:
    """Returns the output (batch, sequence, heads, head) and the logarithms, in fp64."""
    torch = pytest.importorskip("torch")
    shared = q.shape[2] // k.shape[2]
    k, v = (each.double().repeat_interleave(shared, 2) for each in (k, v))
    scores = torch.einsum("bqhd,bkhd->bhqk", q.double(), k) / math.sqrt(q.shape[3])
    if causal:
        hidden = torch.ones(scores.shape[2:], dtype=torch.bool, device="cuda")
        scores = scores.masked_fill(hidden.triu(k.shape[1] - q.shape[1] + 1), -math.inf)
    greatest = scores.detach().amax(-1, keepdim=True).clamp_min(-LARGE)
    powers = torch.exp(scores - greatest)
    sums = powers.sum(-1, keepdim=True)
    out = torch.einsum("bhqk,bkhd->bqhd", powers / sums.clamp_min(1 / LARGE), v)
    return out, (torch.log(sums) + greatest)[..., 0]


def difference(found: Any, wanted: Any) -> float:
    """Returns the norm of the difference, relative to that of what is wanted."""
    return float((found.detach().double() - wanted.detach()).norm() / wanted.norm().detach())


@pytest.mark.device
@pytest.mark.parametrize("element", ["bf16", "f16"])
@pytest.mark.parametrize("head", [64, 128, 256])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_correct_even_of_odd_lengths(element: str, head: int, causal: bool) -> None:
    torch = pytest.importorskip("torch")
    for batch, queries, keys, heads, key_heads in ((2, 300, 421, 4, 2), (1, 421, 300, 2, 1), (1, 1536, 1536, 32, 8)):
        q = draw(element, batch, queries, heads, head)
        k, v = (draw(element, batch, keys, key_heads, head) for _ in range(2))
        out = torch.full_like(q, math.nan)
        lse = torch.full((batch, heads, queries), math.nan, device="cuda")
        attend(q, k, v, out, lse, causal=causal)
        wanted, logarithms = attend_exactly(q, k, v, causal=causal)
        assert difference(out, wanted) < TOLERANCE[element]
        torch.testing.assert_close(lse, logarithms.float(), rtol=1e-4, atol=1e-3)


@pytest.mark.device
def test_long_sequences_have_larger_blocks() -> None:
    torch = pytest.importorskip("torch")
    q, k, v = (draw("bf16", 1, LONG_SEQUENCE + 77, 1, 128) for _ in range(3))
    out = torch.full_like(q, math.nan)
    attend(q, k, v, out, causal=True)
    assert difference(out, attend_exactly(q, k, v, causal=True)[0]) < TOLERANCE["bf16"]


@pytest.mark.device
@pytest.mark.parametrize("head", [64, 128])
def test_sequences_of_different_lengths_follow_each_other(head: int) -> None:
    torch = pytest.importorskip("torch")
    lengths = [(100, 100), (333, 200), (1, 70)]
    q = draw("bf16", 1, 434, 4, head)
    k, v = (draw("bf16", 1, 370, 2, head) for _ in range(2))
    out = torch.full_like(q, math.nan)
    plan = Attention(1, 434, 4, head, keys=370, key_heads=2, lengths=lengths, causal=True)
    plan(q, k, v, out)
    for each in plan.sequences:
        rows, columns = slice(each.query, each.query + each.queries), slice(each.key, each.key + each.keys)
        wanted, _ = attend_exactly(q[:, rows], k[:, columns], v[:, columns], causal=True)
        assert difference(out[:, rows], wanted) < TOLERANCE["bf16"]


@pytest.mark.device
def test_tensors_of_pytorchs_layout_are_passed_transposed() -> None:
    torch = pytest.importorskip("torch")
    q, k, v = (draw("bf16", 2, 4, 200, 128).transpose(1, 2) for _ in range(3))
    out = torch.full_like(q, math.nan)
    attend(q, k, v, out)
    assert difference(out, attend_exactly(q, k, v, causal=False)[0]) < TOLERANCE["bf16"]


def test_without_pytorch_there_is_no_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingLibraryError, match="attention_operator makes an operator of PyTorch, which is not"):
        attention_operator.__wrapped__()


@pytest.mark.device
@pytest.mark.parametrize(("head", "causal"), [(64, True), (128, False), (128, True)])
def test_the_operator_has_the_gradient_of_attention(head: int, causal: bool) -> None:
    torch = pytest.importorskip("torch")
    operator = attention_operator()
    for queries, keys in ((200, 200), (150, 260), (260, 150)):
        q = draw("bf16", 2, queries, 4, head, gradient=True)
        k, v = (draw("bf16", 2, keys, 2, head, gradient=True) for _ in range(2))
        out, lse = operator(q, k, v, causal)
        wanted, _ = attend_exactly(q, k, v, causal=causal)
        assert difference(out, wanted) < TOLERANCE["bf16"]
        assert not lse.requires_grad
        weight = torch.randn_like(out)
        found = torch.autograd.grad(out, (q, k, v), weight)
        exact = torch.autograd.grad(wanted, (q, k, v), weight.double())
        for one, other in zip(found, exact, strict=True):
            assert difference(one, other) < GRADIENT_TOLERANCE


@pytest.mark.device
def test_the_operator_can_be_compiled() -> None:
    torch = pytest.importorskip("torch")
    operator = attention_operator()
    q, k, v = (draw("bf16", 2, 200, 4, 64, gradient=True) for _ in range(3))
    torch.library.opcheck(operator, (q, k, v))
    torch.library.opcheck(operator, (q, k, v), {"causal": True, "scale": 0.25})

    def layer(q: Any, k: Any, v: Any) -> Any:
        out, _ = operator(q * 2, k, v, causal=True)
        return out + q

    compiled = torch.compile(layer, fullgraph=True)
    for length in (200, 136):
        given = [each.detach()[:, :length].contiguous().requires_grad_() for each in (q, k, v)]
        found, wanted = compiled(*given), layer(*given)
        torch.testing.assert_close(found, wanted)
        weight = torch.randn_like(wanted)
        gradients = (torch.autograd.grad(each, given, weight) for each in (found, wanted))
        for one, other in zip(*gradients, strict=True):
            assert difference(one, other) < GRADIENT_TOLERANCE
