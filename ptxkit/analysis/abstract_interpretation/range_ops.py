"""The value operations of the instruction table on ranges of integers.

Each function takes the widths and types that the table fixes, and a range for each other argument, of the width that
`INTEGER_OPERATIONS` names. An operation without a function here is computed for all members of small ranges.

Source: as `ptxkit.semantics.value_ops`; Warren, "Hacker's Delight", section 4-3, for the bounds of bitwise operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import gcd, prod

from ptxkit.analysis.abstract_interpretation.strided_ranges import (
    StridedRange,
    full_range,
    join_ranges,
    make_range,
    range_of,
    single,
)
from ptxkit.analysis.limits import MAX_RANGE_MEMBERS
from ptxkit.isa.functions import bits
from ptxkit.semantics.value_ops import COMPARISONS, INTEGER_OPERATIONS, integer_type


def compute(name: str, arguments: Sequence[object]) -> StridedRange | None:
    """Returns the range of an operation; None if it has no meaning here.

    arguments: words and widths where the table fixes them, ranges elsewhere, each of the operation's width.
    """
    operation = INTEGER_OPERATIONS.get(name)
    if operation is None:
        return None
    fixed = [arguments[at] for at in operation.static]
    if name in ("convert", "compare") and any(integer_type(str(each)) is None for each in fixed[name == "compare" :]):
        return None
    width = operation.result_width(fixed)
    ranges = [each for each in operation.operands(arguments) if isinstance(each, StridedRange)]
    if len(ranges) != len(arguments) - len(fixed):
        return None
    if prod(each.count for each in ranges) <= MAX_RANGE_MEMBERS:
        exact = _enumerate(name, arguments, ranges, width)
        if exact is not None:
            return exact
    function = _OPERATIONS.get(name)
    return full_range(width) if function is None else function(*arguments)


def _enumerate(
    name: str, arguments: Sequence[object], ranges: Sequence[StridedRange], width: int
) -> StridedRange | None:
    operation = INTEGER_OPERATIONS[name]
    found: set[int] = set()
    for values in product(*(each.members() for each in ranges)):
        rest = iter(values)
        given = [next(rest) if isinstance(each, StridedRange) else each for each in arguments]
        result = operation.compute(*given)
        if result is None:
            return None
        found.add(result)
    unsigned = range_of(width, found)
    signed = range_of(width, [value - (value >> width - 1 << width) for value in found])
    return min(unsigned, signed, key=lambda each: each.high - each.low)


def add(width: int, a: StridedRange, b: StridedRange) -> StridedRange:
    return make_range(width, a.low + b.low, a.high + b.high, gcd(a.stride, b.stride))


def sub(width: int, a: StridedRange, b: StridedRange) -> StridedRange:
    return make_range(width, a.low - b.high, a.high - b.low, gcd(a.stride, b.stride))


def _multiply(width: int, a: Sequence[int], b: Sequence[int]) -> StridedRange:
    corners = [x * y for x in a[:2] for y in b[:2]]
    return make_range(width, min(corners), max(corners), gcd(a[0] * b[2], b[0] * a[2], a[2] * b[2]))


def _mul(width: int, a: StridedRange, b: StridedRange) -> StridedRange:
    return _multiply(width, a.compact, b.compact)


def _mul_wide(width: int, is_signed: bool, a: StridedRange, b: StridedRange) -> StridedRange:
    return _multiply(2 * width, a.numbers(is_signed=is_signed), b.numbers(is_signed=is_signed))


def _mul_hi(width: int, is_signed: bool, a: StridedRange, b: StridedRange) -> StridedRange:
    (al, ah, _), (bl, bh, _) = a.numbers(is_signed=is_signed), b.numbers(is_signed=is_signed)
    corners = [x * y >> width for x in (al, ah) for y in (bl, bh)]
    return make_range(width, min(corners), max(corners), 1)


def _known_bits(held: StridedRange) -> tuple[int, int]:
    """Returns how many of the lowest bits are known, and these bits."""
    return held.power.bit_length() - 1, held.remainder


def _with_low_bits(width: int, low: int, high: int, known: int, bits_: int) -> StridedRange:
    """Returns the numbers from `low` to `high` with known lowest bits."""
    power = 1 << min(known, width)
    low += (bits_ - low) % power
    high -= (high - bits_) % power
    return make_range(width, low, high, power) if low <= high else full_range(width, power, bits_)


def _and(width: int, a: StridedRange, b: StridedRange) -> StridedRange:
    (al, ah, stride), (bl, bh, _) = a.unsigned, b.unsigned
    if b.is_single:
        cleared = (1 << width) - 1 - bl
        if not cleared & cleared + 1:  # the mask clears the lowest bits
            size = cleared + 1
            return make_range(width, al & bl, ah & bl, stride if stride % size == 0 else gcd(size, stride) and size)
        if not bl & bl + 1 and al // (bl + 1) == ah // (bl + 1):  # the mask keeps the lowest bits, which do not wrap
            return make_range(width, al & bl, ah & bl, stride)
    elif a.is_single:
        return _and(width, b, a)
    (known, first), (also, second) = _known_bits(a), _known_bits(b)
    count = 0
    while count < width:
        one = 1 << count
        is_known = count < known and count < also
        is_zero = (count < known and not first & one) or (count < also and not second & one)
        if not (is_known or is_zero):
            break
        count += 1
    return _with_low_bits(width, 0, min(ah, bh), count, first & second & (1 << count) - 1)


def _or(width: int, a: StridedRange, b: StridedRange) -> StridedRange:
    (al, ah, _), (bl, bh, _) = a.unsigned, b.unsigned
    if are_disjoint(a, b):
        return add(width, a, b)
    (known, first), (also, second) = _known_bits(a), _known_bits(b)
    count = min(known, also)
    high = min((1 << (ah | bh).bit_length()) - 1, ah + bh)
    return _with_low_bits(width, max(al, bl), high, count, (first | second) & (1 << count) - 1)


def _xor(width: int, a: StridedRange, b: StridedRange) -> StridedRange:
    ah, bh = a.unsigned[1], b.unsigned[1]
    if are_disjoint(a, b):
        return add(width, a, b)
    (known, first), (also, second) = _known_bits(a), _known_bits(b)
    count = min(known, also)
    high = min((1 << (ah | bh).bit_length()) - 1, ah + bh)
    return _with_low_bits(width, 0, high, count, (first ^ second) & (1 << count) - 1)


def are_disjoint(a: StridedRange, b: StridedRange) -> bool:
    """Returns whether no bit is set in a number of each range, so that bitwise operations add."""
    return any(x.remainder == 0 and y.unsigned[1] < x.power for x, y in ((a, b), (b, a)))


def _not(width: int, a: StridedRange) -> StridedRange:
    return make_range(width, -1 - a.high, -1 - a.low, a.stride)


def _neg(width: int, a: StridedRange) -> StridedRange:
    return make_range(width, -a.high, -a.low, a.stride)


def _abs(width: int, a: StridedRange) -> StridedRange:
    low, high, stride = a.signed
    if low >= 0:
        return a
    return make_range(width, max(-high, 0), max(-low, high), 1) if high > 0 else make_range(width, -high, -low, stride)


def _shl(width: int, a: StridedRange, n: StridedRange) -> StridedRange:
    least, most, _ = n.unsigned
    low, high, stride = a.unsigned
    least, most = min(least, width), min(most, width)
    if least == most:
        return make_range(width, low << least, high << least, stride << least)
    return make_range(width, low << least, high << most, gcd(a.power, low or a.power) << least)


def _shr(width: int, is_signed: bool, a: StridedRange, n: StridedRange) -> StridedRange:
    least, most = (min(each, width) for each in n.unsigned[:2])
    low, high, stride = a.numbers(is_signed=is_signed)
    if least == most:
        is_exact = not (low | stride) & (1 << least) - 1
        return make_range(width, low >> least, high >> least, stride >> least if is_exact else 1)
    corners = [each >> by for each in (low, high) for by in (least, most)]
    return make_range(width, min(corners), max(corners), 1)


def _div(width: int, is_signed: bool, a: StridedRange, b: StridedRange) -> StridedRange:
    (low, high, _), (least, most, _) = a.numbers(is_signed=is_signed), b.numbers(is_signed=is_signed)
    if least <= 0:
        return full_range(width)
    corners = [abs(each) // by * (1 if each >= 0 else -1) for each in (low, high) for by in (least, most)]
    return make_range(width, min(corners), max(corners), 1)


def _rem(width: int, is_signed: bool, a: StridedRange, b: StridedRange) -> StridedRange:
    (low, high, stride), (least, most, _) = a.numbers(is_signed=is_signed), b.numbers(is_signed=is_signed)
    if least <= 0:
        return full_range(width)
    if low >= 0 and high < least:
        return a
    if low >= 0 and least == most:
        if low // least == high // least:
            return make_range(width, low % least, high % least, stride)
        common = gcd(stride, least)
        return make_range(width, low % common, least - common + low % common, common)
    return make_range(width, 0 if low >= 0 else max(low, 1 - most), min(high, most - 1) if high >= 0 else 0, 1)


def _extremum(take: Callable[[int, int], int]) -> Callable[[int, bool, StridedRange, StridedRange], StridedRange]:
    def function(width: int, is_signed: bool, a: StridedRange, b: StridedRange) -> StridedRange:
        (al, ah, stride), (bl, bh, other) = a.numbers(is_signed=is_signed), b.numbers(is_signed=is_signed)
        return make_range(width, take(al, bl), take(ah, bh), gcd(stride, other, al - bl))

    return function


def _bfe(width: int, is_signed: bool, a: StridedRange, position: StridedRange, length: StridedRange) -> StridedRange:
    most = min(length.unsigned[1], width)
    if (
        is_signed
        or length.unsigned[1] > width
        or not (length.is_single and position.is_single and position.low < width)
    ):
        half = 1 << max(most - 1, 0)
        return make_range(width, -half, half - 1, 1) if is_signed else make_range(width, 0, (1 << most) - 1, 1)
    return _and(width, _shr(width, False, a, position), single(width, (1 << most) - 1))


def _select(width: int, a: StridedRange, b: StridedRange, p: StridedRange) -> StridedRange:  # noqa: ARG001
    return join_ranges(a, b)


def compare(test: str, type_: str, a: StridedRange, b: StridedRange) -> StridedRange:
    """Returns 0, 1 or both: what a comparison may give."""
    is_signed = type_[0] == "s"
    (al, ah, _), (bl, bh, _) = a.numbers(is_signed=is_signed), b.numbers(is_signed=is_signed)
    if test in ("eq", "ne"):
        apart = ah < bl or bh < al or (a.remainder - b.remainder) % min(a.power, b.power) != 0
        return single(1, int(test == "ne")) if apart else full_range(1)
    check = COMPARISONS[test]
    certain = {bool(check(x, y)) for x in (al, ah) for y in (bl, bh)}
    return single(1, int(certain.pop())) if len(certain) == 1 else full_range(1)


def convert(source: str, result: str, a: StridedRange) -> StridedRange:
    """Returns the numbers of one integer type as another one."""
    return make_range(bits(result), *a.numbers(is_signed=source[0] == "s"))


def resize(width: int, held: StridedRange, *, is_signed: bool = False) -> StridedRange:
    """Returns the lowest bits of numbers, or the numbers extended to a larger width."""
    if width == held.width:
        return held
    if width < held.width:
        return make_range(width, held.low, held.high, held.stride)
    return make_range(width, *held.numbers(is_signed=is_signed))


_OPERATIONS: dict[str, Callable[..., StridedRange]] = {
    "add": add,
    "sub": sub,
    "mul": _mul,
    "mul_wide": _mul_wide,
    "mul_hi": _mul_hi,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "not": _not,
    "neg": _neg,
    "abs": _abs,
    "copy": lambda _, a: a,
    "shl": _shl,
    "shr": _shr,
    "div": _div,
    "rem": _rem,
    "min": _extremum(min),
    "max": _extremum(max),
    "bfe": _bfe,
    "select": _select,
    "compare": compare,
    "convert": convert,
    "popc": lambda width, _: make_range(32, 0, width, 1),
    "clz": lambda width, _: make_range(32, 0, width, 1),
}
