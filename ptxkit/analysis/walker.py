"""Walks a program as one thread: values in registers, effects into a trace.

Memory that other threads may write is not followed: a load from global or shared memory gives an unknown of its own.
Local memory, parameters and the parameter space of calls belong to the thread and are followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.analysis.budget import MAX_CALLS, MAX_STEPS, STALLED_ROUNDS, STALLED_STEPS
from ptxkit.analysis.operations import Operations
from ptxkit.analysis.program import Step
from ptxkit.analysis.scenario import Launch, Scenario
from ptxkit.analysis.space import SharedWindow
from ptxkit.analysis.terms import Term, Terms, Value, mask
from ptxkit.analysis.trace import Event, Opaque, Trace
from ptxkit.isa.effects import Barrier, Control, Effect
from ptxkit.records import dataclass, field
from ptxkit.syntax.tree import Name, Operand

if TYPE_CHECKING:
    from ptxkit.analysis.actions import Block, Code

#: What an action answers to end the walk.
END = -1


@dataclass(frozen=True, slots=True)
class Frame:
    """A call in progress: the caller, where it goes on, its registers, and (callee's, caller's) result names."""

    code: Code
    back: int
    registers: dict[str, Value]
    results: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Warp:
    """What lanes of one warp did, by (step, visit): their values at shuffles by lane, the votes that they decided."""

    exchanged: dict[tuple[Step, int], dict[int, Value]] = field(default_factory=dict)
    voted: dict[tuple[Step, int], int] = field(default_factory=dict)


class Walker:
    """One thread under one scenario. barriers: the walk ends when it has met more of the CTA's barriers than this.

    step, visit: the step at hand, and how often it was executed before. taken: steps executed so far.
    """

    def __init__(
        self,
        code: Code,
        scenario: Scenario,
        tid: int,
        terms: Terms,
        warp: Warp,
        pointers: frozenset[tuple[str, int]],
        barriers: int | None = None,
    ) -> None:
        self.code = code
        self.scenario = scenario
        self.tid = tid
        self.terms = terms
        self.window = SharedWindow(scenario.rank)
        self.operations = Operations(terms, self.window)
        self.warp = warp
        self.pointers = pointers
        self.registers: dict[str, Value] = {}
        self.memory: dict[tuple[str, Value], Value] = {}
        self.frames: list[Frame] = []
        self.trace = Trace(tid)
        self.step: Step = code.program.steps[0]
        self.visit = 0
        self.taken = 0
        self._newest = 0
        self._visits: dict[Block, int] = {}
        self.special = special_registers(scenario.launch, scenario.rank, tid)
        self._barriers_left = barriers
        self._asked: set[Step] = set()
        self._taken: dict[tuple[Step, bool], int] = {}

    def run(self) -> Trace:
        """Walks to the end of the kernel, or of the budget."""
        index = 0
        while index != END:
            if index >= len(self.code.program.steps):
                index = self.leave()
                continue
            block = self.code.block(index)
            if not self._begins(block):
                self.trace.ended = "budget"
                break
            index = self._execute(block)
        return self.trace

    def _begins(self, block: Block) -> bool:
        """Whether the budget allows for a block; then it counts as executed."""
        visit = self.visit = self._visits.get(block, 0)
        self._visits[block] = visit + 1
        if not visit:
            self.trace.covered.update(block.covered)
            self._newest = self.taken
        elif self.taken - self._newest > max(STALLED_STEPS, STALLED_ROUNDS * len(self.trace.covered)):
            return False
        self.taken += block.length
        return self.taken <= MAX_STEPS

    def _execute(self, block: Block) -> int:
        """The index of the step to go on with, or END."""
        index = block.after
        covered = self.trace.covered
        for step, guard, actions in block.steps:
            self.step = step
            if guard is not None:
                if not self.holds(*guard):
                    continue
                if step not in covered:
                    covered.add(step)
                    self._newest = self.taken
            for action in actions:
                target = action(self)
                if target is not None:
                    index = target
            if index == END:
                break
        return index

    def holds(self, register: str, negated: bool, orders: bool = False) -> bool:
        """Whether a guard lets its instruction execute; an unknown is decided once for each condition.

        A register that nothing has written holds anything: either side of it is a path that is taken, not a guess.
        orders: the instruction orders others, so that both sides deserve a look.
        """
        value = self.registers.get(register)
        if value is None:
            return self._side(self.terms.of(("undefined", register))) != negated
        if isinstance(value, Term):
            if orders:
                self.scenario.ordering.setdefault(value)
            return self.decide(value) != negated
        return bool(value & 1) != negated

    def decide(self, condition: Term) -> bool:
        """The side guessed for an unknown condition."""
        self.note_guess()
        return self._side(condition)

    def suppose(self, condition: Term, side: bool) -> None:
        """Says which side to try first; the other one deserves a look as well."""
        self.scenario.decisions.setdefault(condition, side)
        self.scenario.ordering.setdefault(condition)

    def _side(self, condition: Term) -> bool:
        """As before for the same condition, else the side less often taken here."""
        known = self.scenario.decisions.get(condition)
        if known is None:
            yes, no = self._taken.get((self.step, True), 0), self._taken.get((self.step, False), 0)
            known = self.scenario.decisions[condition] = yes < no or (yes == no and self._prefers_true())
        self._taken[(self.step, known)] = self._taken.get((self.step, known), 0) + 1
        return known

    def _prefers_true(self) -> bool:
        """A branch first falls through, a guarded instruction is first executed."""
        guard, match = self.step.instruction.guard, self.step.match
        leaves = match is not None and any(isinstance(effect, Control) for effect in match.effects)
        return leaves == (guard is not None and guard.negated)

    def record(self, event: Event | Opaque) -> int | None:
        """Adds to the trace; answers as an action does."""
        self.trace.events.append(event)
        if self._barriers_left is None or not (isinstance(event, Event) and is_meeting(event.effect)):
            return None
        self._barriers_left -= 1
        if self._barriers_left >= 0:
            return None
        self.trace.ended = "barrier"
        return END

    def asks_again(self, step: Step) -> bool:
        """Whether a wait is executed for the second time since it last answered true."""
        again = step in self._asked
        if again:
            self._asked.discard(step)
        else:
            self._asked.add(step)
        return again

    def note_guess(self) -> None:
        """Notes that the path from here on is a guess."""
        if self.trace.guessed is None:
            self.trace.guessed = len(self.trace.events)

    def record_opaque(self) -> None:
        """Notes that something happened here whose effects are not known."""
        self.record(Opaque(self.step, self.visit))
        self.trace.opaque = True

    def fresh(self, what: str) -> Term:
        """An unknown that belongs to this execution of the current step."""
        return self.terms.of((what, self.step, self.visit, self.tid))

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
        """Follows a call where the callee is here; else records that anything may have happened."""
        callee = self.code.callee(name)
        if callee is None or len(self.frames) >= MAX_CALLS:
            self.record_opaque()
            for result in results:
                self.registers[result] = self.fresh("result")
                self.memory = {place: value for place, value in self.memory.items() if place[0] != result}
            return None
        function = callee.program.function
        formals = [d.name for parameter in function.parameters for d in parameter.declarators]
        returned = [d.name for result in function.results for d in result.declarators]
        inner = dict(self.registers)
        for formal, argument in zip(formals, arguments, strict=False):
            if isinstance(argument, Name):
                self._pass(argument.text, formal, inner)
        self.frames.append(Frame(self.code, back, self.registers, tuple(zip(returned, results, strict=False))))
        self.code, self.registers = callee, inner
        return 0

    def _pass(self, source: str, target: str, registers: dict[str, Value]) -> None:
        """Copies a parameter variable or register from one side of a call to the other."""
        for (space, place), value in list(self.memory.items()):
            if space == source:
                self.memory[(target, place)] = value
        if source in self.registers:
            registers[target] = self.registers[source]


def special_registers(launch: Launch, rank: int, tid: int) -> dict[str, int]:
    """The special registers whose values a launch fixes. The grid has two clusters in x; this is the first of them."""
    (x, y, _), (cx, cy, cz) = launch.block, launch.cluster
    lane, size = tid % 32, launch.cluster_size
    place = (rank % cx, rank // cx % cy, rank // (cx * cy))
    known = {
        "%laneid": lane, "%warpid": tid // 32, "%nwarpid": -(-launch.threads // 32), "WARP_SZ": 32,
        "%cluster_ctarank": rank, "%cluster_nctarank": size, "%is_explicit_cluster": int(size > 1),
        "%lanemask_eq": 1 << lane, "%lanemask_lt": mask(lane), "%lanemask_le": mask(lane + 1),
        "%lanemask_gt": mask(32) & ~mask(lane + 1), "%lanemask_ge": mask(32) & ~mask(lane),
        "%dynamic_smem_size": 96 << 10, "%total_smem_size": 128 << 10, "%gridid": 1, "%smid": 0, "%nsmid": 1,
    }  # fmt: skip
    vectors = {
        "%tid": (tid % x, tid // x % y, tid // (x * y)),
        "%ntid": launch.block,
        "%ctaid": place,
        "%nctaid": (2 * cx, cy, cz),
        "%cluster_ctaid": place,
        "%cluster_nctaid": launch.cluster,
        "%clusterid": (0, 0, 0),
        "%nclusterid": (2, 1, 1),
    }
    for name, parts in vectors.items():
        known.update({f"{name}.{axis}": part for axis, part in zip("xyz", parts, strict=True)})
    return known


def is_meeting(effect: Effect) -> bool:
    """Whether a thread meets its whole CTA, or cluster, there."""
    return isinstance(effect, Barrier) and effect.level != "warp" and effect.action != "arrive" and not effect.threads
