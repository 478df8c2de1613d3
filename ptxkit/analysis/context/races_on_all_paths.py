"""Proves races of the warps of a CTA that data cannot prevent, although guesses precede them in each execution.

A launch executes two accesses, whatever its data, if data decide neither whether their instructions are executed nor
their addresses. A loop before them may have any number of rounds, if nothing in it may order the two. This is so if on
all paths the last instructions before both that may order threads are the same barriers of the whole CTA: what a thread
does after such a barrier, it does before the next one, and so does the other thread.

Source: PTX ISA, "Causality Order", "bar, barrier".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.values.scenario import Scenario
from ptxkit.isa.effects import Access, Barrier, Effect
from ptxkit.semantics.ordering import is_warp_barrier, sync_operation_of


class RacesOnAllPaths:
    """The races of one kernel that each launch with some arguments has, whatever its data."""

    def __init__(self, independence: InputIndependence) -> None:
        self._independence = independence
        self._barriers: dict[Step, frozenset[Step | None] | None] = {}

    @property
    def _program(self) -> Program:
        return self._independence.program

    def is_certain(self, race: Race, scenario: Scenario) -> bool:
        """Returns whether data neither decide that the accesses of a race are executed, nor may order them.

        Conditions of arguments that the scenario guessed must be the same for both accesses: others may exclude each
        other.
        """
        first, second = race.steps
        if race.is_intra_warp or race.completes_late:
            return False
        return (
            all(self._is_data_independent(step, effect) for step, effect in _accesses_of(race))
            and self._last_barriers(first) is not None
            and self._last_barriers(first) == self._last_barriers(second)
            and self._guessed_before(first, scenario) == self._guessed_before(second, scenario)
        )

    def _is_data_independent(self, step: Step, effect: Effect) -> bool:
        """Returns whether data decide neither whether an access is executed nor its address."""
        program, independence = self._program, self._independence
        if not program.is_fully_matched or not program.contains(step):
            return False
        if not isinstance(effect, Access) or effect.completion is not None or effect.proxy != "generic":
            return False
        address = step.operand(effect.address)
        return not independence.depends_on_data(step, address) and not (
            independence.depends_on_iterations(step, address)
            and independence.may_input_decide_iterations(step, address, given_block=True)
        )

    def _guessed_before(self, step: Step, scenario: Scenario) -> set[Step]:
        """Returns the last branches that decide whether a step is executed and whose conditions are not known."""
        guessed = set(scenario.branch_of_condition.values())
        return set(self._independence.last_deciding_steps(step, guessed))

    def _last_barriers(self, step: Step) -> frozenset[Step | None] | None:
        """Returns the barriers that may be the last instructions before a step that order threads.

        The start of the kernel is represented by None. The result is None if other instructions may be the last ones.
        """
        if step not in self._barriers:
            found = frozenset(self._last_ordering_steps(step))
            self._barriers[step] = found if all(each is None or _is_cta_barrier(each) for each in found) else None
        return self._barriers[step]

    def _last_ordering_steps(self, step: Step) -> Iterator[Step | None]:
        flow = self._program.analysis(ControlFlowGraph)
        own = flow.block_of(step)
        paths: list[tuple[int, Sequence[Step]]] = [
            (own, [each for each in flow.steps_of_block(own) if each.index < step.index])
        ]
        blocks = Worklist[int](())
        while paths:
            block, steps = paths.pop()
            last = next(filter(_may_order, reversed(steps)), None)
            if last is not None or block == 0:
                yield last
            blocks.add(flow.predecessors[block] if last is None else ())
            paths += [(each, flow.steps_of_block(each)) for each in blocks]


def is_for_all_sizes(kernel: KernelFacts, race: Race) -> bool:
    """Returns whether no number among the arguments decides the addresses of a race, or all samples show it.

    One sample may be an argument that the kernel does not allow, such as a stride that is shorter than a row.
    """
    pointers, dependence = kernel.explorer.pointers, kernel.explorer.input_independence.dependence
    operands = [
        (event.step, event.step.operand(event.effect.address))
        for event in (race.write.event, race.read.event)
        if isinstance(event.effect, Access)
    ]
    is_own = all(kernel.program.contains(step) for step, _ in operands)
    if is_own and not any(dependence.depends_on_numbers(*each, pointers) for each in operands):
        return True
    shown = {
        number: any(each.steps == race.steps for each in races)
        for number, (facts, races) in kernel.global_races.items()
        if set(race.steps) <= set().union(*(group.covered_steps for group in facts.groups))
    }
    return all(shown.values()) and sum(kernel.scenarios[each].scenario.sample_count for each in shown) > 1


def _accesses_of(race: Race) -> list[tuple[Step, Effect]]:
    return [(each.event.step, each.event.effect) for each in (race.write, race.read)]


def _may_order(step: Step) -> bool:
    """Returns whether a step may order accesses of threads of different warps."""
    return step.is_opaque_call or any(map(_orders, step.effects))


def _orders(effect: Effect) -> bool:
    if isinstance(effect, Access):
        return effect.order != "weak"
    return not is_warp_barrier(effect) and sync_operation_of(effect) is not None


def _is_cta_barrier(step: Step) -> bool:
    """Returns whether a step certainly is a barrier of all threads of the CTA."""
    return step.instruction.guard is None and any(
        isinstance(effect, Barrier)
        and (effect.level, effect.action, effect.order, effect.threads) == ("cta", "sync", "acq_rel", None)
        for effect in step.effects
    )
