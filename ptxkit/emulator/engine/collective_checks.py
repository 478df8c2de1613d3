"""Checks of instructions that all threads of a warp or warpgroup must execute, and of their register counts.

The executions of a CTA's threads are compared when all of them have exited, and their register counts whenever all
threads have synchronized.

Source: PTX ISA, "Warpgroup", "wgmma.fence", "setmaxnreg", "Performance-Tuning Directives", "tcgen05.alloc,
tcgen05.dealloc, tcgen05.relinquish_alloc_permit", "tcgen05.ld", "tcgen05.st", "tcgen05.wait".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.sync.async_operation import WGMMA
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
from ptxkit.syntax.constants import directive_constants, evaluate
from ptxkit.syntax.launch_extents import BLOCK_DIRECTIVES, launch_extents
from ptxkit.syntax.tree import Directive, Function, Instruction

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.engine.executable import DecodedFunction
    from ptxkit.emulator.threads.thread_groups import Signal, ThreadGroup

Step: TypeAlias = "Callable[[ThreadGroup], Signal | None]"

WARP_SIZE, WARPGROUP_SIZE = 32, 128
REGISTERS_PER_CTA, REGISTER_GRANULE, MAX_REGISTERS = 1 << 16, 8, 256
"""The registers of a multiprocessor, an upper bound for a CTA. Those of a thread are a multiple of 8, at most 256."""


def counted_step(step: Step, instruction: Instruction, match: Match) -> Step:
    """Wrap a step to count its executions if all threads of a warpgroup must execute it."""
    setting = next((each for each in match.effects if isinstance(each, RegisterCount)), None)
    if setting is not None:
        return _count_register_setting(step, setting.action == "increase", _register_count(setting, instruction, match))
    team = next((found for each in match.effects if (found := _team_of(each)) is not None), None)
    return step if team is None else _count_execution(step, team)


def _team_of(effect: Effect) -> _Team | None:
    """Return the team of threads that must execute an instruction with this effect together."""
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


def _count_execution(step: Step, team: _Team) -> Step:
    def run(group: ThreadGroup) -> Signal | None:
        signal = step(group)
        if signal is None and group.cta.machine.observer.is_checking:
            place = _location_of(group)
            group.cta.collectives.execution_counts[place][group.lanes.index] += 1
            group.cta.collectives.teams[place] = team
        return signal

    return run


def _count_register_setting(step: Step, increases: bool, wanted: int) -> Step:
    def run(group: ThreadGroup) -> Signal | None:
        if group.cta.machine.observer.is_checking:
            group.cta.collectives.set_registers(group, increases, wanted)
        return step(group)

    return run


def _location_of(group: ThreadGroup) -> tuple[DecodedFunction, int]:
    return group.activation.function, group.pc


class _ExecutionCounts(dict[tuple["DecodedFunction", int], Any]):
    """How often each thread executed an instruction, by the position of the instruction."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self._threads = threads

    def __missing__(self, place: tuple[DecodedFunction, int]) -> Any:
        found = self[place] = numpy.zeros(self._threads, numpy.int64)
        return found


@dataclass(frozen=True, slots=True)
class _Team:
    """A kind of thread group that executes an instruction together, and the rule that requires it."""

    size: int
    rule: str
    name: str


_WGMMA_TEAM = _Team(WARPGROUP_SIZE, "PTX315", "a warpgroup")
_TMEM_ACCESS_TEAM, _TMEM_ALLOC_TEAM = _Team(WARP_SIZE, "PTX707", "a warp"), _Team(WARP_SIZE, "PTX701", "a warp")


class CollectiveTracker:
    """The executions of collective instructions by the threads of a CTA. executed: counts of wgmma and similar ones.

    settings: counts of setmaxnreg. has: the register count of each thread, -1 where it is unknown. met: whether the
    thread has synchronized with others since it set its count.
    """

    def __init__(self, cta: Cta) -> None:
        self.cta = cta
        self.execution_counts, self.setting_counts = _ExecutionCounts(cta.threads), _ExecutionCounts(cta.threads)
        self.teams: dict[tuple[DecodedFunction, int], _Team] = {}
        self.initial_registers = max_initial_registers(cta.machine.program.entry, cta.threads)
        self.registers = numpy.full(cta.threads, -1 if self.initial_registers is None else self.initial_registers)
        self.is_register_count_set = numpy.zeros(cta.threads, bool)
        self.has_synchronized = numpy.ones(cta.threads, bool)

    def set_registers(self, group: ThreadGroup, increases: bool, wanted: int) -> None:
        """Record that threads set their register count."""
        index = group.lanes.index
        has, was_set = self.registers[index], self.is_register_count_set[index]
        known = (has >= 0) & (was_set | (not increases))
        backwards = known & (has != wanted) & ((wanted > has) != increases)
        at_once = was_set & ~self.has_synchronized[index] & (has != wanted)
        if backwards.any():
            now = int(has[backwards][0])
            other = "a decrease" if not increases else "an increase"
            self._report_fault(
                _location_of(group), f"{other} to {wanted} registers, and the thread has {now}", index[backwards]
            )
        elif at_once.any():
            message = "sets the number of registers again, and the warpgroup has not synchronised in between"
            self._report_fault(_location_of(group), message, index[at_once])
        self.setting_counts[_location_of(group)][index] += 1
        self.registers[index], self.is_register_count_set[index], self.has_synchronized[index] = wanted, True, False

    def check_at_exit(self) -> None:
        """Report, after all threads have exited, instructions that only some threads of a team executed."""
        for place, counts in self.execution_counts.items():
            team = self.teams[place]
            self._compare_counts(place, counts, team.size, team.rule, team.name)
        if not self.setting_counts:
            return
        for place, counts in self.setting_counts.items():
            self._compare_counts(place, counts, WARP_SIZE, "PTX605", "a warp")
        missed = self._find_outlier(self.is_register_count_set.astype(numpy.int64), WARPGROUP_SIZE, is_whole=False)
        if missed is not None:
            some = next(each for each, counts in self.setting_counts.items() if counts[missed[0]])
            self._report_fault(some, _describe_difference(missed, "a warpgroup"), numpy.array([missed[0]]))
        self.check_register_total()

    def check_register_total(self) -> None:
        """Check the sum of the register counts when all threads of the CTA have synchronized or exited."""
        total = int(self.registers.sum())
        if (
            self.initial_registers is not None
            and self.setting_counts
            and total > self.initial_registers * self.cta.threads
        ):
            message = f"threads want {total} registers together, and start with {self.initial_registers} each at most"
            most = numpy.flatnonzero(self.registers == self.registers.max())
            place = next(each for each, counts in self.setting_counts.items() if counts[most[0]])
            self._report_fault(place, f"{message}: an increase waits for ever", most[:1])

    def _compare_counts(self, place: tuple[DecodedFunction, int], counts: Any, size: int, rule: str, team: str) -> None:
        found = self._find_outlier(counts, size)
        if found is not None:
            self._report_fault(place, _describe_difference(found, team), numpy.array([found[0]]), rule)

    @staticmethod
    def _find_outlier(counts: Any, size: int, *, is_whole: bool = True) -> tuple[int, int] | None:
        """Find a thread that executed something, and one of its team that did so less often; -1 where there is none.

        is_whole: whether teams must be complete; a CTA of five warps may set the registers of the last warp.
        """
        for first in range(0, len(counts), size):
            team = counts[first : first + size]
            if is_whole and len(team) < size and size > WARP_SIZE and team.any():
                return first + int(team.argmax()), -1
            if (team != team[0]).any():
                return first + int(team.argmax()), first + int(team.argmin())
        return None

    def _report_fault(self, place: tuple[DecodedFunction, int], message: str, index: Any, rule: str = "PTX605") -> None:
        fault = ExecutionFault(rule, message, index)
        fault.location, fault.cta = place, self.cta
        self.cta.machine.report_fault(fault)


def _describe_difference(found: tuple[int, int], team: str) -> str:
    more, less = found
    if less < 0:
        return f"{team} has 128 threads, and that of thread {more} is not whole"
    return f"all threads of {team} execute this together: thread {more} does, and thread {less} does not, or less often"


def max_initial_registers(entry: Function, threads: int) -> int | None:
    """Return the maximum register count of a thread at the start; None where no directive specifies it."""
    limit = entry.directive("maxnreg")
    if limit is not None:
        return min(-(-_first_constant(limit) // REGISTER_GRANULE) * REGISTER_GRANULE, MAX_REGISTERS)
    ctas = entry.directive("minnctapersm")
    if ctas is None or launch_extents(entry, *BLOCK_DIRECTIVES) is None:
        return None
    resident = -(-threads // WARP_SIZE) * WARP_SIZE * max(_first_constant(ctas), 1)
    return min(REGISTERS_PER_CTA // resident // REGISTER_GRANULE * REGISTER_GRANULE, MAX_REGISTERS)


def _first_constant(directive: Directive) -> int:
    return next(iter(directive_constants(directive)), 0)
