"""Registers of threads: the promises of directives, and the values that threads set."""

from __future__ import annotations

import pytest

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.registers.setmaxnreg_counts import (
    has_setmaxnreg,
    max_initial_registers,
    may_synchronize_between,
    setmaxnreg_executions_of,
)
from tests.analysis.support import kernel_of, module_of, program_of

START = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 128;"
DOWN, UP = "setmaxnreg.dec.sync.aligned.u32", "setmaxnreg.inc.sync.aligned.u32"
THREE = ".reqntid 384, 1, 1\n.minnctapersm 1"


def scenario_of(*lines: str, bounds: str = THREE) -> ScenarioFacts:
    return kernel_of(module_of(START + "".join(lines), bounds=bounds)).scenarios[0]


@pytest.mark.parametrize(
    ("bounds", "threads", "most"),
    [
        (".reqntid 384, 1, 1\n.minnctapersm 1", 384, 168),
        (".maxntid 256, 1, 1\n.minnctapersm 2", 256, 128),
        (".maxntid 128, 1, 1\n.minnctapersm 1", 128, 256),
        (".maxnreg 100", 128, 104),
        (".reqntid 384, 1, 1", 384, None),
        (".minnctapersm 1", 128, None),
        ("", 128, None),
    ],
)
def test_directives_limit_the_registers_of_a_thread(bounds: str, threads: int, most: int | None) -> None:
    assert max_initial_registers(program_of(module_of("", bounds=bounds)), threads) == most


def test_a_kernel_sets_registers_or_does_not() -> None:
    assert has_setmaxnreg(program_of(module_of(f"{DOWN} 40;")))
    assert not has_setmaxnreg(program_of(module_of("bar.sync 0;")))


def test_settings_are_in_order_each_with_the_one_before() -> None:
    first, second = setmaxnreg_executions_of(scenario_of(f"{DOWN} 40;", "bar.sync 0;", f"{UP} 80;").threads[0])
    assert (first.count, first.is_increase, first.previous) == (40, False, None)
    assert (second.count, second.is_increase, second.previous) == (80, True, first)


@pytest.mark.parametrize(("between", "meets"), [("bar.sync 1, 128;", True), ("bar.warp.sync -1;", False), ("", False)])
def test_a_warpgroup_synchronizes_at_barriers_of_more_than_a_warp(between: str, meets: bool) -> None:
    thread = scenario_of(f"@%p1 {DOWN} 40;", f"@%p1 {between}" if between else "", f"@%p1 {UP} 80;").threads[0]
    first, second = setmaxnreg_executions_of(thread)
    assert may_synchronize_between(thread, first.position, second.position) is meets
