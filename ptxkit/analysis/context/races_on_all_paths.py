"""Proves races of the threads of a CTA that data cannot prevent, although guesses precede them in each execution.

A launch executes two accesses, whatever its data, if data decide neither whether their instructions are executed nor
their addresses. A loop before them may have any number of rounds, if nothing in it may order the two. This is so if on
all paths the last barriers before both are the same ones of the whole CTA: what a thread does after such a barrier, it
does before the next one, and so does the other thread. It is also so if data decide about no barrier: each execution
then has the same ones as the examined one. Between two barriers, flags in memory order nothing if no thread may release
after one access, or none may acquire before the other one.

Conditions of loaded data may lead threads to both accesses, and one of them to one access only, such as a comparison
before an exchange. The race then depends on them. Different conditions for the two may exclude each other.

Source: PTX ISA, "Causality Order", "bar, barrier".
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from ptxkit.analysis.cfg.last_steps import last_steps_before, next_steps_after
from ptxkit.analysis.context.access_instances import AccessInstance
from ptxkit.analysis.context.global_memory_facts import find_global_races
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.memory_signals import SignalSteps
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.sync.warp_convergence import is_collective_step
from ptxkit.analysis.values.scenario import Scenario
from ptxkit.isa.effects import Access, Barrier, Effect
from ptxkit.semantics.ordering import is_cta_barrier, is_warp_barrier, sync_operation_of


class RacesOnAllPaths:
    """The races of one kernel that each launch with some arguments has, whatever its data, or with some data."""

    def __init__(self, kernel: KernelFacts) -> None:
        self._independence = kernel.explorer.input_independence
        self._barriers: dict[tuple[Step, bool], frozenset[Step | None] | None] = {}

    @property
    def _program(self) -> Program:
        return self._independence.program

    def is_certain(self, race: Race, scenario: Scenario) -> bool:
        """Returns whether some input certainly leads to a race, in the examined execution or any variant."""
        return self.conditions_of(race, scenario) == []

    def conditions_of(self, race: Race, scenario: Scenario) -> list[Step] | None:
        """Returns the last step whose condition data must satisfy for a race, in a list; empty if data decide nothing.

        The result is None if more than that may prevent the race, or arguments that were chosen for it. Conditions of
        arguments that the scenario guessed must be the same for both accesses: others may exclude each other.
        """
        if race.is_certain:
            return []
        if race.completes_late or scenario.is_input_trial or not self._program.is_fully_matched:
            return None
        guessed = set(scenario.branch_of_condition.values())
        write, read = (
            self._conditions_of_access(each.event.step, each.event.effect, guessed) for each in (race.write, race.read)
        )
        if write is None or read is None or (write != read and len(write + read) > 1):
            return None
        found = write or read
        others = guessed.difference(found)
        first, second = (set(self._independence.last_deciding_steps(step, others)) for step in race.steps)
        if first != second:
            return None
        if self._may_signal(race.write, race.read) or self._may_signal(race.read, race.write):
            return None
        return found[:1] if self._have_same_barriers(race) or self._is_order_fixed(race, others - first) else None

    def _conditions_of_access(self, step: Step, effect: Effect, guessed: Collection[Step]) -> list[Step] | None:
        """Returns the steps whose conditions of loaded data lead to an access, the last one first; None if more decides
        it, or its address.
        """
        if not self._program.contains(step) or not isinstance(effect, Access):
            return None
        address, independence = step.operand(effect.address), self._independence
        if effect.via != "address" or independence.may_data_decide_iterations(step, address):
            return None
        if not independence.depends_on_data(step, address):
            return []
        for each in independence.last_deciding_steps(step, guessed):
            if not independence.depends_on_data(step, address, settled={each}.__contains__):
                return [each] if independence.depends_on_loaded_data(each) else None
        conditions = dict.fromkeys(each for each, _ in independence.deciding_operands(step, set()))
        if step.instruction.guard is None:
            conditions.pop(step)
        loaded = [each for each in conditions if independence.depends_on_loaded_data(each)]
        return None if independence.depends_on_data(step, address, settled=loaded.__contains__) else loaded

    def _have_same_barriers(self, race: Race) -> bool:
        """Returns whether the same barriers are the last ordering instructions before both accesses."""
        first, second = (self._last_barriers(step, race.is_intra_warp) for step in race.steps)
        return first is not None and first == second

    def _may_signal(self, first: AccessInstance, second: AccessInstance) -> bool:
        """Returns whether accesses to memory may order an access before another one between two barriers of the CTA.

        The first one is released, by its thread or by its completion, and a thread acquires before the second one.
        """
        effect, program = first.event.effect, self._program
        signals = program.analysis(SignalSteps)
        released = next_steps_after(
            program, first.event.step, lambda step: _is_barrier(step) or step in signals.releases
        )
        acquired = last_steps_before(
            program, second.event.step, lambda step: _is_barrier(step) or step in signals.acquires
        )
        return (
            (isinstance(effect, Access) and effect.completion not in (None, "cp.async", "bulk"))
            or any(each is not None and not _is_cta_barrier(each) for each in released)
        ) and any(each is not None and not _is_cta_barrier(each) for each in acquired)

    def _is_order_fixed(self, race: Race, guessed: Collection[Step]) -> bool:
        """Returns whether each execution has the same barriers of the CTA, and no other ones.

        guessed: the branches whose conditions of arguments are guesses, and which decide neither access.
        """
        independence = self._independence
        ordering = [step for step in self._program.steps if _is_barrier(step, of_warp=race.is_intra_warp)]
        return all(
            (_is_cta_barrier(step) or is_collective_step(step))
            and not independence.depends_on_data(step, None)
            and not any(independence.last_deciding_steps(step, guessed))
            for step in ordering
        )

    def _last_barriers(self, step: Step, of_warp: bool) -> frozenset[Step | None] | None:
        """Returns the barriers that may be the last instructions before a step that order threads.

        The start of the kernel is represented by None. The result is None if other instructions may be the last ones.
        """
        key = step, of_warp
        if key not in self._barriers:
            may_order = partial(_is_barrier, of_warp=of_warp)
            found = frozenset(last_steps_before(self._program, step, may_order))
            self._barriers[key] = found if all(each is None or _is_cta_barrier(each) for each in found) else None
        return self._barriers[key]


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
        for number, (facts, races) in kernel.analysis(find_global_races).items()
        if set(race.steps) <= set().union(*(group.covered_steps for group in facts.groups))
    }
    return all(shown.values()) and sum(kernel.scenarios[each].scenario.sample_count for each in shown) > 1


def _is_barrier(step: Step, *, of_warp: bool = False) -> bool:
    """Returns whether a step may order threads other than by memory. of_warp: whether they may be of one warp."""
    if step.is_opaque_call or (of_warp and is_collective_step(step)):
        return True
    return any(not is_warp_barrier(effect) and sync_operation_of(effect) is not None for effect in step.effects)


def _is_cta_barrier(step: Step) -> bool:
    """Returns whether a step certainly is a barrier of all threads of the CTA."""
    return step.instruction.guard is None and any(
        isinstance(effect, Barrier) and is_cta_barrier(effect) and effect.order == "acq_rel" for effect in step.effects
    )
