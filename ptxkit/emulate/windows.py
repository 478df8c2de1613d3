"""Where the state spaces lie in the generic address space.

Global, constant and parameter addresses are generic addresses. Shared and local memory have windows: an address in the
space is the distance from the window's start. In a cluster each CTA's shared memory is a part of the window, by rank;
a CTA's own addresses say its rank, too, as the addresses of hardware do.

Source: PTX ISA, "State Spaces", "Generic Addressing", "Data Movement and Conversion Instructions: mapa".
"""

from __future__ import annotations

from ptxkit.records import dataclass

RANK_SHIFT = 24
"""The bits of a shared address below the rank of its CTA."""

RANKS = 15
"""The bits of a rank, above which are those of the window."""

RESERVED_SHARED = 1024
"""Bytes at the start of shared memory that the system has for itself."""


@dataclass(frozen=True, slots=True)
class Window:
    """A range of generic addresses: `start`, and `size` bytes from there.

    The low 32 bits of a start are not 0, where there are more: half an address is no address.
    """

    start: int
    size: int

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of one address size."""

    shared: Window
    local: Window
    param: Window
    const: Window
    global_: Window

    def of(self, space: str) -> Window | None:
        """The window of a space with one; None of generic addresses."""
        match space.partition("::")[0]:
            case "shared":
                return self.shared
            case "local":
                return self.local
            case "param":
                return self.param
            case "const":
                return self.const
            case "global":
                return self.global_
            case _:
                return None


_WINDOWS = {
    64: Windows(
        shared=Window(0x7F10_4000_0000, 1 << 28),
        local=Window(0x7F00_2000_0000, 1 << 28),
        param=Window(0x7E10_0000_0000, 1 << 20),
        const=Window(0x7E00_0000_0000, 1 << 28),
        global_=Window(0x7000_0000_0000, 1 << 43),
    ),
    32: Windows(
        shared=Window(0xF000_0000, 1 << 27),
        local=Window(0xE000_0000, 1 << 27),
        param=Window(0xD800_0000, 1 << 20),
        const=Window(0xD000_0000, 1 << 27),
        global_=Window(0x1000_0000, 0xC000_0000),
    ),
}


def windows_of(address_size: int) -> Windows:
    """The windows of modules with addresses of 32 or 64 bits."""
    return _WINDOWS[address_size]
