"""The location of the state spaces in the generic address space.

Global, constant and parameter addresses are generic addresses. Shared and local memory have windows: an address in the
space is the distance from the window's start. In a cluster, the shared memory of each CTA is a part of the window, by
rank. The addresses of a CTA's own memory contain its rank, too, as they do on hardware.

Source: PTX ISA, "State Spaces", "Generic Addressing", "Data Movement and Conversion Instructions: mapa".
"""

from __future__ import annotations

from ptxkit.fast_dataclasses import dataclass

RANK_SHIFT = 24
"""The bits of a shared address below the rank of its CTA."""

RANK_MASK = 15
"""The mask of a rank; the bits above it are those of the window."""

RESERVED_SHARED = 1024
"""The bytes at the start of shared memory that the system reserves."""


@dataclass(frozen=True, slots=True)
class AddressWindow:
    """A range of generic addresses, of `size` bytes from `start`.

    The low 32 bits of a start are not 0, so that half an address is not a valid address.
    """

    start: int
    size: int

    @property
    def end(self) -> int:
        """The first address after it."""
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class AddressWindows:
    """The windows of one address size."""

    shared: AddressWindow
    local: AddressWindow
    param: AddressWindow
    const: AddressWindow
    global_: AddressWindow

    def window_of(self, space: str) -> AddressWindow | None:
        """Returns the window of a space, or None for spaces whose addresses are generic."""
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
    64: AddressWindows(
        shared=AddressWindow(0x7F10_4000_0000, 1 << 28),
        local=AddressWindow(0x7F00_2000_0000, 1 << 28),
        param=AddressWindow(0x7E10_0000_0000, 1 << 20),
        const=AddressWindow(0x7E00_0000_0000, 1 << 28),
        global_=AddressWindow(0x7000_0000_0000, 1 << 43),
    ),
    32: AddressWindows(
        shared=AddressWindow(0xF000_0000, 1 << 27),
        local=AddressWindow(0xE000_0000, 1 << 27),
        param=AddressWindow(0xD800_0000, 1 << 20),
        const=AddressWindow(0xD000_0000, 1 << 27),
        global_=AddressWindow(0x1000_0000, 0xC000_0000),
    ),
}


def windows_of(address_size: int) -> AddressWindows:
    """Returns the windows of modules with addresses of 32 or 64 bits."""
    return _WINDOWS[address_size]
