"""Synthesizes the simplest condition on addresses and sizes that agrees with all trials, and describes it in words.

The conditions are of a few kinds, on which copies depend: an address or a size is a multiple of 2, 4, 8 or 16, two
addresses differ by such a multiple, or a size has a lower bound. Any other condition is not described.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TypeAlias

from ptxkit.analysis.symexec.alignment_trials import USUAL_SIZES, TrialInput
from ptxkit.fast_dataclasses import dataclass

InputPredicate: TypeAlias = Callable[[TrialInput], bool]

#: The numbers of bytes whose multiples are considered.
ALIGNMENTS = (16, 8, 4, 2)
_SUBJECTS = ("the size is ", "the source address is ")


@dataclass(frozen=True, slots=True)
class InputCondition:
    """A predicate of the inputs of trials, in words that follow `when`.

    unit: the predicate is valid for addresses that are multiples of this number.
    """

    words: str
    predicate: InputPredicate
    unit: int = 1


def describe_outcome(outcome: Mapping[TrialInput, bool]) -> str | None:
    """Returns the condition of an outcome, in words; None where the outcome is constant, or no condition fits."""
    plain = {setting: happened for setting, happened in outcome.items() if not setting.points_to_shared}
    words = _addresses_and_sizes(plain) if len(set(plain.values())) > 1 else None
    spaced = {s: happened for s, happened in outcome.items() if s in (TrialInput(), TrialInput(points_to_shared=True))}
    space = _find_simplest(spaced, (_SOURCE_IS_GLOBAL, _SOURCE_IS_NOT_GLOBAL))
    return f"{words} and {space.words}" if words and space else words or (space.words if space else None)


def _addresses_and_sizes(outcome: Mapping[TrialInput, bool]) -> str | None:
    """Returns a condition on addresses, one on the size, or both joined, tested against all trials."""
    usual = {s: happened for s, happened in outcome.items() if s.integer_size in USUAL_SIZES}
    at = {(s.pointer_offset, s.variable_shift): TrialInput(s.pointer_offset, s.variable_shift) for s in usual}
    ever = {at[place]: any(_outcomes_at(usual, place)) for place in at}
    always = {at[place]: all(_outcomes_at(usual, place)) for place in at}
    sized = {s: happened for s, happened in outcome.items() if not s.pointer_offset and not s.variable_shift}
    size = _find_simplest(sized, list(_size_conditions(sized)))
    for addresses, joint in ((_address_condition(ever), " and "), (_address_condition(always), ", or ")):
        for words, test in _combinations(addresses, size, joint):
            if all(
                test(setting) == happened
                for setting, happened in outcome.items()
                if _is_representable(setting, addresses)
            ):
                return words
    at_times = _address_condition(ever)
    return f"{at_times.words}, for some sizes" if at_times is not None else None


def _outcomes_at(outcome: Mapping[TrialInput, bool], place: tuple[int, int]) -> Iterator[bool]:
    return (
        happened for setting, happened in outcome.items() if (setting.pointer_offset, setting.variable_shift) == place
    )


def _combinations(
    first: InputCondition | None, second: InputCondition | None, joint: str
) -> Iterator[tuple[str, InputPredicate]]:
    """Yields each condition by itself, then both joined."""
    for one in (first, second):
        if one is not None:
            yield one.words, one.predicate
    if first is not None and second is not None:
        test = (
            _conjunction(first.predicate, second.predicate)
            if joint == " and "
            else _disjunction(first.predicate, second.predicate)
        )
        yield f"{first.words}{joint}{second.words}", test


def _is_representable(setting: TrialInput, addresses: InputCondition | None) -> bool:
    unit = addresses.unit if addresses is not None else 1
    return setting.pointer_offset % unit == 0 and setting.variable_shift % unit == 0


def _address_condition(outcome: Mapping[TrialInput, bool]) -> InputCondition | None:
    """Returns the condition on addresses.

    The addresses may be restricted to multiples of 2 or 4, as the type of the copied values may require.
    """
    conditions = list(_alignment_conditions(any(setting.variable_shift for setting in outcome)))
    for unit in (1, 2, 4):
        possible = {
            s: happened
            for s, happened in outcome.items()
            if s.pointer_offset % unit == 0 and s.variable_shift % unit == 0
        }
        found = _find_simplest(possible, conditions)
        if found is not None and unit > 1:
            return InputCondition(f"{found.words} (both being multiples of {unit})", found.predicate, unit)
        if found is not None or len(set(possible.values())) < 2:
            return found
    return None


def _find_simplest(outcome: Mapping[TrialInput, bool], conditions: Sequence[InputCondition]) -> InputCondition | None:
    """Returns the first condition, or the first two conditions together, that agree with the whole outcome."""
    if len(set(outcome.values())) < 2:
        return None
    for condition in conditions:
        if all(condition.predicate(setting) == happened for setting, happened in outcome.items()):
            return condition
    holding = [c for c in conditions if all(c.predicate(s) for s, happened in outcome.items() if happened)]
    for first, second in combinations(holding, 2):
        test = _conjunction(first.predicate, second.predicate)
        if all(test(setting) == happened for setting, happened in outcome.items()):
            return InputCondition(_join_words(first.words, second.words), test)
    return None


def _join_words(first: str, second: str) -> str:
    """Joins two conditions without repeating their common subject."""
    shared = next((subject for subject in _SUBJECTS if first.startswith(subject) and second.startswith(subject)), "")
    comma = "," if "," in first else ""
    return f"{first}{comma} and {second.removeprefix(shared)}"


def _alignment_conditions(moved: bool) -> Iterator[InputCondition]:
    """Yields the conditions on alignment.

    moved: whether the destination was shifted in some trials; a variable aligned to 16 never is.
    """
    for step in ALIGNMENTS:
        if moved:
            yield InputCondition(f"both addresses are multiples of {step}", _both_aligned(step))
            yield InputCondition(f"the addresses differ by a multiple of {step}", _distance_aligned(step))
        else:
            yield InputCondition(f"the source address is a multiple of {step}", _source_aligned(step))
    for step in ALIGNMENTS[1:]:
        if moved:
            words = f"the addresses differ by a multiple of {step}, not of {2 * step}"
            yield InputCondition(words, _difference(_distance_aligned(step), _distance_aligned(2 * step)))
        else:
            words = f"the source address is a multiple of {step}, not of {2 * step}"
            yield InputCondition(words, _difference(_source_aligned(step), _source_aligned(2 * step)))
    for step in ALIGNMENTS:
        if moved:
            yield InputCondition(
                f"the addresses do not differ by a multiple of {step}", _negation(_distance_aligned(step))
            )
            yield InputCondition(f"the source address is a multiple of {step}", _source_aligned(step))
        yield InputCondition(f"the source address is not a multiple of {step}", _negation(_source_aligned(step)))


def _size_conditions(outcome: Mapping[TrialInput, bool]) -> Iterator[InputCondition]:
    sizes = sorted(setting.integer_size for setting in outcome)
    for least in (size for before, size in pairwise(sizes) if size == before + 1):
        yield InputCondition(f"the size is at least {least}", _size_at_least(least))
        yield InputCondition(f"the size is below {least}", _negation(_size_at_least(least)))
    for step in ALIGNMENTS:
        yield InputCondition(f"the size is a multiple of {step}", _size_aligned(step))
        yield InputCondition(f"the size is not a multiple of {step}", _negation(_size_aligned(step)))


_SOURCE_IS_GLOBAL = InputCondition("the source is in global memory", lambda setting: not setting.points_to_shared)
_SOURCE_IS_NOT_GLOBAL = InputCondition("the source is not in global memory", lambda setting: setting.points_to_shared)


def _negation(test: InputPredicate) -> InputPredicate:
    return lambda setting: not test(setting)


def _conjunction(first: InputPredicate, second: InputPredicate) -> InputPredicate:
    return lambda setting: first(setting) and second(setting)


def _disjunction(first: InputPredicate, second: InputPredicate) -> InputPredicate:
    return lambda setting: first(setting) or second(setting)


def _both_aligned(step: int) -> InputPredicate:
    return lambda setting: setting.pointer_offset % step == 0 and setting.variable_shift % step == 0


def _distance_aligned(step: int) -> InputPredicate:
    return lambda setting: (setting.pointer_offset - setting.variable_shift) % step == 0


def _source_aligned(step: int) -> InputPredicate:
    return lambda setting: setting.pointer_offset % step == 0


def _difference(test: InputPredicate, other: InputPredicate) -> InputPredicate:
    return lambda setting: test(setting) and not other(setting)


def _size_aligned(step: int) -> InputPredicate:
    return lambda setting: setting.integer_size % step == 0


def _size_at_least(size: int) -> InputPredicate:
    return lambda setting: setting.integer_size >= size
