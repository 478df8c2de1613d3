"""Memory: what an address means, and reading and writing of it by many threads at once.

Global, constant and parameter memory are arenas of allocations with gaps between, so that an address beyond one is
seen. Shared memory belongs to a cluster, a part for each CTA; local memory to a CTA, a part for each thread.

Source: PTX ISA, "State Spaces", "Generic Addressing", "Alignment".
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.address_windows import RANK_SHIFT, RESERVED_SHARED, AddressWindows
from ptxkit.emulator.core.findings import ExecutionFault, InvalidLaunchError
from ptxkit.emulator.core.lane_set import ThreadIndex
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta

_GAP = 512
_ALIGNMENT = 256
_LARGEST_UNIT = 16
UNINIT_PATTERN = 0xFFFB
"""The contents of uninitialized memory, unless a run specifies others."""
_RANK_MASK = (1 << RANK_SHIFT) - 1
_BUFFERS_OF_SPACE = {"global": ("global",), "const": ("const",), "param": ("param", "local")}
"""The pools in which addresses of a space lie; parameters of functions are in frames."""


class ByteBuffer:
    """Bytes that are indexed from 0, seen as units of 1, 2, 4 or 8 bytes. name: of the space, for findings.

    unwritten: 16 bits that stand in it at first, where nobody knows what does: no number in any floating-point type.
    """

    __slots__ = ("_views", "data", "name", "shadow")

    def __init__(self, size: int, name: str, *, unwritten: int | None = None) -> None:
        whole = -(-size // _LARGEST_UNIT) * _LARGEST_UNIT
        self.data: Any = numpy.zeros(whole, numpy.uint8)
        if unwritten is not None:
            self.data = numpy.full(whole // 2, unwritten, numpy.uint16).view(numpy.uint8)
        self.name = name
        self.shadow: Any = None
        self._views: dict[int, Any] = {}

    def view(self, size: int) -> Any:
        """The bytes as units of a size."""
        found = self._views.get(size)
        if found is None:
            found = self._views[size] = self.data.view(f"u{size}")
        return found


@dataclass(frozen=True, slots=True)
class Allocation:
    """Bytes that the program may use: a variable, a buffer, the parameters."""

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
        """Allocate bytes, separate from all others; return their start."""
        alignment = max(alignment, _ALIGNMENT)
        at = -(-self._next_free // alignment) * alignment
        self._next_free = at + size + _GAP
        if self._next_free > self.limit:
            raise InvalidLaunchError(
                f"the {self.name} memory of the machine has no room for the {size} bytes of {name}"
            )
        self.allocations.append(Allocation(at, size, name))
        self._starts.append(at)
        return at

    def set_initial(self, address: int, octets: bytes | Bits) -> None:
        """Set the initial contents of memory."""
        self._initial_contents.append((address, numpy.frombuffer(octets, numpy.uint8)))

    def materialize(self) -> None:
        """Create the memory of all allocations."""
        self.buffer = ByteBuffer(self._next_free - self.start + _GAP, self.name)
        for address, octets in self._initial_contents:
            at = address - self.start
            self.buffer.data[at : at + len(octets)] = octets
        self._initial_contents.clear()

    def view_bytes(self, address: int, size: int) -> Bits:
        """The bytes from an address on."""
        at = address - self.start
        found: Bits = self.buffer.data[at : at + size]
        return found

    def allocation_at(self, address: int) -> Allocation | None:
        """Return the last allocation that starts at or before an address."""
        found = bisect_right(self._starts, address) - 1
        return self.allocations[found] if found >= 0 else None

    def locate(self, address: Any, low: int, high: int, size: int, index: ThreadIndex) -> Any:
        """The places of the bytes at addresses between `low` and `high`, each `size` bytes long."""
        there = self.allocation_at(low)
        if there is None or high + size > there.start + there.size:
            self._check_each(address, size, index)
        return (address - numpy.uint64(self.start)).view(numpy.int64)

    def _check_each(self, address: Any, size: int, index: ThreadIndex) -> None:
        """Where the addresses lie in several allocations, or in none."""
        starts = numpy.array([each.start for each in self.allocations] or [0], numpy.uint64)
        ends = numpy.array([each.start + each.size for each in self.allocations] or [0], numpy.uint64)
        at = numpy.searchsorted(starts, address, side="right") - 1
        wrong = (at < 0) | (address + numpy.uint64(size) > ends[at])
        if wrong.any():
            first = int(numpy.flatnonzero(wrong)[0])
            raise ExecutionFault(
                "PTX207",
                f"{size} bytes at 0x{int(address[first]):x} are outside all that the launch has in {self.name} memory"
                f"{self._describe_nearest(int(address[first]))}",
                index[wrong],
                space=self.name,
                start=int(address[first]),
                size=size,
            )

    def _describe_nearest(self, address: int) -> str:
        there = self.allocation_at(address)
        if there is None:
            return ""
        beyond = address - there.start
        return f"; {there.name} before it has {there.size} bytes, and this is byte {beyond} from its start"


class LaunchMemory:
    """All memory of a launch except shared and local memory, which belong to CTAs."""

    def __init__(self, windows: AddressWindows) -> None:
        self.windows = windows
        self.segments = {
            name: MemorySegment(window.start, window.size, name)
            for name, window in (("global", windows.global_), ("const", windows.const), ("param", windows.param))
        }

    def allocate(self, space: str, size: int, alignment: int, name: str) -> int:
        """Allocate bytes of an arena; return the generic address."""
        return self.segments[space].allocate(size, alignment, name)

    def set_initial(self, address: int, octets: bytes | Bits) -> None:
        """Set the initial contents of memory."""
        self._segment_of(address).set_initial(address, octets)

    def materialize(self) -> None:
        """Create the memory of all allocations."""
        for arena in self.segments.values():
            arena.materialize()

    def contains(self, address: int, size: int) -> bool:
        """Whether there are bytes from a generic address on, in an arena."""
        for arena in self.segments.values():
            found = arena.allocation_at(address) if arena.start <= address < arena.limit else None
            if found is not None and address + size <= found.start + found.size:
                return True
        return False

    def view_bytes(self, address: int, size: int) -> Bits:
        """The bytes from a generic address on, in an arena."""
        return self._segment_of(address).view_bytes(address, size)

    def _segment_of(self, address: int) -> MemorySegment:
        return next(each for each in self.segments.values() if each.start <= address < each.limit)

    def locate(self, cta: Cta, space: str, address: Any, size: int, index: ThreadIndex) -> tuple[ByteBuffer, Any]:
        """The pool and the places in it of `size` bytes at each of some addresses (uint64) in a space.

        index: the threads, for findings. All must lie in one pool: see `split`. Raises `Fault`.
        """
        if size > 1 and int(numpy.bitwise_or.reduce(address)) & (size - 1):
            wrong = (address & numpy.uint64(size - 1)) != 0
            first = int(address[wrong][0])
            message = f"0x{first:x} is no address of {size} bytes: it must be a multiple of {size}"
            raise ExecutionFault("PTX205", message, index[wrong], space=space, start=first, size=size)
        if space == "shared::cta":
            return cta.cluster.shared_buffer, self._locate_own_shared(cta, address, size, index)
        if space == "shared::cluster":
            return cta.cluster.shared_buffer, self._locate_cluster_shared(cta, address, size, index)
        if space == "local":
            return cta.local_pool, self._locate_local(cta, address, size, index)
        pool, places = self._locate_generic(cta, address, size, index)
        if pool.name not in _BUFFERS_OF_SPACE.get(space, (pool.name,)):
            message = f"0x{int(address[0]):x} is in {pool.name} memory, and not in {space} memory"
            raise ExecutionFault("PTX208", message, index, space=pool.name, start=int(address[0]), size=size)
        return pool, places

    def _locate_generic(self, cta: Cta, address: Any, size: int, index: ThreadIndex) -> tuple[ByteBuffer, Any]:
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
        message = f"0x{first:x} is no address of any memory"
        if RESERVED_SHARED <= first & _RANK_MASK < cta.cluster.span and first >> RANK_SHIFT < cta.cluster.size:
            message += ": it may be an offset in shared memory, which `cvta.shared` makes a generic address"
            raise ExecutionFault("PTX202", message, index[wrong], space="generic", start=first, size=size)
        raise ExecutionFault("PTX207", message, index[wrong], space="generic", start=first, size=size)

    def split_by_window(self, address: Any) -> list[Any]:
        """Return the positions of the generic addresses in each window that contains any."""
        windows = self.windows
        bounds = [(each.start, each.limit) for each in self.segments.values()]
        bounds += [(each.start, each.end) for each in (windows.shared, windows.local)]
        found = [
            numpy.flatnonzero((address >= numpy.uint64(start)) & (address < numpy.uint64(end))) for start, end in bounds
        ]
        return [each for each in found if len(each)]

    def _locate_own_shared(self, cta: Cta, address: Any, size: int, index: ThreadIndex) -> Any:
        offset = address - numpy.uint64(cta.rank << RANK_SHIFT)
        low, high = int(numpy.minimum.reduce(offset)), int(numpy.maximum.reduce(offset))
        if low < RESERVED_SHARED or high + size > cta.cluster.span:
            wrong = (offset < numpy.uint64(RESERVED_SHARED)) | (offset > numpy.uint64(cta.cluster.span - size))
            self._report_outside_shared(cta, address, wrong, size, index)
        return offset.view(numpy.int64) + cta.rank * cta.cluster.stride

    def _locate_cluster_shared(self, cta: Cta, address: Any, size: int, index: ThreadIndex) -> Any:
        rank = (address >> numpy.uint64(RANK_SHIFT)).view(numpy.int64)
        offset = (address & numpy.uint64(_RANK_MASK)).view(numpy.int64)
        wrong = (rank >= cta.cluster.size) | (offset < RESERVED_SHARED) | (offset > cta.cluster.span - size)
        if wrong.any():
            self._report_outside_shared(cta, address, wrong, size, index)
        if cta.cluster.size > 1:
            self._check_cta_running(cta, rank, offset, size, index)
        return offset + rank * cta.cluster.stride

    @staticmethod
    def _check_cta_running(cta: Cta, ranks: Any, offset: Any, size: int, index: ThreadIndex) -> None:
        """Check that the CTA whose shared memory is accessed has not exited."""
        for rank in set(ranks.tolist()) - {cta.rank}:
            if not cta.cluster.ctas[rank].alive.any():
                gone = ranks == rank
                message = f"shared memory of CTA {cta.cluster.ctas[rank].ctaid} of the cluster, which has ended"
                start = int(offset[gone][0]) + (rank << RANK_SHIFT)
                raise ExecutionFault("PTX612", message, index[gone], space="shared", start=start, size=size)

    def _report_outside_shared(self, cta: Cta, address: Any, wrong: Any, size: int, index: ThreadIndex) -> None:
        first = int(address[wrong][0])
        self._reject_generic_address(first, "shared", size, index[wrong])
        end = cta.cluster.span
        message = (
            f"{size} bytes at 0x{first:x} are outside the CTA's shared memory, which is "
            f"0x{RESERVED_SHARED + (cta.rank << RANK_SHIFT):x} to 0x{end - 1 + (cta.rank << RANK_SHIFT):x}"
        )
        if cta.cluster.size > 1:
            message += f" (of {cta.cluster.size} CTAs, the rank in the bits from {RANK_SHIFT} on)"
        raise ExecutionFault("PTX207", message, index[wrong], space="shared", start=first, size=size)

    def _reject_generic_address(self, address: int, space: str, size: int, index: ThreadIndex) -> None:
        """Where an address outside a space is a generic one."""
        windows = [self.windows.shared, self.windows.local]
        bounds = [(each.start, each.end) for each in windows]
        bounds += [(each.start, each.limit) for each in self.segments.values()]
        if any(start <= address < end for start, end in bounds):
            message = f"0x{address:x} is a generic address, and not one in {space} memory: see `cvta.to.{space}`"
            raise ExecutionFault("PTX201", message, index, space=space, start=address, size=size)

    def _locate_local(self, cta: Cta, address: Any, size: int, index: ThreadIndex) -> Any:
        high = int(numpy.maximum.reduce(address))
        if high + size > cta.local_size:
            wrong = address + numpy.uint64(size) > numpy.uint64(cta.local_size)
            first = int(address[wrong][0])
            self._reject_generic_address(first, "local", size, index[wrong])
            message = f"{size} bytes at 0x{first:x} are outside the thread's local memory of {cta.local_size} bytes"
            raise ExecutionFault("PTX207", message, index[wrong], space="local", start=first, size=size)
        return address.view(numpy.int64) + index * cta.local_size


class MultipleBuffersError(Exception):
    """Generic addresses of one access lie in several windows."""
