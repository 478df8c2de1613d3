"""Decides whether anything may order accesses of two CTAs of a grid to the same bytes of global memory.

Both CTAs of a grid of two are executed. A release in one of them, and an acquire in the other one, order accesses if
they are of the same word, in a scope that includes both. Everything that may order is taken for order, but what cannot
happen in an execution in which the polls of the kernel wait: if a thread polls a word that only the other CTA writes,
what it does afterwards is not observed by what that CTA did before.

Source: PTX ISA, "Causality Order", "Release and Acquire Patterns", "Conflict and Data-races".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from ptxkit.analysis.context.facts_outside import build_facts_outside
from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.dataflow.condition_inputs import ConditionInputs
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.step_registers import is_result_used
from ptxkit.analysis.limits import FEW_ROUNDS, LONG_GRID, MAX_OVERLAP_PAIRS, MAX_RACE_PAIR_CHECKS
from ptxkit.analysis.memory.cta_scope_atomics import axes_of_grid
from ptxkit.analysis.memory.flag_accesses import find_polls
from ptxkit.analysis.memory.global_accesses import PointerAccess, is_maybe_earlier, pointer_accesses
from ptxkit.analysis.memory.grid_barriers import GridBarriers
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent, UnknownCall
from ptxkit.analysis.values.scenario import ParameterKey, Scenario
from ptxkit.analysis.values.symbolic_values import SymbolicValue, value_of_lane
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Effect
from ptxkit.semantics.ordering import ACQUIRE_ORDERS, GPU_LEVEL, RELEASE_ORDERS, fence_level, scope_level


@dataclass(frozen=True, slots=True)
class _FlagAccess:
    """A strong access of a path to global memory. place: (identity of the pointer, offset); None if it is unknown."""

    path: WarpPath
    position: int
    effect: Access
    step: Step
    place: tuple[int, int] | None

    def may_be_same_word(self, other: _FlagAccess) -> bool:
        return self.place is None or other.place is None or self.place == other.place


class _Cta:
    """One CTA: its order, fences and strong accesses."""

    def __init__(self, facts: ScenarioFacts) -> None:
        self.facts = facts
        limit = min(MAX_RACE_PAIR_CHECKS, facts.budget.pair_checks)
        self.happens_before = HappensBefore(facts, AnalysisBudget(pair_checks=limit))

    def accesses(self, steps: Collection[Step], pointers: Collection[int]) -> Iterator[PointerAccess]:
        """Yields the accesses at some steps to known bytes; where the block may be smaller, those of its first thread.

        pointers: the identities of the arguments and variables; any other address may differ between the CTAs.
        """
        launch = self.facts.scenario.launch
        for each in pointer_accesses(self.facts, self.happens_before, steps):
            is_certain = each.tid == 0 or launch.is_exact or launch.is_limit
            if is_certain and each.identity in pointers and each.high > each.low:
                yield each

    def releases(self, path: WarpPath, position: int) -> Iterator[_FlagAccess]:
        """Yields the writes that may release what a path did at a position."""
        for flag in self._flags:
            if flag.effect.kind != "read" and self._is_ordered(
                (path, position), (flag.path, flag.position), flag, RELEASE_ORDERS
            ):
                yield flag

    def acquires(self, path: WarpPath, position: int) -> Iterator[_FlagAccess]:
        """Yields the reads that may acquire for what a path does at a position.

        A read of which nothing uses the result may have observed any value.
        """
        for flag in self._flags:
            if flag.effect.kind == "write" or not is_result_used(self.facts.program, flag.step):
                continue
            if self._is_ordered((flag.path, flag.position), (path, position), flag, ACQUIRE_ORDERS):
                yield flag

    def follows_only(self, word: tuple[int, int], flag: _FlagAccess) -> bool:
        """Returns whether the CTA writes a word, and its threads do so only after a strong access by the same path."""
        writes = [each for each in self._flags if each.effect.kind != "read" and each.place in (word, None)]
        return bool(writes) and all(each.path is flag.path and each.position > flag.position for each in writes)

    def places_of(self, step: Step) -> set[tuple[int, int] | None]:
        """Returns the words that a strong access uses; None for an unknown one."""
        return {each.place for each in self._flags if each.step is step}

    def rounds_at(self, word: tuple[int, int], polls: Collection[Step]) -> list[_FlagAccess]:
        """Returns the accesses of a word that one path of the CTA updates and then polls, each time; else none.

        The reads of one poll count as one.
        """
        may_be_word = [
            each for each in self._flags if each.place == word or (not each.place and each.effect.kind != "read")
        ]
        found: list[_FlagAccess] = []
        for each in sorted(may_be_word, key=lambda flag: flag.position):
            if not found or each.step is not found[-1].step or each.effect.kind != "read":
                found.append(each)
        is_barrier = all(each.place == word and each.path is found[0].path for each in may_be_word)
        is_barrier &= all(each.effect.kind == "update" for each in found[::2])
        return found if is_barrier and all(e.effect.kind == "read" and e.step in polls for e in found[1::2]) else []

    def words_polled_before(self, flag: _FlagAccess, polls: Collection[Step]) -> Iterator[tuple[int, int]]:
        """Yields the words that a path polls before a strong access, and that its own CTA does not write."""
        written = {each.place for each in self._flags if each.effect.kind != "read"}
        for each in self._flags if None not in written else ():
            is_before = each.path is flag.path and each.position < flag.position
            if is_before and each.step in polls and each.place is not None and each.place not in written:
                yield each.place

    def _is_ordered(
        self, first: tuple[WarpPath, int], last: tuple[WarpPath, int], flag: _FlagAccess, orders: frozenset[str]
    ) -> bool:
        """Returns whether one position may precede another one, and the flag or a fence between them orders."""
        if not is_maybe_earlier(self.happens_before, *first, *last):
            return False
        if flag.effect.order in orders and scope_level(flag.effect.scope) >= GPU_LEVEL:
            return True
        return any(
            is_maybe_earlier(self.happens_before, *first, *fence)
            and is_maybe_earlier(self.happens_before, *fence, *last)
            for fence, effect in self._fences
            if fence_level(effect, restricted=True, orders=orders) is not None
        )

    @cached_property
    def _fences(self) -> list[tuple[tuple[WarpPath, int], Effect]]:
        return [
            ((path, at), event.effect)
            for path in self.happens_before.paths
            for at, event in enumerate(path.group.events)
            if not isinstance(event, UnknownCall) and (fence_level(event.effect, restricted=True) or 0) >= GPU_LEVEL
        ]

    @cached_property
    def _flags(self) -> list[_FlagAccess]:
        return [
            _FlagAccess(path, at, effect, event.step, _place(path, at))
            for path in self.happens_before.paths
            for at, event in enumerate(path.group.events)
            if not isinstance(event, UnknownCall) and _takes_part(path, event)
            for effect in (event.effect,)
            if isinstance(effect, Access) and _is_strong_global(effect)
        ]


class GridCtaPair:
    """Two CTAs of one grid, which execute one scenario. length: the number of CTAs of the grid."""

    def __init__(
        self, explorer: Explorer, ctas: tuple[ScenarioFacts, ScenarioFacts], barriers: GridBarriers, length: int
    ) -> None:
        self._ctas = _Cta(ctas[0]), _Cta(ctas[1])
        self._barriers, self._length = barriers, length
        terms = explorer.symbolic_values
        self._pointers = {each for each in range(len(terms)) if terms.term_of(each).pointer}

    @property
    def sample_count(self) -> int:
        """The number of samples of integer arguments that the execution represents."""
        return self._ctas[0].facts.scenario.sample_count

    def executes(self, steps: Collection[Step]) -> bool:
        """Returns whether some CTA executes each of the accesses, at a known address."""
        return all(any(True for cta in self._ctas for _ in cta.accesses({step}, self._pointers)) for step in steps)

    def find_races(self, wanted: Mapping[Step, Collection[Step]]) -> set[tuple[Step, Step]]:
        """Returns those pairs of a write and another access that certainly conflict without order.

        wanted: the other accesses by the writes. One of the two CTAs writes, and the other one executes the other
        access.
        """
        others = set[Step]().union(*wanted.values())
        found: set[tuple[Step, Step]] = set()
        for writer, reader in (self._ctas, self._ctas[::-1]):
            places: dict[int, IntervalIndex[PointerAccess]] = {}
            for two in reader.accesses(others, self._pointers):
                places.setdefault(two.identity, IntervalIndex()).add(two.low, two.high, two)
            tried = Counter[tuple[Step, Step]]()
            for one in writer.accesses(wanted, self._pointers) if places else ():
                index = places.get(one.identity)
                for two in index.overlapping(one.low, one.high) if index is not None else ():
                    pair = one.step, two.step
                    if pair in found or two.step not in wanted[one.step] or tried[pair] == MAX_OVERLAP_PAIRS:
                        continue
                    tried[pair] += 1
                    if not (self._may_order(writer, one, reader, two) or self._may_order(reader, two, writer, one)):
                        found.add(pair)
        return found

    def _may_order(self, first: _Cta, earlier: PointerAccess, second: _Cta, later: PointerAccess) -> bool:
        acquires = list(second.acquires(later.path, later.position))
        return any(
            (release.may_be_same_word(acquire) or self._may_relay(release))
            and not self._is_avoidable(first, release, second, acquire)
            for release in (first.releases(earlier.path, earlier.position) if acquires else ())
            for acquire in acquires
        )

    def _may_relay(self, release: _FlagAccess) -> bool:
        """Returns whether a third CTA may acquire from a release, and release to the second CTA."""
        if self._length == len(self._ctas):
            return False
        for step, is_common in self._barriers.acquiring_steps.items():
            places = {place for cta in self._ctas for place in cta.places_of(step)}
            if not is_common or not places or release.place is None or not {None, release.place}.isdisjoint(places):
                return True
        return False

    def _is_avoidable(self, first: _Cta, release: _FlagAccess, second: _Cta, acquire: _FlagAccess) -> bool:
        """Returns whether the acquire need not observe the release, in executions where both positions are reached.

        Without further CTAs, the acquiring path cannot write only later what the releasing path has awaited before.
        """
        polls = self._barriers.polls
        words = first.words_polled_before(release, polls) if self._length == len(self._ctas) else ()
        return any(second.follows_only(word, acquire) for word in words) or self._is_of_later_round(
            first, release, second, acquire
        )

    def _is_of_later_round(self, first: _Cta, release: _FlagAccess, second: _Cta, acquire: _FlagAccess) -> bool:
        """Returns whether a release is of a later round of a barrier of the grid than an acquire of the other CTA."""
        word = release.place
        if word is None or word != acquire.place:
            return False
        here, there = (cta.rounds_at(word, self._barriers.polls) for cta in (first, second))
        before = [each.step for each in here if each.position < release.position]
        until = [each.step for each in there if each.position <= acquire.position]
        is_later = bool(until) and len(until) % 2 == 0 and before[: len(until)] == until
        return is_later and self._barriers.waits_equally(acquire.step, until)


class CtaRaceSearch:
    """The races of two CTAs of a grid, in all scenarios of a kernel.

    polls: the instructions that poll words of global memory. inputs: what decides accesses, other than the polls. axes:
    the axes of the grid along which the kernel reads the position of its CTA.
    """

    def __init__(self, explorer: Explorer) -> None:
        self.program = explorer.program
        self.polls = self.program.analysis(find_polls)
        self.inputs = ConditionInputs(self.program, explorer.input_independence, self.polls)
        self.axes = axes_of_grid(self.program)
        self._dependence = self.program.analysis(Dependence)
        self._pointers = pointer_parameters(self.program)
        self._explorer = explorer
        self._barriers = GridBarriers(self.program, explorer.input_independence, self.polls)
        self._pairs: dict[str, list[GridCtaPair]] = {}

    def find_races(
        self, wanted: Mapping[Step, Collection[Step]], axis: str, *, in_all: bool = True
    ) -> Iterator[tuple[Step, Step]]:
        """Yields those pairs of a write and another access that certainly race, in the order of the text.

        wanted: the other accesses by the writes. The two CTAs are next to each other along an axis of the grid. Where
        numbers among the arguments decide the addresses, all samples must show it, unless `in_all` is false: one may be
        impossible.
        """
        if axis not in self._pairs:
            self._pairs[axis] = list(_cta_pairs(self._explorer, self._barriers, axis))
        races = [(pair, pair.find_races(wanted)) for pair in self._pairs[axis]]
        racing = set[tuple[Step, Step]]().union(*(found for _, found in races))
        for each in sorted(racing, key=lambda steps: (steps[1].index, steps[0].index)):
            known = [(pair, each in found) for pair, found in races if pair.executes(each)]
            is_shown = sum(pair.sample_count for pair, _ in known) > 1 and all(found for _, found in known)
            if is_shown or not in_all or not any(map(self._depends_on_numbers, each)):
                yield each

    def _depends_on_numbers(self, step: Step) -> bool:
        return any(
            isinstance(effect, Access)
            and self._dependence.depends_on_numbers(step, step.operand(effect.address), self._pointers)
            for effect in step.effects
        )


def _cta_pairs(explorer: Explorer, barriers: GridBarriers, axis: str) -> Iterator[GridCtaPair]:
    """Yields the first two CTAs of an axis in each scenario in which all threads end, and call no unknown code.

    Where an execution is too long, a launch with fewer rounds of the barrier of the grid is tried, then one of more
    CTAs, each of which processes less of what all of them share.
    """
    if explorer.launch.cluster_size > 1 or explorer.program.callees:
        return
    tried = set()
    few = tuple((each, FEW_ROUNDS) for each in sorted(barriers.round_counts()))
    for exploration in list(explorer.explorations):
        given = exploration.scenario
        if given.arguments in tried or given.is_flipped:
            continue
        tried.add(given.arguments)
        for length, overrides in dict.fromkeys(((2, ()), (2, few), (LONG_GRID, ()), (LONG_GRID, few))):
            first = _facts_of(explorer, given, axis, 0, length, overrides)
            second = _facts_of(explorer, given, axis, 1, length, overrides) if first is not None else None
            if first is not None and second is not None:
                yield GridCtaPair(explorer, (first, second), barriers, length)
                break


def _facts_of(
    explorer: Explorer,
    given: Scenario,
    axis: str,
    number: int,
    length: int,
    overrides: tuple[tuple[ParameterKey, int], ...],
) -> ScenarioFacts | None:
    """Returns the facts of one CTA of an axis with some number of CTAs; None where its threads are not known."""
    if axis == "x" and length == 2 and not overrides:
        facts = build_facts_outside(explorer, given, 0, number)
    else:
        moved = given.of_rank(0)
        moved.sample_count = given.sample_count
        moved.overrides += ((f"%ctaid.{axis}", 0), number), ((f"%nctaid.{axis}", 0), length), *overrides
        facts = build_facts_outside(explorer, moved, 0, 0)
    return None if facts is None or any(group.end_reason == "budget" for group in facts.groups) else facts


def _place(path: WarpPath, position: int) -> tuple[int, int] | None:
    """Returns the pointer and the offset of an access of the first thread of a path; None if it may have others."""
    event = path.group.events[position]
    assert not isinstance(event, UnknownCall)
    held = event.address if isinstance(event, TraceEvent) else event.fields[0]
    if held is None:
        return None
    places = {value_of_lane(held, path.group.tids.index(tid)) for tid in path.tids}
    (place,) = places if len(places) == 1 else (None,)
    return (place.identity, place.offset) if isinstance(place, SymbolicValue) and place.pointer else None


def _takes_part(path: WarpPath, event: TraceEvent | GroupEvent) -> bool:
    """Returns whether some thread of a path executes an event of its group."""
    who = event.participants if isinstance(event, GroupEvent) else None
    return who is None or any(who[path.group.tids.index(tid)] for tid in path.tids)


def _is_strong_global(effect: Access) -> bool:
    is_synchronous = (effect.proxy, effect.completion) == ("generic", None)
    return is_synchronous and effect.space in ("global", "generic") and effect.order != "weak"
