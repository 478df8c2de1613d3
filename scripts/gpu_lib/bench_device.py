"""`scripts/bench device`: the project's kernels on this machine's GPU, compared with the driver, PyTorch and
`cuda.core`.

Rivals take turns in one run, since clocks drift; each figure is the median of many turns on new random data, and every
result is checked first. PyTorch makes the data and the events; if it or a GPU is missing, a message is printed.
"""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from bench_lib.bench_build import bench_build

from gpu_lib.ab_timing import LAUNCHES_PER_SAMPLE, SAMPLES, Call, report_bandwidth, report_throughput
from gpu_lib.bench_device_attention import attention
from gpu_lib.bench_device_scans import prefix_sums, rms_norms, sorts
from gpu_lib.bench_device_streams import heat_in_rods, histogram_of_a_gib, saxpy_of_a_gib, sum_of_a_gib


def bench_device(kernel: str | None = None) -> int:
    """Prints all figures, or those of one kernel. Returns 2 if there is no GPU or no PyTorch."""
    from ptxkit.device import NoDeviceError, use_device

    chosen = {name: measures for name, measures in _MEASURES.items() if kernel in (None, name)}
    if not chosen:
        print(f"there is no measurement of {kernel}; choose one of {', '.join(_MEASURES)}")
        return 2
    try:
        use_device()
        torch = importlib.import_module("torch")
    except (NoDeviceError, ImportError) as error:
        print(f"nothing is measured: {error}")
        return 2
    print(
        f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; median of {SAMPLES} turns of "
        f"{LAUNCHES_PER_SAMPLE}"
    )
    print(f"{'kernel':34} {'ms':>9} {'per s':>7}  compared with; gigabytes a second, or TFLOP/s of matrices")
    for measures in chosen.values():
        for measure in measures:
            measure(torch)
    return bench_build() if kernel is None else 0


def _copy(torch: Any) -> None:
    from ptxkit.kernels import bulk_copy
    from ptxkit.kernels.bulk_copy import pieces

    source = torch.randint(-128, 128, (1 << 33,), dtype=torch.int8, device="cuda").view(torch.uint8)
    target, other = torch.zeros_like(source), torch.zeros_like(source)
    kernel = bulk_copy()
    mine = lambda: kernel[pieces(source.numel())](source, target, source.numel())  # noqa: E731
    mine()
    assert torch.equal(source, target), "bulk_copy is wrong"
    report_bandwidth(
        torch, "bulk copy, 8 GiB", 2 * source.numel(), mine, {"driver's copy": lambda: other.copy_(source)}
    )


def _transpose(torch: Any) -> None:
    from ptxkit.device import TensorMap
    from ptxkit.kernels import transpose
    from ptxkit.kernels.transpose import tiles

    source = torch.randn(16384, 16384, device="cuda")
    target, other = torch.zeros_like(source), torch.zeros_like(source)
    maps = [TensorMap.tiled(each, box=(32, 64), swizzle=128) for each in (source, target)]
    kernel = transpose()
    grid = tiles(16384, 16384)
    mine = lambda: kernel[grid](*maps, 16384)  # noqa: E731
    mine()
    assert torch.equal(source.t(), target), "transpose is wrong"
    rivals = {"driver's copy": lambda: other.copy_(source), "torch": lambda: source.t().contiguous()}
    report_bandwidth(torch, "transpose, fp32 16384 x 16384", 2 * source.numel() * 4, mine, rivals)


def _softmax(torch: Any) -> None:
    from ptxkit.kernels import row_softmax

    source = torch.randn(8192, 8192, device="cuda")
    target, other = torch.zeros_like(source), torch.zeros_like(source)
    kernel = row_softmax(8192)
    mine = lambda: kernel[8192](source, target)  # noqa: E731
    mine()
    torch.testing.assert_close(target, torch.softmax(source, 1), rtol=1e-5, atol=1e-8)
    rivals = {"driver's copy": lambda: other.copy_(source), "torch": lambda: torch.softmax(source, 1)}
    report_bandwidth(torch, "softmax, fp32 8192 x 8192", 2 * source.numel() * 4, mine, rivals)


def _layer_norm(torch: Any) -> None:
    from ptxkit.kernels import layer_norm

    source = torch.randn(8192, 8192, device="cuda")
    gain, bias = torch.randn(8192, device="cuda"), torch.randn(8192, device="cuda")
    target, other = torch.zeros_like(source), torch.zeros_like(source)
    kernel = layer_norm(8192)
    peer = lambda: torch.nn.functional.layer_norm(source, (8192,), gain, bias)  # noqa: E731
    mine = lambda: kernel[8192](source, target, gain, bias)  # noqa: E731
    mine()
    torch.testing.assert_close(target, peer(), rtol=1e-4, atol=1e-5)
    rivals = {"driver's copy": lambda: other.copy_(source), "torch": peer}
    report_bandwidth(torch, "layer norm, fp32 8192 x 8192", 2 * source.numel() * 4, mine, rivals)


def _gemm(torch: Any, size: int) -> None:
    """Measures bf16, B as [N, K] and as [K, N]; every element is compared with fp32 of cuBLAS."""
    from ptxkit.kernels.matmul import Matmul

    a = torch.randn(size, size, device="cuda").bfloat16()
    packed = torch.randn(size, size, device="cuda").bfloat16()
    out, other = torch.empty_like(a), torch.empty_like(a)
    for name, b in (("[N, K]", packed.t()), ("[K, N]", packed)):
        plan = Matmul(size, size, size, by_columns=b is packed)
        maps = plan.maps(a, b, out)
        mine = lambda plan=plan, maps=maps: plan.launch(maps)  # noqa: E731
        mine()
        wanted = a.float() @ b.float()
        assert ((out - wanted).norm() / wanted.norm()).item() < 3e-3, "gemm is wrong"
        del wanted
        rivals = {"torch.matmul": lambda b=b: torch.matmul(a, b, out=other)}
        report_throughput(torch, f"bf16 GEMM, {size}, B {name}", 2 * size**3, mine, rivals)


def _gemm_of_bytes(torch: Any, size: int, *, precise: bool = False) -> None:
    """Measures e4m3, compared with `torch._scaled_mm`, which promotes sums to fp32 at intervals unless fast
    accumulation is allowed.

    precise: the kernel promotes sums, too, which data of one sign verifies, because lost bits would accumulate.
    """
    from ptxkit.kernels.matmul import Matmul

    draw = torch.rand if precise else torch.randn
    a, b = (draw(size, size, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    scales = [torch.tensor([value], device="cuda") for value in (0.5, 0.25)]
    out = torch.empty(size, size, device="cuda", dtype=torch.bfloat16)
    other = torch.empty_like(out)
    plan = Matmul(size, size, size, element="e4m3", precise=precise)
    maps = plan.maps(a.view(torch.uint8), b.view(torch.uint8).t(), out)
    mine = lambda: plan.launch(maps, *scales)  # noqa: E731
    mine()
    wanted = 0.125 * (a.float() @ b.float().t())
    assert ((out - wanted).norm() / wanted.norm()).item() < 4e-3, "gemm of e4m3 is wrong"
    del wanted

    def peer(fast: bool) -> Call:
        named = {"scale_a": scales[0], "scale_b": scales[1], "out_dtype": torch.bfloat16, "use_fast_accum": fast}
        return lambda: torch._scaled_mm(a, b.t(), **named, out=other)

    rivals = {"torch._scaled_mm": peer(False), "the same, fast": peer(True)}
    report_throughput(torch, f"e4m3 GEMM, {size}{', precise' if precise else ''}", 2 * size**3, mine, rivals)


def _launches(torch: Any) -> None:
    """Measures the host's cost of a launch, compared with a bare launch of `cuda.core`."""
    from ptxkit.device import load
    from ptxkit.device.cuda_libraries import import_cuda_core
    from ptxkit.kernels import async_copy

    numpy = importlib.import_module("numpy")
    module = import_cuda_core()
    kernel, loaded = async_copy(), load(async_copy())
    source, target = torch.zeros(512, device="cuda"), torch.zeros(512, device="cuda")
    stream = module.Device().create_stream()
    config = module.LaunchConfig(grid=1, block=128)
    addresses = source.data_ptr(), target.data_ptr()

    def bare() -> None:
        module.launch(stream, config, loaded.kernel, *addresses, numpy.uint32(0))

    calls: dict[str, Call] = {
        "kernel[grid](...)": lambda: kernel[1](source, target, 0),
        "loaded.launch(stream, ...)": lambda: loaded.launch(stream, source, target, 0, grid=1),
        "cuda.core.launch": bare,
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(SAMPLES):
        for name, call in calls.items():
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(100):
                call()
            times[name].append((time.perf_counter() - begin) / 100)
    peer = statistics.median(times["cuda.core.launch"])
    for name, each in times.items():
        own = statistics.median(each)
        print(f"{name:34} {own * 1e6:9.1f} us on the host, {own / peer:.2f} of a bare one")


_MEASURES: dict[str, tuple[Callable[[Any], None], ...]] = {
    "copy": (_copy,),
    "transpose": (_transpose,),
    "softmax": (_softmax,),
    "layer_norm": (_layer_norm,),
    "rms_norm": (rms_norms,),
    "prefix_sum": (prefix_sums,),
    "radix_sort": (sorts,),
    "streams": (saxpy_of_a_gib, sum_of_a_gib, histogram_of_a_gib, heat_in_rods),
    "gemm": (
        partial(_gemm, size=8192),
        partial(_gemm, size=4096),
        partial(_gemm_of_bytes, size=8192),
        partial(_gemm_of_bytes, size=8192, precise=True),
    ),
    "attention": (attention,),
    "launches": (_launches,),
}
"""The measurements, by the name of the kernel that selects them."""
