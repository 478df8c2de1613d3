"""The private memory of threads: local memory, and the parameters of calls, as cells that do not overlap.

A store invalidates every cell that it may overlap. Bytes are in little-endian order: a value that is stored as one
number may be loaded in parts, and vice versa, if all parts are known as numbers.

Source: PTX ISA, "Local State Space", "Parameter State Space", "Operand Size Exceeding Instruction-Type Size".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ptxkit.analysis.limits import MAX_CELL_BYTES
from ptxkit.analysis.values.symbolic_values import GroupValue, LaneValues, SymbolicValueTable, Value, lift, select_lanes
from ptxkit.semantics.value_ops import bit_mask


class PrivateMemory:
    """The memory of a group of threads, by state space or by the name of a parameter, and by address in it.

    An address is a number, one number for each thread, or an unknown; a cell has a size in bytes and a value.
    """

    __slots__ = ("_spaces", "_terms")

    def __init__(self, terms: SymbolicValueTable) -> None:
        self._terms = terms
        self._spaces: dict[str, dict[GroupValue, tuple[GroupValue, int]]] = {}

    def store(self, space: str, place: GroupValue, value: GroupValue, size: int) -> None:
        """Writes `size` bytes."""
        cells = self._spaces.setdefault(space, {})
        known = cells.get(place)
        if known is None or known[1] != size:
            for other in list(_overlapping_cells(cells, place, size)):
                self._overwrite(cells, other, place, size)
        cells[place] = lift(partial(_truncate, bit_mask(8 * size)), value), size

    def _overwrite(
        self, cells: dict[GroupValue, tuple[GroupValue, int]], other: GroupValue, place: GroupValue, size: int
    ) -> None:
        """Keeps the part of a cell that a store does not overwrite, if it is known."""
        value, length = cells.pop(other)
        if isinstance(other, int) and isinstance(place, int):
            for first, end in ((other, place), (place + size, other + length)):
                if first < end:
                    shape = ((8 * (first - other), 0, 8 * (end - first)),)
                    cells[first] = lift(partial(_concatenate, self._terms, shape), value), end - first

    def load(self, space: str, place: GroupValue, size: int) -> GroupValue | None:
        """Returns the value of `size` bytes; None where it is not known."""
        cells = self._spaces.get(space)
        if not cells:
            return None
        known = cells.get(place)
        if known is not None and known[1] == size:
            return known[0]
        return self._compose(cells, place, size) if isinstance(place, int) else None

    def _compose(self, cells: dict[GroupValue, tuple[GroupValue, int]], place: int, size: int) -> GroupValue | None:
        """Returns the value of bytes that are part of a cell, or of several adjacent cells.

        The result is None where no cell has some of them.
        """
        shape: list[tuple[int, int, int]] = []
        values: list[GroupValue] = []
        at = place
        while at < place + size:
            start = next((start for start in range(at, at - MAX_CELL_BYTES, -1) if start in cells), None)
            if start is None or start + cells[start][1] <= at:
                return None
            count = min(start + cells[start][1], place + size) - at
            shape.append((8 * (at - start), 8 * (at - place), 8 * count))
            values.append(cells[start][0])
            at += count
        return lift(partial(_concatenate, self._terms, tuple(shape)), *values)

    def count(self, space: str) -> int:
        """Returns the number of cells in a space."""
        return len(self._spaces.get(space, ()))

    def clear(self, space: str) -> None:
        """Discards all cells of a space, since any value may have been stored there."""
        self._spaces.pop(space, None)

    def copy(self, source: str, target: str) -> None:
        """Copies the value of a parameter to another one."""
        for place, (value, size) in list(self._spaces.get(source, {}).items()):
            self.store(target, place, value, size)

    def subset(self, indices: list[int]) -> PrivateMemory:
        """Returns the memory of a part of the group."""
        other = PrivateMemory(self._terms)
        for space, cells in self._spaces.items():
            other._spaces[space] = {
                select_lanes(place, indices): (select_lanes(value, indices), size)
                for place, (value, size) in cells.items()
            }
        return other


def _overlapping_cells(
    cells: dict[GroupValue, tuple[GroupValue, int]], place: GroupValue, size: int
) -> Iterator[GroupValue]:
    """Yields the cells that a store may write in part."""
    if isinstance(place, int) and all(isinstance(other, int) for other in cells):
        yield from (
            start
            for start in range(place - MAX_CELL_BYTES + 1, place + size)
            if (known := cells.get(start)) is not None and start + known[1] > place
        )
        return
    first, end = _range(place, size)
    for other, (_, length) in cells.items():
        start, stop = _range(other, length)
        if other is place or first is None or start is None or (start < end and first < stop):
            yield other


def _range(place: GroupValue, size: int) -> tuple[int | None, int]:
    """Returns the first byte, and the one after the last; (None, 0) where they are not known."""
    values = place.values if isinstance(place, LaneValues) else [place]
    numbers = [value for value in values if isinstance(value, int)]
    return (min(numbers), max(numbers) + size) if len(numbers) == len(values) else (None, 0)


def _truncate(ones: int, value: Value) -> Value:
    """Returns a number truncated to the size of a cell."""
    return value & ones if isinstance(value, int) else value


def _concatenate(terms: SymbolicValueTable, shape: tuple[tuple[int, int, int], ...], *values: Value) -> Value:
    """Returns a number composed of parts.

    shape: for each part, its first bit in its value, its first bit in the result, and its width.
    """
    whole = 0
    for (first, at, count), value in zip(shape, values, strict=True):
        if not isinstance(value, int):
            return terms.intern(("bytes", shape, *values))
        whole |= (value >> first & bit_mask(count)) << at
    return whole
