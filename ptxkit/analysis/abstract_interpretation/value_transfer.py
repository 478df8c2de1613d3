"""The value operations of the instruction table on abstract values: integers, and addresses with a base.

An operation that keeps what an address was derived from has a function here. Any other operation gives an integer, and
the result is opaque if an address may have contributed to it.

Source: PTX ISA, "Integer Arithmetic Instructions", "Logic and Shift Instructions", "cvta", "mapa".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import gcd, prod
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation import range_ops
from ptxkit.analysis.abstract_interpretation.abstract_values import (
    GENERIC,
    NO_VALUE,
    AbstractValue,
    Alternative,
    Base,
    integers,
    is_opaque,
    join_values,
    unknown,
)
from ptxkit.analysis.abstract_interpretation.strided_ranges import StridedRange, full_range, join_ranges, make_range
from ptxkit.analysis.limits import MAX_RANGE_MEMBERS
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.functions import bits
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, integer_type

Argument: TypeAlias = "AbstractValue | str | int | bool | float | None"
_Combine: TypeAlias = Callable[[int, Alternative, Alternative], Alternative | None]

#: The state spaces whose addresses are below 2**31, so that 32 bits hold them.
_SMALL_SPACES = ("shared", "local")
#: An offset up to which the address of a variable in these spaces does not exceed 31 bits.
_LARGEST_OFFSET = 1 << 30
#: The operations whose results are no addresses, whatever their operands are.
_NEVER_ADDRESSES = ("compare", "combine", "popc", "clz")
#: The narrowest integer that may hold an address.
_ADDRESS_BITS = 32


def apply(name: str, arguments: Sequence[Argument]) -> AbstractValue | None:
    """Returns the result of an integer operation; None if the operation is not one.

    arguments: words and widths where the table fixes them, abstract values elsewhere.
    """
    operation = INTEGER_OPERATIONS.get(name)
    if operation is None:
        return None
    fixed = [arguments[at] for at in operation.static]
    types = fixed[name == "compare" :] if name in ("convert", "compare") else []
    if any(integer_type(str(each)) is None for each in types):
        return unknown(1 if name == "compare" else _width_of_type(str(fixed[-1])))
    given = [each for each in operation.operands(arguments) if isinstance(each, tuple)]
    width = operation.result_width(fixed)
    if len(given) + len(fixed) != len(arguments):
        return unknown(width)
    if NO_VALUE in given:
        return NO_VALUE
    widths = operation.operand_widths(fixed)
    operands = [resize(held, size) for held, size in zip(given, widths, strict=True)]
    kept = _keep_address(name, arguments, operands, width)
    return kept if kept is not None else _compute(name, arguments, operands, width)


def _width_of_type(type_: str) -> int:
    try:
        return bits(type_)
    except (KeyError, ValueError):
        return 64


def _keep_address(
    name: str, arguments: Sequence[Argument], operands: Sequence[AbstractValue], width: int
) -> AbstractValue | None:
    """Returns the result of an operation that keeps the bases of its operands; None for any other operation."""
    if name == "copy":
        return operands[0]
    if name == "convert":
        read = integer_type(str(arguments[0]))
        return resize(operands[0], width, is_signed=read is not None and read[1])
    if name == "select":
        chosen = operands[2][0].offset if len(operands[2]) == 1 else full_range(1)
        if chosen.is_single:
            return operands[0] if chosen.low & 1 else operands[1]
        return join_values(operands[0], operands[1])
    combine = _COMBINING.get(name)
    if combine is None or all(each.base is None for value in operands for each in value):
        return None
    if prod(map(len, operands)) > MAX_RANGE_MEMBERS:
        return unknown(width)
    found = NO_VALUE
    for first, second in product(*operands):
        result = combine(width, first, second)
        part = (result,) if result is not None else _compute(name, arguments, ((first,), (second,)), width)
        found = join_values(found, part)
    return found


def _compute(name: str, arguments: Sequence[Argument], operands: Sequence[AbstractValue], width: int) -> AbstractValue:
    """Returns the result of an operation as an integer."""
    static = INTEGER_OPERATIONS[name].static
    numbers = iter([_as_integer(value) for value in operands])
    given = [each if at in static else next(numbers) for at, each in enumerate(arguments)]
    result = range_ops.compute(name, given)
    opaque = width >= _ADDRESS_BITS and name not in _NEVER_ADDRESSES and any(map(is_opaque, operands))
    if opaque and _is_scaled(name, operands):
        opaque = False
    return integers(result if result is not None else full_range(width), is_opaque=opaque)


def _is_scaled(name: str, operands: Sequence[AbstractValue]) -> bool:
    """Returns whether an address is multiplied, so that the result is none."""
    if name not in ("mul", "mul_wide", "shl"):
        return False
    first, second = operands
    if name != "shl" and any(each.base is not None for each in second):
        first, second = second, first
    if any(each.base is None and each.is_opaque for each in first) or is_opaque(second):
        return False
    least = _as_integer(second).unsigned[0]
    return least >= (1 if name == "shl" else 2)


def _as_integer(value: AbstractValue) -> StridedRange:
    """Returns the numbers that a value may be."""
    found: StridedRange | None = None
    for each in value:
        own = each.offset if each.base is None else full_range(each.width, *each.congruence)
        found = own if found is None else join_ranges(found, own)
    assert found is not None
    return found


def resize(value: AbstractValue, width: int, *, is_signed: bool = False) -> AbstractValue:
    """Returns the lowest bits of a value, or the value extended to a larger width."""
    if all(each.width == width for each in value):
        return value
    found = NO_VALUE
    for each in value:
        found = join_values(found, (_resize(each, width, is_signed=is_signed),))
    return found


def _resize(held: Alternative, width: int, *, is_signed: bool) -> Alternative:
    base = held.base
    if base is None:
        opaque = held.is_opaque and min(width, held.width) >= _ADDRESS_BITS
        return replace(held, offset=range_ops.resize(width, held.offset, is_signed=is_signed), is_opaque=opaque)
    power, remainder = held.congruence
    if width < held.width:
        if width >= _ADDRESS_BITS and held.window in _SMALL_SPACES:
            return replace(held, offset=range_ops.resize(width, held.offset))
        return Alternative(None, full_range(width, power, remainder), is_opaque=width >= _ADDRESS_BITS)
    if held.width < _ADDRESS_BITS:
        return Alternative(None, full_range(width, power, remainder))
    low, high = held.known_offsets
    if low >= 0 and high <= _LARGEST_OFFSET and held.window in _SMALL_SPACES:
        return replace(held, offset=range_ops.resize(width, held.offset))
    # The sum of base and offset may wrap around, so that only its lowest bits are known.
    return replace(held, offset=full_range(width, min(held.offset.power, 1 << held.width), held.offset.remainder))


def _move(address: Alternative, by: Alternative, offset: StridedRange, *, is_negative: bool = False) -> Alternative:
    """Returns an address plus or minus an integer."""
    power, remainder = by.congruence
    alignment = min(address.alignment, power)
    moved = address.remainder + (-remainder if is_negative else remainder)
    opaque = address.is_opaque or by.is_opaque
    return replace(address, offset=offset, alignment=alignment, remainder=moved % alignment, is_opaque=opaque)


def _add(width: int, first: Alternative, second: Alternative) -> Alternative | None:
    if first.base is None:
        first, second = second, first
    if first.base is None or second.base is not None:
        return _index_of(width, first, second)
    return _move(first, second, range_ops.add(width, first.offset, second.offset))


def _index_of(width: int, first: Alternative, second: Alternative) -> Alternative | None:
    """Returns the sum of an address that was converted and an argument, which then is an index; None for any other."""
    for address, index in ((first, second), (second, first)):
        base, other = address.base, index.base
        if base is None or other is None or not address.window or index.window or other.kind != "argument":
            continue
        power, remainder = index.congruence
        number = Alternative(None, full_range(width, power, remainder), is_opaque=index.is_opaque)
        return _move(address, number, range_ops.add(width, address.offset, number.offset))
    return None


def _sub(width: int, first: Alternative, second: Alternative) -> Alternative | None:
    difference = range_ops.sub(width, first.offset, second.offset)
    if first.base is not None and second.base is None:
        return _move(first, second, difference, is_negative=True)
    if first.base is not None and first.place == second.place and first.base.kind != "converted":
        return Alternative(None, difference, is_opaque=first.is_opaque or second.is_opaque)
    return None


def _and(width: int, first: Alternative, second: Alternative) -> Alternative | None:
    """Returns an address without its lowest bits."""
    address, mask = (first, second) if first.base is not None else (second, first)
    if address.base is None or mask.base is not None or not mask.offset.is_single:
        return None
    cleared = (1 << width) - 1 - mask.offset.low
    if cleared & cleared + 1 or cleared >= _LARGEST_OFFSET or mask.is_opaque:
        return None
    size = cleared + 1
    if address.alignment >= size:
        by = address.remainder & cleared
        offset = make_range(width, address.offset.low - by, address.offset.high - by, address.offset.stride)
        return replace(address, offset=offset, remainder=address.remainder - by)
    least = address.remainder
    most = cleared - (cleared - least) % address.alignment
    step = gcd(address.offset.stride, address.alignment) if most > least else address.offset.stride
    offset = make_range(width, address.offset.low - most, address.offset.high - least, step)
    return replace(address, offset=offset, alignment=size, remainder=0)


def _or(width: int, first: Alternative, second: Alternative) -> Alternative | None:
    """Returns an address with some of its lowest bits set, which adds at most these bits."""
    address, number = (first, second) if first.base is not None else (second, first)
    return _set_bits(width, address, number, flips=False)


def _xor(width: int, first: Alternative, second: Alternative) -> Alternative | None:
    address, number = (first, second) if first.base is not None else (second, first)
    return _set_bits(width, address, number, flips=True)


def _set_bits(width: int, address: Alternative, number: Alternative, *, flips: bool) -> Alternative | None:
    most = number.offset.unsigned[1]
    if number.base is not None or number.is_opaque or most >= _LARGEST_OFFSET:
        return None
    if address.remainder == 0 and most < address.alignment:
        return _move(address, number, range_ops.add(width, address.offset, number.offset))
    power, bits_ = number.congruence
    alignment = min(address.alignment, power)
    remainder = address.remainder ^ bits_ if flips else address.remainder | bits_
    offset = make_range(width, address.offset.low - (most if flips else 0), address.offset.high + most, 1)
    return replace(address, offset=offset, alignment=alignment, remainder=remainder % alignment)


_COMBINING: dict[str, _Combine] = {"add": _add, "sub": _sub, "and": _and, "or": _or, "xor": _xor}


def to_generic(space: str, value: AbstractValue, index: int) -> AbstractValue:
    """Returns the generic addresses of addresses in a state space. index: that of the conversion."""
    family = space.partition("::")[0]
    found = NO_VALUE
    for each in value:
        base = each.base
        if base is not None and each.window == family:
            part = each if family == "global" else replace(each, window=GENERIC)  # generic addresses of it are equal
        else:
            part = _conversion_result(family, index, each, GENERIC)
        found = join_values(found, (part,))
    return found


def from_generic(space: str, value: AbstractValue, index: int) -> AbstractValue:
    """Returns the addresses in a state space of generic addresses."""
    family = space.partition("::")[0]
    found = NO_VALUE
    for each in value:
        base = each.base
        is_own = base is not None and base.space == family and each.window in (GENERIC, "global")
        if is_own or (
            base is not None and base.kind == "argument" and each.window in ("", family) and family == "global"
        ):
            part = replace(each, window=family)
        else:
            part = _conversion_result(family, index, each, family)
        found = join_values(found, (part,))
    return found


def _conversion_result(space: str, index: int, source: Alternative, window: str) -> Alternative:
    """Returns the result of a conversion of which only the state space is known."""
    return Alternative(Base("converted", space, space, index), full_range(source.width, 1 << source.width), window)


def map_rank(value: AbstractValue) -> AbstractValue:
    """Returns the same offsets in the shared memory of a CTA of the cluster."""
    found = NO_VALUE
    for each in value:
        is_shared = each.base is not None and each.base.space == "shared"
        part = (replace(each, is_remote=True),) if is_shared else unknown(each.width)
        found = join_values(found, part)
    return found
