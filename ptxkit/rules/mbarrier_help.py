"""Help texts for what lets all threads of a ring continue: a count, another mbarrier, or an arrival of the readers."""

from __future__ import annotations

from ptxkit.analysis.context.missing_release import MissingRelease
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_NAME_LENGTH
from ptxkit.analysis.sync.phase_fault_localization import WrongCount, WrongMbarrier
from ptxkit.diagnostics import LabelLine, Message
from ptxkit.diagnostics.catalogue import fix_titles, ptx5xx
from ptxkit.diagnostics.catalogue.ptx5xx import MbarrierPair, MissingArrival
from ptxkit.rules.model import FixCandidate, replace_constant


def format_count_help(fault: WrongCount) -> Message:
    """Returns the help about a count: one that fits the arrivals, or arrivals that fit the count."""
    return ptx5xx.CORRECT_ARRIVAL_COUNT(count=fault.count, threads=fault.initial_count)


def count_fixes(fault: WrongCount) -> tuple[FixCandidate, ...]:
    """Returns the fixes that change the count in each initialization of the mbarriers."""
    changes = tuple(
        change for step in fault.inits for change in replace_constant(step, fault.initial_count, fault.count)
    )
    return (FixCandidate(fix_titles.MAKE_COUNT(count=fault.count), changes, safe=False),) if changes else ()


def format_mbarrier_help(program: Program, fault: WrongMbarrier, label: int) -> Message:
    """Returns the help about the mbarrier to wait for.

    label: the number of the label at the wait; 0 for the primary location.
    """
    pair = other_mbarrier(program, fault)
    if pair.own != pair.other and pair.other is not None and len(pair.other) <= MAX_NAME_LENGTH:
        mbarrier = ptx5xx.MBARRIER_OF_VARIABLE(variable=pair.other)
    else:
        mbarrier = ptx5xx.MBARRIER_AT_DISTANCE(distance=f"{fault.other - fault.own:+}")
    return ptx5xx.OTHER_MBARRIER_WAIT(mbarrier=mbarrier, line=LabelLine(label))


def other_mbarrier(program: Program, fault: WrongMbarrier) -> MbarrierPair:
    """Returns the payload of a fix for a wait on the wrong mbarrier."""
    return _pair(program, fault.wait, fault.own, fault.other)


def format_release_help(missing: MissingRelease, label: int) -> Message:
    """Returns the help about the missing arrival: the arriving threads, and the place.

    label: the number of the label at the last read.
    """
    line = LabelLine(label)
    if missing.is_by_thread:
        return ptx5xx.ALL_READERS_ARRIVE(threads=missing.threads, line=line)
    if missing.is_by_warp:
        return ptx5xx.LANE_OF_READING_WARPS_ARRIVES(count=missing.count, line=line)
    return ptx5xx.READERS_ARRIVE(count=missing.count, line=line)


def missing_arrival(program: Program, missing: MissingRelease) -> MissingArrival | None:
    """Returns the payload of a fix for a missing arrival; None where it is unknown how many threads should arrive."""
    if not missing.is_by_thread and not missing.is_by_warp:
        return None
    mbarriers = _pair(program, missing.wait, missing.filled, missing.empty)
    return MissingArrival(missing.place.start, missing.is_after, mbarriers, missing.is_by_warp)


def _pair(program: Program, step: Step, own: int, other: int) -> MbarrierPair:
    first, second = program.variable_at(own), program.variable_at(other)
    if first is None or second is None or first is second:
        return MbarrierPair(step.start, None, None, other - own)
    distance = (other - second.address) - (own - first.address)
    return MbarrierPair(step.start, first.name, second.name, distance)
