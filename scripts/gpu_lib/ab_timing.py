"""Interleaved timing of rivals on the GPU, since its clocks drift; each figure is the median of many turns."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

#: The turns of each rival, and the launches of one turn.
SAMPLES, LAUNCHES_PER_SAMPLE = 25, 4

Call = Callable[[], Any]


def report_bandwidth(torch: Any, name: str, moved: int, mine: Call, rivals: dict[str, Call]) -> None:
    """Prints milliseconds, GB/s for `moved` bytes, and the ratio of each rival's time."""
    _report(torch, name, moved / 1e6, mine, rivals)


def report_throughput(torch: Any, name: str, operations: int, mine: Call, rivals: dict[str, Call]) -> None:
    """Prints the same with TFLOP/s for `operations` operations."""
    _report(torch, name, operations / 1e9, mine, rivals)


def _report(torch: Any, name: str, amount: float, mine: Call, rivals: dict[str, Call]) -> None:
    times = time_interleaved(torch, {"": mine, **rivals})
    own = times.pop("")
    ratios = ", ".join(f"{time / own:.3f} of {rival}" for rival, time in times.items())
    print(f"{name:34} {own:9.4f} {amount / own:7.0f}  {ratios}", flush=True)


def time_interleaved(torch: Any, calls: dict[str, Call]) -> dict[str, float]:
    """Returns the median milliseconds of one launch of each."""
    for call in calls.values():
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    taken: dict[str, list[tuple[Any, Any]]] = {name: [] for name in calls}
    for _ in range(SAMPLES):
        for name, call in calls.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(LAUNCHES_PER_SAMPLE):
                call()
            end.record()
            taken[name].append((begin, end))
    torch.cuda.synchronize()
    return {
        name: statistics.median(begin.elapsed_time(end) / LAUNCHES_PER_SAMPLE for begin, end in pairs)
        for name, pairs in taken.items()
    }
