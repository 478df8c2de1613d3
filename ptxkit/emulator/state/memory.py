"""Memory: address spaces, and accesses by many threads at once.

Global, constant and parameter memory are segments with gaps between the allocations, so that an address beyond an
allocation is detected. Shared memory belongs to a cluster and has a part for each CTA; local memory belongs to a CTA
and has a part for each thread.

Source: PTX ISA, "State Spaces", "Generic Addressing", "Alignment".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Protocol

import numpy

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx2xx, ptx6xx
from ptxkit.emulator.core.address_windows import RANK_SHIFT, RESERVED_SHARED, AddressWindows
from ptxkit.emulator.core.findings import ExecutionFault, InvalidLaunchError
from ptxkit.emulator.core.lane_set import ThreadIndex
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.fast_dataclasses import dataclass
from ptxkit.gc_control import note_memory

_GAP = 512
_ALIGNMENT = 256
_LARGEST_UNIT = 16
UNINIT_PATTERN = 0xFFFB
"""The contents of uninitialized memory, unless a run specifies others."""
_RANK_MASK = (1 << RANK_SHIFT) - 1
_BUFFERS_OF_SPACE = {"global": ("global",), "const": ("const",), "param": ("param", "local")}
"""The buffers that contain the addresses of a space; parameters of functions are in frames."""


class ByteBuffer:
    """Bytes that are indexed from 0, accessed as units of 1, 2, 4 or 8 bytes. `name` is that of the space, for
    messages.

    `unwritten` are the 16 bits that the buffer holds initially; by default it holds zeros.
    """

    __slots__ = ("_views", "data", "is_common", "name", "shadow")

    def __init__(self, size: int, name: str, *, unwritten: int | None = None) -> None:
        whole = -(-size // _LARGEST_UNIT) * _LARGEST_UNIT
        self.data: Any = numpy.zeros(whole, numpy.uint8)
        if unwritten is not None:
            self.data = numpy.full(whole // 2, unwritten, numpy.uint16).view(numpy.uint8)
        self.name = name
        self.is_common = name in ("shared", "global")
        """Whether several threads can access it, and write to it."""
        self.shadow: Any = None
        self._views: dict[int, Any] = {}

    def view(self, size: int) -> Any:
        """Returns the bytes as units of a size."""
        found = self._views.get(size)
        if found is None:
            found = self._views[size] = self.data.view(f"u{size}")
        return found


class MemoryUse(Protocol):
    """The record of a launch that memory accesses update: whether a step used global memory."""

    used_global: bool


class ClusterMemory(Protocol):
    """The shared memory of a cluster. Each of its CTAs has `span` bytes, at multiples of `stride`."""

    size: int
    span: int
    stride: int
    shared_buffer: ByteBuffer

    @property
    def ctas(self) -> Sequence[CtaMemory]:
        """The CTAs by rank."""


class CtaMemory(Protocol):
    """The CTA of a thread, on which addresses in shared and local memory depend."""

    ctaid: tuple[int, int, int]
    rank: int
    alive: Any
    local_pool: ByteBuffer
    local_size: int

    @property
    def machine(self) -> MemoryUse:
        """The launch."""

    @property
    def cluster(self) -> ClusterMemory:
        """The cluster of the CTA."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """Bytes that the program may use, such as a variable, a buffer, or the parameters."""

    start: int
    size: int
    name: str


class MemorySegment:
    """The allocations in one window of generic addresses."""

    def __init__(self, start: int, size: int, name: str) -> None:
        self.start, self.limit, self.name = start, start + size, name
        self.allocations: list[Allocation] = []
        self._starts: list[int] = []
        self._next_free = start
        self._initial_contents: list[tuple[int, Bits]] = []
        self.buffer = ByteBuffer(0, name)

    def allocate(self, size: int, alignment: int, name: str) -> int:
        """Allocates bytes, separate from all others, and returns their start."""
        alignment = max(alignment, _ALIGNMENT)
        at = -(-self._next_free // alignment) * alignment
        self._next_free = at + size + _GAP
        if self._next_free > self.limit:
            raise InvalidLaunchError(f"the {self.name} memory of the machine has less than the {size} bytes of {name}")
        self.allocations.append(Allocation(at, size, name))
        self._starts.append(at)
        return at

    def set_initial(self, address: int, octets: bytes | Bits) -> None:
        """Sets the initial contents of memory."""
        self._initial_contents.append((address, numpy.frombuffer(octets, numpy.uint8)))

    @property
    def used_bytes(self) -> int:
        """The bytes of all allocations, and of the gaps between them."""
        return self._next_free - self.start + _GAP

    def materialize(self) -> None:
        """Creates the memory of all allocations."""
        self.buffer = ByteBuffer(self.used_bytes, self.name)
        for address, octets in self._initial_contents:
            at = address - self.start
            self.buffer.data[at : at + len(octets)] = octets
        self._initial_contents.clear()

    def view_bytes(self, address: int, size: int) -> Bits:
        """Returns the bytes from an address on."""
        at = address - self.start
        found: Bits = self.buffer.data[at : at + size]
        return found

    def allocation_at(self, address: int) -> Allocation | None:
        """Returns the last allocation that starts at or before an address."""
        found = bisect_right(self._starts, address) - 1
        return self.allocations[found] if found >= 0 else None

    def locate(self, address: Any, low: int, high: int, size: int, index: ThreadIndex) -> Any:
        """Returns the offsets of the bytes at addresses between `low` and `high`, each `size` bytes long."""
        there = self.allocation_at(low)
        if there is None or high + size > there.start + there.size:
            self._check_each(address, size, index)
        return (address - numpy.uint64(self.start)).view(numpy.int64)

    def _check_each(self, address: Any, size: int, index: ThreadIndex) -> None:
        """Checks addresses that are in several allocations, or in none."""
        starts = numpy.array([each.start for each in self.allocations] or [0], numpy.uint64)
        ends = numpy.array([each.start + each.size for each in self.allocations] or [0], numpy.uint64)
        at = numpy.searchsorted(starts, address, side="right") - 1
        wrong = (at < 0) | (address + numpy.uint64(size) > ends[at])
        if wrong.any():
            first = int(numpy.flatnonzero(wrong)[0])
            raise ExecutionFault(
                ptx2xx.OUTSIDE_LAUNCH_MEMORY(
                    size=size,
                    address=int(address[first]),
                    space=self.name,
                    nearest=self._describe_nearest(int(address[first])),
                ),
                index[wrong],
                space=self.name,
                start=int(address[first]),
                size=size,
            )

    def _describe_nearest(self, address: int) -> Message | str:
        there = self.allocation_at(address)
        if there is None:
            return ""
        beyond = address - there.start
        return ptx2xx.NEAREST_ALLOCATION(name=there.name, size=there.size, distance=beyond)


class LaunchMemory:
    """All memory of a launch except shared and local memory, which belong to CTAs."""

    def __init__(self, windows: AddressWindows) -> None:
        self.windows = windows
        self.segments = {
            name: MemorySegment(window.start, window.size, name)
            for name, window in (("global", windows.global_), ("const", windows.const), ("param", windows.param))
        }

    def allocate(self, space: str, size: int, alignment: int, name: str) -> int:
        """Allocates bytes of a segment, and returns the generic address."""
        return self.segments[space].allocate(size, alignment, name)

    def set_initial(self, address: int, octets: bytes | Bits) -> None:
        """Sets the initial contents of memory."""
        self._segment_of(address).set_initial(address, octets)

    def materialize(self) -> None:
        """Creates the memory of all allocations."""
        note_memory(sum(arena.used_bytes for arena in self.segments.values()))
        for arena in self.segments.values():
            arena.materialize()

    def contains(self, address: int, size: int) -> bool:
        """Returns whether a segment has bytes from a generic address on."""
        for arena in self.segments.values():
            found = arena.allocation_at(address) if arena.start <= address < arena.limit else None
            if found is not None and address + size <= found.start + found.size:
                return True
        return False

    def view_bytes(self, address: int, size: int) -> Bits:
        """Returns the bytes of a segment from a generic address on."""
        return self._segment_of(address).view_bytes(address, size)

    def _segment_of(self, address: int) -> MemorySegment:
        return next(each for each in self.segments.values() if each.start <= address < each.limit)

    def locate(self, cta: CtaMemory, space: str, address: Any, size: int, index: ThreadIndex) -> tuple[ByteBuffer, Any]:
        """Returns the buffer, and the offsets in it of `size` bytes at each of some addresses (uint64) in a space.

        `index` are the threads, for messages. Raises ExecutionFault, and MultipleBuffersError if the addresses are in
        several buffers: `split_by_window` separates these.
        """
        if size > 1 and int(numpy.bitwise_or.reduce(address)) & (size - 1):
            wrong = (address & numpy.uint64(size - 1)) != 0
            first = int(address[wrong][0])
            message = ptx2xx.ADDRESS_NOT_ALIGNED(address=first, size=size)
            raise ExecutionFault(message, index[wrong], space=space, start=first, size=size)
        if space == "shared::cta":
            return cta.cluster.shared_buffer, self._locate_own_shared(cta, address, size, index)
        if space == "shared::cluster":
            return cta.cluster.shared_buffer, self._locate_cluster_shared(cta, address, size, index)
        if space == "local":
            return cta.local_pool, self._locate_local(cta, address, size, index)
        pool, places = self._locate_generic(cta, address, size, index)
        if pool.name not in _BUFFERS_OF_SPACE.get(space, (pool.name,)):
            message = ptx2xx.ADDRESS_IN_OTHER_SPACE(address=int(address[0]), actual=pool.name, space=space)
            raise ExecutionFault(message, index, space=pool.name, start=int(address[0]), size=size)
        return pool, places

    def _locate_generic(self, cta: CtaMemory, address: Any, size: int, index: ThreadIndex) -> tuple[ByteBuffer, Any]:
        low, high = int(numpy.minimum.reduce(address)), int(numpy.maximum.reduce(address))
        for arena in self.segments.values():
            if arena.start <= low and high < arena.limit:
                cta.machine.used_global |= arena.name == "global"
                return arena.buffer, arena.locate(address, low, high, size, index)
        shared, local = self.windows.shared, self.windows.local
        if shared.start <= low and high < shared.end:
            inner = address - numpy.uint64(shared.start)
            return cta.cluster.shared_buffer, self._locate_cluster_shared(cta, inner, size, index)
        if local.start <= low and high < local.end:
            return cta.local_pool, self._locate_local(cta, address - numpy.uint64(local.start), size, index)
        wrong = numpy.ones(len(address), bool)
        for start, end in [(each.start, each.limit) for each in self.segments.values()] + [
            (each.start, each.end) for each in (shared, local)
        ]:
            wrong &= (address < numpy.uint64(start)) | (address >= numpy.uint64(end))
        if not wrong.any():
            raise MultipleBuffersError
        first = int(address[wrong][0])
        if RESERVED_SHARED <= first & _RANK_MASK < cta.cluster.span and first >> RANK_SHIFT < cta.cluster.size:
            message = ptx2xx.GENERIC_ADDRESS_MAY_BE_OFFSET(address=first)
            raise ExecutionFault(message, index[wrong], space="generic", start=first, size=size)
        message = ptx2xx.NO_MEMORY_AT_ADDRESS(address=first)
        raise ExecutionFault(message, index[wrong], space="generic", start=first, size=size)

    def split_by_window(self, address: Any) -> list[Any]:
        """Returns the positions of the generic addresses in each window that contains any."""
        windows = self.windows
        bounds = [(each.start, each.limit) for each in self.segments.values()]
        bounds += [(each.start, each.end) for each in (windows.shared, windows.local)]
        found = [
            numpy.flatnonzero((address >= numpy.uint64(start)) & (address < numpy.uint64(end))) for start, end in bounds
        ]
        return [each for each in found if len(each)]

    def _locate_own_shared(self, cta: CtaMemory, address: Any, size: int, index: ThreadIndex) -> Any:
        offset = address - numpy.uint64(cta.rank << RANK_SHIFT)
        low, high = int(numpy.minimum.reduce(offset)), int(numpy.maximum.reduce(offset))
        if low < RESERVED_SHARED or high + size > cta.cluster.span:
            wrong = (offset < numpy.uint64(RESERVED_SHARED)) | (offset > numpy.uint64(cta.cluster.span - size))
            self._report_outside_shared(cta, address, wrong, size, index)
        return offset.view(numpy.int64) + cta.rank * cta.cluster.stride

    def _locate_cluster_shared(self, cta: CtaMemory, address: Any, size: int, index: ThreadIndex) -> Any:
        rank = (address >> numpy.uint64(RANK_SHIFT)).view(numpy.int64)
        offset = (address & numpy.uint64(_RANK_MASK)).view(numpy.int64)
        wrong = (rank >= cta.cluster.size) | (offset < RESERVED_SHARED) | (offset > cta.cluster.span - size)
        if wrong.any():
            self._report_outside_shared(cta, address, wrong, size, index)
        if cta.cluster.size > 1:
            self._check_cta_running(cta, rank, offset, size, index)
        return offset + rank * cta.cluster.stride

    @staticmethod
    def _check_cta_running(cta: CtaMemory, ranks: Any, offset: Any, size: int, index: ThreadIndex) -> None:
        """Checks that the CTA whose shared memory is accessed has not exited."""
        for rank in set(ranks.tolist()) - {cta.rank}:
            if not cta.cluster.ctas[rank].alive.any():
                gone = ranks == rank
                message = ptx6xx.SHARED_OF_EXITED_CTA(cta=cta.cluster.ctas[rank].ctaid)
                start = int(offset[gone][0]) + (rank << RANK_SHIFT)
                raise ExecutionFault(message, index[gone], space="shared", start=start, size=size)

    def _report_outside_shared(self, cta: CtaMemory, address: Any, wrong: Any, size: int, index: ThreadIndex) -> None:
        first = int(address[wrong][0])
        self._reject_generic_address(first, "shared", size, index[wrong])
        base, ctas = cta.rank << RANK_SHIFT, cta.cluster.size
        message = ptx2xx.OUTSIDE_SHARED_MEMORY(
            size=size,
            address=first,
            start=RESERVED_SHARED + base,
            end=cta.cluster.span - 1 + base,
            cluster=ptx2xx.CLUSTER_ADDRESSES(ctas=ctas, bit=RANK_SHIFT) if ctas > 1 else "",
        )
        raise ExecutionFault(message, index[wrong], space="shared", start=first, size=size)

    def _reject_generic_address(self, address: int, space: str, size: int, index: ThreadIndex) -> None:
        """Reports an address outside of a space that is a generic address."""
        windows = [self.windows.shared, self.windows.local]
        bounds = [(each.start, each.end) for each in windows]
        bounds += [(each.start, each.limit) for each in self.segments.values()]
        if any(start <= address < end for start, end in bounds):
            message = ptx2xx.GENERIC_ADDRESS_USED(address=address, space=space)
            raise ExecutionFault(message, index, space=space, start=address, size=size)

    def _locate_local(self, cta: CtaMemory, address: Any, size: int, index: ThreadIndex) -> Any:
        high = int(numpy.maximum.reduce(address))
        if high + size > cta.local_size:
            wrong = address + numpy.uint64(size) > numpy.uint64(cta.local_size)
            first = int(address[wrong][0])
            self._reject_generic_address(first, "local", size, index[wrong])
            message = ptx2xx.OUTSIDE_LOCAL_MEMORY(size=size, address=first, available=cta.local_size)
            raise ExecutionFault(message, index[wrong], space="local", start=first, size=size)
        return address.view(numpy.int64) + index * cta.local_size


class MultipleBuffersError(Exception):
    """Generic addresses of one access are in several windows."""
