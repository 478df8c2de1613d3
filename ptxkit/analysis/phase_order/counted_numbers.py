"""The unknown numbers to which loops count, in a form that loops of different steps have in common."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.limits import MAX_LOOP_SHIFT
from ptxkit.analysis.phase_order.iteration_counts import LoopExit
from ptxkit.analysis.values.cta_values import CtaValue, apply
from ptxkit.analysis.values.uniform_terms import Atom, UniformTerm
from ptxkit.fast_dataclasses import replace
from ptxkit.semantics.value_ops import NEGATED_COMPARISONS, SWAPPED_COMPARISONS, bit_mask, interpret

#: The comparisons that hold while a distance is not used up, with what is added to it.
_STRICT = {"lt": 0, "lo": 0, "le": 1, "ls": 1}
#: The largest mask of lowest bits of a number that code after a loop counts.
_MOST_REST = (1 << 16) - 1


def exit_by_distance(
    probe: UniformTerm, first: CtaValue, following: CtaValue, test: UniformTerm, stays: int
) -> LoopExit | None:
    """Returns the exit of a loop that counts by a constant to a limit.

    probe: the value of its counter in the next value and in the test. stays: the value of the test with which the loop
    continues.
    """
    key = test.atom.key
    if key[0] != "compare" or len(key) != 5 or not isinstance(following, UniformTerm):
        return None
    if following.atom is not probe.atom or not isinstance(following.offset, int):
        return None
    operator, kind, limit, counter = str(key[1]), str(key[2]), key[3], key[4]
    width = int(kind[1:])
    step = interpret(following.offset, width, True)
    if not stays:
        operator = NEGATED_COMPARISONS.get(operator, "")
    other = _without(counter, probe.atom, width)
    if other is None:
        limit, other = counter, _without(limit, probe.atom, width)
    else:
        operator = SWAPPED_COMPARISONS.get(operator, operator)
    if other is None or not step:
        return None
    begin = apply("add", (width, first, other))
    if step < 0:
        distance = apply("sub", (width, begin, limit))
        operator = SWAPPED_COMPARISONS.get(operator, operator)
    else:
        distance = apply("sub", (width, limit, begin))
    if not isinstance(distance, UniformTerm) or not isinstance(distance.offset, int):
        return None
    size, offset = abs(step), interpret(distance.offset, width, True)
    if operator in _STRICT:
        offset += _STRICT[operator]
    elif operator != "ne" or _multiple_of(distance.atom) % size or offset % size:
        return None
    return exit_at_number(replace(distance, offset=0), size, -offset, stays, width)


def _without(term: object, counter: Atom, width: int) -> CtaValue:
    """Returns what a sum adds to a counter; None if it is no sum with the counter."""
    if not isinstance(term, UniformTerm):
        return None
    if term.atom is counter:
        return term.offset
    if term.atom.key[:2] != ("add", width):
        return None
    for one, other in (term.atom.key[2:], term.atom.key[:1:-1]):
        found = _without(UniformTerm(one), counter, width) if isinstance(one, Atom) else None
        if found is not None and isinstance(other, Atom):
            return apply("add", (width, apply("add", (width, found, UniformTerm(other))), term.offset))
    return None


def _multiple_of(number: Atom) -> int:
    """Returns a power of two of which an unknown is a multiple."""
    match number.key:
        case ("and", _, UniformTerm(), int() as mask):
            return mask & -mask
        case ("neg", _, Atom() as inner):
            return _multiple_of(inner)
        case ("add", _, Atom() as first, Atom() as second):
            return min(_multiple_of(first), _multiple_of(second))
        case ("shl", _, Atom() as inner, int() as factor):
            return _multiple_of(inner) * (factor & -factor)
    return 1


def exit_at_number(number: UniformTerm, step: int, offset: int, stays: int, width: int) -> LoopExit | None:
    """Returns the exit of a loop that continues while a number is greater than its position and an offset.

    A loop whose number is a quotient or a multiple counts the number from which it is computed, in larger steps.
    """
    rest = 0
    simpler = _without_maximum(number, step, offset, stays, width)
    for inner, shift, mask in _inner_numbers(number, step):
        number = inner
        if mask:
            offset = -(-(offset + 1) // (mask + 1)) * (mask + 1) - 1
            rest |= mask
        step, offset, rest = step << shift, ((offset + 1) << shift) - 1, rest << shift | bit_mask(shift)
    return (
        LoopExit(number, offset, stays, step, rest=rest, bounded=simpler)
        if abs(offset) < MAX_LOOP_SHIFT * step
        else None
    )


def _inner_numbers(number: UniformTerm, step: int) -> Iterator[tuple[UniformTerm, int, int]]:
    """Yields the numbers from which one is computed by a shift, or without the lowest bits in a mask, with both."""
    while number.offset == 0:
        key = number.atom.key
        if key[0] == "shr" and isinstance(key[3], UniformTerm) and isinstance(key[4], int):
            number, shift, mask = key[3], key[4], 0
        elif key[0] == "and" and isinstance(key[2], UniformTerm) and isinstance(key[3], int):
            number, shift, mask = key[2], 0, bit_mask(int(str(key[1]))) & ~key[3]
            if mask & (mask + 1) or mask > _MOST_REST or step % (mask + 1):
                return
        else:
            return
        step <<= shift
        yield number, shift, mask


def _without_maximum(
    number: UniformTerm, step: int, offset: int, stays: int, width: int
) -> tuple[UniformTerm, int, LoopExit] | None:
    """Returns the exit for the number of which a maximum with a limit is taken, with both."""
    key = number.atom.key
    held = [each for each in key[3:] if isinstance(each, UniformTerm)] if key[0] == "max" else []
    least = next((each for each in key[3:] if isinstance(each, int)), None)
    if len(held) != 1 or least is None or not isinstance(held[0].offset, int):
        return None
    own = interpret(held[0].offset, width, True)
    simpler = exit_at_number(replace(held[0], offset=0), step, offset - own, stays, width)
    return None if simpler is None else (held[0], least, simpler)


def test_of_number(test: UniformTerm) -> LoopExit | None:
    """Returns what a comparison of an unknown with a constant tests, as a branch that no loop has counted before."""
    key = test.atom.key
    if key[0] != "compare" or len(key) != 5:
        return None
    operator, kind, number, limit = str(key[1]), str(key[2]), key[3], key[4]
    if isinstance(limit, UniformTerm):
        number, limit, operator = limit, number, SWAPPED_COMPARISONS.get(operator, operator)
    if not isinstance(number, UniformTerm) or number.offset != 0 or not isinstance(limit, int):
        return None
    limit = interpret(limit, int(kind[1:]), kind[0] == "s")
    if operator in ("eq", "ne"):
        return LoopExit(number, 0, int(operator == "ne"), advances=False) if not limit else None
    if operator in _STRICT:
        return LoopExit(number, limit + _STRICT[operator] - 1, 0, advances=False)
    operator = NEGATED_COMPARISONS.get(operator, "")
    return LoopExit(number, limit + _STRICT[operator] - 1, 1, advances=False) if operator in _STRICT else None


def as_rest(leaving: LoopExit) -> LoopExit | None:
    """Returns the exit of a loop that counts the lowest bits of a number, as one that continues the count of others.

    None if it counts something else.
    """
    key = leaving.number.atom.key if isinstance(leaving.number, UniformTerm) else ()
    if key[:1] != ("and",) or not isinstance(key[2], UniformTerm) or not isinstance(key[3], int):
        return None
    number, mask = key[2], key[3]
    if mask & (mask + 1) or mask > _MOST_REST or leaving.step != 1:
        return None
    step, offset = 1, leaving.offset
    for inner, shift, dropped in _inner_numbers(number, 1):
        if dropped:
            return None
        number, step = inner, step << shift
        offset, mask = ((offset + 1) << shift) - 1, mask << shift | bit_mask(shift)
    return replace(leaving, number=number, offset=offset, step=step, rest=0, continues=mask, alone=leaving)
