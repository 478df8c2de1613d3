"""RMSNorm, prefix sums and the radix sort on the GPU, compared with the driver's copy and PyTorch."""

from __future__ import annotations

from typing import Any

from gpu_lib.ab_timing import report_bandwidth

#: The rows and columns of a normalization, and the elements of a prefix sum or a sort.
ROWS, COLUMNS, ELEMENTS = 8192, 8192, 1 << 26
#: The largest norm of the difference of two results in bf16, relative to that of a result.
TOLERANCE = 4e-3


def rms_norms(torch: Any) -> None:
    """Measures bf16, without and with a residual."""
    from ptxkit.kernels import rms_norm
    from ptxkit.kernels.rms_norm import rms_norm_ctas

    source, residual = (torch.randn(ROWS, COLUMNS, device="cuda").bfloat16() for _ in range(2))
    weight = torch.randn(COLUMNS, device="cuda").bfloat16()
    target, both = torch.empty_like(source), torch.empty(2, ROWS, COLUMNS, device="cuda", dtype=torch.bfloat16)
    other, grid = torch.empty_like(both), rms_norm_ctas(COLUMNS, ROWS)
    plain, fused = rms_norm(COLUMNS), rms_norm(COLUMNS, residual=True)

    def peer(rows: Any) -> Any:
        return torch.nn.functional.rms_norm(rows, (COLUMNS,), weight, 1e-6)

    def check(wanted: Any) -> None:
        assert ((target - wanted).norm() / wanted.norm()).item() < TOLERANCE, "rms_norm is wrong"

    name, moved = f"RMSNorm, bf16 {ROWS} x {COLUMNS}", 2 * source.numel() * source.element_size()
    plain[grid](source, target, weight, ROWS)
    check(peer(source).float())
    rivals = {"driver's copy": lambda: other[0].copy_(source), "torch": lambda: peer(source)}
    report_bandwidth(torch, name, moved, lambda: plain[grid](source, target, weight, ROWS), rivals)

    wanted = peer(residual + source).float()
    fused[grid](source, target, weight, residual, ROWS)
    check(wanted)
    source.zero_()  # so that the residual does not grow from launch to launch
    rivals = {"driver's copy": lambda: other.copy_(both), "torch": lambda: peer(residual.add_(source))}
    mine = lambda: fused[grid](source, target, weight, residual, ROWS)  # noqa: E731
    report_bandwidth(torch, f"{name}, residual", 2 * moved, mine, rivals)


def prefix_sums(torch: Any) -> None:
    """Measures inclusive sums of fp32, whose bits are the same in each launch."""
    from ptxkit.kernels.cumulative_sum import CumulativeSum

    source = torch.rand(ELEMENTS, device="cuda")
    target, other = torch.empty_like(source), torch.empty_like(source)
    plan = CumulativeSum(ELEMENTS)
    mine = lambda: plan(source, target)  # noqa: E731
    mine()
    wanted = torch.cumsum(source.double(), 0)
    torch.testing.assert_close(target.double(), wanted, rtol=1e-5, atol=1e-2)
    del wanted
    first = target.clone()
    for _ in range(20):
        mine()
        assert torch.equal(first, target), "prefix_sum gives other bits each time"
    rivals = {"driver's copy": lambda: other.copy_(source), "torch.cumsum": lambda: torch.cumsum(source, 0, out=other)}
    report_bandwidth(torch, f"prefix sum, fp32 {ELEMENTS}", 2 * source.numel() * 4, mine, rivals)


def sorts(torch: Any) -> None:
    """Measures a whole sort of int32. `torch.sort` returns the indices, too; the figure is that of one copy."""
    from ptxkit.kernels.radix_sort import RadixSort

    source = torch.randint(-(1 << 31), (1 << 31) - 1, (ELEMENTS,), device="cuda", dtype=torch.int32)
    target, other = torch.empty_like(source), torch.empty_like(source)
    plan = RadixSort(ELEMENTS, element="s32")
    mine = lambda: plan(source, target)  # noqa: E731
    mine()
    assert torch.equal(target, torch.sort(source).values), "radix_sort is wrong"
    rivals = {"driver's copy": lambda: other.copy_(source), "torch.sort": lambda: torch.sort(source)}
    report_bandwidth(torch, f"radix sort, int32 {ELEMENTS}", 2 * source.numel() * 4, mine, rivals)
