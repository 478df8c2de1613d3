"""Help texts for what lets all threads of a ring continue: a count, another mbarrier, or an arrival of the readers.

The other mbarrier is that of a wait or of an arrival.
"""

from __future__ import annotations

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.missing_release import MissingRelease
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.sync.phase_fault_localization import WrongArrival, WrongCount, WrongMbarrier
from ptxkit.diagnostics import LabelLine, Message
from ptxkit.diagnostics.catalogue import fix_titles, ptx5xx
from ptxkit.diagnostics.catalogue.ptx5xx import MbarrierPair, MisplacedArrival, MissingArrival
from ptxkit.rules.model import FixCandidate, replace_constant
from ptxkit.semantics.object_names import quote_variable


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
    mbarrier = _name_variable(other_mbarrier(program, fault)) or ptx5xx.MBARRIER_AT_DISTANCE(
        distance=f"{fault.other - fault.own:+}"
    )
    return ptx5xx.OTHER_MBARRIER_WAIT(mbarrier=mbarrier, line=LabelLine(label))


def other_mbarrier(program: Program, fault: WrongMbarrier) -> MbarrierPair:
    """Returns the payload of a fix for a wait on the wrong mbarrier."""
    return _pair(program, fault.wait, fault.own, fault.other)


def find_wrong_arrival(kernel: KernelFacts, facts: ScenarioFacts) -> WrongArrival | None:
    """Returns the arrivals at the wrong mbarriers that explain the deadlock of a scenario.

    A scenario with truncated traces may locate no fault. Then it is that of another scenario.
    """
    fault = facts.simulation.fault
    if fault is None:
        others = (each.simulation.fault for each in kernel.scenarios)
        fault = next((each for each in others if isinstance(each, WrongArrival)), None)
    return fault if isinstance(fault, WrongArrival) else None


def format_arrival_help(program: Program, fault: WrongArrival, label: int) -> Message:
    """Returns the help about the mbarrier at which an instruction should arrive.

    label: the number of the label at the arrival; 0 for the primary location.
    """
    mbarrier = _name_variable(misplaced_arrival(program, fault).mbarriers) or ptx5xx.MBARRIER_AT_DISTANCE_OF_WAIT(
        distance=f"{fault.other - fault.waited:+}"
    )
    return ptx5xx.OTHER_MBARRIER_ARRIVAL(mbarrier=mbarrier, line=LabelLine(label))


def misplaced_arrival(program: Program, fault: WrongArrival) -> MisplacedArrival:
    """Returns the payload of a fix for an arrival at the wrong mbarrier."""
    return MisplacedArrival(fault.arrival.start, _pair(program, fault.wait, fault.waited, fault.other))


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


def _name_variable(pair: MbarrierPair) -> Message | None:
    """Returns the mbarrier by its variable, or None if that does not distinguish it."""
    if pair.own == pair.other or pair.other is None or quote_variable(pair.other) is None:
        return None
    return ptx5xx.MBARRIER_OF_VARIABLE(variable=pair.other)


def _pair(program: Program, step: Step, own: int, other: int) -> MbarrierPair:
    first, second = program.variable_at(own), program.variable_at(other)
    if first is None or second is None or first is second:
        return MbarrierPair(step.start, None, None, other - own)
    distance = (other - second.address) - (own - first.address)
    return MbarrierPair(step.start, first.name, second.name, distance)
