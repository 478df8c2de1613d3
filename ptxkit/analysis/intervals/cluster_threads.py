"""The threads of all CTAs of a cluster as one vector, and the shared memory of these CTAs as one range of offsets.

The thread `tid` of the CTA with rank `r` has the number `r * n + tid`, where `n` is the number of threads of a CTA. The
shared memory of each CTA begins at a multiple of `2**CTA_BITS`. Without other CTAs, these are the numbers of the
threads and the offsets in the shared memory of one CTA.

Source: PTX ISA, "Cluster of Cooperative Thread Arrays", "Shared State Space".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.analysis.ir.shared_window import CTA_BITS, SharedWindow
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.uniform_terms import Numbers
from ptxkit.semantics.value_ops import bit_mask


class ClusterThreads:
    """The threads of one kernel. ctas: the number of CTAs that are distinguished, 1 or that of the cluster."""

    def __init__(self, launch: LaunchConfig, ctas: int = 1) -> None:
        self.ctas, self.of_cta = ctas, launch.threads
        self.count = ctas * self.of_cta
        self._windows = [SharedWindow(rank) for rank in range(ctas)]

    def mask(self, rank: int) -> int:
        """Returns the threads of a CTA as a bit mask."""
        return bit_mask(self.of_cta) << rank * self.of_cta

    def ranks_of(self, threads: int) -> Iterator[int]:
        """Yields the ranks of the CTAs that have some of the threads in a bit mask."""
        return (rank for rank in range(self.ctas) if threads & self.mask(rank))

    def numbers(self, rank: int) -> tuple[int, int]:
        """Returns the number of the first thread of a CTA, and that of the thread after its last one."""
        return rank * self.of_cta, (rank + 1) * self.of_cta

    def window(self, rank: int) -> SharedWindow:
        """Returns the shared memory as the threads of a CTA see it."""
        return self._windows[rank]

    def place(self, own: int, offset: int, target: int | None = None) -> int:
        """Returns where the shared memory is that a thread of the CTA with a rank accesses.

        offset: of the address, in the window of the cluster. target: the rank of the CTA whose shared memory a
        multicast accesses at the same offset; None for that which the address denotes.
        """
        rank = self.window(own).rank_of(offset) if target is None else target
        return rank << CTA_BITS | offset & bit_mask(CTA_BITS)

    def places(self, offsets: Numbers, target: int | None = None) -> Numbers:
        """Returns the same for the offsets in all threads."""
        if self.ctas == 1:
            return offsets
        held = (offsets,) * self.count if isinstance(offsets, int) else offsets
        return tuple(self.place(thread // self.of_cta, offset, target) for thread, offset in enumerate(held))

    def shift(self, ranges: Sequence[tuple[int, int]], rank: int) -> list[tuple[int, int]]:
        """Returns ranges of offsets in the shared memory of one CTA as those of the CTA with a rank."""
        return [(low + (rank << CTA_BITS), high + (rank << CTA_BITS)) for low, high in ranges]
