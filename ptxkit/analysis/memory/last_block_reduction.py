"""Finds global memory that CTAs store before an atomic and that the CTA selected by the atomic's result reads.

In `if (atomicAdd(&done, 1) == gridDim.x - 1)`, the last CTA reads what all others stored. Only a release before the
atomic in the other CTAs, and an acquire after it in the last one, order the accesses.

One execution represents both CTAs: one that stores, up to its atomic, and another one after its own atomic. This is
possible where only the atomic's result distinguishes the CTAs before the read. The storing CTA may be so slow that what
it executes after its atomic comes too late to order anything.

Where data or unknown values may determine the atomic's address, the stores or the reads, or no execution is followed to
them, or the atomic has several copies, only the control flow graph is considered: the question is open if a fence is
missing on some path.

Source: PTX ISA, "Causality Order", "Release and Acquire Patterns", "Conflict and Data-races".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, step_successors
from ptxkit.analysis.context.facts_outside import build_facts_outside
from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.dataflow.condition_inputs import ConditionInputs, InputSet
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.program import Program, Step, callee_of
from ptxkit.analysis.ir.step_registers import is_result_used
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_RACE_PAIR_CHECKS
from ptxkit.analysis.memory.cta_scope_atomics import WordsOfAllCtas, axes_of_word, may_have_several_ctas
from ptxkit.analysis.memory.flag_accesses import find_polls
from ptxkit.analysis.memory.global_accesses import PointerAccess, is_maybe_earlier, pointer_accesses
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.trace import UnknownCall
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Barrier, Effect, ProxyFence
from ptxkit.semantics.ordering import ACQUIRE_ORDERS, ALL_ORDERS, CTA_LEVEL, RELEASE_ORDERS, fence_level
from ptxkit.syntax.tree import Operand

#: The special registers that are the same in all CTAs.
_GRID_UNIFORM_REGISTERS = (
    "%tid",
    "%laneid",
    "%lanemask",
    "%warpid",
    "%ntid",
    "%nctaid",
    "%nwarpid",
    "%envreg",
    "WARP_SZ",
)
#: The special registers that distinguish the CTAs of a grid.
_CTA_REGISTERS = ("%ctaid",)


@dataclass(frozen=True, slots=True)
class LastBlockRead:
    """A store, an atomic after it, and a read of the same bytes by the CTA that its result selects.

    is_released: whether a fence is between the store and the atomic; then the atomic does not acquire, and no fence is
    between it and the read. is_earlier: whether something may order the store before the atomic.
    """

    store: Step
    atomic: Step
    read: Step
    is_released: bool
    is_earlier: bool = True


@dataclass(frozen=True, slots=True)
class UndecidedLastBlockRead:
    """A read of which it is unknown whether it is of the CTA that an atomic selects and of what others stored."""

    read: Step


def find_last_block_reads(explorer: Explorer) -> Iterator[LastBlockRead | UndecidedLastBlockRead]:
    """Yields the reads of a kernel that no fence orders after other CTAs' stores; each pair of instructions once.

    Then it yields the reads of which this is unknown.
    """
    program = explorer.program
    if explorer.launch.cluster_size > 1 or program.callees or not may_have_several_ctas(program):
        return
    copies: dict[object, list[Step]] = defaultdict(list)
    for step in filter(_is_selecting_atomic, program.own_effectful_steps):
        copies[step.linear.instruction.opcode, step.linear.instruction.operands].append(step)
    for atomics in copies.values():
        yield from _find_reads_after(explorer, atomics)


def _find_reads_after(explorer: Explorer, atomics: Sequence[Step]) -> Iterator[LastBlockRead | UndecidedLastBlockRead]:
    """Yields the reads of the CTA that the result of one atomic selects, which may have copies."""
    program = explorer.program
    others = [step for step in program.own_effectful_steps if step not in atomics]
    ordering = [step for step in others if _may_order(program, step)]
    accesses = [(step, effect) for step in atomics for effect in step.effects if isinstance(effect, Access)]
    axes = "".join(dict.fromkeys(axis for access in accesses for axis in axes_of_word(program, *access)))
    words = WordsOfAllCtas(program, axes)
    is_same = {words.is_same_word(*access) for access in accesses}
    if False in is_same:
        return
    chosen = _GuardedAccesses(explorer, atomics, axes)
    if not chosen.stores or not chosen.reads:
        return
    followed: set[Step] = set()
    if None not in is_same and len(atomics) == 1 and not ordering:
        yield from _find_unordered(explorer, atomics[0], chosen, followed)
    known = followed.difference(chosen.undecided)
    paths = [_FencedPaths(program, atomic, ordering) for atomic in atomics]
    for read in sorted(chosen.reads.difference(program.analysis(find_polls)), key=lambda step: step.index):
        stores = [store for store in chosen.stores_of(read) if not {store, read} <= known]
        if any(each.lead_through(store, read) for each in paths for store in stores):
            yield UndecidedLastBlockRead(read)


def _find_unordered(
    explorer: Explorer, atomic: Step, chosen: _GuardedAccesses, followed: set[Step]
) -> Iterator[LastBlockRead]:
    """Yields the reads that are known to be unordered; adds the steps that a complete execution covers."""
    stores, reads = chosen.stores.difference(chosen.undecided), chosen.reads.difference(chosen.undecided)
    found: set[tuple[Step, Step]] = set()
    for exploration in list(explorer.explorations):
        given = exploration.scenario
        covered = set().union(*(group.covered_steps for group in exploration.groups))
        if atomic not in covered or covered.isdisjoint(stores) or covered.isdisjoint(reads):
            continue
        facts = build_facts_outside(explorer, given, given.rank, given.cluster_index)
        if facts is not None:
            followed |= covered
            for each in _ScenarioAccesses(facts, atomic, stores, reads).find_unordered():
                if (each.store, each.read) not in found:
                    found.add((each.store, each.read))
                    yield each


def find_unfollowed_atomic(program: Program) -> Step | None:
    """Returns the atomic that may select the last CTA in a kernel that calls functions, whose paths are not followed.

    The kernel, or a function that it calls, stores to global memory and reads from it, and nothing else orders CTAs.
    """
    steps = program.effectful_steps
    atomics = [step for step in steps if _is_selecting_atomic(step) and is_result_used(program, step)]
    if len(atomics) != 1 or not program.callees or not may_have_several_ctas(program):
        return None
    (atomic,) = atomics
    others = [step for step in steps if step is not atomic]
    if any(_may_order(program, step) and callee_of(step) not in program.callees for step in others):
        return None
    kinds = {e.kind for step in others for e in step.effects if isinstance(e, Access) and _is_weak_global_access(e)}
    return atomic if kinds == {"read", "write"} else None


class _GuardedAccesses:
    """The stores that every CTA may execute in every launch, and the reads that the result of an atomic may guard.

    axes: the axes of the grid along which the CTAs that share the atomic's word have the same position. undecided:
    those among the accesses of which this is unknown, because data or an unknown register decides it.
    """

    def __init__(self, explorer: Explorer, atomics: Sequence[Step], axes: str) -> None:
        self._common = (*_GRID_UNIFORM_REGISTERS, *(f"%ctaid.{axis}" for axis in axes))
        self._condition_inputs = ConditionInputs(explorer.program, explorer.input_independence, atomics)
        self._dependence = explorer.program.analysis(Dependence)
        self.undecided: set[Step] = set()
        steps = [step for step in explorer.program.own_effectful_steps if step not in atomics]
        if not any(is_result_used(explorer.program, atomic) for atomic in atomics):
            steps = []
        self.reads = {step for step in steps if self._may_be(step, "read", self._is_guarded_by_atomic)}
        flow = explorer.program.analysis(ControlFlowGraph)
        stores = [step for step in steps if self.reads and not any(flow.dominates(each, step) for each in atomics)]
        self.stores = {step for step in stores if self._may_be(step, "write", self._is_of_each_cta)}

    def stores_of(self, read: Step) -> Iterator[Step]:
        """Yields the stores to the buffer of a read, and those where one of the two buffers is unknown."""
        reads = [(read, operand) for operand in _weak_accesses(read, "read")]
        for store in self.stores:
            writes = [(store, operand) for operand in _weak_accesses(store, "write")]
            if any(self._dependence.may_share_buffer(one, other) for one in writes for other in reads):
                yield store

    def _may_be(self, step: Step, kind: str, check: Callable[[InputSet, set[str]], bool | None]) -> bool:
        """Returns whether a step has an access of a kind that satisfies a check, or may; notes the latter."""
        answers = set()
        for operand in _weak_accesses(step, kind):
            leaves = self._dependence.sources_of(step, operand)
            names = {leaf.name for leaf in leaves if leaf.kind == "special"}
            answers.add(check(self._condition_inputs.inputs_of(step, operand), names))
        if True not in answers and None in answers:
            self.undecided.add(step)
        return not answers <= {False}

    def _is_guarded_by_atomic(self, decided: InputSet, of_address: set[str]) -> bool | None:
        """Returns whether only the result of the atomic distinguishes the CTAs that execute a read of these inputs."""
        if decided.is_data:
            return False if self._distinguish_ctas(of_address) else None  # each CTA reads its own bytes
        if not decided.atomics or self._distinguish_ctas(decided.special_registers):
            return False
        return _all_start_with(decided.special_registers, self._common) or None

    def _is_of_each_cta(self, decided: InputSet, _: set[str]) -> bool | None:
        """Returns whether each CTA executes a store of these inputs, which depends on the position of the CTA."""
        if decided.is_data:
            return None
        if decided.atomics or not self._distinguish_ctas(decided.special_registers):
            return False
        return _all_start_with(decided.special_registers, (*self._common, *_CTA_REGISTERS)) or None

    def _distinguish_ctas(self, names: set[str]) -> bool:
        return any(name.startswith(_CTA_REGISTERS) and name not in self._common for name in names)


class _FencedPaths:
    """The paths through an atomic, and what may order CTAs on them: fences, and the steps of `ordering`."""

    def __init__(self, program: Program, atomic: Step, ordering: Collection[Step]) -> None:
        self._program, self._atomic = program, atomic
        self._ordering = ordering
        self._releases, self._acquires = (
            {*ordering, *program.own_steps_with(partial(_is_inter_cta_fence, orders=orders))}
            for orders in (RELEASE_ORDERS, ACQUIRE_ORDERS)
        )

    def lead_through(self, store: Step, read: Step) -> bool:
        """Returns whether a path leads from a store to the atomic and on to a read, and a fence is missing on it."""
        if not self._leads(store, self._atomic) or not self._leads(self._atomic, read):
            return False
        is_sole = self._leads(self._atomic, read, self._ordering)
        unreleased = (
            is_sole and not _has_order(self._atomic, "release") and self._leads(store, self._atomic, self._releases)
        )
        return unreleased or not (
            _has_order(self._atomic, "acquire") or not self._leads(self._atomic, read, self._acquires)
        )

    def _leads(self, first: Step, last: Step, but: Collection[Step] = ()) -> bool:
        """Returns whether a path leads from one step to another and passes none of some steps."""
        steps = self._program.steps
        indices = Worklist(step_successors(self._program, first))
        for index in indices:
            if steps[index] is last:
                return True
            if steps[index] not in but:
                indices.add(step_successors(self._program, steps[index]))
        return False


#: A position on a path.
_Place: TypeAlias = tuple[WarpPath, int]


class _ScenarioAccesses:
    """The accesses to global memory in one execution."""

    def __init__(self, facts: ScenarioFacts, atomic: Step, stores: Collection[Step], reads: Collection[Step]) -> None:
        self._happens_before = HappensBefore(
            facts, AnalysisBudget(pair_checks=min(MAX_RACE_PAIR_CHECKS, facts.budget.pair_checks))
        )
        atomics = pointer_accesses(facts, self._happens_before, {atomic})
        self._atomics = [(each.path, each.position) for each in atomics]
        self._acquires, self._releases = _has_order(atomic, "acquire"), _has_order(atomic, "release")
        self._atomic = atomic
        self._is_repeated = facts.program.analysis(ControlFlowGraph).may_repeat(atomic)
        self._stores = list(pointer_accesses(facts, self._happens_before, stores))
        self._reads = list(pointer_accesses(facts, self._happens_before, reads))
        self._fences = {
            orders: [
                (path, at)
                for path in self._happens_before.paths
                for at, event in enumerate(path.group.events)
                if not isinstance(event, UnknownCall) and _is_inter_cta_fence(event.effect, orders)
            ]
            for orders in (RELEASE_ORDERS, ACQUIRE_ORDERS)
        }
        self._is_fenced_cache: dict[tuple[_Place, _Place, frozenset[str]], bool] = {}

    def find_unordered(self) -> Iterator[LastBlockRead]:
        """Yields the reads that nothing orders after the stores."""
        by_identity: dict[int, list[PointerAccess]] = {}
        for read in self._reads:
            by_identity.setdefault(read.identity, []).append(read)
        checked: set[tuple[_Place, _Place]] = set()  # threads that take one path do not differ
        for store in self._stores:
            for read in by_identity.get(store.identity, ()):
                places = (store.path, store.position), (read.path, read.position)
                if places in checked:
                    continue
                if store.low < max(read.high, read.low + 1) and read.low < max(store.high, store.low + 1):
                    checked.add(places)
                    for path, at in self._atomics:
                        yield from self._check_pair(store, path, at, read)
                    yield from self._check_store(store, read)

    def _check_pair(
        self, store: PointerAccess, path: WarpPath, at: int, read: PointerAccess
    ) -> Iterator[LastBlockRead]:
        if not self._may_precede(store.path, store.position, path, at):
            return
        released = self._releases or self._is_fenced((store.path, store.position), (path, at), RELEASE_ORDERS)
        acquired = self._acquires or self._is_fenced((path, at), (read.path, read.position), ACQUIRE_ORDERS)
        if not released or not acquired:
            atomic = path.group.events[at].step
            yield LastBlockRead(store.step, atomic, read.step, released)

    def _check_store(self, store: PointerAccess, read: PointerAccess) -> Iterator[LastBlockRead]:
        """Yields a read of what nothing orders before the atomic, if each thread executes the atomic at most once."""
        if self._is_repeated or not self._atomics or not store.is_certain:
            return
        if not any(self._may_precede(store.path, store.position, *atomic) for atomic in self._atomics):
            yield LastBlockRead(store.step, self._atomic, read.step, is_released=False, is_earlier=False)

    def _is_fenced(self, first: _Place, last: _Place, orders: frozenset[str]) -> bool:
        """Returns whether a fence of one of some orders may be between two positions, which many accesses share."""
        key = (first, last, orders)
        found = self._is_fenced_cache.get(key)
        if found is None:
            fences = self._fences[orders]
            found = any(self._may_precede(*first, *each) and self._may_precede(*each, *last) for each in fences)
            self._is_fenced_cache[key] = found
        return found

    def _may_precede(self, path: WarpPath, at: int, other: WarpPath, until: int) -> bool:
        return is_maybe_earlier(self._happens_before, path, at, other, until)


def _all_start_with(names: set[str], known: tuple[str, ...]) -> bool:
    return all(name.startswith(known) for name in names)


def _weak_accesses(step: Step, kind: str) -> Iterator[Operand | None]:
    """Yields the address operands of the weak accesses of a kind to global memory."""
    for effect in step.effects:
        if isinstance(effect, Access) and effect.kind == kind and _is_weak_global_access(effect):
            yield step.operand(effect.address)


def _has_order(atomic: Step, order: str) -> bool:
    return any(isinstance(effect, Access) and effect.order == order for effect in atomic.effects)


def _is_weak_global_access(effect: Effect) -> bool:
    """Returns whether an effect is a synchronous weak store to global memory, or any synchronous read of it."""
    if not isinstance(effect, Access) or effect.space not in ("global", "generic") or effect.via != "address":
        return False
    is_now = (effect.proxy, effect.completion) == ("generic", None)
    return is_now and (effect.kind == "read" or (effect.kind, effect.order) == ("write", "weak"))


def _is_selecting_atomic(step: Step) -> bool:
    """Returns whether a step is an atomic with a result that orders in one direction, if any, beyond the CTA."""
    return any(
        isinstance(effect, Access)
        and (effect.kind, effect.proxy) == ("update", "generic")
        and effect.space in ("global", "generic")
        and effect.order in ("relaxed", "acquire", "release")
        and effect.scope in ("gpu", "sys")
        and step.match is not None
        and bool(step.match.results)
        for effect in step.effects
    )


def _may_order(program: Program, step: Step) -> bool:
    """Returns whether a step other than a fence around the atomic may order CTAs.

    A relaxed write orders nothing where its thread observes no value: an atomic is one if its result is not used.
    """
    if step.match is None or step.is_opaque_call:
        return True
    ordering = list(filter(_may_order_ctas, step.effects))
    return bool(ordering) and (is_result_used(program, step) or not all(map(_is_relaxed_write, ordering)))


def _is_relaxed_write(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.kind != "read" and effect.order == "relaxed"


def _may_order_ctas(effect: Effect) -> bool:
    match effect:
        case Access(kind="read", order="weak" | "volatile" | "relaxed"):
            return effect.space == "shared::cluster"
        case Access(kind="write" | "update", space=space):
            is_weak = effect.order == "weak" and effect.kind == "write"
            return not is_weak and not space.startswith("shared::cta")
        case Access():
            return effect.space in ("global", "generic", "shared::cluster")
        case Barrier(level=level):
            return level not in ("cta", "warp")
    return False


def _is_inter_cta_fence(effect: Effect, orders: frozenset[str] = ALL_ORDERS) -> bool:
    """Returns whether a fence of one of some orders may order the accesses of other CTAs."""
    level = fence_level(effect, restricted=True, orders=orders)
    return isinstance(effect, ProxyFence) or (level is not None and level > CTA_LEVEL)
