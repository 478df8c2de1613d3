"""Compares the arrays of two runs of a kernel, bit by bit or within the tolerance of unspecified bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy

from ptxkit.emulator.state.tensor_maps import decode_map
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.tensormap_limits import MAP_BYTES

_RELATIVE_TOLERANCES = {"f32": 2.0**-16, "f16": 2.0**-9, "bf16": 2.0**-6, "f64": 2.0**-40}
"""The tolerances for unspecified bits, relative to the largest result: two steps of narrow formats; for f32, the error
of the alignment of addends over some hundred products.
"""

_BFLOAT16_SHIFT = 16


@dataclass(frozen=True, slots=True)
class AllowedDifferences:
    """How much the results of two runs may differ.

    open_bits: the reason why bits may differ, or empty. tolerance: relative to the largest result; 0 for that of the
    type. elements: types of arrays that NumPy does not have, by the argument's number. left, right: the names of the
    two sides in descriptions.
    """

    open_bits: str = ""
    tolerance: float = 0.0
    elements: Mapping[int, str] = field(default_factory=dict)
    left: str = "on the machine"
    right: str = "on the GPU"


@dataclass(frozen=True, slots=True)
class DeviceComparison:
    """The result of a comparison. kind: `equal`, `in bounds`, `different`, `refused` by the machine, `failed` on the
    device. words: the difference.

    share: the largest difference as a fraction of the bound.
    """

    kind: str
    description: str = ""
    bound_fraction: float = 0.0

    @property
    def is_right(self) -> bool:
        return self.kind in ("equal", "in bounds")


@dataclass(frozen=True, slots=True)
class ArrayDifference:
    """The first element in which two arrays differ, in the order of memory.

    argument: the number of the argument. entry: the number of the array in a table, or None for another argument.
    flat_index: of the element. count: the number of elements that differ. left, right: the array with that element
    only. size: the number of elements.
    """

    argument: int
    entry: int | None
    flat_index: int
    count: int
    left: Any
    right: Any
    size: int

    @property
    def bits(self) -> tuple[str, str]:
        """The bits of both elements as hexadecimal numbers."""
        left, right = (f"0x{_as_bytes(each)[::-1].tobytes().hex()}" for each in (self.left, self.right))
        return left, right


def find_first_difference(mine: Mapping[int, Any], theirs: Mapping[int, Any]) -> ArrayDifference | None:
    """Returns the first difference of the arrays of two runs, bit for bit, or None if there is no difference."""
    differences = (_find_difference(*each) for each in _array_pairs(mine, theirs))
    return next((each for each in differences if each is not None), None)


def compare_arrays(mine: Mapping[int, Any], theirs: Mapping[int, Any], allowed: AllowedDifferences) -> DeviceComparison:
    """Compares the arrays of two runs, by the argument's number."""
    verdict = DeviceComparison("equal")
    for number, entry, own, other in _array_pairs(mine, theirs):
        found = _compare_array(allowed, _find_difference(number, entry, own, other), own, other)
        if found.kind == "different":
            return found
        if found.kind != "equal" and found.bound_fraction >= verdict.bound_fraction:
            verdict = found
    return verdict


def _array_pairs(mine: Mapping[int, Any], theirs: Mapping[int, Any]) -> Iterator[tuple[int, int | None, Any, Any]]:
    """Yields the arrays of both sides, with the number of the argument, and of the array if that is a table."""
    for number, own in mine.items():
        if isinstance(own, list):
            pairs = zip(own, theirs[number], strict=True)
            yield from ((number, entry, *pair) for entry, pair in enumerate(pairs))
        else:
            yield number, None, own, theirs[number]


def _find_difference(number: int, entry: int | None, mine: Any, theirs: Any) -> ArrayDifference | None:
    own, other = _as_bytes(mine), _as_bytes(theirs)
    differing = _without_maps(own, own != other)
    elements = numpy.flatnonzero(differing.reshape(-1, mine.dtype.itemsize).any(axis=1))
    if not len(elements):
        return None
    first = int(elements[0])
    left, right = (numpy.ascontiguousarray(each).reshape(-1)[first : first + 1] for each in (mine, theirs))
    return ArrayDifference(number, entry, first, len(elements), left, right, mine.size)


def _compare_array(
    allowed: AllowedDifferences, difference: ArrayDifference | None, mine: Any, theirs: Any
) -> DeviceComparison:
    if difference is None:
        return DeviceComparison("equal")
    number, shown = difference.argument, difference.bits
    place = f"argument {number}: {difference.count} of {mine.size} elements differ, the first at "
    words = f"{place}{difference.flat_index}: {shown[0]} {allowed.left}, {shown[1]} {allowed.right}"
    element = allowed.elements.get(number, f"{mine.dtype.kind}{8 * mine.dtype.itemsize}")
    if not allowed.open_bits or element not in _RELATIVE_TOLERANCES:
        return DeviceComparison("different", words)
    left, right = (_as_floats(each, element) for each in (mine, theirs))
    scale = numpy.max(numpy.abs(left[numpy.isfinite(left)]), initial=0.0)
    with numpy.errstate(all="ignore"):
        apart = numpy.where((left == right) | (numpy.isnan(left) & numpy.isnan(right)), 0.0, numpy.abs(left - right))
        share = float(
            numpy.nan_to_num(
                numpy.max(apart) / ((allowed.tolerance or _RELATIVE_TOLERANCES[element]) * scale), nan=numpy.inf
            )
        )
    return DeviceComparison("in bounds" if share <= 1 else "different", words, share)


def _as_bytes(array: Any) -> Any:
    return numpy.frombuffer(numpy.ascontiguousarray(array).tobytes(), numpy.uint8)


def _without_maps(own: Any, differing: Any) -> Any:
    """Replaces tensor maps in memory, whose bytes differ between the two sides."""
    found = differing.copy()
    for at in range(0, len(own) - MAP_BYTES + 1, MAP_BYTES):
        if decode_map(own[at : at + MAP_BYTES].tobytes()) is not None:
            found[at : at + MAP_BYTES] = False
    return found


def _as_floats(array: Any, element: str) -> Any:
    if element == "bf16":
        return (array.astype(numpy.uint32) << _BFLOAT16_SHIFT).view(numpy.float32).astype(numpy.float64)
    return array.astype(numpy.float64)
