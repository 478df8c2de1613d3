"""Walks a program as a group of threads that take one path: values in registers, effects into a trace.

Where a branch parts the group, the walk goes on with the threads that go with the first one, and the others become a
group of their own that does the same step again. Memory that other threads may write is not followed: a load from
global or shared memory gives an unknown of its own, but for what a thread tells its whole CTA (`notices`). Local
memory, parameters and the parameter space of calls belong to the thread and are followed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.analysis.budget import MAX_CALLS, MAX_STEPS, MAX_UNKNOWNS, STALLED_AT_ALL, STALLED_ROUNDS, STALLED_STEPS
from ptxkit.analysis.cells import Cells
from ptxkit.analysis.exchange import Exchange
from ptxkit.analysis.operations import Operations
from ptxkit.analysis.past import Past, recalled
from ptxkit.analysis.program import Step
from ptxkit.analysis.registers import Registers
from ptxkit.analysis.rounds import Rounds
from ptxkit.analysis.scenario import Scenario
from ptxkit.analysis.space import SharedWindow
from ptxkit.analysis.special import SpecialRegisters
from ptxkit.analysis.terms import Held, Lanes, Term, Terms, Value, held_among, lanes, lifted
from ptxkit.analysis.trace import GroupTrace, Opaque, event_of
from ptxkit.isa.effects import Control, Effect, MbarrierArrive
from ptxkit.records import dataclass
from ptxkit.syntax.tree import Name, Operand

if TYPE_CHECKING:
    from ptxkit.analysis.code import Block, Code

Action: TypeAlias = "Callable[[Walker], int | None]"
"""What a walker does at a step. It answers None, or the index of the step to go on with."""

#: What an action answers to end the walk.
END = -1
#: Threads of a warp.
WARP = 32


@dataclass(frozen=True, slots=True)
class Frame:
    """A call in progress: the caller, where it goes on, its registers, and (callee's, caller's) result names."""

    code: Code
    back: int
    registers: Registers
    results: tuple[tuple[str, str], ...]

    def among(self, indices: list[int]) -> Frame:
        """The frame of a part of the group."""
        return Frame(self.code, self.back, self.registers.among(indices), self.results)


class Walker:
    """A group of threads, `tids` in ascending order, under one scenario.

    step, visit: the step at hand, and how often it was executed before. taken: steps executed so far. parted: the
    groups that left this one, still to be walked. meetings: the numbers of the barriers of the whole CTA that it met.
    answers: whether requests for the work of another cluster were granted, by their response.
    """

    def __init__(
        self,
        code: Code,
        scenario: Scenario,
        tids: tuple[int, ...],
        terms: Terms,
        exchange: Exchange,
        pointers: frozenset[tuple[str, int]],
    ) -> None:
        self.code = code
        self.scenario = scenario
        self.tids = tids
        self.terms = terms
        self.window = SharedWindow(scenario.rank)
        self.operations = Operations(terms, self.window)
        self.exchange = exchange
        self.pointers = pointers
        self.registers = Registers()
        self.memory = Cells(terms)
        self.frames: list[Frame] = []
        self.trace = GroupTrace(tids)
        self.step: Step = code.program.steps[0]
        self.visit = 0
        self.taken = 0
        self.meetings: list[Held] = []
        self.special = SpecialRegisters(scenario.launch, scenario.rank, tids)
        self.parted: list[Walker] = []
        self._first = 0
        self._partial: bool | None = None
        self._newest = 0
        self._visits: dict[Block, int] = {}
        self._active: tuple[bool, ...] | None = None
        self.answers: dict[Held, int] = {}
        self._asked: dict[Step, Held | None] = {}
        self._taken: dict[tuple[Step, bool], int] = {}
        self._past: Past | None = None
        self._rounds: Rounds | None = None

    def run(self) -> GroupTrace:
        """Walks to the end of the kernel, or of the budget."""
        index = self._first
        while index != END:
            if index >= len(self.code.program.steps):
                index = self.leave()
                continue
            block = self.code.block(index)
            if not self._begins(block):
                self.trace.ended = "budget"
                break
            index = self._execute(block)
        if self._past is not None:
            self.trace.events, self.trace.guessed = recalled(self._past, self.trace.events, self.trace.guessed)
        return self.trace

    def _begins(self, block: Block) -> bool:
        """Whether the budget allows for a block; then it counts as executed."""
        visit = self.visit = self._visits.get(block, 0)
        self._visits[block] = visit + 1
        if not visit:
            self.trace.covered.update(block.covered)
            self._newest = self.taken
        elif self._is_stalled(block):
            return False
        self.taken += block.length
        return self.taken <= MAX_STEPS and len(self.terms) <= MAX_UNKNOWNS

    def _is_stalled(self, block: Block) -> bool:
        """Whether it is enough of loops in which nothing new was found for so many steps, or none will be found."""
        since, covered = self.taken - self._newest, self.trace.covered
        if since <= STALLED_AT_ALL:
            return False
        longest = max(STALLED_STEPS, STALLED_ROUNDS * len(covered))
        return since > longest or self._has_told_all(since) or self._is_endless(block, self._newest + longest)

    def _has_told_all(self, since: int) -> bool:
        """Whether it has executed all of which it can tell anything."""
        accesses, covered = self.code.lone_accesses, self.trace.covered
        if accesses is None or self.frames or since <= STALLED_ROUNDS * len(covered):
            return False
        return covered.issuperset(accesses)

    def _is_endless(self, block: Block, until: int) -> bool:
        """Whether it is in loops that it does not come out of within the budget."""
        if self.frames:
            self._rounds = None
            return False
        if self._rounds is None or self._rounds.newest != self._newest:
            self._rounds = Rounds(self, self._newest)
        self._rounds.note(self, block)
        return self._rounds.are_endless(self, min(until, MAX_STEPS))

    def _execute(self, block: Block) -> int:
        """The index of the step to go on with, or END."""
        index = block.after
        covered = self.trace.covered
        for step, guard, actions in block.steps:
            self.step = step
            if guard is not None:
                if not self._admits(*guard):
                    continue
                if step not in covered:
                    covered.add(step)
                    self._newest = self.taken
            for action in actions:
                target = action(self)
                if target is not None:
                    index = target
            self._active = None
            if index == END:
                break
        return index

    @property
    def is_partial(self) -> bool:
        """Whether a warp has parted, so that some of its lanes are in other groups."""
        if self._partial is None:
            warps = Counter(tid // WARP for tid in self.tids)
            threads = self.scenario.launch.threads
            self._partial = any(count < min(WARP, threads - WARP * warp) for warp, count in warps.items())
        return self._partial

    @property
    def first(self) -> int:
        """The index of the first thread that executes the current step."""
        return 0 if self._active is None else self._active.index(True)

    @property
    def second(self) -> int | None:
        """The index of the next one, None where there is none."""
        after = self.first + 1
        if self._active is None:
            return after if after < len(self.tids) else None
        return self._active.index(True, after) if any(self._active[after:]) else None

    def warp(self, lanes: int) -> list[int]:
        """The indices of those that execute the current step in the warp of the first one, of so many lanes."""
        warp = self.tids[self.first] // WARP
        begin, end = bisect_left(self.tids, warp * WARP), bisect_left(self.tids, warp * WARP + lanes)
        return [index for index in range(begin, end) if self._active is None or self._active[index]]

    @property
    def present(self) -> list[int]:
        """The indices of the threads that execute the current step in every launch: a CTA always has its first one."""
        active = [index for index in range(len(self.tids)) if self._active is None or self._active[index]]
        return active if self.scenario.launch.is_exact else active[: not self.tids[active[0]]]

    # ------------------------------------------------------------------------------------ guards, parting

    def _admits(self, register: str, negated: bool, orders: bool, leaves: bool) -> bool:
        """Whether some thread executes a guarded step; `_active` says which, where not all do.

        An unknown is decided once for each condition. A register that nothing has written holds anything: either side
        of it is a path that is taken, not a guess. Threads that change control differently part.
        """
        value = self.registers.get(register)
        if value is None:
            return self._side(self.terms.of(("undefined", register))) != negated
        if not isinstance(value, Lanes):
            return self._holds(value, orders) != negated
        truths = value.truths or self._sides(value.values, orders)
        sides = tuple([truth != negated for truth in truths])
        if all(sides):
            return True
        if not any(sides):
            return False
        if leaves:
            self.part(sides)
            return sides[0]
        self._active = sides
        return True

    def _sides(self, values: list[Value], orders: bool) -> list[bool]:
        """The side of each thread; a new guess is made once for all threads of the group."""
        scenario, key_of = self.scenario, self.terms.key_of
        decisions, asked, implications = scenario.decisions, scenario.asked, scenario.implications
        guess: bool | None = None
        taken = [0, 0]
        sides: list[bool] = []
        for value in values:
            if not isinstance(value, Term):
                sides.append(bool(value & 1))
                continue
            if orders:
                scenario.ordering.setdefault(value)
            side = decisions.get(value)
            if side is None:
                implied = implications.of(key_of(value))
                if implied is not None:
                    sides.append(implied)
                    guess = implied
                    continue
                side = decisions[value] = self._preferred() if guess is None else guess
            if value not in asked:
                asked[value] = self.step
                implications.note(key_of(value), side)
            taken[side] += 1
            sides.append(side)
            guess = side
        if guess is not None:
            self.note_guess()
        for known in (False, True):
            self._taken[(self.step, known)] = self._taken.get((self.step, known), 0) + taken[known]
        return sides

    def _holds(self, value: Value, orders: bool) -> bool:
        if isinstance(value, Term):
            if orders:
                self.scenario.ordering.setdefault(value)
            return self.decide(value)
        return bool(value & 1)

    def part(self, sides: Sequence[object]) -> None:
        """Goes on with the threads on the first one's side; the others will do this step again on their own."""
        stay = [index for index, side in enumerate(sides) if side == sides[0]]
        away = [index for index, side in enumerate(sides) if side != sides[0]]
        if away:
            self.parted.append(self._among(away))
            self._become(stay)

    def _among(self, indices: list[int]) -> Walker:
        """A walker for a part of the group, just before the current step."""
        tids = tuple(self.tids[index] for index in indices)
        other = Walker(self.code, self.scenario, tids, self.terms, self.exchange, self.pointers)
        other.registers = self.registers.among(indices)
        other.memory = self.memory.among(indices)
        other.frames = [frame.among(indices) for frame in self.frames]
        other.trace = self.trace.among(indices)
        other._past = Past(self.trace.events, self.trace.guessed, indices, self._past)
        other._first, other.taken, other._newest = self.step.index, self.taken, self._newest
        other._visits, other._taken = dict(self._visits), dict(self._taken)
        other.answers = {held_among(response, indices): granted for response, granted in self.answers.items()}
        other._asked = {s: None if at is None else held_among(at, indices) for s, at in self._asked.items()}
        other.meetings = list(self.meetings)
        return other

    def _become(self, indices: list[int]) -> None:
        part = self._among(indices)
        self.tids, self.special, self._partial = part.tids, part.special, None
        self.registers, self.memory, self.frames = part.registers, part.memory, part.frames
        self.answers = part.answers
        trace = self.trace
        trace.tids, trace.events, trace.guessed = part.trace.tids, part.trace.events, part.trace.guessed
        self._past = part._past

    # ------------------------------------------------------------------------------------ guesses

    def decide(self, condition: Term) -> bool:
        """The side guessed for an unknown condition."""
        self.note_guess()
        return self._side(condition)

    def suppose(self, condition: Term, side: bool) -> None:
        """Says which side to try first; the other one deserves a look as well."""
        self.scenario.decisions.setdefault(condition, side)
        self.scenario.ordering.setdefault(condition)

    def _side(self, condition: Term) -> bool:
        """As before for the same condition, or as others of the same unknown say; else the side less often taken here.

        What others say is no decision that could be turned round.
        """
        implied = self._implied(condition)
        if implied is not None:
            return implied
        known = self.scenario.decisions.get(condition)
        if known is None:
            known = self.scenario.decisions[condition] = self._preferred()
        if condition not in self.scenario.asked:
            self.scenario.asked[condition] = self.step
            self.scenario.implications.note(self.terms.key_of(condition), known)
        self._taken[(self.step, known)] = self._taken.get((self.step, known), 0) + 1
        return known

    def _preferred(self) -> bool:
        """The side of the current step that was less often taken; never one that leads to a trap."""
        trap = self.code.trap_side(self.step)
        if trap is not None:
            return not trap
        yes, no = self._taken.get((self.step, True), 0), self._taken.get((self.step, False), 0)
        return yes < no or (yes == no and self._prefers_true())

    def _implied(self, condition: Term) -> bool | None:
        """What the decisions so far say of a condition that was not decided itself."""
        if condition in self.scenario.decisions:
            return None
        return self.scenario.implications.of(self.terms.key_of(condition))

    def _prefers_true(self) -> bool:
        """A branch first falls through, a guarded instruction is first executed."""
        guard, match = self.step.instruction.guard, self.step.match
        leaves = match is not None and any(isinstance(effect, Control) for effect in match.effects)
        return leaves == (guard is not None and guard.negated)

    def note_guess(self) -> None:
        """Notes that the path from here on is a guess."""
        if self.trace.guessed is None:
            self.trace.guessed = len(self.trace.events)

    # ------------------------------------------------------------------------------------ what actions do

    def set(self, register: str, value: Held) -> None:
        """Writes a register, in the threads that execute the current step."""
        if self._active is not None:
            value = self._merged(self.registers.get(register), value, register)
        self.registers.set(register, value)

    def keep(self, space: str, place: Held, value: Held, size: int) -> None:
        """Writes a cell of the threads' own memory."""
        if self._active is not None:
            value = self._merged(self.memory.load(space, place, size), value, space)
        self.memory.keep(space, place, value, size)

    def _merged(self, before: Held | None, value: Held, name: str) -> Held:
        """The new value for threads that execute the current step, what was there for the others."""
        assert self._active is not None
        old = self.terms.of(("undefined", name)) if before is None else before
        return lifted(lambda active, new, kept: new if active else kept, lanes(self._active), value, old)

    def record(self, effect: Effect, *fields: Held | None, unless: Held | None = None) -> None:
        """Adds an event to the trace. unless: threads that hold 1 there take no part."""
        who = self._active
        if isinstance(unless, Lanes):
            others = who or (True,) * len(self.tids)
            who = tuple(active and own != 1 for active, own in zip(others, unless.values, strict=True))
            if not any(who):
                return
        elif unless == 1:
            return
        if self._asked and isinstance(effect, MbarrierArrive):
            self._went_on(fields[0])
        self.trace.events.append(event_of(self.step, self.visit, effect, fields, who))

    def record_opaque(self) -> None:
        """Notes that something happened here whose effects are not known."""
        self.trace.events.append(Opaque(self.step, self.visit))
        self.trace.opaque = True

    def asks_again(self, step: Step, barrier: Held | None) -> bool:
        """Whether a wait is executed for the second time since it last answered true, and the threads have not arrived
        at the mbarrier meanwhile: then they do wait. Who arrives after the answer false goes on without waiting."""
        if step in self._asked:
            del self._asked[step]
            return True
        self._asked[step] = barrier
        return False

    def _went_on(self, barrier: Held | None) -> None:
        """Notes an arrival at an mbarrier that the threads have asked and not waited for."""
        for step in [step for step, asked in self._asked.items() if asked == barrier]:
            del self._asked[step]
            self.trace.tested.add((self.step, self.visit))

    def fresh(self, what: str) -> Term:
        """An unknown that belongs to this execution of the current step."""
        return self.terms.of((what, self.step, self.visit, self.tids[0]))

    # ------------------------------------------------------------------------------------ calls

    def leave(self) -> int:
        """Returns from a call, or ends the walk."""
        if not self.frames:
            return END
        frame = self.frames.pop()
        for callee_name, caller_name in frame.results:
            self._pass(callee_name, caller_name, frame.registers)
        self.code, self.registers = frame.code, frame.registers
        return frame.back

    def enter(self, name: str, back: int, results: tuple[str, ...], arguments: tuple[Operand, ...]) -> int | None:
        """Follows a call where the callee is here; else records that anything may have happened, but for calls of the
        system, which order nothing."""
        callee = self.code.callee(name)
        if callee is None or len(self.frames) >= MAX_CALLS or self._shares_locals(callee):
            if self.step.is_opaque_call:
                self.record_opaque()
            if arguments:  # they may be addresses of the threads' own variables
                self.memory.forget("local")
            for result in results:
                self.registers.set(result, self.fresh("result"))
                self.memory.forget(result)
            return None
        function = callee.program.function
        formals = [d.name for parameter in function.parameters for d in parameter.declarators]
        returned = [d.name for result in function.results for d in result.declarators]
        inner = self.registers.copy()
        for formal, argument in zip(formals, arguments, strict=False):
            if isinstance(argument, Name):
                self._pass(argument.text, formal, inner)
        self.frames.append(Frame(self.code, back, self.registers, tuple(zip(returned, results, strict=False))))
        self.code, self.registers = callee, inner
        return 0

    def _shares_locals(self, callee: Code) -> bool:
        """Whether a function is in progress whose next execution would have the same places for other variables."""
        return any(code is callee for code in (self.code, *(each.code for each in self.frames))) and (
            callee.program.has_locals
        )

    def _pass(self, source: str, target: str, registers: Registers) -> None:
        """Copies a parameter variable or register from one side of a call to the other."""
        self.memory.copy(source, target)
        held = self.registers.get(source)
        if held is not None:
            registers.set(target, held)
