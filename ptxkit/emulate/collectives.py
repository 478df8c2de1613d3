"""Instructions that all threads of a warp or warpgroup execute, and what they do to numbers of registers.

What a CTA's threads executed is compared when all of them have ended, and the numbers of their registers whenever all
have met.

Source: PTX ISA, "Warpgroup", "wgmma.fence", "setmaxnreg", "Performance-Tuning Directives", "tcgen05.alloc,
tcgen05.dealloc, tcgen05.relinquish_alloc_permit", "tcgen05.ld", "tcgen05.st", "tcgen05.wait".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from ptxkit.emulate.faults import Fault
from ptxkit.emulate.operations import WGMMA
from ptxkit.isa.effects import (
    AsyncRegisters,
    CommitGroup,
    Effect,
    RegisterCount,
    RegisterFence,
    TensorMemory,
    WaitGroup,
)
from ptxkit.isa.expressions import Const, Role
from ptxkit.isa.forms import Match
from ptxkit.records import dataclass
from ptxkit.syntax.constants import constants, evaluate
from ptxkit.syntax.extents import BLOCK, extents
from ptxkit.syntax.tree import Directive, Function, Instruction

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group, Signal
    from ptxkit.emulate.program import Code

Step: TypeAlias = "Callable[[Group], Signal | None]"

WARP, WARPGROUP = 32, 128
REGISTERS, STEP, MOST = 1 << 16, 8, 256
"""Registers of a multiprocessor, of which a CTA has all at most; a thread's come in eights, and are 256 at most."""


def collective(step: Step, instruction: Instruction, match: Match) -> Step:
    """A step that is counted where all threads of a warpgroup must execute it."""
    setting = next((each for each in match.effects if isinstance(each, RegisterCount)), None)
    if setting is not None:
        return _setting(step, setting.action == "increase", _number(setting, instruction, match))
    team = next((found for each in match.effects if (found := _team(each)) is not None), None)
    return step if team is None else _counted(step, team)


def _team(effect: Effect) -> _Team | None:
    """Who executes an instruction with an effect together."""
    if isinstance(effect, TensorMemory):
        return _ALLOCATING
    if isinstance(effect, AsyncRegisters | RegisterFence | CommitGroup | WaitGroup):
        return {WGMMA: _MULTIPLYING, "tcgen05.ld": _MOVING, "tcgen05.st": _MOVING}.get(effect.group)
    return None


def _number(setting: RegisterCount, instruction: Instruction, match: Match) -> int:
    if isinstance(setting.count, Role):
        operand = match.operand(setting.count.name, instruction)
        return (evaluate(operand) or 0) if operand is not None else 0
    return int(setting.count.value or 0) if isinstance(setting.count, Const) else 0


def _counted(step: Step, team: _Team) -> Step:
    def run(group: Group) -> Signal | None:
        signal = step(group)
        if signal is None and group.cta.machine.order.watches:
            place = _place(group)
            group.cta.together.executed[place][group.lanes.index] += 1
            group.cta.together.teams[place] = team
        return signal

    return run


def _setting(step: Step, increases: bool, wanted: int) -> Step:
    def run(group: Group) -> Signal | None:
        if group.cta.machine.order.watches:
            group.cta.together.sets(group, increases, wanted)
        return step(group)

    return run


def _place(group: Group) -> tuple[Code, int]:
    return group.activation.code, group.pc


class _Counts(dict[tuple["Code", int], Any]):
    """By place, how often each thread executed an instruction."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self._threads = threads

    def __missing__(self, place: tuple[Code, int]) -> Any:
        found = self[place] = numpy.zeros(self._threads, numpy.int64)
        return found


@dataclass(frozen=True, slots=True)
class _Team:
    """Threads that execute something together, and the rule that says so."""

    size: int
    rule: str
    name: str


_MULTIPLYING = _Team(WARPGROUP, "PTX315", "a warpgroup")
_MOVING, _ALLOCATING = _Team(WARP, "PTX707", "a warp"), _Team(WARP, "PTX701", "a warp")


class Together:
    """What the threads of a CTA executed of what teams execute together. executed: multiplications and the like.

    settings: of numbers of registers. has: how many each thread has, -1 where nobody says. met: whether the thread has
    met others since it set its number.
    """

    def __init__(self, cta: Cta) -> None:
        self.cta = cta
        self.executed, self.settings = _Counts(cta.threads), _Counts(cta.threads)
        self.teams: dict[tuple[Code, int], _Team] = {}
        self.start = most_at_start(cta.machine.program.entry, cta.threads)
        self.has = numpy.full(cta.threads, -1 if self.start is None else self.start)
        self.was_set = numpy.zeros(cta.threads, bool)
        self.met = numpy.ones(cta.threads, bool)

    def sets(self, group: Group, increases: bool, wanted: int) -> None:
        """Threads set their number of registers."""
        index = group.lanes.index
        has, was_set = self.has[index], self.was_set[index]
        known = (has >= 0) & (was_set | (not increases))
        backwards = known & (has != wanted) & ((wanted > has) != increases)
        at_once = was_set & ~self.met[index] & (has != wanted)
        if backwards.any():
            now = int(has[backwards][0])
            other = "a decrease" if not increases else "an increase"
            self._note(_place(group), f"{other} to {wanted} registers, and the thread has {now}", index[backwards])
        elif at_once.any():
            message = "sets the number of registers again, and the warpgroup has not synchronised in between"
            self._note(_place(group), message, index[at_once])
        self.settings[_place(group)][index] += 1
        self.has[index], self.was_set[index], self.met[index] = wanted, True, False

    def end(self) -> None:
        """All threads have ended: what some of a team executed, and others did not."""
        for place, counts in self.executed.items():
            team = self.teams[place]
            self._compare(place, counts, team.size, team.rule, team.name)
        if not self.settings:
            return
        for place, counts in self.settings.items():
            self._compare(place, counts, WARP, "PTX605", "a warp")
        missed = self._parted(self.was_set.astype(numpy.int64), WARPGROUP, is_whole=False)
        if missed is not None:
            some = next(each for each, counts in self.settings.items() if counts[missed[0]])
            self._note(some, _unequal(missed, "a warpgroup"), numpy.array([missed[0]]))
        self.share()

    def share(self) -> None:
        """All threads of the CTA have met, or ended: what they have now, they have at once."""
        total = int(self.has.sum())
        if self.start is not None and self.settings and total > self.start * self.cta.threads:
            message = f"threads want {total} registers together, and start with {self.start} each at most"
            most = numpy.flatnonzero(self.has == self.has.max())
            place = next(each for each, counts in self.settings.items() if counts[most[0]])
            self._note(place, f"{message}: an increase waits for ever", most[:1])

    def _compare(self, place: tuple[Code, int], counts: Any, size: int, rule: str, team: str) -> None:
        found = self._parted(counts, size)
        if found is not None:
            self._note(place, _unequal(found, team), numpy.array([found[0]]), rule)

    @staticmethod
    def _parted(counts: Any, size: int, *, is_whole: bool = True) -> tuple[int, int] | None:
        """A thread that executed something, and one of its team that did not or less often; -1 where there is none.

        is_whole: whether teams must be; a CTA of five warps may well set the registers of the last.
        """
        for first in range(0, len(counts), size):
            team = counts[first : first + size]
            if is_whole and len(team) < size and size > WARP and team.any():
                return first + int(team.argmax()), -1
            if (team != team[0]).any():
                return first + int(team.argmax()), first + int(team.argmin())
        return None

    def _note(self, place: tuple[Code, int], message: str, index: Any, rule: str = "PTX605") -> None:
        fault = Fault(rule, message, index)
        fault.place, fault.cta = place, self.cta
        self.cta.machine.note(fault)


def _unequal(found: tuple[int, int], team: str) -> str:
    more, less = found
    if less < 0:
        return f"{team} has 128 threads, and that of thread {more} is not whole"
    return f"all threads of {team} execute this together: thread {more} does, and thread {less} does not, or less often"


def most_at_start(entry: Function, threads: int) -> int | None:
    """The registers of a thread at the start, at most; None where no directive says it, and numbers may not count."""
    limit = entry.directive("maxnreg")
    if limit is not None:
        return min(-(-_first(limit) // STEP) * STEP, MOST)
    ctas = entry.directive("minnctapersm")
    if ctas is None or extents(entry, *BLOCK) is None:
        return None
    resident = -(-threads // WARP) * WARP * max(_first(ctas), 1)
    return min(REGISTERS // resident // STEP * STEP, MOST)


def _first(directive: Directive) -> int:
    return next(iter(constants(directive)), 0)
