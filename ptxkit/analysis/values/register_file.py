"""What a group of threads holds in its registers; a part of the group takes over what it asks for, when it asks.

Threads part often, and what most registers held then is never read again: to take all of them over each time would
cost more than the walk. So a part looks through to what the whole group held, which nobody writes any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.analysis.values.symbolic_values import GroupValue, select_lanes

#: Groups that a part looks through, one after the other; one that parted more often takes all over.
MAX_LAYERS = 8


class RegisterFile:
    """Registers by their unique names."""

    __slots__ = ("_indices", "_layers", "_own", "_whole")

    def __init__(self) -> None:
        self._own: dict[str, GroupValue] = {}
        self._whole: RegisterFile | None = None
        self._indices: Sequence[int] = ()
        self._layers = 0

    def get(self, name: str) -> GroupValue | None:
        """What a register holds; None where nothing was written to it."""
        held = self._own.get(name)
        if held is None and self._whole is not None:
            if self._layers > MAX_LAYERS:
                self._flatten_layers()
                return self._own.get(name)
            held = self._look_up_in_group(name)
            if held is not None:
                self._own[name] = held
        return held

    def set(self, name: str, held: GroupValue) -> None:
        """Writes a register."""
        self._own[name] = held

    def copy(self) -> RegisterFile:
        """The same, to be written to apart."""
        other = RegisterFile()
        other._own = dict(self._own)
        other._whole, other._indices, other._layers = self._whole, self._indices, self._layers
        return other

    def subset(self, indices: Sequence[int]) -> RegisterFile:
        """What a part of the group holds, given the indices of its threads; these here are not written to any more."""
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
        """What a register held in the last group that wrote it, as this part of it sees it."""
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
