"""Finds reads that may be of the bytes of a pending copy of the same thread, since one of the addresses is unknown.

Such a read is an open question unless the ranges are proven disjoint: both are at known offsets from one unknown value,
or in different variables.

Source: PTX ISA, "Completion Mechanisms for Asynchronous Copy Operations", "cp.async.wait_group / cp.async.wait_all".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.copy_completion import CopyStatus, copy_status_at
from ptxkit.analysis.symexec.access_ranges import is_async_read, is_generic_read
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.mbarrier_location import location_at
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from ptxkit.isa.effects import Access


def find_unlocated_reads(facts: ScenarioFacts, dependence: Dependence) -> Iterator[Step]:
    """Yields the reads of a thread that may be of the bytes of its own copy, before it has waited for the copy.

    dependence: of the registers of the program.
    """
    variables = _AddressVariables(dependence)
    settled: set[tuple[Step, Step]] = set()
    looks = PairBudget(facts.budget)
    for thread in facts.threads.values():
        copies = [copy for copy in thread.shared_copies if _may_fill_own_cta(facts.scenario.rank, copy.event)]
        reads = [(at, event) for at, event in thread.positions(Access) if is_generic_read(event) and _is_shared(event)]
        unknown = [copy for copy in copies if not isinstance(copy.event.address, int)]
        for at, event in reads if copies else ():
            # Where both addresses are numbers, PTX302 compares the bytes themselves.
            for copy in unknown if isinstance(event.address, int) else copies:
                key = (event.step, copy.event.step)
                if copy.position > at or key in settled:
                    continue
                if not looks.allow(key):
                    settled.add(key)
                elif (
                    not _are_disjoint(event, copy.event)
                    and not variables.are_disjoint(event, copy.event)
                    and copy_status_at(facts, thread, copy, thread, at) is CopyStatus.PENDING
                ):
                    settled.add(key)
                    yield event.step


def _may_fill_own_cta(rank: int, event: TraceEvent) -> bool:
    """Returns whether a copy may be into the shared memory of CTA `rank`: into that of the CTA with its mbarrier."""
    place = location_at(rank, event.barrier)
    return _is_shared(event) and not is_async_read(event) and (place is None or place[0] == rank)


def _is_shared(event: TraceEvent) -> bool:
    """Returns whether an access is of shared memory at an address operand, by the form of its instruction."""
    effect = event.effect
    return isinstance(effect, Access) and effect.space.startswith("shared") and effect.via == "address"


def _are_disjoint(first: TraceEvent, other: TraceEvent) -> bool:
    """Returns whether two accesses at offsets from the same unknown value use different bytes."""
    a, b = first.address, other.address
    if not isinstance(a, SymbolicValue) or not isinstance(b, SymbolicValue) or a.identity != b.identity:
        return False
    if not isinstance(first.size, int) or not isinstance(other.size, int):
        return False
    return a.offset + first.size <= b.offset or b.offset + other.size <= a.offset


class _AddressVariables:
    """The variables on which the addresses of accesses depend, through all definitions of the registers."""

    def __init__(self, dependence: Dependence) -> None:
        self._dependence = dependence
        self._known: dict[tuple[Step, str], frozenset[str]] = {}

    def are_disjoint(self, first: TraceEvent, other: TraceEvent) -> bool:
        """Returns whether two accesses are in different variables: each address depends on others than the other."""
        a, b = self._of(first), self._of(other)
        return bool(a) and bool(b) and a.isdisjoint(b)

    def _of(self, event: TraceEvent) -> frozenset[str]:
        assert isinstance(event.effect, Access)
        key = event.step, event.effect.address
        found = self._known.get(key)
        if found is None:
            leaves = self._dependence.sources_of(event.step, event.step.operand(event.effect.address))
            found = self._known[key] = frozenset(leaf.name for leaf in leaves if leaf.kind == "variable")
        return found
