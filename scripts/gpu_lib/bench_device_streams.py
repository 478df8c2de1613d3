"""The measurements of `scripts/bench device` for kernels that stream memory with little arithmetic."""

from __future__ import annotations

from typing import Any

from gpu_lib.ab_timing import report_bandwidth
from ptxkit.build import Global, Kernel, b8, u64

GIB = 1 << 30


def saxpy_of_a_gib(torch: Any) -> None:
    """Compared with a copy that moves as many bytes."""
    from ptxkit.kernels import saxpy
    from ptxkit.kernels.saxpy import ctas

    x, y = (torch.randn(GIB // 4, device="cuda") for _ in range(2))
    wanted = torch.add(y, x, alpha=0.5)
    other, copied = torch.empty_like(y), torch.empty(3 * GIB // 2, dtype=torch.uint8, device="cuda")
    source = torch.randint_like(copied, 256)
    kernel, grid, count = saxpy(), ctas(y.numel()), y.numel()
    kernel[grid](x, y, 0.5, count)
    torch.testing.assert_close(y, wanted, rtol=0, atol=1e-6)
    mine = lambda: kernel[grid](x, y, -1e-3, count)  # noqa: E731
    rivals = {
        "driver's copy": lambda: copied.copy_(source),
        "torch": lambda: torch.add(y, x, alpha=1e-3, out=other),
    }
    report_bandwidth(torch, "saxpy, fp32, 1 GiB each", 3 * GIB, mine, rivals)


def sum_of_a_gib(torch: Any) -> None:
    """Compared with a kernel that only reads as many bytes, and a copy that moves as many."""
    from ptxkit.kernels import reduction
    from ptxkit.kernels.reduction import ctas

    source = torch.rand(GIB // 4, device="cuda")
    count, grid = source.numel(), ctas(source.numel())
    total, arrived = torch.zeros(1, device="cuda"), torch.zeros(1, device="cuda", dtype=torch.int32).view(torch.uint32)
    parts = torch.zeros(-(-grid // 4) * 4, device="cuda")
    kernel, reading = reduction(), _bulk_read()
    mine = lambda: kernel[grid](source, total, parts, arrived, count)  # noqa: E731
    bits = set()
    for _ in range(20):
        mine()
        bits.add(total.item())
    assert len(bits) == 1, "reduction gives other bits each time"
    torch.testing.assert_close(total[0].double(), source.double().sum(), rtol=1e-6, atol=0)
    half = torch.randint(256, (GIB // 2,), dtype=torch.uint8, device="cuda")
    other, read = torch.empty_like(half), source.view(torch.uint8)
    rivals = {
        "reading by bulk copies": lambda: reading[GIB // _PIECE](read, GIB),
        "driver's copy": lambda: other.copy_(half),
        "torch.sum": lambda: torch.sum(source),
    }
    report_bandwidth(torch, "sum, fp32, 1 GiB", GIB, mine, rivals)


def histogram_of_a_gib(torch: Any) -> None:
    """Measures 65,536 bins with evenly spread keys."""
    from ptxkit.kernels import cluster_histogram
    from ptxkit.kernels.cluster_histogram import BINS, ctas, room

    keys = torch.randint(BINS, (GIB // 4,), device="cuda", dtype=torch.int32)
    target = torch.zeros(BINS, device="cuda", dtype=torch.int32)
    kernel, seen, bins = cluster_histogram(), keys.view(torch.uint32), target.view(torch.uint32)
    grid = ctas(keys.numel(), room(torch.cuda.get_device_properties(0).multi_processor_count))

    def mine() -> None:
        target.zero_()
        kernel[grid](seen, bins, keys.numel())

    mine()
    assert torch.equal(target.long(), torch.bincount(keys, minlength=BINS)), "cluster_histogram is wrong"
    floats = keys.float()
    rivals = {
        "torch.bincount": lambda: torch.bincount(keys, minlength=BINS),
        "torch.histc": lambda: torch.histc(floats, bins=BINS, min=0, max=BINS - 1),
    }
    report_bandwidth(torch, "histogram, 65,536 bins, 1 GiB", GIB, mine, rivals)


def heat_in_rods(torch: Any) -> None:
    """Measures 64 steps; the figure is that of the bytes that a launch for each step would move."""
    from ptxkit.kernels import halo_exchange
    from ptxkit.kernels.halo_exchange import CLUSTER, ROD_ELEMENTS

    rods, steps = 2**26 // ROD_ELEMENTS, 64
    source = torch.randn(rods, ROD_ELEMENTS, device="cuda")
    target, other = torch.zeros_like(source), torch.empty_like(source)
    kernel = halo_exchange()
    weights = torch.tensor([[[0.25, 0.5, 0.25]]], device="cuda")

    def peer() -> Any:
        warm = source[:, None]
        for _ in range(steps):
            warm = torch.nn.functional.conv1d(torch.nn.functional.pad(warm, (1, 1), mode="replicate"), weights)
        return warm[:, 0]

    def copies() -> None:
        for _ in range(steps):
            other.copy_(source)

    mine = lambda: kernel[rods * CLUSTER](source, target, steps)  # noqa: E731
    mine()
    warm = source[:256]
    for _ in range(steps):
        beyond = torch.cat([warm[:, :1], warm, warm[:, -1:]], 1)
        warm = (beyond[:, :-2] + beyond[:, 2:]) * 0.25 + warm * 0.5
    assert torch.equal(target[:256], warm), "halo_exchange is wrong"
    rivals = {"driver's copy each step": copies, "torch, conv1d each step": peer}
    report_bandwidth(torch, f"heat, 64 steps, {rods} x {ROD_ELEMENTS}", 2 * source.numel() * 4 * steps, mine, rivals)


_PIECE = 8192


def _bulk_read() -> Kernel:
    """Returns a kernel that reads `bytes` bytes, a multiple of the piece, as fast as bulk copies do, and drops them."""
    k = Kernel("bulk_read", threads=32, target="sm_90")
    source = k.param(Global[b8], "source", align=16)
    size = k.param(u64, "bytes")
    piece, there = k.shared(b8, _PIECE, align=128, name="piece"), k.mbarrier("there")
    begin = k.ctaid.x.convert(u64) * _PIECE
    with k.thread_is(0), k.if_(begin < size):
        there.init(1)
        there.arrive_expect_tx(_PIECE)
        k.cp_async_bulk(piece, source[begin], _PIECE, there)
        there.wait(0)
    return k
