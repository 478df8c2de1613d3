"""The state of a thread of a PTX kernel: its place, its registers, and its groups of asynchronous operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptxkit.fast_dataclasses import dataclass, replace

Groups = tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]


@dataclass(frozen=True, slots=True)
class PtxState:
    """A state. at: the next instruction. registers: by name, those that were written. taints: the reads on which each
    depends. control: those on which the execution of the next instruction depends. groups: by kind, the events of each
    group, the open group last. copies: the events of all cp.async copies.
    """

    at: int = 0
    registers: tuple[tuple[str, int], ...] = ()
    taints: tuple[tuple[str, frozenset[int]], ...] = ()
    control: frozenset[int] = frozenset()
    groups: Groups = ()
    copies: tuple[int, ...] = ()

    def assign(self, name: str, value: int, taint: frozenset[int] = frozenset()) -> PtxState:
        """Returns the state after a register is written."""
        registers = {**dict(self.registers), name: value}
        taints = {register: reads for register, reads in self.taints if register != name}
        if taint:
            taints[name] = taint
        return replace(
            self,
            registers=tuple(sorted(registers.items())),
            taints=tuple(sorted(taints.items(), key=lambda each: each[0])),
        )

    def taint_of(self, names: Iterable[str]) -> frozenset[int]:
        """Returns the reads on which registers depend."""
        taints = dict(self.taints)
        return frozenset().union(*(taints[name] for name in names if name in taints))

    def issue(self, kind: str, events: Sequence[int]) -> PtxState:
        """Adds events to the open group of a kind."""
        *closed, opened = self._groups_of(kind)
        return self._with_groups(kind, (*closed, (*opened, *events)))

    def commit(self, kind: str) -> PtxState:
        """Commits the open group of a kind."""
        return self._with_groups(kind, (*self._groups_of(kind), ()))

    def awaited_events(self, kind: str, pending: int) -> frozenset[int]:
        """Returns the events of the committed groups without the last `pending` ones."""
        closed = self._groups_of(kind)[:-1]
        return frozenset(each for group in closed[: max(len(closed) - pending, 0)] for each in group)

    def _groups_of(self, kind: str) -> tuple[tuple[int, ...], ...]:
        return dict(self.groups).get(kind, ((),))

    def _with_groups(self, kind: str, groups: tuple[tuple[int, ...], ...]) -> PtxState:
        return replace(self, groups=tuple(sorted({**dict(self.groups), kind: groups}.items())))
