"""Memory: what an address means, and reading and writing of it by many threads at once.

Global, constant and parameter memory are arenas of allocations with gaps between, so that an address beyond one is
seen. Shared memory belongs to a cluster, a part for each CTA; local memory to a CTA, a part for each thread.

Source: PTX ISA, "State Spaces", "Generic Addressing", "Alignment".
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Fault, LaunchError
from ptxkit.emulate.lanes import Index
from ptxkit.emulate.registry import Bits
from ptxkit.emulate.windows import RANK_SHIFT, RESERVED_SHARED, Windows
from ptxkit.records import dataclass

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta

_GAP = 512
_ALIGNMENT = 256
_LARGEST_UNIT = 16
NOTHING = 0xFFFB
"""What memory holds that nobody wrote, unless somebody asks for something else."""
_RANK_MASK = (1 << RANK_SHIFT) - 1
_POOLS = {"global": ("global",), "const": ("const",), "param": ("param", "local")}
"""The pools in which addresses of a space lie; parameters of functions are in frames."""


class Pool:
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


class Arena:
    """The allocations in one window of generic addresses."""

    def __init__(self, start: int, size: int, name: str) -> None:
        self.start, self.limit, self.name = start, start + size, name
        self.allocations: list[Allocation] = []
        self._starts: list[int] = []
        self._next = start
        self._presets: list[tuple[int, Bits]] = []
        self.pool = Pool(0, name)

    def allocate(self, size: int, alignment: int, name: str) -> int:
        """Take bytes, apart from all others; where they begin."""
        alignment = max(alignment, _ALIGNMENT)
        at = -(-self._next // alignment) * alignment
        self._next = at + size + _GAP
        if self._next > self.limit:
            raise LaunchError(f"the {self.name} memory of the machine has no room for the {size} bytes of {name}")
        self.allocations.append(Allocation(at, size, name))
        self._starts.append(at)
        return at

    def preset(self, address: int, octets: bytes | Bits) -> None:
        """What memory holds when the run begins."""
        self._presets.append((address, numpy.frombuffer(octets, numpy.uint8)))

    def seal(self) -> None:
        """Make the memory of all allocations."""
        self.pool = Pool(self._next - self.start + _GAP, self.name)
        for address, octets in self._presets:
            at = address - self.start
            self.pool.data[at : at + len(octets)] = octets
        self._presets.clear()

    def octets(self, address: int, size: int) -> Bits:
        """The bytes from an address on."""
        at = address - self.start
        found: Bits = self.pool.data[at : at + size]
        return found

    def at(self, address: int) -> Allocation | None:
        """The allocation that begins last at or before an address."""
        found = bisect_right(self._starts, address) - 1
        return self.allocations[found] if found >= 0 else None

    def index(self, address: Any, low: int, high: int, size: int, index: Index) -> Any:
        """The places of the bytes at addresses between `low` and `high`, each `size` bytes long."""
        there = self.at(low)
        if there is None or high + size > there.start + there.size:
            self._check_each(address, size, index)
        return (address - numpy.uint64(self.start)).view(numpy.int64)

    def _check_each(self, address: Any, size: int, index: Index) -> None:
        """Where the addresses lie in several allocations, or in none."""
        starts = numpy.array([each.start for each in self.allocations] or [0], numpy.uint64)
        ends = numpy.array([each.start + each.size for each in self.allocations] or [0], numpy.uint64)
        at = numpy.searchsorted(starts, address, side="right") - 1
        wrong = (at < 0) | (address + numpy.uint64(size) > ends[at])
        if wrong.any():
            first = int(numpy.flatnonzero(wrong)[0])
            raise Fault(
                "PTX207",
                f"{size} bytes at 0x{int(address[first]):x} are outside all that the launch has in {self.name} memory"
                f"{self._near(int(address[first]))}",
                index[wrong],
                space=self.name,
                start=int(address[first]),
                size=size,
            )

    def _near(self, address: int) -> str:
        there = self.at(address)
        if there is None:
            return ""
        beyond = address - there.start
        return f"; {there.name} before it has {there.size} bytes, and this is byte {beyond} from its start"


class Memory:
    """All memory of a launch but for shared and local memory, which CTAs have of their own."""

    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        self.arenas = {
            name: Arena(window.start, window.size, name)
            for name, window in (("global", windows.global_), ("const", windows.const), ("param", windows.param))
        }

    def allocate(self, space: str, size: int, alignment: int, name: str) -> int:
        """Take bytes of an arena; the generic address."""
        return self.arenas[space].allocate(size, alignment, name)

    def preset(self, address: int, octets: bytes | Bits) -> None:
        """What memory holds when the run begins."""
        self._arena(address).preset(address, octets)

    def seal(self) -> None:
        """Make the memory of all allocations."""
        for arena in self.arenas.values():
            arena.seal()

    def holds(self, address: int, size: int) -> bool:
        """Whether there are bytes from a generic address on, in an arena."""
        for arena in self.arenas.values():
            found = arena.at(address) if arena.start <= address < arena.limit else None
            if found is not None and address + size <= found.start + found.size:
                return True
        return False

    def octets(self, address: int, size: int) -> Bits:
        """The bytes from a generic address on, in an arena."""
        return self._arena(address).octets(address, size)

    def _arena(self, address: int) -> Arena:
        return next(each for each in self.arenas.values() if each.start <= address < each.limit)

    def locate(self, cta: Cta, space: str, address: Any, size: int, index: Index) -> tuple[Pool, Any]:
        """The pool and the places in it of `size` bytes at each of some addresses (uint64) in a space.

        index: the threads, for findings. All must lie in one pool: see `split`. Raises `Fault`.
        """
        if size > 1 and int(numpy.bitwise_or.reduce(address)) & (size - 1):
            wrong = (address & numpy.uint64(size - 1)) != 0
            first = int(address[wrong][0])
            message = f"0x{first:x} is no address of {size} bytes: it must be a multiple of {size}"
            raise Fault("PTX205", message, index[wrong], space=space, start=first, size=size)
        if space == "shared::cta":
            return cta.cluster.pool, self._own_shared(cta, address, size, index)
        if space == "shared::cluster":
            return cta.cluster.pool, self._cluster_shared(cta, address, size, index)
        if space == "local":
            return cta.local_pool, self._local(cta, address, size, index)
        pool, places = self._generic(cta, address, size, index)
        if pool.name not in _POOLS.get(space, (pool.name,)):
            message = f"0x{int(address[0]):x} is in {pool.name} memory, and not in {space} memory"
            raise Fault("PTX208", message, index, space=pool.name, start=int(address[0]), size=size)
        return pool, places

    def _generic(self, cta: Cta, address: Any, size: int, index: Index) -> tuple[Pool, Any]:
        low, high = int(numpy.minimum.reduce(address)), int(numpy.maximum.reduce(address))
        for arena in self.arenas.values():
            if arena.start <= low and high < arena.limit:
                cta.machine.met_global |= arena.name == "global"
                return arena.pool, arena.index(address, low, high, size, index)
        shared, local = self.windows.shared, self.windows.local
        if shared.start <= low and high < shared.end:
            inner = address - numpy.uint64(shared.start)
            return cta.cluster.pool, self._cluster_shared(cta, inner, size, index)
        if local.start <= low and high < local.end:
            return cta.local_pool, self._local(cta, address - numpy.uint64(local.start), size, index)
        wrong = numpy.ones(len(address), bool)
        for start, end in [(each.start, each.limit) for each in self.arenas.values()] + [
            (each.start, each.end) for each in (shared, local)
        ]:
            wrong &= (address < numpy.uint64(start)) | (address >= numpy.uint64(end))
        if not wrong.any():
            raise SeveralPools
        first = int(address[wrong][0])
        message = f"0x{first:x} is no address of any memory"
        if RESERVED_SHARED <= first & _RANK_MASK < cta.cluster.span and first >> RANK_SHIFT < cta.cluster.size:
            message += ": it may be an offset in shared memory, which `cvta.shared` makes a generic address"
            raise Fault("PTX202", message, index[wrong], space="generic", start=first, size=size)
        raise Fault("PTX207", message, index[wrong], space="generic", start=first, size=size)

    def split(self, address: Any) -> list[Any]:
        """The positions of generic addresses that lie in one window, for each window that has any."""
        windows = self.windows
        bounds = [(each.start, each.limit) for each in self.arenas.values()]
        bounds += [(each.start, each.end) for each in (windows.shared, windows.local)]
        found = [
            numpy.flatnonzero((address >= numpy.uint64(start)) & (address < numpy.uint64(end))) for start, end in bounds
        ]
        return [each for each in found if len(each)]

    def _own_shared(self, cta: Cta, address: Any, size: int, index: Index) -> Any:
        offset = address - numpy.uint64(cta.rank << RANK_SHIFT)
        low, high = int(numpy.minimum.reduce(offset)), int(numpy.maximum.reduce(offset))
        if low < RESERVED_SHARED or high + size > cta.cluster.span:
            wrong = (offset < numpy.uint64(RESERVED_SHARED)) | (offset > numpy.uint64(cta.cluster.span - size))
            self._beyond_shared(cta, address, wrong, size, index)
        return offset.view(numpy.int64) + cta.rank * cta.cluster.stride

    def _cluster_shared(self, cta: Cta, address: Any, size: int, index: Index) -> Any:
        rank = (address >> numpy.uint64(RANK_SHIFT)).view(numpy.int64)
        offset = (address & numpy.uint64(_RANK_MASK)).view(numpy.int64)
        wrong = (rank >= cta.cluster.size) | (offset < RESERVED_SHARED) | (offset > cta.cluster.span - size)
        if wrong.any():
            self._beyond_shared(cta, address, wrong, size, index)
        if cta.cluster.size > 1:
            self._check_living(cta, rank, offset, size, index)
        return offset + rank * cta.cluster.stride

    @staticmethod
    def _check_living(cta: Cta, ranks: Any, offset: Any, size: int, index: Index) -> None:
        """The shared memory of a CTA is there until its threads have ended."""
        for rank in set(ranks.tolist()) - {cta.rank}:
            if not cta.cluster.ctas[rank].alive.any():
                gone = ranks == rank
                message = f"shared memory of CTA {cta.cluster.ctas[rank].ctaid} of the cluster, which has ended"
                start = int(offset[gone][0]) + (rank << RANK_SHIFT)
                raise Fault("PTX612", message, index[gone], space="shared", start=start, size=size)

    def _beyond_shared(self, cta: Cta, address: Any, wrong: Any, size: int, index: Index) -> None:
        first = int(address[wrong][0])
        self._refuse_generic(first, "shared", size, index[wrong])
        end = cta.cluster.span
        message = (
            f"{size} bytes at 0x{first:x} are outside the CTA's shared memory, which is "
            f"0x{RESERVED_SHARED + (cta.rank << RANK_SHIFT):x} to 0x{end - 1 + (cta.rank << RANK_SHIFT):x}"
        )
        if cta.cluster.size > 1:
            message += f" (of {cta.cluster.size} CTAs, the rank in the bits from {RANK_SHIFT} on)"
        raise Fault("PTX207", message, index[wrong], space="shared", start=first, size=size)

    def _refuse_generic(self, address: int, space: str, size: int, index: Index) -> None:
        """Where an address outside a space is a generic one."""
        windows = [self.windows.shared, self.windows.local]
        bounds = [(each.start, each.end) for each in windows]
        bounds += [(each.start, each.limit) for each in self.arenas.values()]
        if any(start <= address < end for start, end in bounds):
            message = f"0x{address:x} is a generic address, and not one in {space} memory: see `cvta.to.{space}`"
            raise Fault("PTX201", message, index, space=space, start=address, size=size)

    def _local(self, cta: Cta, address: Any, size: int, index: Index) -> Any:
        high = int(numpy.maximum.reduce(address))
        if high + size > cta.local_size:
            wrong = address + numpy.uint64(size) > numpy.uint64(cta.local_size)
            first = int(address[wrong][0])
            self._refuse_generic(first, "local", size, index[wrong])
            message = f"{size} bytes at 0x{first:x} are outside the thread's local memory of {cta.local_size} bytes"
            raise Fault("PTX207", message, index[wrong], space="local", start=first, size=size)
        return address.view(numpy.int64) + index * cta.local_size


class SeveralPools(Exception):  # noqa: N818 (no error: the access is made in parts)
    """Generic addresses of one access lie in several windows."""
