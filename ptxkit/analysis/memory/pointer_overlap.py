"""Determines which instructions certainly access the same bytes of global memory through one pointer of the kernel.

The targets of two pointers are unknown. Addresses at constant offsets from the same pointer are compared, thread by
thread: a further execution of each scenario records the global accesses of every thread of a CTA. It is made only where
the addresses of two instructions have a pointer in common.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from ptxkit.analysis.context.facts_outside import build_facts_outside
from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.dataflow.dependence import DependenceSource
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_OVERLAP_PAIRS, MAX_RACE_PAIR_CHECKS
from ptxkit.analysis.memory.global_accesses import PointerAccess, is_maybe_earlier, pointer_accesses
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access


@dataclass(frozen=True, slots=True)
class AccessOverlap:
    """Two accesses to the same bytes.

    first_is_earlier: whether the first one may be ordered before the other one.
    """

    first: PointerAccess
    other: PointerAccess
    first_is_earlier: bool

    @property
    def is_certain(self) -> bool:
        """Whether some input certainly leads to both accesses."""
        return self.first.is_certain and self.other.is_certain

    @property
    def evidence_strength(self) -> tuple[bool, bool]:
        """The strength of the evidence.

        It is weaker after a guess, and stronger where the first access does not come first.
        """
        return self.is_certain, not self.first_is_earlier


@dataclass(frozen=True, slots=True)
class OverlapComparison:
    """Two instructions that access the same bytes in some scenario that reaches both.

    is_in_place: whether the result concerns only accesses by one thread whose first access precedes its other one.
    scenario_index: the number of the scenario. overlap: the accesses with the strongest evidence; None where the
    scenario shows none. is_exact: whether some input certainly leads to them, for any numbers that the caller passes.
    """

    first: Step
    other: Step
    is_in_place: bool
    scenario_index: int
    overlap: AccessOverlap | None
    is_exact: bool


_Key: TypeAlias = tuple[Step, Step, bool]
"""Two instructions, and whether only accesses in place by one thread are meant."""


def is_read_only_load(step: Step) -> bool:
    """Returns whether an instruction loads through the non-coherent cache, or the read-only proxy."""
    return any(isinstance(effect, Access) and not effect.coherent for effect in step.effects)


def is_multimem(step: Step) -> bool:
    """Returns whether an instruction accesses the target of a multimem address."""
    return any(isinstance(effect, Access) and effect.via == "multimem" for effect in step.effects)


def is_plain_global_access(step: Step, *kinds: str) -> bool:
    """Returns whether an instruction other than `multimem` has a synchronous global access of one of these kinds."""
    return any(
        isinstance(effect, Access)
        and effect.kind in kinds
        and effect.space in ("global", "generic")
        and (effect.proxy, effect.completion, effect.via) == ("generic", None, "address")
        for effect in step.effects
    )


def find_overlaps(
    explorer: Explorer, firsts: Collection[Step], others: Collection[Step], *, splits: bool = False
) -> Iterator[OverlapComparison]:
    """Yields the pairs of an instruction of each kind that access the same bytes, for each scenario that shows it.

    splits: whether accesses of a thread in place are kept apart from the other accesses by the same two instructions,
    and are yielded last.
    """
    found = dict(_overlaps_by_scenario(explorer, *_with_common_pointers(explorer, firsts, others), splits))
    scenarios = {number: explorer.explorations[number].scenario for number in found}
    samples = {each.sample for each in scenarios.values()}
    is_enough = len(samples) > 1 or any(each.sample_count > 1 for each in scenarios.values())
    for key in sorted(dict.fromkeys(key for pairs in found.values() for key in pairs), key=lambda key: key[2]):
        is_equal = is_enough and all(key in pairs for pairs in found.values())
        for number, pairs in found.items():
            same = pairs.get(key)
            yield OverlapComparison(*key, number, same, same is not None and same.is_certain and is_equal)


def _overlaps_by_scenario(
    explorer: Explorer, firsts: Collection[Step], others: Collection[Step], splits: bool
) -> Iterator[tuple[int, dict[_Key, AccessOverlap]]]:
    """Yields the number of each scenario that reaches both kinds, with the pairs that were found in it."""
    for number, exploration in enumerate(list(explorer.explorations)):
        covered = set().union(*(group.covered_steps for group in exploration.groups))
        given = exploration.scenario
        if given.rank or covered.isdisjoint(firsts) or covered.isdisjoint(others):
            continue
        facts = build_facts_outside(explorer, given, given.rank, given.cluster_index)
        if facts is not None:
            yield number, _overlaps_in_scenario(facts, firsts, others, splits)


def _overlaps_in_scenario(
    facts: ScenarioFacts, firsts: Collection[Step], others: Collection[Step], splits: bool
) -> dict[_Key, AccessOverlap]:
    causality = HappensBefore(facts, AnalysisBudget(pair_checks=min(MAX_RACE_PAIR_CHECKS, facts.budget.pair_checks)))
    places: dict[int, IntervalIndex[PointerAccess]] = {}
    for touch in pointer_accesses(facts, causality, others):
        if touch.high > touch.low:
            places.setdefault(touch.identity, IntervalIndex()).add(touch.low, touch.high, touch)
    pair_budget: dict[_Key, int] = defaultdict(int)
    worst: dict[_Key, AccessOverlap] = {}
    for touch in pointer_accesses(facts, causality, firsts) if places else ():
        if touch.high == touch.low or touch.identity not in places:
            continue
        for other in places[touch.identity].overlapping(touch.low, touch.high):
            own = touch.path is other.path and touch.tid == other.tid
            key = touch.step, other.step, splits and own and touch.position < other.position
            pair_budget[key] += 1
            if pair_budget[key] <= MAX_OVERLAP_PAIRS:
                is_earlier = is_maybe_earlier(causality, touch.path, touch.position, other.path, other.position)
                pair = AccessOverlap(touch, other, is_earlier)
                worst[key] = max(worst.get(key, pair), pair, key=lambda each: each.evidence_strength)
    return worst


def _with_common_pointers(
    explorer: Explorer, firsts: Collection[Step], others: Collection[Step]
) -> tuple[set[Step], set[Step]]:
    """Returns the instructions of each kind whose addresses use a pointer that the other kind uses as well."""
    if not firsts or not others:
        return set(), set()
    own, theirs = _pointers(explorer, firsts), _pointers(explorer, others)
    return _using_one_of(own, theirs), _using_one_of(theirs, own)


def _using_one_of(
    pointers: Mapping[Step, set[tuple[str, int]] | None], others: Mapping[Step, set[tuple[str, int]] | None]
) -> set[Step]:
    """Returns the steps with a pointer that one of the other steps uses as well; pointers that are unknown may be."""
    if None in others.values():
        return set(pointers)
    used = set[tuple[str, int]]().union(*(names for names in others.values() if names is not None))
    return {step for step, names in pointers.items() if names is None or not names.isdisjoint(used)}


def _pointers(explorer: Explorer, steps: Collection[Step]) -> dict[Step, set[tuple[str, int]] | None]:
    """Returns the pointers of the addresses of each step: parameters, and variables of global memory.

    Those of steps in called functions are unknown (None).
    """
    dependence = explorer.input_independence.dependence
    found: dict[Step, set[tuple[str, int]] | None] = {}
    for step in steps:
        if not explorer.program.contains(step):
            found[step] = None
            continue
        names = found[step] = set()
        for effect in step.effects:
            if isinstance(effect, Access) and effect.space in ("global", "generic") and step.match is not None:
                operand = step.operand(effect.address)
                names.update(_pointer_names(explorer, dependence.sources_of(step, operand)))
    return found


def _pointer_names(explorer: Explorer, leaves: Collection[DependenceSource]) -> Iterator[tuple[str, int]]:
    for leaf in leaves:
        if leaf.kind == "variable":
            yield leaf.name, 0
        yield from (place for place in explorer.pointers if leaf.kind == "parameter" and leaf.covers(place))
