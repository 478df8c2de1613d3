"""A launch that declares what was assumed executes nothing again, and is checked as if it did."""

from __future__ import annotations

import pytest

from ptxkit.analysis.symexec import explorer as explorers
from ptxkit.analysis.symexec.exploration import Exploration, execute_all
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.group_state import GroupState
from ptxkit.analysis.values.scenario import SAMPLES, Scenario
from tests.analysis.support import explorer_of, module_of

#: Two variables, of which the threads above the first half access the second one through the address of the first.
DATA = ".shared .align 16 .b8 first[256]; .shared .align 16 .b8 second[256];"
APART = "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, first; add.u32 %r3, %r3, %r2; st.shared.b32 [%r3], %r1;"


@pytest.fixture
def scenarios(monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """The scenarios of the CTAs that are executed."""
    found: list[Scenario] = []

    def count(group: GroupState, budget: int) -> tuple[Exploration, int]:
        found.append(group.scenario)
        return execute_all(group, budget)

    monkeypatch.setattr(explorers, "execute_all", count)
    return found


def declare_block(given: Explorer, threads: int, *, is_fresh: bool = False) -> Explorer:
    """Explores the kernel as if it declared its number of threads. is_fresh: without what was executed before."""
    program = given.program.with_function(given.program.function.with_directive("reqntid", (threads, 1, 1)))
    found = Explorer(program, given=None if is_fresh else given)
    found.run()
    return found


def violations(explorer: Explorer) -> list[dict[tuple[int, str], tuple[str, bool]]]:
    return [
        {(step.index, place): (each.kind, each.is_in_every_launch) for (step, place), each in found.items()}
        for exploration in explorer.explorations
        for found in (group.operand_violations for group in exploration.groups)
    ]


def test_a_launch_that_declares_the_assumed_block_executes_nothing_again(scenarios: list[Scenario]) -> None:
    given = explorer_of(module_of("mov.u32 %r1, %ntid.x; bar.sync 0;"))
    assert scenarios
    scenarios.clear()
    again = declare_block(given, given.launch.threads)
    assert not scenarios
    assert [each.scenario.launch.is_exact for each in again.explorations] == [True] * len(given.explorations)
    assert declare_block(given, 2 * given.launch.threads).explorations
    assert scenarios


def test_steps_that_are_not_executed_again_count() -> None:
    given = explorer_of(module_of("mov.u32 %r1, %ntid.x; bar.sync 0;"))
    again, fresh = (declare_block(given, given.launch.threads, is_fresh=each) for each in (False, True))
    assert again.budget.steps == fresh.budget.steps


@pytest.mark.parametrize(
    "body", [APART, "mov.u32 %r1, %tid.x; st.shared.b32 [first + 254], %r1;", "bar.warp.sync 0x0000000f;"]
)
def test_operands_are_checked_as_in_a_new_execution(body: str) -> None:
    given = explorer_of(module_of(DATA + body))
    again, fresh = (declare_block(given, given.launch.threads, is_fresh=each) for each in (False, True))
    assert violations(again) == violations(fresh) != [{}]


def test_threads_that_every_launch_has_are_those_of_the_declared_block() -> None:
    given = explorer_of(module_of(DATA + APART))
    assert violations(declare_block(given, given.launch.threads)) != violations(given)


def test_the_ctas_of_a_cluster_are_executed_once_with_their_accesses_to_global_memory(
    scenarios: list[Scenario],
) -> None:
    bounds = ".reqntid 32 .explicitcluster .reqnctapercluster 2, 1, 1"
    given = explorer_of(module_of("bar.sync 0;", bounds=bounds))
    scenarios.clear()
    first, second = (given.execute_outside(each.scenario, 0, 0) for each in given.explorations)
    assert first is second
    assert [(each.rank, each.sample) for each in scenarios] == [(0, SAMPLES[0]), (1, SAMPLES[0])]
