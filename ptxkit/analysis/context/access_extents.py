"""The bytes of shared memory that an access may use, also where its address is not known.

An access at an unknown offset from a variable may use every byte of the variable that the range of its offset allows.
An access at an unknown address may use all of shared memory, unless its address cannot be there.

Source: PTX ISA, "Shared State Space", "Generic Addressing".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import repeat
from operator import and_

from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.context.access_sampling import FIRST_EXECUTIONS, LAST_EXECUTIONS
from ptxkit.analysis.context.term_ranges import TermRanges
from ptxkit.analysis.dataflow.generic_shared import has_generic_shared_addresses
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.shared_window import SHARED_END
from ptxkit.analysis.limits import MAX_ACCESS_BYTES
from ptxkit.analysis.symexec.access_ranges import MIN_ACCESS_BYTES, access_range
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent
from ptxkit.analysis.values.symbolic_values import (
    GroupValue,
    LaneValues,
    SymbolicValue,
    Value,
    is_outside_shared_memory,
)
from ptxkit.isa.effects import Access, Effect
from ptxkit.syntax.tree import Operand

#: The state spaces in which an address is not in shared memory.
_OTHER_SPACES = frozenset({"global", "local", "const", "param"})


class AccessExtents:
    """The extents of the accesses of one CTA of a kernel: tuples of ranges `[low, high)` of its shared memory."""

    def __init__(self, explorer: Explorer, rank: int) -> None:
        self._explorer = explorer
        self._rank = rank
        self._variables: dict[tuple[Step, str], tuple[tuple[int, int], ...]] = {}
        self._compared: dict[int, tuple[TraceEvent, tuple[tuple[int, int], ...]]] = {}

    @cached_property
    def _ranges(self) -> TermRanges:
        return TermRanges(self._explorer.symbolic_values)

    def of(self, event: TraceEvent) -> tuple[tuple[int, int], ...]:
        """Returns the ranges of which a thread may access bytes; none where it accesses no shared memory."""
        known = access_range(event)
        if known is not None:
            return (known,)
        return () if not _may_be_shared(event) else self._extent(event, event.address, event.size)

    def of_lane(self, event: TraceEvent | GroupEvent, index: int) -> tuple[tuple[int, int], ...]:
        """Returns the ranges for the thread at an index of a group; none where it takes no part."""
        own = event if isinstance(event, TraceEvent) else event.for_thread(index)
        return () if own is None else self.of(own)

    def may_overlap(self, first: TraceEvent, other: TraceEvent) -> bool:
        """Returns whether two accesses may use the same bytes."""
        ranges = self._of_compared(other)
        for low, high in self._of_compared(first):
            for start, end in ranges:
                if low < end and start < high:
                    return not are_apart(first, other)
        return False

    def is_inside_variable(self, event: TraceEvent) -> bool:
        """Returns whether an access at an unknown address is inside a variable of known size, whatever the address."""
        spread = self._ranges.range_of(event.address)
        if spread is None or not isinstance(event.size, int) or not isinstance(event.effect, Access):
            return False
        variables = self._allowed_variables(event.step, event.effect)
        return any(start <= spread[0] and spread[1] + event.size <= end < SHARED_END for start, end in variables)

    def _of_compared(self, event: TraceEvent) -> tuple[tuple[int, int], ...]:
        """Returns the ranges of an access that is compared with many others."""
        known = self._compared.get(id(event))
        if known is None:
            known = self._compared[id(event)] = event, self.of(event)  # the event is kept, so that its id is unique
        return known[1]

    def _extent(self, event: TraceEvent, address: Value | None, size: Value | None) -> tuple[tuple[int, int], ...]:
        assert isinstance(event.effect, Access)
        if isinstance(address, SymbolicValue) and self._is_in_other_cta(address):
            return ()
        allowed = self._allowed_variables(event.step, event.effect)
        spread = self._ranges.range_of(address)
        if spread is None or spread[1] >= SHARED_END:
            return allowed
        length = min(size, MAX_ACCESS_BYTES) if isinstance(size, int) and size > 0 else MIN_ACCESS_BYTES
        low, high = spread[0], spread[1] + length
        return tuple((max(low, start), min(high, end)) for start, end in allowed if low < end and start < high)

    def _is_in_other_cta(self, address: SymbolicValue) -> bool:
        """Returns whether an unknown address is mapped to a known other CTA of the cluster."""
        match self._explorer.symbolic_values.key_of(address):
            case ("map_rank", _, _, int(rank)):
                return rank != self._rank
        return False

    def _allowed_variables(self, step: Step, effect: Access) -> tuple[tuple[int, int], ...]:
        """Returns the variables on which the address of an access depends; all of shared memory where it may be any."""
        key = (step, effect.address)
        found = self._variables.get(key)
        if found is None:
            found = self._variables[key] = tuple(sorted(self._find_allowed(step, effect)))
        return found

    def _find_allowed(self, step: Step, effect: Access) -> Iterator[tuple[int, int]]:
        operand = step.operand(effect.address)
        if effect.space == "generic" and not self._may_be_generic_shared(step, operand):
            return
        leaves = self._explorer.input_independence.dependence.sources_of(step, operand)
        variables = [step.scope.variable(leaf.name) for leaf in leaves if leaf.kind == "variable"]
        shared = [each for each in variables if each is not None and each.space == "shared"]
        if not shared or effect.via == "descriptor":
            yield 0, SHARED_END
        for each in shared if effect.via != "descriptor" else ():
            size = each.fixed_size
            yield each.address, SHARED_END if size is None else each.address + size

    def _may_be_generic_shared(self, step: Step, operand: Operand | None) -> bool:
        """Returns whether a generic address may be in shared memory, on any path."""
        if not has_generic_shared_addresses(self._explorer.program):
            return False
        if not self._explorer.program.contains(step):
            return True
        spaces = self._explorer.program.analysis(AbstractRegisters).spaces_of(step, operand)
        return not spaces or not spaces <= _OTHER_SPACES


def is_unlocated(event: TraceEvent) -> bool:
    """Returns whether an access may be of shared memory, and its address is not known."""
    return not isinstance(event.address, int) and _may_be_shared(event)


def sample_unlocated(accesses: Sequence[tuple[int, TraceEvent]]) -> list[tuple[int, TraceEvent]]:
    """Returns the first and the last executions of each access at an unknown address, with their positions."""
    unlocated = [(at, event) for at, event in accesses if is_unlocated(event)]
    last = {event.step: event.visit for _, event in unlocated}
    return [
        (at, event)
        for at, event in unlocated
        if event.visit < FIRST_EXECUTIONS or event.visit > last[event.step] - LAST_EXECUTIONS
    ]


def _may_be_shared(event: TraceEvent) -> bool:
    """Returns whether an access may be of shared memory, by its form and by the state space of its address."""
    return _is_of_shared_form(event) and not _is_outside(event.effect, event.address)


def _is_of_shared_form(event: TraceEvent | GroupEvent) -> bool:
    """Returns whether an access may be of shared memory by its form, whatever its address is."""
    effect = event.effect
    if not isinstance(effect, Access) or effect.proxy == "tensormap" or effect.via == "tensormap":
        return False
    return effect.space.startswith(("shared", "generic"))


def _is_outside(effect: Effect, address: GroupValue | None) -> bool:
    """Returns whether the generic address of one thread is certainly outside shared memory."""
    is_generic = isinstance(effect, Access) and effect.space == "generic"
    return is_generic and isinstance(address, SymbolicValue) and is_outside_shared_memory(address)


def are_apart(first: TraceEvent, other: TraceEvent) -> bool:
    """Returns whether two accesses at offsets from the same unknown value use different bytes."""
    a, b = first.address, other.address
    if not isinstance(a, SymbolicValue) or not isinstance(b, SymbolicValue) or a.identity != b.identity:
        return False
    if not isinstance(first.size, int) or not isinstance(other.size, int):
        return False
    return a.offset + first.size <= b.offset or b.offset + other.size <= a.offset


def has_unknown_lane(event: TraceEvent | GroupEvent, count: int) -> bool:
    """Returns whether the address of some thread of a group is unknown in an access that may be of shared memory."""
    if isinstance(event, TraceEvent):
        return is_unlocated(event)
    address = event.fields[0]
    if not _is_of_shared_form(event) or isinstance(address, int):
        return False
    own = address.values if isinstance(address, LaneValues) else repeat(address, count)
    unknown = [not isinstance(place, int) and not _is_outside(event.effect, place) for place in own]
    return any(unknown if event.participants is None else map(and_, unknown, event.participants))
