"""The register values of a group of threads, where a part of the group copies a value only when it reads it.

Threads diverge often, and most registers are never read again: copying all of them each time would cost more than the
execution. A part therefore looks values up in the state of the whole group, which is no longer written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.analysis.limits import MAX_REGISTER_LAYERS
from ptxkit.analysis.values.symbolic_values import GroupValue, select_lanes


class RegisterFile:
    """Registers by their unique names."""

    __slots__ = ("_indices", "_layers", "_own", "_whole")

    def __init__(self) -> None:
        self._own: dict[str, GroupValue] = {}
        self._whole: RegisterFile | None = None
        self._indices: Sequence[int] = ()
        self._layers = 0

    def get(self, name: str) -> GroupValue | None:
        """Returns the value of a register; None where it was never written."""
        held = self._own.get(name)
        if held is None and self._whole is not None:
            if self._layers > MAX_REGISTER_LAYERS:
                self._flatten_layers()
                return self._own.get(name)
            held = self._look_up_in_group(name)
            if held is not None:
                self._own[name] = held
        return held

    def set(self, name: str, held: GroupValue) -> None:
        self._own[name] = held

    def copy(self) -> RegisterFile:
        """Returns a copy that can be written independently."""
        other = RegisterFile()
        other._own = dict(self._own)
        other._whole, other._indices, other._layers = self._whole, self._indices, self._layers
        return other

    def subset(self, indices: Sequence[int]) -> RegisterFile:
        """Returns the registers of a part of the group, given the indices of its threads.

        The original is no longer written.
        """
        part = RegisterFile()
        part._whole, part._indices, part._layers = self, indices, self._layers + 1
        return part

    def _flatten_layers(self) -> None:
        for name in set(self._names()) - self._own.keys():
            held = self._look_up_in_group(name)
            if held is not None:
                self._own[name] = held
        self._whole, self._indices, self._layers = None, (), 0

    def _look_up_in_group(self, name: str) -> GroupValue | None:
        """Returns the value of a register in the last group that wrote it, restricted to this part."""
        layer: RegisterFile | None = self
        passed: list[Sequence[int]] = []
        held: GroupValue | None = None
        while held is None and layer is not None and layer._whole is not None:
            passed.append(layer._indices)
            layer = layer._whole
            held = layer._own.get(name)
        if held is None:
            return None
        indices = passed[0]
        for each in passed[1:]:
            indices = [each[index] for index in indices]
        return select_lanes(held, indices)

    def _names(self) -> Iterator[str]:
        layer: RegisterFile | None = self
        while layer is not None:
            yield from layer._own
            layer = layer._whole
