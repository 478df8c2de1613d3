"""The matrix product on the GPU, compared with PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

from ptxkit.kernels.matmul import Matmul, matmul

SHAPES = [(128, 256, 64), (1, 8, 8), (130, 264, 40), (1000, 776, 520), (513, 4104, 1032), (4096, 4352, 2048)]


def compare(found: Any, wanted: Any) -> None:
    """Sums of fp32 in another order, rounded to bf16 once."""
    error = ((found.float() - wanted).norm() / wanted.norm()).item()
    assert error < 4e-3, error
    assert bool(((found.float() - wanted).abs() <= 0.02 * wanted.abs() + 0.02 * wanted.abs().max()).all())


@pytest.mark.device
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("by_columns", [False, True])
def test_bf16_products_are_correct_even_of_odd_shapes(shape: tuple[int, int, int], by_columns: bool) -> None:
    torch = pytest.importorskip("torch")
    rows, columns, depth = shape
    a = torch.randn(rows, depth, device="cuda").bfloat16()
    b = torch.randn(depth, columns, device="cuda").bfloat16()
    b = b if by_columns else b.t().contiguous().t()
    guarded = torch.full((rows + 2, columns), float("nan"), device="cuda", dtype=torch.bfloat16)
    matmul(a, b, guarded[1:-1])
    compare(guarded[1:-1], a.float() @ b.float())
    assert bool(guarded[0].isnan().all())
    assert bool(guarded[-1].isnan().all())


@pytest.mark.device
@pytest.mark.parametrize("cluster", [1, 2])
def test_partial_sums_are_passed_on_repeatedly(cluster: int) -> None:
    torch = pytest.importorskip("torch")
    a = torch.randn(4864, 4096, device="cuda").bfloat16()
    b = torch.randn(4352, 4096, device="cuda").bfloat16().t()
    out = torch.empty(4864, 4352, device="cuda", dtype=torch.bfloat16)
    plan = Matmul(4864, 4352, 4096, cluster=cluster, spread=True)
    assert any(row.kind for rows in plan.rows_of(plan.workers) for row in rows)
    plan(a, b, out)
    first = out.clone()
    compare(first, a.float() @ b.float())
    for _ in range(20):
        out.fill_(float("nan"))
        plan(a, b, out)
        assert torch.equal(out, first)


@pytest.mark.device
def test_e4m3_products_are_scaled() -> None:
    torch = pytest.importorskip("torch")
    for rows, columns, depth in [(128, 256, 128), (1000, 784, 528), (4096, 4096, 2048)]:
        a = torch.randn(rows, depth, device="cuda").to(torch.float8_e4m3fn)
        b = torch.randn(columns, depth, device="cuda").to(torch.float8_e4m3fn)
        out = torch.empty(rows, columns, device="cuda", dtype=torch.bfloat16)
        scales = torch.tensor([0.5], device="cuda"), torch.tensor([0.25], device="cuda")
        matmul(a.view(torch.uint8), b.view(torch.uint8).t(), out, *scales)
        compare(out, 0.125 * (a.float() @ b.float().t()))


@pytest.mark.device
def test_precise_sums_of_e4m3_are_exact_where_all_have_one_sign() -> None:
    torch = pytest.importorskip("torch")
    for rows, columns, depth in [(128, 128, 640), (1000, 784, 528), (2048, 1920, 8192)]:
        a = torch.rand(rows, depth, device="cuda").to(torch.float8_e4m3fn)
        b = torch.rand(columns, depth, device="cuda").to(torch.float8_e4m3fn)
        out = torch.empty(rows, columns, device="cuda", dtype=torch.bfloat16)
        scales = torch.tensor([0.5], device="cuda"), torch.tensor([0.25], device="cuda")
        matmul(a.view(torch.uint8), b.view(torch.uint8).t(), out, *scales, precise=True)
        compare(out, 0.125 * (a.float() @ b.float().t()))


@pytest.mark.device
@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_tensors_of_8_bit_numbers_are_accepted(name: str) -> None:
    torch = pytest.importorskip("torch")
    kind = getattr(torch, name)
    for rows, columns, depth in [(128, 256, 128), (1000, 784, 528)]:
        a = torch.randn(rows, depth, device="cuda").to(kind)
        b = torch.randn(columns, depth, device="cuda").to(kind)
        out = torch.empty(rows, columns, device="cuda", dtype=torch.bfloat16)
        wanted = a.float() @ b.float().t()
        matmul(a, b.t(), out)
        compare(out, wanted)
        matmul(a, b.t(), out, torch.tensor([0.5], device="cuda"), torch.tensor([0.25], device="cuda"))
        compare(out, 0.125 * wanted)
