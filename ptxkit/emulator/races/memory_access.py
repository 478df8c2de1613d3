"""One access of memory, or the part of an asynchronous operation that accesses one buffer, prepared for the checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.races.shadow_memory import ShadowMemory
from ptxkit.emulator.races.vector_clocks import CtaClocks, required_scope_level
from ptxkit.fast_dataclasses import dataclass, replace

if TYPE_CHECKING:
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode


@dataclass(slots=True, eq=False)
class MemoryAccess:
    """One access by some threads of a CTA.

    `location` is the function, the step and the CTA, and `index` are the threads. For each of the units, `rows` is the
    position of the thread in `index`, `threads` is that thread, and `times` its time before the access (None for an
    operation). `strength` is 0 for a weak access, else one more than the level of its scope. `value` is the written
    value, if it is known.
    """

    location: tuple[FunctionCode, int, CtaState]
    clocks: CtaClocks
    index: Any
    kind: str
    buffer: ByteBuffer
    shadow: ShadowMemory
    units: Any
    rows: Any
    threads: Any
    times: Any
    strength: int
    byte_offsets: Any
    size: int
    value: Any
    proxy: str = "generic"

    def select(self, at: Any) -> MemoryAccess:
        """Returns the access restricted to some of its units, by their positions."""
        return replace(self, units=self.units[at], rows=self.rows[at], threads=self.threads[at])

    def is_strong_with(self, other: int, cta: CtaState) -> bool:
        """Returns whether it is morally strong with an access of a CTA."""
        return min(self.strength, other) > required_scope_level(self.location[2], cta)

    def _written_bytes(self, row: int) -> bytes | None:
        """Returns the bytes that a thread writes, or None if they are not known."""
        if self.value is None:
            return None
        parts = self.value if isinstance(self.value, tuple) else (self.value,)
        if any(part is None for part in parts):
            return None
        return b"".join(numpy.ascontiguousarray(part[row]).tobytes() for part in parts)

    def writes_same_value(self, row: int) -> bool:
        """Returns whether a thread writes the value that memory already holds."""
        start = int(self.byte_offsets[row])
        return self._written_bytes(row) == bytes(self.buffer.data[start : start + self.size])

    def writes_equal_values(self, row: int, other: int) -> bool:
        """Returns whether two threads write the same value to the same location."""
        same = int(self.byte_offsets[row]) == int(self.byte_offsets[other])
        return same and self._written_bytes(row) == self._written_bytes(other)
