"""Accesses of which a schedule always knows the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.analysis.intervals.interval_accesses import StateAccess
from ptxkit.analysis.phase_order.tensor_accesses import is_of_tensor_memory, is_pipelined
from ptxkit.fast_dataclasses import dataclass

PROXY_FENCE, TENSOR_FENCE = "proxy", "tensor"


@dataclass(frozen=True, slots=True, eq=False)
class AccessBatch:
    """The accesses of a kind that the same threads execute between two ordering steps.

    threads: as a bit mask. group: the mechanism that completes them; None if they are synchronous. writes: whether they
    write. fence: the kind of fence that must follow before accesses that are not of this kind: `PROXY_FENCE` before
    reads by the async proxy, `TENSOR_FENCE` before tcgen05 instructions that are not pipelined with them; or none.
    """

    accesses: tuple[StateAccess, ...]
    threads: int
    group: str | None
    writes: bool
    fence: str


class AccessBatches:
    """The batches of one kernel: there is one object for equal ones.

    has_tensor_fences: whether the kernel has fences for Tensor Memory; without any, none is demanded.
    """

    def __init__(self, *, has_tensor_fences: bool) -> None:
        self._tensor_fence = TENSOR_FENCE if has_tensor_fences else ""
        self._known: dict[tuple[tuple[StateAccess, ...], int], AccessBatch] = {}

    def of(self, accesses: Iterable[tuple[StateAccess, int]]) -> Iterator[AccessBatch]:
        """Yields the batches of some accesses, each of which has its threads."""
        parts: dict[tuple[int, str | None, bool, str, int | None], list[StateAccess]] = {}
        for access, threads in accesses:
            kind = threads, access.group, access.writes, self._fence_after(access), access.target
            parts.setdefault(kind, []).append(access)
        for (threads, group, writes, fence, _), own in parts.items():
            key = tuple(own), threads
            if key not in self._known:
                self._known[key] = AccessBatch(tuple(own), threads, group, writes, fence)
            yield self._known[key]

    def needs_tensor_fence(self, access: StateAccess, other: StateAccess) -> bool:
        """Returns whether a fence for Tensor Memory must be between an access and an earlier one of the same bytes."""
        return (
            is_pipelined(access) != is_pipelined(other) and self._fence_after(access) == self._fence_after(other) != ""
        )

    def _fence_after(self, access: StateAccess) -> str:
        if is_of_tensor_memory(access):
            return self._tensor_fence if access.effect.completion is not None else ""
        return PROXY_FENCE if access.writes and access.effect.proxy == "generic" else ""
