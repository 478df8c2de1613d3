"""Determines whether executions stay within the shared memory that a CTA can have.

A module does not state how much shared memory a launch allocates, but no launch allocates more than the maximum. An
execution that uses more belongs to a launch that fails, and proves nothing; matrix descriptors have no bits for such
addresses either.

Source: PTX ISA, "Shared State Space", "Matrix Descriptor Format".
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.values.symbolic_values import GroupValue, LaneValues
from ptxkit.isa.effects import Access
from ptxkit.limits import MAX_SHARED_BYTES


class SharedCapacity:
    """The largest extent of the shared memory of a program's CTAs."""

    def __init__(self, program: Program) -> None:
        given = [v.address for v in program.variables if v.space == "shared" and v.is_open]
        #: The offset after the last byte that a launch can allocate; None where it allocates none.
        self._end = max(given) + MAX_SHARED_BYTES if given else None

    def fits(self, groups: Iterable[GroupTrace]) -> bool:
        """Returns whether all accesses of these groups are before the end of the memory that a launch can allocate."""
        end = self._end
        return end is None or not any(_accesses_beyond(event, end) for group in groups for event in group.events)


def _accesses_beyond(event: TraceEvent | GroupEvent | UnknownCall, end: int) -> bool:
    """Returns whether the first or the last of the threads accesses a location in shared memory at or after `end`."""
    if isinstance(event, UnknownCall) or not isinstance(event.effect, Access) or event.effect.space == "local":
        return False
    held = event.address if isinstance(event, TraceEvent) else event.fields[0]
    return any(isinstance(place, int) and place & (1 << CTA_BITS) - 1 >= end for place in _first_and_last(held))


def _first_and_last(held: GroupValue | None) -> tuple[object, ...]:
    return (held.at(0), held.at(held.count - 1)) if isinstance(held, LaneValues) else (held,)
