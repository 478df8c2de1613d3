"""The accesses to shared memory in each state of a CTA, and the asynchronous ones that may be in progress there.

Source: PTX ISA, "cp.async", "cp.async.commit_group", "cp.async.wait_group / cp.async.wait_all", "cp.async.bulk".
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from ptxkit.analysis.abstract_interpretation.async_groups import pending_groups
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.intervals.cta_states import CtaStates, IntervalState
from ptxkit.analysis.intervals.thread_values import ThreadValues
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.shared_window import SharedWindow
from ptxkit.analysis.limits import MAX_MATRIX_ROWS, MAX_PENDING_COMMITS
from ptxkit.analysis.symexec.descriptor_addresses import matrix_extent
from ptxkit.analysis.values.cta_values import CtaValue, per_thread
from ptxkit.analysis.values.uniform_terms import Atom, Numbers, UniformTerm
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, CommitGroup, WaitGroup
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.syntax.tree import Vector

_WINDOW = SharedWindow()


@dataclass(frozen=True, slots=True, eq=False)
class StateAccess:
    """An access to shared memory in one state.

    lows: the address in each thread, as an offset in shared memory (in that of the cluster, see `ClusterThreads`), or
    relative to the unknown `atom`; None where it is unknown. size: in bytes; None where it is unknown. threads: those
    that may execute it, as a bit mask. group: the mechanism that completes an asynchronous access; None for a
    synchronous one. stored: the numbers that all threads store, empty where they are unknown or differ. target: the
    rank of the CTA, for one of the CTAs whose shared memory one instruction accesses. is_strict: whether it is compared
    with all accesses, also with those that no rule demands an order of.
    """

    step: Step
    effect: Access
    lows: Numbers | None
    atom: Atom | None
    size: int | None
    threads: int
    group: str | None
    stored: tuple[int, ...] = ()
    target: int | None = None
    is_strict: bool = False

    @property
    def writes(self) -> bool:
        return self.effect.kind != "read"

    def is_compatible_with(self, other: StateAccess) -> bool:
        """Returns whether two threads may execute these accesses of the same bytes at the same time.

        PTX621 compares neither strong accesses nor the stores of one instruction, most of which store one value. A bulk
        copy that is executed again may copy other values.
        """
        if self.is_strict:
            return False
        if self.effect.order != "weak" and other.effect.order != "weak":
            return True
        if self.effect.space == other.effect.space == "tensor" and self.group == other.group == "tcgen05":
            return True  # multiplications are pipelined with each other
        is_bulk = not {self.group, other.group} <= {None, "cp.async"}
        is_same = self.step is other.step or (bool(self.stored) and self.stored == other.stored)
        return is_same and not is_bulk and self.writes and other.writes


Pending = Mapping[StateAccess, tuple[int, int]]
"""The asynchronous accesses that may be in progress, each with the least number of commits since, and the threads that
have not waited for it.
"""
_MutablePending = dict[StateAccess, tuple[int, int]]
OtherAccesses = Callable[[IntervalState, Step], Iterator[StateAccess]]


class IntervalAccesses:
    """The accesses in the states of one kernel.

    may_share: whether an access may be one of the CTA's shared memory. others: the accesses of a step in a state to
    other memory, or None. is_strict: see `StateAccess`.
    """

    def __init__(
        self,
        program: Program,
        cfg: ControlFlowGraph,
        values: ThreadValues,
        states: CtaStates,
        may_share: Callable[[Step, Access], bool],
        others: OtherAccesses | None = None,
        *,
        is_strict: bool = False,
    ) -> None:
        self._others = others
        self._program, self._cfg, self._values, self._states = program, cfg, values, states
        self._may_share, self._is_strict = may_share, is_strict
        self._by_state: dict[IntervalState, list[StateAccess]] = {}
        self._at_end: dict[IntervalState, list[StateAccess]] = {}

    @cached_property
    def before(self) -> Mapping[IntervalState, Pending]:
        """The asynchronous accesses that may be in progress at the start of each state."""
        return self._solve()

    def of_state(self, state: IntervalState) -> Sequence[StateAccess]:
        """Returns the accesses of the threads that come to a state."""
        found = self._by_state.get(state)
        if found is None:
            found = self._by_state[state] = list(self._find_accesses(state))
        return found

    def with_pending(self, state: IntervalState) -> Iterator[tuple[StateAccess, Pending]]:
        """Yields the accesses of a state with the asynchronous ones of the same thread that may be in progress then."""
        pending = dict(self.before.get(state, {}))
        for item in self._items(state):
            if isinstance(item, StateAccess):
                yield item, dict(pending)
            self._apply(item, pending)

    def _find_accesses(self, state: IntervalState) -> Iterator[StateAccess]:
        for step in self._program.steps[state.first : state.end]:
            yield from self._of_step(state, step)

    def of_barrier(self, state: IntervalState) -> Sequence[StateAccess]:
        """Returns the accesses of the step that ends a state."""
        found = self._at_end.get(state)
        if found is None:
            steps = (state.barrier,) if state.barrier is not None else ()
            found = self._at_end[state] = [access for step in steps for access in self._of_step(state, step)]
        return found

    def _of_step(self, state: IntervalState, step: Step) -> Iterator[StateAccess]:
        for effect in step.effects:
            if isinstance(effect, Access) and self._may_share(step, effect):
                executing = self._values.members(step, state.values)[0] & state.threads
                for target, threads in self._values.targets(step, effect, executing, state.values).items():
                    if threads:
                        yield self._access(state, step, effect, threads, target)
        if self._others is not None:
            yield from self._others(state, step)

    def _access(
        self, state: IntervalState, step: Step, effect: Access, executing: int, target: int | None
    ) -> StateAccess:
        value = self._values.operand(step, step.operand(effect.address), state.values)
        size = self._values.expression(step, effect.size, state.values)
        lows, atom = _offsets(effect, value) if effect.via == "address" else (None, None)
        if effect.via == "descriptor":
            lows, size = self._matrix(state, step, effect, value)
        if lows is not None:
            lows = self._values.cluster.places(lows, target)
        if atom is not None and self._values.cluster.ctas > 1 and effect.space != "shared::cta" and target is None:
            lows, atom = None, None  # the unknown may be the rank of a CTA
        return StateAccess(
            step,
            effect,
            lows,
            atom,
            size if isinstance(size, int) and size > 0 else None,
            executing,
            effect.completion,
            self._stored_numbers(state, step, effect),
            target,
            self._is_strict,
        )

    def _stored_numbers(self, state: IntervalState, step: Step, effect: Access) -> tuple[int, ...]:
        if (effect.kind, effect.completion) != ("write", None):
            return ()
        operands = [each for each in step.instruction.operands if each is not step.operand(effect.address)]
        stored = operands[0].elements if operands and isinstance(operands[0], Vector) else operands[:1]
        values = [self._values.operand(step, each, state.values) for each in stored]
        numbers = tuple(each for each in values if isinstance(each, int))
        return numbers if len(numbers) == len(values) else ()

    def _matrix(
        self, state: IntervalState, step: Step, effect: Access, descriptor: CtaValue
    ) -> tuple[Numbers | None, int | None]:
        """Returns the start and the size of the matrix that a descriptor denotes; None where they are unknown.

        Where an argument of the kernel determines the shape, it is that of the largest matrix.
        """
        transposed = effect.transposed or ConstantExpr(0)
        shape = [self._values.expression(step, each, state.values) for each in (effect.rows, effect.width, transposed)]
        rows, width, is_transposed = shape
        if not isinstance(descriptor, int | tuple) or not isinstance(width, int) or effect.rows is None:
            return None, None
        most = rows if isinstance(rows, int) else MAX_MATRIX_ROWS
        sides = (is_transposed,) if isinstance(is_transposed, int) else (0, 1)
        held = (descriptor,) if isinstance(descriptor, int) else descriptor
        extents = {each: _union([matrix_extent(each, most, width, side) for side in sides]) for each in set(held)}
        sizes = {None if extent is None else extent[1] - extent[0] for extent in extents.values()}
        lows = per_thread([None if extent is None else extent[0] for extent in (extents[each] for each in held)])
        return (lows, sizes.pop()) if isinstance(lows, int | tuple) and len(sizes) == 1 else (None, None)

    # Asynchronous accesses in progress.

    def executing(self, state: IntervalState, step: Step) -> int:
        """Returns the threads that certainly execute a step where they come to a state, as a bit mask."""
        return state.threads & ~self._values.members(step, state.values)[1]

    def by_step(self, state: IntervalState) -> Iterator[tuple[Step, list[StateAccess]]]:
        """Yields the steps of a state that have effects, with the accesses of each, in order."""
        own: dict[Step, list[StateAccess]] = defaultdict(list)
        for access in self.of_state(state):
            own[access.step].append(access)
        for step in self._program.steps[state.first : state.end]:
            if step.effects:
                yield step, own.get(step, [])

    def _items(self, state: IntervalState) -> Iterator[StateAccess | tuple[Step, CommitGroup | WaitGroup, int]]:
        """Yields the accesses, commits and waits of a state; commits and waits with the threads that execute them."""
        for step, accesses in self.by_step(state):
            yield from accesses
            for effect in step.effects:
                if isinstance(effect, CommitGroup | WaitGroup):
                    yield step, effect, self.executing(state, step)

    def _apply(self, item: StateAccess | tuple[Step, CommitGroup | WaitGroup, int], pending: _MutablePending) -> None:
        if isinstance(item, StateAccess):
            if item.group is not None:
                pending[item] = 0, item.threads
            return
        step, effect, threads = item
        if isinstance(effect, CommitGroup) or effect.commits:
            _commit(pending, effect.group, threads)
        if isinstance(effect, WaitGroup):
            left = pending_groups(step, effect)
            for access, (count, own) in list(pending.items()) if left is not None else ():
                ends = access.group == effect.group and not (effect.read_only and access.writes)
                if ends and left is not None and count > left:
                    _keep(pending, access, count, own & ~threads)

    def _solve(self) -> dict[IntervalState, Pending]:
        def leave(state: IntervalState, pending: _MutablePending) -> None:
            for item in self._items(state):
                self._apply(item, pending)

        def follow(pending: Pending, threads: int, _: IntervalState) -> Pending:
            return {each: (count, own & threads) for each, (count, own) in pending.items() if own & threads}

        return solve_states(self._states, leave, follow, _join)


def _union(ranges: Sequence[tuple[int, int] | None]) -> tuple[int, int] | None:
    """Returns the range from the first byte of some ranges to the last one; None if one of them is unknown."""
    known = [each for each in ranges if each is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if len(known) == len(ranges) else None


def solve_states(
    states: CtaStates,
    leave: Callable[[IntervalState, Any], None],
    follow: Callable[[Any, int, IntervalState], Any],
    join: Callable[[Any, Any], Any],
) -> dict[IntervalState, Any]:
    """Returns the least facts about accesses, at the start of each state, that hold on all paths to it.

    leave: changes the facts at the start of a state to those at its end. follow: returns what of them holds for the
    threads that go to the next state. join: returns what holds on two paths.
    """
    first = states.states[0]
    before: dict[IntervalState, Any] = {first: {}}
    waiting, queued = deque([first]), {first}
    while waiting:
        state = waiting.popleft()
        queued.discard(state)
        facts = dict(before[state])
        leave(state, facts)
        for after, threads in state.following.items():
            passed, known = follow(facts, threads, state), before.get(after)
            joined = passed if known is None else join(known, passed)
            if joined != known:
                before[after] = joined
                if after not in queued:
                    queued.add(after)
                    waiting.append(after)
    return before


def _commit(pending: _MutablePending, group: str, threads: int) -> None:
    for access, (count, own) in pending.items():
        if access.group == group and not own & ~threads:
            pending[access] = min(count + 1, MAX_PENDING_COMMITS), own


def _keep(pending: _MutablePending, access: StateAccess, count: int, threads: int) -> None:
    if threads:
        pending[access] = count, threads
    else:
        del pending[access]


def _join(first: Pending, second: Pending) -> Pending:
    found = dict(first)
    for access, (count, threads) in second.items():
        known = found.get(access)
        found[access] = (count, threads) if known is None else (min(known[0], count), known[1] | threads)
    return found


def _offsets(effect: Access, value: CtaValue) -> tuple[Numbers | None, Atom | None]:
    """Returns the addresses as offsets in shared memory, and the unknown to which they are relative."""
    if isinstance(value, UniformTerm):
        return (value.offset, value.atom) if effect.space != "generic" else (None, None)
    if not isinstance(value, int | tuple):
        return None, None
    if isinstance(value, int):
        return _WINDOW.shared_offset(effect.space, value), None
    found = per_thread([_WINDOW.shared_offset(effect.space, each) for each in value])
    return (found if isinstance(found, int | tuple) else None), None
