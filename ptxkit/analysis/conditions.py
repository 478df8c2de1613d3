"""Finds the words for when something happens: the simplest condition on addresses and sizes that all trials agree with.

Conditions are built of a few kinds, which are what copies ask for: an address or a size is a multiple of 2, 4, 8 or 16,
two addresses differ by such a multiple, a size is at least so much. What none of these describes gets no words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TypeAlias

from ptxkit.analysis.trials import USUAL_SIZE, Setting
from ptxkit.records import dataclass

Test: TypeAlias = Callable[[Setting], bool]

#: Multiples of these many bytes.
STEPS = (16, 8, 4, 2)
_SUBJECTS = ("the size is ", "the source address is ")


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of settings, in words that follow `when`."""

    words: str
    test: Test


def describe(outcome: Mapping[Setting, bool]) -> str | None:
    """What decides an outcome, in words; None where it is always the same, or no condition fits."""
    aligned = {s: happened for s, happened in outcome.items() if s.size == USUAL_SIZE and not s.shared}
    sized = {s: happened for s, happened in outcome.items() if not s.source and not s.shift and not s.shared}
    spaced = {s: happened for s, happened in outcome.items() if not s.source and not s.shift and s.size == USUAL_SIZE}
    parts = [
        words
        for words in (_addresses(aligned), _simplest(sized, list(_sizes(sized))), _simplest(spaced, [_GLOBAL, _SHARED]))
        if words
    ]
    varied = [group for group in (aligned, sized, spaced) if len(set(group.values())) > 1]
    if not parts or len(parts) < len(varied):
        return None
    usual = outcome.get(Setting())
    return (" and " if usual else ", or ").join(parts)


def _addresses(outcome: Mapping[Setting, bool]) -> str | None:
    """Addresses may be multiples of 2, 4 or 8 anyhow, where the type of what is copied says so."""
    conditions = list(_alignments(any(setting.shift for setting in outcome)))
    for unit in (1, 2, 4, 8):
        possible = {s: happened for s, happened in outcome.items() if s.source % unit == 0 and s.shift % unit == 0}
        words = _simplest(possible, conditions)
        if words is not None:
            return words if unit == 1 else f"{words} (both being multiples of {unit})"
        if len(set(possible.values())) < 2:
            return None
    return None


def _simplest(outcome: Mapping[Setting, bool], conditions: Sequence[Condition]) -> str | None:
    """The first condition, or the first two together, that agree with the whole outcome."""
    if len(set(outcome.values())) < 2:
        return None
    for condition in conditions:
        if all(condition.test(setting) == happened for setting, happened in outcome.items()):
            return condition.words
    holding = [c for c in conditions if all(c.test(s) for s, happened in outcome.items() if happened)]
    for first, second in combinations(holding, 2):
        if all((first.test(s) and second.test(s)) == happened for s, happened in outcome.items()):
            return _both_words(first.words, second.words)
    return None


def _both_words(first: str, second: str) -> str:
    """Two conditions; what both say of the same thing is said once."""
    shared = next((subject for subject in _SUBJECTS if first.startswith(subject) and second.startswith(subject)), "")
    return f"{first} and {second.removeprefix(shared)}"


def _alignments(moved: bool) -> Iterator[Condition]:
    """moved: the destination was moved in some trials; a variable aligned to 16 never is."""
    for step in STEPS:
        if moved:
            yield Condition(f"both addresses are multiples of {step}", _both(step))
            yield Condition(f"the addresses differ by a multiple of {step}", _apart(step))
        else:
            yield Condition(f"the source address is a multiple of {step}", _source(step))
    for step in STEPS[1:]:
        if moved:
            words = f"the addresses differ by a multiple of {step}, not of {2 * step}"
            yield Condition(words, _only(_apart(step), _apart(2 * step)))
        else:
            words = f"the source address is a multiple of {step}, not of {2 * step}"
            yield Condition(words, _only(_source(step), _source(2 * step)))
    for step in STEPS:
        if moved:
            yield Condition(f"the addresses do not differ by a multiple of {step}", _no(_apart(step)))
            yield Condition(f"the source address is a multiple of {step}", _source(step))
        yield Condition(f"the source address is no multiple of {step}", _no(_source(step)))


def _sizes(outcome: Mapping[Setting, bool]) -> Iterator[Condition]:
    sizes = sorted(setting.size for setting in outcome)
    for least in (size for before, size in pairwise(sizes) if size == before + 1):
        yield Condition(f"the size is at least {least}", _least(least))
        yield Condition(f"the size is below {least}", _no(_least(least)))
    for step in STEPS:
        yield Condition(f"the size is a multiple of {step}", _size(step))
        yield Condition(f"the size is no multiple of {step}", _no(_size(step)))


_GLOBAL = Condition("the source lies in global memory", lambda setting: not setting.shared)
_SHARED = Condition("the source does not lie in global memory", lambda setting: setting.shared)


def _no(test: Test) -> Test:
    return lambda setting: not test(setting)


def _both(step: int) -> Test:
    return lambda setting: setting.source % step == 0 and setting.shift % step == 0


def _apart(step: int) -> Test:
    return lambda setting: (setting.source - setting.shift) % step == 0


def _source(step: int) -> Test:
    return lambda setting: setting.source % step == 0


def _only(test: Test, other: Test) -> Test:
    return lambda setting: test(setting) and not other(setting)


def _size(step: int) -> Test:
    return lambda setting: setting.size % step == 0


def _least(size: int) -> Test:
    return lambda setting: setting.size >= size
