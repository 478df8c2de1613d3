"""The state of a group of threads in symbolic execution, which compiled steps read and change.

Register values are tracked symbolically, and effects are recorded in a trace. Where a branch diverges, the group
continues with the threads on the side of the first thread; the other threads become a separate group that executes
the same step again. Memory that other threads may write is not tracked: a load from global or shared memory gives a
fresh unknown, except for values that a thread broadcasts to its whole CTA (`ptxkit.analysis.symexec.shared_broadcast`).
Local memory, parameters and the parameter space of calls are private to the thread and are tracked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from itertools import groupby

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.shared_window import SharedWindow
from ptxkit.analysis.limits import MAX_CALL_DEPTH
from ptxkit.analysis.symexec.compiled_code import END_INDEX, ExecutableCode
from ptxkit.analysis.symexec.lane_exchange import LaneExchange
from ptxkit.analysis.symexec.trace import GroupTrace, UnknownCall, make_event
from ptxkit.analysis.symexec.trace_prefix import TracePrefix
from ptxkit.analysis.values.private_memory import PrivateMemory
from ptxkit.analysis.values.register_file import RegisterFile
from ptxkit.analysis.values.scenario import Scenario
from ptxkit.analysis.values.special_registers import SpecialRegisters
from ptxkit.analysis.values.symbolic_values import (
    GroupValue,
    LaneValues,
    SymbolicValue,
    SymbolicValueTable,
    Value,
    group_value_of,
    lift,
    select_lanes,
)
from ptxkit.analysis.values.undefined_values import UNWRITTEN, is_unwritten
from ptxkit.analysis.values.value_ops import SymbolicOps
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Control, Effect, MbarrierArrive
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.tree import Name, Operand


@dataclass(frozen=True, slots=True)
class CallFrame:
    """A call in progress.

    code: the caller's code. return_index: the index at which the caller continues. registers: the caller's registers.
    results: the pairs of (callee's, caller's) result names.
    """

    code: ExecutableCode
    return_index: int
    registers: RegisterFile
    results: tuple[tuple[str, str], ...]

    def subset(self, indices: list[int]) -> CallFrame:
        """Returns the frame of a part of the group."""
        return CallFrame(self.code, self.return_index, self.registers.subset(indices), self.results)


class GroupState:
    """The state of a group of threads, `tids` in ascending order, in one scenario.

    step, visit: the current step, and how often it was executed before. executed_steps: the number of steps executed so
    far. start_index: the index of the step at which the group begins. block_visits: how often each block was executed.
    last_progress: the number of executed steps when the execution last found something new. active: the threads that
    execute the current step; None where all do. diverged_groups: the groups that diverged from this one and are not
    executed yet. cta_barriers: the numbers of the barriers of the whole CTA that the group has passed.
    granted_requests: whether requests for the work of another cluster were granted, by their response. may_be_apart:
    whether the threads have waited for an mbarrier since the lanes of their warps last converged.
    """

    def __init__(
        self,
        code: ExecutableCode,
        scenario: Scenario,
        tids: tuple[int, ...],
        terms: SymbolicValueTable,
        exchange: LaneExchange,
        pointers: frozenset[tuple[str, int]],
    ) -> None:
        self.code = code
        self.scenario = scenario
        self.tids = tids
        self.symbolic_values = terms
        self.window = SharedWindow(scenario.rank)
        self.operations = SymbolicOps(terms, self.window)
        self.exchange = exchange
        self.pointers = pointers
        self.registers = RegisterFile()
        self.private_memory = PrivateMemory(terms)
        self.frames: list[CallFrame] = []
        self.trace = GroupTrace(tids)
        self.step: Step = code.program.steps[0]
        self.visit = 0
        self.executed_steps = 0
        self.cta_barriers: list[GroupValue] = []
        at = scenario.rank, tids, scenario.cluster_index, scenario.overrides
        self.special_registers = SpecialRegisters(scenario.launch, *at)
        self.diverged_groups: list[GroupState] = []
        self.start_index = 0
        self._is_partial: bool | None = None
        self.last_progress = 0
        self.block_visits: dict[Hashable, int] = {}
        self.active: tuple[bool, ...] | None = None
        self.granted_requests: dict[GroupValue, int] = {}
        self.may_be_apart = False
        self._pending_polls: dict[Step, tuple[GroupValue, GroupValue] | None] = {}
        self._side_counts: dict[tuple[Step, bool], int] = {}
        self.trace_prefix: TracePrefix | None = None

    @property
    def is_partial(self) -> bool:
        """Whether a warp has diverged, so that some of its lanes are in other groups."""
        if self._is_partial is None:
            warps = Counter(tid // WARP_SIZE for tid in self.tids)
            threads = self.scenario.launch.threads
            self._is_partial = any(count < min(WARP_SIZE, threads - WARP_SIZE * warp) for warp, count in warps.items())
        return self._is_partial

    @property
    def first_active(self) -> int:
        """The index of the first thread that executes the current step."""
        return 0 if self.active is None else self.active.index(True)

    @property
    def second_active(self) -> int | None:
        """The index of the second thread that executes the current step; None where only one thread does."""
        after = self.first_active + 1
        if self.active is None:
            return after if after < len(self.tids) else None
        return self.active.index(True, after) if any(self.active[after:]) else None

    def active_lanes_of_warp(self, lanes: int) -> list[int]:
        """Returns the indices of the executing threads in the warp of the first one.

        lanes: the number of lanes of the warp, from its first one on, that are considered.
        """
        warp = self.tids[self.first_active] // WARP_SIZE
        begin, end = bisect_left(self.tids, warp * WARP_SIZE), bisect_left(self.tids, warp * WARP_SIZE + lanes)
        return [index for index in range(begin, end) if self.active is None or self.active[index]]

    @property
    def active_threads(self) -> Sequence[int]:
        """The indices of the threads that execute the current step."""
        if self.active is None:
            return range(len(self.tids))
        return [index for index, takes_part in enumerate(self.active) if takes_part]

    @property
    def guaranteed_threads(self) -> Sequence[int]:
        """The indices of the threads that execute the current step in every launch.

        A CTA always has its first thread.
        """
        active = self.active_threads
        return active if self.scenario.launch.is_exact else active[: not self.tids[active[0]]]

    def evaluate_guard(self, register: str, negated: bool, orders: bool, leaves: bool) -> bool:
        """Returns whether some thread executes a guarded step; sets `active` to the threads that do, where not all do.

        An unknown is decided once for each condition. A register that was never written may hold any value: either side
        is a feasible path, not a guess. Threads that change control differently diverge.
        """
        value = self.registers.get(register)
        if value is None:
            return self._choose_side(self.symbolic_values.intern((UNWRITTEN, register))) != negated
        if not isinstance(value, LaneValues):
            return self._is_true(value, orders) != negated
        truths = value.predicate_values or self._sides_of_threads(value.values, orders)
        sides = tuple([truth != negated for truth in truths])
        if all(sides):
            return True
        if not any(sides):
            return False
        if leaves:
            self.diverge(sides)
            return sides[0]
        self.active = sides
        return True

    def _sides_of_threads(self, values: list[Value], orders: bool) -> list[bool]:
        """Returns the side of each thread. A new guess is made once for all threads of the group."""
        scenario, key_of = self.scenario, self.symbolic_values.key_of
        decisions, asked, implications = scenario.decisions, scenario.branch_of_condition, scenario.implications
        guess: bool | None = None
        taken = [0, 0]
        sides: list[bool] = []
        chosen: set[bool] = set()
        for _, run in groupby(values, id):  # the threads of a warp often have the very same condition
            same = list(run)
            value, count = same[0], len(same)
            if not isinstance(value, SymbolicValue):
                sides += [bool(value & 1)] * count
                continue
            given = self.side_by_data(value)
            if given is not None:
                sides += [given] * count
                continue
            if orders:
                scenario.flippable_conditions.setdefault(value)
            side = decisions.get(value)
            if side is None:
                implied = implications.implied_side(key_of(value))
                if implied is not None:
                    sides += [implied] * count
                    chosen.add(implied)
                    guess = implied
                    continue
                side = decisions[value] = self._preferred_side() if guess is None else guess
            if value not in asked:
                asked[value] = self.step
                implications.note(key_of(value), side)
            taken[side] += count
            sides += [side] * count
            chosen.add(side)
            guess = side
        if guess is not None:
            self._note_sides(chosen)
        for known in (False, True):
            self._side_counts[(self.step, known)] = self._side_counts.get((self.step, known), 0) + taken[known]
        return sides

    def _is_true(self, value: Value, orders: bool) -> bool:
        if isinstance(value, SymbolicValue):
            if orders:
                self.scenario.flippable_conditions.setdefault(value)
            return self.decide(value)
        return bool(value & 1)

    def side_by_data(self, condition: SymbolicValue) -> bool | None:
        """Returns the side that the data of the host decide; None where not only they decide it, or are not given."""
        data = self.scenario.data
        decided = None if data is None else data.side_of(condition, self.step, self.code.trap_side(self.step))
        if decided is None:
            return None
        side, words = decided
        self.trace.deciding_words |= words
        return side

    def diverge(self, sides: Sequence[object]) -> None:
        """Continues with the threads on the side of the first one.

        The others execute this step again as a separate group.
        """
        stay = [index for index, side in enumerate(sides) if side == sides[0]]
        away = [index for index, side in enumerate(sides) if side != sides[0]]
        if away:
            self.diverged_groups.append(self._fork(away))
            self._restrict_to(stay)

    def _fork(self, indices: list[int]) -> GroupState:
        """Returns the state of a part of the group, immediately before the current step."""
        tids = tuple(self.tids[index] for index in indices)
        other = GroupState(self.code, self.scenario, tids, self.symbolic_values, self.exchange, self.pointers)
        other.registers = self.registers.subset(indices)
        other.private_memory = self.private_memory.subset(indices)
        other.frames = [frame.subset(indices) for frame in self.frames]
        other.trace = self.trace.fork(indices)
        other.trace_prefix = TracePrefix(self.trace.events, self.trace.first_guess, indices, self.trace_prefix)
        other.start_index, other.executed_steps, other.last_progress = (
            self.step.index,
            self.executed_steps,
            self.last_progress,
        )
        other.block_visits, other._side_counts = dict(self.block_visits), dict(self._side_counts)
        other.granted_requests = {
            select_lanes(response, indices): granted for response, granted in self.granted_requests.items()
        }
        other._pending_polls = {
            s: None if asked is None else (select_lanes(asked[0], indices), select_lanes(asked[1], indices))
            for s, asked in self._pending_polls.items()
        }
        other.cta_barriers, other.may_be_apart = list(self.cta_barriers), self.may_be_apart
        return other

    def _restrict_to(self, indices: list[int]) -> None:
        part = self._fork(indices)
        self.tids, self.special_registers, self._is_partial = part.tids, part.special_registers, None
        self.registers, self.private_memory, self.frames = part.registers, part.private_memory, part.frames
        self.granted_requests, self._pending_polls = part.granted_requests, part._pending_polls
        trace = self.trace
        trace.tids, trace.events, trace.first_guess = part.trace.tids, part.trace.events, part.trace.first_guess
        self.trace_prefix = part.trace_prefix

    def decide(self, condition: SymbolicValue, preferred: bool | None = None) -> bool:
        """Returns the side for an unknown condition, a guess unless the program asserts it, or may find any value."""
        given = self.side_by_data(condition)
        if given is not None:
            return given
        side = self._choose_side(condition, preferred)
        if not is_unwritten(self.symbolic_values, condition):
            self._note_sides([side])
        return side

    def _note_sides(self, sides: Collection[bool]) -> None:
        """Records that sides of the current step were chosen. Every launch that does not trap takes an asserted one."""
        trap = self.code.trap_side(self.step)
        if trap is None or trap in sides:
            self.note_guess()

    def prefer_side(self, condition: SymbolicValue, side: bool) -> None:
        """Sets the side that is tried first; the other side should be explored as well."""
        self.scenario.decisions.setdefault(condition, side)
        self.scenario.flippable_conditions.setdefault(condition)

    def _choose_side(self, condition: SymbolicValue, preferred: bool | None = None) -> bool:
        """Returns the side for a condition.

        This is the side taken before for the same condition, or implied by decisions on the same unknown; otherwise the
        preferred or less frequent one. An implied side is not a decision that could be flipped.
        """
        implied = self._implied_side(condition)
        if implied is not None:
            return implied
        known = self.scenario.decisions.get(condition)
        if known is None:
            known = self.scenario.decisions[condition] = self._preferred_side() if preferred is None else preferred
        if condition not in self.scenario.branch_of_condition:
            self.scenario.branch_of_condition[condition] = self.step
            self.scenario.implications.note(self.symbolic_values.key_of(condition), known)
        self._side_counts[(self.step, known)] = self._side_counts.get((self.step, known), 0) + 1
        return known

    def _preferred_side(self) -> bool:
        """Returns the side of the current step that was taken less often, but never one that leads to a trap.

        A scenario that omits order, or repeats loops, prefers others.
        """
        trap = self.code.trap_side(self.step)
        if trap is not None:
            return not trap
        yes, no = self._side_counts.get((self.step, True), 0), self._side_counts.get((self.step, False), 0)
        wanted = self.code.ordering.wanted_side(self.step, self.scenario, (no, yes))
        if wanted is not None:
            return wanted
        return yes < no or (yes == no and self._prefers_true())

    def _implied_side(self, condition: SymbolicValue) -> bool | None:
        """Returns the side that earlier decisions imply for a condition that was not itself decided."""
        if condition in self.scenario.decisions:
            return None
        return self.scenario.implications.implied_side(self.symbolic_values.key_of(condition))

    def _prefers_true(self) -> bool:
        """Returns whether the true side is first: a branch falls through, and a guarded instruction is executed."""
        guard, match = self.step.instruction.guard, self.step.match
        leaves = match is not None and any(isinstance(effect, Control) for effect in match.effects)
        return leaves == (guard is not None and guard.negated)

    def note_guess(self) -> None:
        """Records that the path from this point on is a guess."""
        if self.trace.first_guess is None:
            self.trace.first_guess = len(self.trace.events)

    def write_register(self, register: str, value: GroupValue) -> None:
        """Writes a register for the threads that execute the current step."""
        if self.active is not None:
            value = self._merge(self.registers.get(register), value, register)
        self.registers.set(register, value)

    def store_private(self, space: str, place: GroupValue, value: GroupValue, size: int) -> None:
        """Writes a cell of the threads' private memory."""
        if self.active is not None:
            value = self._merge(self.private_memory.load(space, place, size), value, space)
        self.private_memory.store(space, place, value, size)

    def _merge(self, before: GroupValue | None, value: GroupValue, name: str) -> GroupValue:
        """Selects the new value for threads that execute the current step, and the previous value for the others."""
        assert self.active is not None
        old = self.symbolic_values.intern((UNWRITTEN, name)) if before is None else before
        return lift(lambda active, new, kept: new if active else kept, group_value_of(self.active), value, old)

    def record(self, effect: Effect, *fields: GroupValue | None, unless: GroupValue | None = None) -> None:
        """Adds an event to the trace. Threads in which `unless` is 1 do not take part."""
        who = self.active
        if isinstance(unless, LaneValues):
            others = who or (True,) * len(self.tids)
            who = tuple(active and own != 1 for active, own in zip(others, unless.values, strict=True))
            if not any(who):
                return
        elif unless == 1:
            return
        if self._pending_polls and isinstance(effect, MbarrierArrive):
            self._note_unwaited_arrival(fields[0])
        self.trace.events.append(make_event(self.step, self.visit, effect, fields, who))

    def record_unknown_call(self) -> None:
        """Records a call at this step whose effects are not known."""
        self.trace.events.append(UnknownCall(self.step, self.visit))
        self.trace.has_unknown_call = True

    def is_second_poll(self, step: Step, polled: tuple[GroupValue, GroupValue] | None) -> bool:
        """Returns whether a wait is executed again after it returned false, without an arrival in between.

        The code then does wait, also if it has polled the same phase at other steps. Code that arrives at the mbarrier
        after a false result continues without waiting. polled: the mbarrier and the phase; None where unknown.
        """
        if step in self._pending_polls:
            del self._pending_polls[step]
            for other in [
                each for each, asked in self._pending_polls.items() if polled is not None and asked == polled
            ]:
                del self._pending_polls[other]
            return True
        self._pending_polls[step] = polled
        return False

    def _note_unwaited_arrival(self, barrier: GroupValue | None) -> None:
        """Records an arrival at an mbarrier that the threads have polled but not waited for."""
        for step in [each for each, asked in self._pending_polls.items() if (asked[0] if asked else None) == barrier]:
            del self._pending_polls[step]
            self.trace.polled_arrivals.add((self.step, self.visit))

    def fresh_symbol(self, what: str) -> SymbolicValue:
        """Returns an unknown that belongs to this execution of the current step."""
        return self.symbolic_values.intern((what, self.step, self.visit, self.tids[0]))

    def return_or_exit(self) -> int:
        """Returns from a call, or ends the execution."""
        if not self.frames:
            return END_INDEX
        frame = self.frames.pop()
        for callee_name, caller_name in frame.results:
            self._pass_argument(callee_name, caller_name, frame.registers)
        self.code, self.registers = frame.code, frame.registers
        return frame.return_index

    def enter_function(
        self, name: str, back: int, results: tuple[str, ...], arguments: tuple[Operand, ...]
    ) -> int | None:
        """Enters the callee of a call if its body is available.

        Otherwise it records an unknown call, except for system functions, which order nothing.
        """
        callee = self.code.callee(name)
        if callee is None or len(self.frames) >= MAX_CALL_DEPTH or self._shares_locals(callee):
            if self.step.is_opaque_call:
                self.record_unknown_call()
            if arguments:  # the arguments may be addresses of the threads' own variables
                self.private_memory.clear("local")
            for result in results:
                self.registers.set(result, self.fresh_symbol("result"))
                self.private_memory.clear(result)
            return None
        function = callee.program.function
        formals = [d.name for parameter in function.parameters for d in parameter.declarators]
        returned = [d.name for result in function.results for d in result.declarators]
        inner = self.registers.copy()
        for formal, argument in zip(formals, arguments, strict=False):
            if isinstance(argument, Name):
                self._pass_argument(argument.text, formal, inner)
        self.frames.append(CallFrame(self.code, back, self.registers, tuple(zip(returned, results, strict=False))))
        self.code, self.registers = callee, inner
        return 0

    def _shares_locals(self, callee: ExecutableCode) -> bool:
        """Returns whether the callee is in progress and has locals, whose addresses both executions would share."""
        return any(code is callee for code in (self.code, *(each.code for each in self.frames))) and (
            callee.program.has_locals
        )

    def _pass_argument(self, source: str, target: str, registers: RegisterFile) -> None:
        """Copies a parameter variable or register from one side of a call to the other."""
        self.private_memory.copy(source, target)
        held = self.registers.get(source)
        if held is not None:
            registers.set(target, held)
