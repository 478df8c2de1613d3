"""How rules word a count of arrivals with which all threads would continue."""

from __future__ import annotations

from ptxkit.analysis.sync.phase_fault_localization import WrongCount
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx5xx
from ptxkit.rules.model import FixCandidate, replace_constant


def format_count_help(fault: WrongCount) -> Message:
    """The help: the count that fits the arrivals, or arrivals that fit the count."""
    return ptx5xx.CORRECT_ARRIVAL_COUNT(count=fault.count, threads=fault.initial_count)


def count_fixes(fault: WrongCount) -> tuple[FixCandidate, ...]:
    """The count where each of the mbarriers is made at which the same instructions arrive."""
    changes = tuple(
        change for step in fault.inits for change in replace_constant(step, fault.initial_count, fault.count)
    )
    return (FixCandidate(f"make the count {fault.count}", changes, safe=False),) if changes else ()
