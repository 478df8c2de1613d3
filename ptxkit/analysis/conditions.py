"""Finds the words for when something happens: the simplest condition on addresses and sizes that all trials agree with.

Conditions are built of a few kinds, which are what copies ask for: an address or a size is a multiple of 2, 4, 8 or 16,
two addresses differ by such a multiple, a size is at least so much. What none of these describes gets no words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TypeAlias

from ptxkit.analysis.trials import USUAL_SIZES, Setting
from ptxkit.records import dataclass

Test: TypeAlias = Callable[[Setting], bool]

#: Multiples of these many bytes.
STEPS = (16, 8, 4, 2)
_SUBJECTS = ("the size is ", "the source address is ")


@dataclass(frozen=True, slots=True)
class Condition:
    """A test of settings, in words that follow `when`. unit: it holds for addresses that are multiples of this."""

    words: str
    test: Test
    unit: int = 1


def describe(outcome: Mapping[Setting, bool]) -> str | None:
    """What decides an outcome, in words; None where it is always the same, or no condition fits."""
    plain = {setting: happened for setting, happened in outcome.items() if not setting.shared}
    words = _addresses_and_sizes(plain) if len(set(plain.values())) > 1 else None
    spaced = {s: happened for s, happened in outcome.items() if s in (Setting(), Setting(shared=True))}
    space = _simplest(spaced, (_GLOBAL, _SHARED))
    return f"{words} and {space.words}" if words and space else words or (space.words if space else None)


def _addresses_and_sizes(outcome: Mapping[Setting, bool]) -> str | None:
    """A condition on addresses, one on the size, or both joined; tested against all that was tried."""
    usual = {s: happened for s, happened in outcome.items() if s.size in USUAL_SIZES}
    at = {(s.source, s.shift): Setting(s.source, s.shift) for s in usual}
    ever = {at[place]: any(_of(usual, place)) for place in at}
    always = {at[place]: all(_of(usual, place)) for place in at}
    sized = {s: happened for s, happened in outcome.items() if not s.source and not s.shift}
    size = _simplest(sized, list(_sizes(sized)))
    for addresses, joint in ((_addresses(ever), " and "), (_addresses(always), ", or ")):
        for words, test in _joined(addresses, size, joint):
            if all(test(setting) == happened for setting, happened in outcome.items() if _counts(setting, addresses)):
                return words
    at_times = _addresses(ever)
    return f"{at_times.words}, for some sizes" if at_times is not None else None


def _of(outcome: Mapping[Setting, bool], place: tuple[int, int]) -> Iterator[bool]:
    return (happened for setting, happened in outcome.items() if (setting.source, setting.shift) == place)


def _joined(first: Condition | None, second: Condition | None, joint: str) -> Iterator[tuple[str, Test]]:
    """Either condition alone, then both."""
    for one in (first, second):
        if one is not None:
            yield one.words, one.test
    if first is not None and second is not None:
        test = _all(first.test, second.test) if joint == " and " else _any(first.test, second.test)
        yield f"{first.words}{joint}{second.words}", test


def _counts(setting: Setting, addresses: Condition | None) -> bool:
    unit = addresses.unit if addresses is not None else 1
    return setting.source % unit == 0 and setting.shift % unit == 0


def _addresses(outcome: Mapping[Setting, bool]) -> Condition | None:
    """Addresses may be multiples of 2 or 4 anyhow, where the type of what is copied says so."""
    conditions = list(_alignments(any(setting.shift for setting in outcome)))
    for unit in (1, 2, 4):
        possible = {s: happened for s, happened in outcome.items() if s.source % unit == 0 and s.shift % unit == 0}
        found = _simplest(possible, conditions)
        if found is not None and unit > 1:
            return Condition(f"{found.words} (both being multiples of {unit})", found.test, unit)
        if found is not None or len(set(possible.values())) < 2:
            return found
    return None


def _simplest(outcome: Mapping[Setting, bool], conditions: Sequence[Condition]) -> Condition | None:
    """The first condition, or the first two together, that agree with the whole outcome."""
    if len(set(outcome.values())) < 2:
        return None
    for condition in conditions:
        if all(condition.test(setting) == happened for setting, happened in outcome.items()):
            return condition
    holding = [c for c in conditions if all(c.test(s) for s, happened in outcome.items() if happened)]
    for first, second in combinations(holding, 2):
        test = _all(first.test, second.test)
        if all(test(setting) == happened for setting, happened in outcome.items()):
            return Condition(_both_words(first.words, second.words), test)
    return None


def _both_words(first: str, second: str) -> str:
    """Two conditions; what both say of the same thing is said once."""
    shared = next((subject for subject in _SUBJECTS if first.startswith(subject) and second.startswith(subject)), "")
    comma = "," if "," in first else ""
    return f"{first}{comma} and {second.removeprefix(shared)}"


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


def _all(first: Test, second: Test) -> Test:
    return lambda setting: first(setting) and second(setting)


def _any(first: Test, second: Test) -> Test:
    return lambda setting: first(setting) or second(setting)


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
