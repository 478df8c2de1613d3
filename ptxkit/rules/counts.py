"""How rules word a count of arrivals with which everybody would go on."""

from __future__ import annotations

from ptxkit.analysis.phase_faults import OtherCount
from ptxkit.rules.finding import Mend, other_constant


def words_of(fault: OtherCount) -> str:
    """The help: the count that fits the arrivals, or arrivals that fit the count."""
    return f"make the count of `mbarrier.init` {fault.count}, or let {fault.old} threads arrive in each phase"


def mends_of(fault: OtherCount) -> tuple[Mend, ...]:
    """The count where each of the mbarriers is made at which the same instructions arrive."""
    changes = tuple(change for step in fault.inits for change in other_constant(step, fault.old, fault.count))
    return (Mend(f"make the count {fault.count}", changes, safe=False),) if changes else ()
