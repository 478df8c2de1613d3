"""A concrete model of a CTA's shared memory: the addresses of variables, and the windows of generic addresses.

Only relations matter: two variables do not overlap, the shared window is not at zero, and each CTA of the cluster has
its own part of it. Shared addresses of the executing CTA are below 2**18, as matrix descriptors require.

Source: PTX ISA, "Shared State Space", "Generic Addressing", "mapa".
"""

from __future__ import annotations

from ptxkit.fast_dataclasses import dataclass

#: The number of bits of an address inside one CTA's shared memory; the bits above them hold the rank of another CTA.
CTA_BITS = 24
#: The bits above those in a mask that maps an address in either CTA of a pair to one in the even CTA.
EVEN_CTA = 0xFE
#: The start of the windows of generic addresses. The lower half is not zero, so that a generic address truncated to 32
#: bits is not an offset.
_LOW = 0x8000_0000
_WINDOWS = {
    "shared": 0x7F00_0000_0000 + _LOW,
    "local": 0x7E00_0000_0000 + _LOW,
    "const": 0x7D00_0000_0000 + _LOW,
    "param": 0x7C00_0000_0000 + _LOW,
}
_WINDOW_SIZE = _LOW
_LOWEST = min(_WINDOWS.values())
#: An upper bound for the end of a CTA's shared memory.
SHARED_END = 1 << 18
#: The offsets of the thread's private variables, disjoint from shared ones, so that an offset determines its space.
FIRST_ADDRESS = {"shared": 1024, "local": 1 << 20, "param": 1 << 21}


@dataclass(frozen=True, slots=True)
class SharedWindow:
    """The shared window as the threads of CTA `rank` see it."""

    rank: int = 0

    def to_generic(self, space: str, address: int) -> int:
        """Returns the generic address of an address in `space`; the window of `global` is at zero."""
        return address + _WINDOWS.get(space.partition("::")[0], 0)

    def from_generic(self, space: str, address: int) -> int:
        """Returns the address in `space` of a generic address."""
        return (address - _WINDOWS.get(space.partition("::")[0], 0)) & ((1 << 64) - 1)

    def space_of_generic(self, address: int) -> str:
        """Returns the state space whose window contains a generic address."""
        if address < _LOWEST:
            return "global"
        for space, base in _WINDOWS.items():
            if base <= address < base + _WINDOW_SIZE:
                return space
        return "global"

    def truncated_offset(self, address: int) -> int | None:
        """Returns the shared offset of a generic address that was truncated to 32 bits; None for any other number."""
        return address - _LOW if _LOW <= address < _LOW + SHARED_END else None

    def shared_offset(self, space: str, address: int) -> int | None:
        """Returns a shared-memory address as an offset in the cluster window; None for an address in another space.

        space: the state space of the address, which may be `generic`.
        """
        if space.startswith("shared"):
            return address & (_WINDOW_SIZE - 1)
        if space == "generic" and self.space_of_generic(address) == "shared":
            return address - _WINDOWS["shared"]
        return None

    def map_to_rank(self, address: int, rank: int) -> int:
        """Returns the same offset in the shared memory of CTA `rank` of the cluster."""
        local = address & ~(0xFF << CTA_BITS)
        return local if rank == self.rank else local | (rank + 1) << CTA_BITS

    def map_address(self, space: str, address: int, rank: int) -> int | None:
        """Returns an address of `space` mapped to CTA `rank`, as `mapa` does; None if it is elsewhere."""
        offset = self.shared_offset(space, address)
        if offset is None:
            return None
        there = self.map_to_rank(offset, rank)
        return there if space.startswith("shared") else self.to_generic("shared", there)

    def rank_of_address(self, space: str, address: int) -> int | None:
        """Returns the rank of the CTA that an address of `space` denotes; None if it is elsewhere."""
        offset = self.shared_offset(space, address)
        return None if offset is None else self.rank_of(offset)

    def map_to_even_cta(self, address: int, kept: int) -> int:
        """Returns the bits `kept` of an address.

        If this clears the lowest bit of the CTA's rank in a shared-memory address, the result is an address in the CTA
        of the pair whose rank is even.
        """
        offset = address & kept & (1 << CTA_BITS) - 1
        if not FIRST_ADDRESS["shared"] <= offset < SHARED_END:
            return address & kept
        return self.map_to_rank(offset, self.rank_of(address) & ~1)

    def rank_of(self, address: int) -> int:
        """Returns the rank of the CTA whose shared memory contains an address."""
        above = address >> CTA_BITS & 0xFF
        return above - 1 if above else self.rank


def shared_offsets(space: str, addresses: list[int]) -> list[int] | None:
    """Returns addresses in shared memory, plain or generic, as offsets; None where they are not all of one kind."""
    base = _WINDOWS["shared"]
    low, high = min(addresses), max(addresses)
    if space.startswith("shared") and high < _LOWEST:
        return [address & _WINDOW_SIZE - 1 for address in addresses]
    if base <= low and high < base + _WINDOW_SIZE:
        return [address - base for address in addresses]
    return None
