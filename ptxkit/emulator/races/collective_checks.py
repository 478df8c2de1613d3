"""Checks of instructions that all threads of a warp or warpgroup must execute, and of their register counts.

The executions of a CTA's threads are compared when all of them have exited, and their register counts whenever all
threads have synchronized.

Source: PTX ISA, "Warpgroup", "wgmma.fence", "setmaxnreg", "Performance-Tuning Directives", "tcgen05.alloc,
tcgen05.dealloc, tcgen05.relinquish_alloc_permit", "tcgen05.ld", "tcgen05.st", "tcgen05.wait".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics import DiagnosticCode, Message
from ptxkit.diagnostics.catalogue import ptx3xx, ptx6xx, ptx7xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.lane_set import WARPGROUP_SIZE
from ptxkit.emulator.limits import MAX_CTA_REGISTERS, MAX_REGISTERS
from ptxkit.emulator.sync.async_operation import WGMMA
from ptxkit.emulator.threads.machine_observer import MachineObserver
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import (
    AsyncRegisters,
    CommitGroup,
    Effect,
    RegisterCount,
    RegisterFence,
    TensorMemory,
    WaitGroup,
)
from ptxkit.isa.expressions import ConstantExpr, OperandRole
from ptxkit.isa.forms import Match
from ptxkit.syntax.constants import WARP_SIZE, directive_constants, evaluate
from ptxkit.syntax.launch_extents import BLOCK_DIRECTIVES, launch_extents
from ptxkit.syntax.tree import Directive, Function, Instruction

if TYPE_CHECKING:
    from ptxkit.emulator.sync.named_barrier import BarrierPhase
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode
    from ptxkit.emulator.threads.thread_groups import Signal, Step, ThreadGroup


_REGISTER_GRANULE = 8
"""The number of registers of a thread is a multiple of this."""


def counted_step(step: Step, instruction: Instruction, match: Match) -> Step:
    """Wraps a step to count its executions if all threads of a warpgroup must execute it."""
    setting = next((each for each in match.effects if isinstance(each, RegisterCount)), None)
    if setting is not None:
        return _count_register_setting(step, setting.action == "increase", _register_count(setting, instruction, match))
    team = next((found for each in match.effects if (found := _team_of(each)) is not None), None)
    return step if team is None else _count_execution(step, team)


def _team_of(effect: Effect) -> CollectiveTeam | None:
    """Returns the team of threads that must execute an instruction with this effect together."""
    if isinstance(effect, TensorMemory):
        return _TMEM_ALLOC_TEAM
    if isinstance(effect, AsyncRegisters | RegisterFence | CommitGroup | WaitGroup):
        return {WGMMA: _WGMMA_TEAM, "tcgen05.ld": _TMEM_ACCESS_TEAM, "tcgen05.st": _TMEM_ACCESS_TEAM}.get(effect.group)
    return None


def _register_count(setting: RegisterCount, instruction: Instruction, match: Match) -> int:
    if isinstance(setting.count, OperandRole):
        operand = match.operand(setting.count.name, instruction)
        return (evaluate(operand) or 0) if operand is not None else 0
    return int(setting.count.value or 0) if isinstance(setting.count, ConstantExpr) else 0


def _count_execution(step: Step, team: CollectiveTeam) -> Step:
    def run(group: ThreadGroup) -> Signal | None:
        signal = step(group)
        if signal is None and group.cta.machine.observer.is_checking:
            group.cta.machine.observer.on_collective(group, team)
        return signal

    return run


def _count_register_setting(step: Step, increases: bool, wanted: int) -> Step:
    def run(group: ThreadGroup) -> Signal | None:
        if group.cta.machine.observer.is_checking:
            group.cta.machine.observer.on_register_count(group, wanted, increases)
        return step(group)

    return run


def _location_of(group: ThreadGroup) -> tuple[FunctionCode, int]:
    return group.activation.function, group.pc


class _ExecutionCounts(dict[tuple["FunctionCode", int], Any]):
    """The number of executions of an instruction by each thread, by the position of the instruction."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self._threads = threads

    def __missing__(self, place: tuple[FunctionCode, int]) -> Any:
        found = self[place] = numpy.zeros(self._threads, numpy.int64)
        return found


@dataclass(frozen=True, slots=True)
class CollectiveTeam:
    """A kind of thread group that executes an instruction together, and the rule that requires it."""

    size: int
    rule: DiagnosticCode
    name: str


_WGMMA_TEAM = CollectiveTeam(WARPGROUP_SIZE, ptx3xx.PARTIAL_WARPGROUP, "a warpgroup")
_TMEM_ACCESS_TEAM, _TMEM_ALLOC_TEAM = (
    CollectiveTeam(WARP_SIZE, ptx7xx.TENSOR_LANES, "a warp"),
    CollectiveTeam(WARP_SIZE, ptx7xx.TENSOR_ALLOCATION, "a warp"),
)


class CollectiveChecks(MachineObserver):
    """Checks the collective instructions of each CTA."""

    def __init__(self) -> None:
        self._trackers: dict[CtaState, CollectiveTracker] = {}

    def _tracker_of(self, cta: CtaState) -> CollectiveTracker:
        found = self._trackers.get(cta)
        if found is None:
            found = self._trackers[cta] = CollectiveTracker(cta)
        return found

    def on_collective(self, group: ThreadGroup, team: CollectiveTeam) -> None:
        """Threads have executed an instruction that all threads of a team execute together."""
        tracker, place = self._tracker_of(group.cta), _location_of(group)
        tracker.execution_counts[place][group.lanes.index] += 1
        tracker.teams[place] = team

    def on_register_count(self, group: ThreadGroup, count: int, increases: bool) -> None:
        """Threads are about to set their register count."""
        self._tracker_of(group.cta).set_registers(group, increases, count)

    def on_barrier_complete(self, cta: CtaState, phase: BarrierPhase) -> None:
        """A barrier has completed: if it joins all threads, the sum of their register counts must suffice."""
        if cta in self._trackers and phase.all_arrivals_wait and phase.includes_all_threads:
            self._trackers[cta].check_register_total()

    def on_barrier_pass(self, group: ThreadGroup, phase: Any) -> None:
        """Threads continue after a barrier."""
        self._note_synchronization(group, group.lanes.index)

    def on_cluster_barrier_pass(self, group: ThreadGroup, phase: Any) -> None:
        """Threads continue after the barrier of their cluster."""
        self._note_synchronization(group, group.lanes.index)

    def on_phase_observed(
        self,
        group: ThreadGroup,
        index: Any,
        barrier: Any,
        order: str,
        scope: str,
    ) -> None:
        """Threads have observed that a phase of an mbarrier is complete."""
        self._note_synchronization(group, index)

    def _note_synchronization(self, group: ThreadGroup, index: Any) -> None:
        tracker = self._trackers.get(group.cta)
        if tracker is not None:
            tracker.has_synchronized[index] = True

    def on_cta_exit(self, cta: CtaState) -> None:
        """All threads of a CTA have exited."""
        tracker = self._trackers.pop(cta, None)
        if tracker is not None:
            tracker.check_at_exit()


class CollectiveTracker:
    """The executions of collective instructions by the threads of a CTA.

    `execution_counts` counts the executions of wgmma and similar instructions, and `setting_counts` those of
    setmaxnreg. `registers` has the register count of each thread, or -1 if it is unknown. `has_synchronized` states
    whether the thread has synchronized with others since it set its count.
    """

    def __init__(self, cta: CtaState) -> None:
        self.cta = cta
        self.execution_counts, self.setting_counts = _ExecutionCounts(cta.threads), _ExecutionCounts(cta.threads)
        self.teams: dict[tuple[FunctionCode, int], CollectiveTeam] = {}
        self.initial_registers = max_initial_registers(cta.machine.program.entry, cta.threads)
        self.registers = numpy.full(cta.threads, -1 if self.initial_registers is None else self.initial_registers)
        self.is_register_count_set = numpy.zeros(cta.threads, bool)
        self.has_synchronized = numpy.ones(cta.threads, bool)

    def set_registers(self, group: ThreadGroup, increases: bool, wanted: int) -> None:
        """Records that threads set their register count."""
        index = group.lanes.index
        has, was_set = self.registers[index], self.is_register_count_set[index]
        known = (has >= 0) & (was_set | (not increases))
        backwards = known & (has != wanted) & ((wanted > has) != increases)
        at_once = was_set & ~self.has_synchronized[index] & (has != wanted)
        if backwards.any():
            now = int(has[backwards][0])
            other = "a decrease" if not increases else "an increase"
            content = ptx6xx.REGISTER_CHANGE_BACKWARDS(change=other, wanted=wanted, current=now)
            self._report_fault(_location_of(group), content, index[backwards])
        elif at_once.any():
            self._report_fault(_location_of(group), ptx6xx.REGISTERS_SET_AGAIN(), index[at_once])
        self.setting_counts[_location_of(group)][index] += 1
        self.registers[index], self.is_register_count_set[index], self.has_synchronized[index] = wanted, True, False

    def check_at_exit(self) -> None:
        """Reports, after all threads have exited, instructions that only some threads of a team executed."""
        for place, counts in self.execution_counts.items():
            team = self.teams[place]
            self._compare_counts(place, counts, team.size, team.rule, team.name)
        if not self.setting_counts:
            return
        for place, counts in self.setting_counts.items():
            self._compare_counts(place, counts, WARP_SIZE, ptx6xx.REGISTER_COUNTS, "a warp")
        missed = self._find_outlier(self.is_register_count_set.astype(numpy.int64), WARPGROUP_SIZE, is_whole=False)
        if missed is not None:
            some = next(each for each, counts in self.setting_counts.items() if counts[missed[0]])
            self._report_fault(some, _describe_difference(missed, "a warpgroup"), numpy.array([missed[0]]))
        self.check_register_total()

    def check_register_total(self) -> None:
        """Checks the sum of the register counts when all threads of the CTA have synchronized or exited."""
        total = int(self.registers.sum())
        if (
            self.initial_registers is not None
            and self.setting_counts
            and total > self.initial_registers * self.cta.threads
        ):
            most = numpy.flatnonzero(self.registers == self.registers.max())
            place = next(each for each, counts in self.setting_counts.items() if counts[most[0]])
            self._report_fault(place, ptx6xx.TOO_MANY_REGISTERS(total=total, limit=self.initial_registers), most[:1])

    def _compare_counts(
        self, place: tuple[FunctionCode, int], counts: Any, size: int, rule: DiagnosticCode, team: str
    ) -> None:
        found = self._find_outlier(counts, size)
        if found is not None:
            self._report_fault(place, _describe_difference(found, team).under(rule), numpy.array([found[0]]))

    @staticmethod
    def _find_outlier(counts: Any, size: int, *, is_whole: bool = True) -> tuple[int, int] | None:
        """Returns a thread that executed an instruction, and one of its team that did so less often, or -1 if none
        exists.

        With `is_whole`, teams must be complete; a CTA of five warps may set the registers of the last warp.
        """
        for first in range(0, len(counts), size):
            team = counts[first : first + size]
            if is_whole and len(team) < size and size > WARP_SIZE and team.any():
                return first + int(team.argmax()), -1
            if (team != team[0]).any():
                return first + int(team.argmax()), first + int(team.argmin())
        return None

    def _report_fault(
        self,
        place: tuple[FunctionCode, int],
        content: Message,
        index: Any,
    ) -> None:
        fault = ExecutionFault(content, index)
        fault.location, fault.cta = place, self.cta
        self.cta.machine.report_fault(fault)


def _describe_difference(found: tuple[int, int], team: str) -> Message:
    more, less = found
    if less < 0:
        return ptx6xx.TEAM_NOT_WHOLE(team=team, thread=more)
    return ptx6xx.TEAM_DIVERGES(team=team, thread=more, other=less)


def max_initial_registers(entry: Function, threads: int) -> int | None:
    """Returns the maximum register count of a thread at the start, or None if no directive specifies it."""
    limit = entry.directive("maxnreg")
    if limit is not None:
        return min(-(-_first_constant(limit) // _REGISTER_GRANULE) * _REGISTER_GRANULE, MAX_REGISTERS)
    ctas = entry.directive("minnctapersm")
    if ctas is None or launch_extents(entry, *BLOCK_DIRECTIVES) is None:
        return None
    resident = -(-threads // WARP_SIZE) * WARP_SIZE * max(_first_constant(ctas), 1)
    return min(MAX_CTA_REGISTERS // resident // _REGISTER_GRANULE * _REGISTER_GRANULE, MAX_REGISTERS)


def _first_constant(directive: Directive) -> int:
    return next(iter(directive_constants(directive)), 0)
