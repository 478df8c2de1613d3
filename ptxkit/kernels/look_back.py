"""What CTAs publish for the CTAs of later tiles, and the order in which they take tiles ("decoupled look-back").

A published value and its state are one word of 64 bits, which is written and read as a whole. A thread that reads the
state has the value, too. No other memory has to be ordered with the word, so `relaxed` accesses at the scope of the GPU
are enough: a fence, a release or an acquire would order nothing that is read.

The state is a number that grows with each launch: twice the number of the launch for the sum of a tile, or of a group
of tiles, and one more for its prefix, the sum of all tiles up to it. Words of earlier launches, and zeros, are neither,
so nothing is cleared between launches. The numbers wrap around after 2**31 launches.

A CTA that waits for a word must not keep the CTA that writes it from running. So CTAs take the numbers of their tiles
from a counter, the ticket, when they run already: smaller numbers are those of CTAs that run or have ended, and the CTA
with the smallest number of all that run waits for none. The upper half of the ticket is the number of the launch. The
CTA that takes the last tile is the last one to read the ticket, and sets both halves for the next launch.

Source: PTX ISA, "Memory Consistency Model: Atomicity, Causality Order", "Parallel Synchronization and Communication
Instructions: atom, red", "Data Movement and Conversion Instructions: ld, st, mov"; D. Merrill and M. Garland,
"Single-pass Parallel Prefix Scan with Decoupled Look-back".
"""

from __future__ import annotations

from typing import Any

from ptxkit.build import Global, Kernel, Register, Variable, u32, u64

STATE_BIT = 32
"""The lowest bit of a word that belongs to the state."""
_LAUNCH_BIT = 32
"""The lowest bit of the ticket that belongs to the number of the launch."""


def take_tile(k: Kernel, ticket: Global[u64]) -> tuple[Register[u32], Register[u32]]:
    """Returns the number of the CTA's tile, and that of the launch, from 1 on. One thread of each CTA executes it.

    The grid has one CTA for each tile, and one dimension.
    """
    number, launch = k.unpack(ticket.atomic_add(1), u32)
    with k.if_(number == k.nctaid.x - 1):
        ticket.reduce("add", (1 << _LAUNCH_BIT) - k.nctaid.x.convert(u64))
    return number, launch + 1


class PublishedStates:
    """The states of the words of one launch: `sum` and `prefix`."""

    def __init__(self, k: Kernel, launch: Register[u32]) -> None:
        self._k = k
        self.sum = launch * 2
        self.prefix = self.sum + 1

    def publish(self, word: Global[u64], value: Register[Any], state: Register[u32]) -> None:
        """Stores a value of 32 bits with its state."""
        pair = self._k.register(u64)
        self._k.emit("mov.b64", pair, (value, state))
        word.store(pair, order="relaxed")

    def read(self, word: Global[u64], value: Variable[Any]) -> Register[u32]:
        """Assigns the value of a word to a variable, and returns its state."""
        state = self._k.register(u32)
        self._k.emit("mov.b64", (value, state), word.load(order="relaxed"))
        return state
