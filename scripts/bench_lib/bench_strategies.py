"""`scripts/bench strategies`: the examples per second of each strategy, as Hypothesis draws them.

Examples that have a text are printed. Seconds are processor time of one process; the table is read before the
measurement. No health check of Hypothesis is suppressed, so a strategy that is too slow, or throws too much away, ends
the run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis.strategies import SearchStrategy

from ptxkit.testing import strategies

MIN_KERNELS_PER_SECOND = 100
"""Small kernels per second."""

KERNEL = """.version 8.7
.target sm_90a
.visible .entry kernel(.param .u64 to, .param .f32 factor, .param .u32 count) { ret; }
"""


def bench_strategies(examples: int) -> int:
    """Prints a line for each strategy. Returns 1 if one that makes kernels makes fewer than MIN_KERNELS_PER_SECOND."""
    print(f"examples a second of processor time, each with its text, {examples} of each; all health checks on")
    slow = False
    for name, strategy, makes_kernels in _strategies():
        _examples_per_second(strategy, 5)  # fills caches
        rate = _examples_per_second(strategy, examples)
        is_slow = makes_kernels and rate < MIN_KERNELS_PER_SECOND
        slow |= is_slow
        print(f"{name:32} {rate:8.0f}{f'   fewer than {MIN_KERNELS_PER_SECOND}' if is_slow else ''}")
    return int(slow)


def _strategies() -> Iterator[tuple[str, SearchStrategy[Any], bool]]:
    """Yields the name, the strategy, and whether its examples are whole kernels."""
    yield "instructions()", strategies.instructions(), False
    yield "instructions(valid=False)", strategies.instructions(valid=False), False
    yield "operands('u32')", strategies.operands("u32"), False
    yield "addresses('shared')", strategies.addresses("shared"), False
    yield "modules()", strategies.modules(), False
    yield "launches(...)", strategies.launches(KERNEL), False
    yield "arrays('f32', 32)", strategies.arrays("f32", 32), False
    yield "kernels(statements=4)", strategies.kernels(statements=4), True
    yield "kernels()", strategies.kernels(), False
    yield "pipelines()", strategies.pipelines(), True
    yield "broken(pipelines())", strategies.broken(strategies.pipelines()), True
    yield "litmus()", strategies.litmus(), True


def _examples_per_second(strategy: SearchStrategy[Any], count: int) -> float:
    """Returns examples per second."""
    made = 0

    @settings(max_examples=count, phases=[Phase.generate], database=None, deadline=None, suppress_health_check=())
    @given(strategy)
    def make(example: Any) -> None:
        nonlocal made
        write = getattr(example, "module", None)
        made += bool(write() if write is not None else repr(example))

    began = time.process_time()
    make()
    return made / (time.process_time() - began)
