"""Finds where a flag in global memory may not order the data for which a thread waits.

A thread polls a flag: it reads one word strongly, in a loop, until it has the expected value. Another thread stores
data and then writes the flag. The data are ordered only if the writer releases between the two, the poller acquires
between the poll and its reads of the data, both in a scope that includes the other thread, and if a barrier orders the
threads of each CTA where others than the one that signals or polls store or read the data.

Only the control flow graph is considered: what is yielded is a path on which something is missing, which data or other
values may exclude. A flag that the kernel does not write is written by another grid, another GPU or the host.

Source: PTX ISA, "Release and Acquire Patterns", "Causality Order", "Morally strong operations", "Scope".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Literal, TypeAlias

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, step_successors
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers
from ptxkit.analysis.limits import MAX_FLAG_CONFLICTS
from ptxkit.analysis.memory.cta_pair_order import CtaRaceSearch
from ptxkit.analysis.memory.cta_scope_atomics import GridUniformAddresses
from ptxkit.analysis.memory.flag_accesses import find_global_accesses, find_polls, global_accesses, reads_weakly
from ptxkit.analysis.memory.flag_calls import EdgeTest, FlagCalls, StepTest
from ptxkit.analysis.memory.grid_exchanges import GridExchanges
from ptxkit.analysis.memory.position_guards import PositionGuards
from ptxkit.analysis.sync.warp_convergence import is_collective_step
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import Access, Control, Effect
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.semantics.ordering import (
    ACQUIRE_ORDERS,
    CLUSTER_LEVEL,
    CTA_LEVEL,
    GPU_LEVEL,
    RELEASE_ORDERS,
    SYSTEM_LEVEL,
    fence_level,
    is_cta_barrier,
    scope_level,
    sync_operation_of,
)

FaultKind: TypeAlias = Literal[
    "weak-poll", "no-acquire", "no-release", "no-barrier-after-poll", "no-barrier-before-signal", "no-signal",
    "scope", "size",
]  # fmt: skip
#: The names of scopes by level.
_SCOPES = {CTA_LEVEL: "cta", CLUSTER_LEVEL: "cluster", GPU_LEVEL: "gpu", SYSTEM_LEVEL: "sys"}


@dataclass(frozen=True, slots=True)
class FlagFault:
    """Something that may be missing where a flag should order data.

    kind: what is missing. step: the instruction at which it matters: the poll, the read of the data, or the write of
    the flag. other: the poll of a read; the store that a flag signals, or the poll of a flag of another scope or size.
    scope: the scope that is required. is_external: whether the kernel does not write the flag. is_of_grid: whether it
    is that of a barrier of the grid. race: a store by one CTA and an access by another one which certainly conflict
    without order; None if this is unknown. condition: what selects the same bytes for them, if not all launches do.
    """

    kind: FaultKind
    step: Step
    other: Step
    scope: str = "gpu"
    is_external: bool = False
    is_of_grid: bool = False
    race: tuple[Step, Step] | None = None
    condition: Literal["", "arguments", "data"] = ""


def find_flag_faults(search: CtaRaceSearch) -> Iterator[FlagFault]:
    """Yields what may be missing where a kernel, or a function that it calls, synchronizes by flags.

    Each kind is yielded once for an instruction.
    """
    for flags in [_FlagSynchronization(code) for code in search.program.functions]:
        found: dict[tuple[FaultKind, Step], list[FlagFault]] = defaultdict(list)
        for fault in flags.find_faults():
            found[fault.kind, fault.step].append(fault)
        for faults in found.values():
            pairs = ((fault, pair) for fault in faults if not fault.is_external for pair in flags.conflicts_of(fault))
            tried = list(islice(pairs, MAX_FLAG_CONFLICTS))
            races = flags.races_among(search, [pair for _, pair in tried])
            shown = (replace(fault, race=pair) for fault, pair in tried if pair in races)
            yield next(chain(shown, flags.find_conditional_races(search, tried)), faults[0])


class _FlagSynchronization:
    """The polls, signals and data of one kernel."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._flow, self._dependence = program.analysis(ControlFlowGraph), program.analysis(Dependence)
        self._steps = program.analysis(find_global_accesses)
        self._calls = FlagCalls(program)
        self._polls = program.analysis(find_polls)
        self._writes: list[Step] = []
        self._grid_barriers: set[tuple[Step, Step]] = set()
        self._guards = PositionGuards(program)
        self._exchanges = GridExchanges(program, self._guards, self._calls)

    def find_faults(self) -> Iterator[FlagFault]:
        polls, polling_calls = self._polls, self._calls.entering(find_polls)
        hoisted = self._reads_before_endless_loops()
        if not polls and not polling_calls and not hoisted:
            return
        self._words = GridUniformAddresses(self._program)
        self._pointers = pointer_parameters(self._program)
        self._buffers = {step: self._buffers_of(step) for step in self._steps}
        self._writes = [step for step in self._steps if global_accesses(step, "write", "update") and step not in polls]
        strong = _strong_writes(self._program)
        stores = [step for step in self._writes if step not in strong]
        reads = [step for step in self._steps if step not in polls and global_accesses(step, "read")]
        shared = [*self._sharing(reads, stores), *self._sharing(stores, reads)]
        signaling = self._calls.entering(_strong_writes)
        for poll in (*hoisted, *polls):
            signals = [step for step in self._writes if self._may_be_flag(step, poll)]
            if global_accesses(poll, "read", "update")[0].order == "weak":
                yield FlagFault("weak-poll", poll, signals[0] if signals else poll)
                continue
            # The writer is elsewhere if the kernel does not write the flag, and data may then be in any buffer.
            is_external = not signals and not signaling
            signals = [step for step in signals if step in strong]
            level = self._required_level(poll, signals, is_external)
            yield from _flag_mismatches(poll, signals, level)
            if is_external:
                signals = [step for step in strong if global_accesses(step, "write")]
                data, sent = list(filter(reads_weakly, reads)), stores
            else:
                data = sent = shared
                yield from self._faults_without_signal(poll, {*signals, *signaling}, stores, reads)
            arrivals = {step for step in signals if self._exchanges.is_barrier(step, poll)}
            self._grid_barriers.update((step, poll) for step in arrivals)
            for fault in self._faults_after_poll(poll, data, level):
                yield replace(fault, is_external=is_external, is_of_grid=bool(arrivals))
            for signal in (*signals, *signaling):
                for fault in self._faults_before_signal(signal, sent, level):
                    yield replace(fault, is_external=is_external, is_of_grid=signal in arrivals)
        for call in polling_calls:
            yield from self._faults_after_poll(call, shared, GPU_LEVEL)
            for signal in (*strong, *signaling):
                yield from self._faults_before_signal(signal, shared, GPU_LEVEL)

    def _reads_before_endless_loops(self) -> list[Step]:
        """Returns the weak reads that decide whether a thread stays in an empty loop without an exit.

        A compiler may load a flag once, before the loop that polls it, if the read is weak.
        """
        found: set[str] = set()
        for loop in self._flow.loops.loops:
            steps = [step for node in loop.nodes for step in self._flow.steps_of_block(node)]
            if not self._flow.loops.exit_edges(loop) and not any(step.effects for step in steps if not _is_jump(step)):
                before = (
                    node for node, after in enumerate(self._flow.successors) if not loop.entries.isdisjoint(after)
                )
                found.update(name for node in before for name in guard_registers(self._flow.steps_of_block(node)[-1]))
        deciding = self._dependence.source_registers(found) if found else set()
        return [step for step in self._steps if reads_weakly(step) and not deciding.isdisjoint(step.result_registers())]

    def conflicts_of(self, fault: FlagFault) -> Iterator[tuple[Step, Step]]:
        """Yields the stores and other accesses that may conflict because of a fault."""
        if fault.kind in ("weak-poll", "scope", "size"):
            yield (fault.other, fault.step) if fault.kind == "weak-poll" else (fault.step, fault.other)
            return
        step = fault.step if fault.kind in ("no-acquire", "no-barrier-after-poll", "no-signal") else fault.other
        for other in self._steps:
            if self._may_share(step, other):
                if step in self._writes and global_accesses(other, "read") and _is_weak(step, other):
                    yield step, other
                elif global_accesses(step, "read") and other in self._writes and _is_weak(step, other):
                    yield other, step

    def find_conditional_races(
        self, search: CtaRaceSearch, tried: Sequence[tuple[FlagFault, tuple[Step, Step]]]
    ) -> Iterator[FlagFault]:
        """Yields the faults at barriers of the grid with a pair that conflicts with some arguments or some data.

        CTAs synchronize so to exchange data: of each CTA's own data, nothing needs that order.
        """
        tried = [(fault, pair) for fault, pair in tried if fault.is_of_grid]
        races = self.races_among(search, [pair for _, pair in tried], in_all=False) if tried else ()
        yield from (replace(fault, race=pair, condition="arguments") for fault, pair in tried if pair in races)
        for fault, pair in tried:
            if fault.kind.startswith("no-barrier") and self._is_exchanged(fault, pair):
                yield replace(fault, race=pair, condition="data")

    def _is_exchanged(self, fault: FlagFault, pair: tuple[Step, Step]) -> bool:
        """Returns whether data may select what another CTA accesses after or before a fault, without any barrier."""
        is_after = fault.kind == "no-barrier-after-poll"
        own = fault.step if is_after else fault.other
        other = pair[0] if pair[1] is own else pair[1]
        if not self._exchanges.may_select_other_cta(own, other, self._loads_input):
            return False
        start, end, flag = (fault.other, own, fault.other) if is_after else (own, fault.step, fault.step)
        arrivals = {arrival for arrival, poll in self._grid_barriers if flag in (arrival, poll)}
        polls = {poll for arrival, poll in self._grid_barriers if flag in (arrival, poll)}
        every = {step for barrier in self._grid_barriers for step in barrier}
        starts, goals = ([other], arrivals) if is_after else (polls, {other})
        reached = self._calls.steps_after(starts, lambda step: step in every, self._guards.edges_of(flag))
        is_of_round = any(step in goals for step in reached)
        return is_of_round and self._exchanges.lacks_order(start, end, flag, every, _orders_threads)

    def _loads_input(self, load: Step) -> bool:
        """Returns whether a load is of a buffer in global memory that the kernel does not write."""
        is_weak = load in self._buffers and bool(self._buffers[load]) and load not in self._polls
        return is_weak and not any(self._may_share(load, write) for write in self._writes)

    def races_among(
        self, search: CtaRaceSearch, pairs: Iterable[tuple[Step, Step]], *, in_all: bool = True
    ) -> set[tuple[Step, Step]]:
        """Returns those pairs of a write and another access that certainly conflict, in an execution by two CTAs.

        Only the positions of threads, arguments and the polls decide whether they are executed, and their addresses.
        in_all: whether all samples of the arguments must show it where numbers among them decide.
        """
        wanted: dict[Step, list[Step]] = defaultdict(list)
        for write, other in pairs if self._program is search.program else ():
            if not any(self._depends_on_data(search, step) for step in (write, other)):
                wanted[write].append(other)
        return {
            pair for axis in search.axes for pair in (search.find_races(wanted, axis, in_all=in_all) if wanted else ())
        }

    def _depends_on_data(self, search: CtaRaceSearch, step: Step) -> bool:
        accesses = global_accesses(step, "read", "write", "update")
        return any(search.inputs.inputs_of(step, step.operand(access.address)).is_data for access in accesses)

    def _faults_after_poll(self, poll: Step, data: Collection[Step], level: int) -> Iterator[FlagFault]:
        """Yields the reads of data that a path from a poll reaches without an acquire, or without a barrier."""
        loop = self._flow.loop_of(poll)
        outside = {step for step in data if loop is None or self._flow.block_of(step) not in loop.nodes}
        if not self._acquires(poll, level):
            reached = self._unordered_after(poll, lambda step: _orders(step, ACQUIRE_ORDERS, level)) if outside else ()
            yield from (FlagFault("no-acquire", read, poll, _SCOPES[level]) for read in reached if read in outside)
        others = {read for read in outside if not self._guards.runs_in_threads_of(read, poll)}
        for read in self._find_reachable([poll], others, _orders_threads):
            yield FlagFault("no-barrier-after-poll", read, poll)

    def _faults_before_signal(self, signal: Step, sent: Collection[Step], level: int) -> Iterator[FlagFault]:
        """Yields the signal for a store from which a path reaches it without a release, or without a barrier."""
        if sent and not self._releases(signal, level):
            unordered = self._unordered_before(signal, lambda step: _orders(step, RELEASE_ORDERS, level))
            stores = (step for step in sent if any(after in unordered for after in self._following(step)))
            yield from (FlagFault("no-release", signal, store, _SCOPES[level]) for store in stores)
        others = [each for each in sent if not self._guards.runs_in_threads_of(each, signal)]
        before = self._find_before(others, [signal], _orders_threads)
        yield from (FlagFault("no-barrier-before-signal", signal, store) for store in before)

    def _acquires(self, poll: Step, level: int) -> bool:
        """Returns whether a poll acquires, or each path from it in the functions that it calls."""
        if poll.is_opaque_call:
            return self._calls.is_followed(poll, find_polls, lambda step: _orders(step, ACQUIRE_ORDERS, level))
        return _orders(poll, ACQUIRE_ORDERS, level)

    def _releases(self, signal: Step, level: int) -> bool:
        """Returns whether the write of a flag releases, or each path to it in the functions that it calls."""
        if signal.is_opaque_call:
            return self._calls.is_preceded(signal, _strong_writes, lambda step: _orders(step, RELEASE_ORDERS, level))
        return _orders(signal, RELEASE_ORDERS, level)

    def _faults_without_signal(
        self, poll: Step, signals: Collection[Step], stores: Collection[Step], reads: Collection[Step]
    ) -> Iterator[FlagFault]:
        """Yields the stores of data that follow no poll and from which no path leads to the flag.

        Where the thread that polls executes a store, each path to the store must have a poll.
        """
        data = list(self._find_reachable([poll], set(reads), lambda _: False))
        after = set(self._find_reachable(self._polls, set(stores), lambda _: False))
        unpolled = self._find_reachable(self._program.steps[:1], after, lambda step: step in self._polls)
        after.difference_update([store for store in unpolled if self._may_be_of_poller(store)])
        candidates = list(self._sharing([each for each in stores if each not in after], data))
        signaled = set(self._find_before(candidates, signals, lambda _: False))
        yield from (FlagFault("no-signal", store, poll) for store in candidates if store not in signaled)

    def _may_be_of_poller(self, store: Step) -> bool:
        """Returns whether the threads that execute a store are among those that poll."""
        own = self._guards.of_thread(store)
        return any(self._guards.of_thread(poll) <= own for poll in self._polls)

    def _unordered_after(self, poll: Step, is_order: StepTest) -> set[Step]:
        """Returns the steps that are reached from a poll without a step that orders.

        The thread that polls takes no branch against the conditions under which it does. Others follow from a
        barrier. Where it orders before its next barrier of the CTA, this orders the others, too.
        """
        edges = self._guards.edges_of(poll)
        return self._find_unordered(
            lambda starts, stops, *more: set(self._calls.steps_after(starts, stops, *more)), poll, is_order, edges
        )

    def _unordered_before(self, signal: Step, is_order: StepTest) -> set[Step]:
        """Returns the steps that start a path to the write of a flag without a step that orders.

        Threads are those of `_unordered_after`, in the opposite direction.
        """
        steps = self._program.steps

        def precede(starts: Iterable[Step], stops: StepTest, *more: EdgeTest) -> set[Step]:
            return {steps[index] for index in self._calls.steps_before(starts, stops, *more)} - {*starts}

        return {signal} | self._find_unordered(precede, signal, is_order, self._guards.edges_of(signal))

    def _find_unordered(
        self, steps_of: Callable[..., set[Step]], flag: Step, is_order: StepTest, own_edges: EdgeTest
    ) -> set[Step]:
        """Returns the steps on paths from or to a flag, along the edges of its thread and of the other threads.

        steps_of: returns the steps on paths in one direction. A barrier of the CTA ends the paths of others if the
        thread of the flag orders between that barrier and the one from which they follow.
        """
        own = steps_of([flag], is_order, own_edges)
        met = {step for step in own if _orders_threads(step) and not is_order(step)}
        ordered_next = {
            step for step in met if _is_cta_barrier(step) and met.isdisjoint(steps_of([step], is_order, own_edges))
        }
        edges = self._guards.edges_of(flag, of_cta=True)
        others = steps_of(ordered_next, lambda step: is_order(step) or _is_cta_barrier(step), edges)
        return own | others | steps_of(met - ordered_next, lambda step: is_order(step) or step in met, edges)

    def _find_reachable(self, starts: Iterable[Step], goals: Collection[Step], is_between: StepTest) -> Iterator[Step]:
        """Yields the goals to which a path leads from a start without a step of some kind; starts are not goals."""
        reached = self._calls.steps_after(starts, is_between) if goals else ()
        return (step for step in reached if step in goals)

    def _following(self, step: Step) -> Iterator[Step]:
        return (self._program.steps[index] for index in step_successors(self._program, step))

    def _find_before(self, starts: Collection[Step], goals: Iterable[Step], is_between: StepTest) -> Iterator[Step]:
        """Yields the starts from which a path leads to a goal without a step of some kind after the start."""
        before = self._calls.steps_before(goals, is_between) if starts else set()
        return (step for step in starts if not before.isdisjoint(step_successors(self._program, step)))

    def _required_level(self, poll: Step, signals: Collection[Step], is_external: bool) -> int:
        """Returns the level of the scope that includes the thread that polls and the one that signals.

        A flag that CTAs of one role set, and those of another role poll, needs more than the scope of a CTA.
        """
        read = global_accesses(poll, "read", "update")[0]
        own = scope_level(read.scope)
        if is_external:
            return SYSTEM_LEVEL if own == SYSTEM_LEVEL else GPU_LEVEL
        if own == CTA_LEVEL and all(global_accesses(step, "write", "update")[0].scope == "cta" for step in signals):
            roles = {self._guards.of_cta(step) for step in signals}
            return CTA_LEVEL if self._guards.of_cta(poll) in roles else GPU_LEVEL
        return CLUSTER_LEVEL if own == CLUSTER_LEVEL else GPU_LEVEL

    def _buffers_of(self, step: Step) -> frozenset[tuple[str, int]]:
        """Returns the pointers on which the address of an access depends; none where they are not known.

        The driver passes the workspace of the barrier of the grid in `%envreg` registers.
        """
        access = global_accesses(step, "read", "write", "update")[0]
        leaves = self._dependence.sources_of(step, step.operand(access.address))
        named = {(leaf.name, 0) for leaf in leaves if leaf.kind == "variable"}
        named.update(("%envreg", 0) for leaf in leaves if leaf.name.startswith("%envreg"))
        return frozenset(named | {place for place in self._pointers for leaf in leaves if leaf.covers(place)})

    def _sharing(self, steps: Iterable[Step], others: Collection[Step]) -> Iterator[Step]:
        """Yields the steps that may access a buffer that some of the others may access."""
        return (step for step in steps if any(self._may_share(step, other) for other in others))

    def _may_be_flag(self, write: Step, poll: Step) -> bool:
        """Returns whether a write may be of the word that is polled, and not of another one next to it."""
        uses = [(step, global_accesses(step, "read", "write", "update")[0]) for step in (write, poll)]
        word, other = (self._words.address_of(*use) for use in uses)
        if word is not None and other is not None and word[0] is other[0]:
            return word[1] == other[1] or not all(self._words.is_same_word_for_all_ctas(*use) for use in uses)
        return self._may_share(write, poll)

    def _may_share(self, first: Step, other: Step) -> bool:
        one, two = self._buffers[first], self._buffers[other]
        return not one or not two or not one.isdisjoint(two)


def _flag_mismatches(poll: Step, signals: Iterable[Step], level: int) -> Iterator[FlagFault]:
    """Yields the writes of a flag whose scope does not include the poller, or that write a part of the word."""
    read = global_accesses(poll, "read", "update")[0]
    for signal in signals:
        write = global_accesses(signal, "write", "update")[0]
        if scope_level(write.scope) < level:
            yield FlagFault("scope", signal, poll, _SCOPES[level])
        sizes = [each.size.value if isinstance(each.size, ConstantExpr) else None for each in (read, write)]
        if None not in sizes and sizes[0] != sizes[1]:
            yield FlagFault("size", signal, poll)


def _strong_writes(program: Program) -> list[Step]:
    """Returns the steps of a function that may write a flag in global memory."""
    accesses = ((step, global_accesses(step, "write", "update")) for step in program.analysis(find_global_accesses))
    polls = program.analysis(find_polls)
    return [step for step, writes in accesses if writes and writes[0].order != "weak" and step not in polls]


def _is_jump(step: Step) -> bool:
    return all(isinstance(effect, Control) for effect in step.effects)


def _is_weak(*steps: Step) -> bool:
    """Returns whether one of two accesses is weak, so that they race if nothing orders them."""
    return any(
        each.order == "weak" and each.coherent for step in steps for each in global_accesses(step, "read", "write")
    )


def _orders(step: Step, orders: frozenset[str], level: int) -> bool:
    """Returns whether a step acquires or releases, in a scope of at least a level; an unknown instruction may."""
    return step.match is None or any(_has_order(each, orders, level) for each in step.effects)


def _has_order(effect: Effect, orders: frozenset[str], level: int) -> bool:
    fenced = fence_level(effect, restricted=False, orders=orders)
    if fenced is not None:
        return fenced >= level
    if isinstance(effect, Access):
        return effect.order in orders and scope_level(effect.scope) >= level
    operation = sync_operation_of(effect)
    return operation is not None and not operation.is_relaxed and operation.scope_level >= max(level, CLUSTER_LEVEL)


def _is_cta_barrier(step: Step) -> bool:
    """Returns whether all threads of the CTA wait for each other at a step."""
    return step.instruction.guard is None and any(map(is_cta_barrier, step.effects))


def _orders_threads(step: Step) -> bool:
    """Returns whether a step may order threads of one CTA."""
    if step.match is None or is_collective_step(step):
        return True
    return any(sync_operation_of(effect) is not None for effect in step.effects)
