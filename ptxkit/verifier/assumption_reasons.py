"""Determines whether a kernel's own code requires the chosen launch, or a finding may only result from the choice.

A kernel that compares one number as it was passed supports either outcome, so that a finding counts. A finding is an
open question if the kernel computes with chosen numbers on the path to it, or needs several that are consistent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from ptxkit.analysis.contract.launch_evidence import LaunchEvidence
from ptxkit.analysis.dataflow.dependence import DependenceSource
from ptxkit.emulator import Violation
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.verifier.fault_dependence import FaultDependence

_PATH_REASON = "the path depends on "
_DATA_REASON = f"{_PATH_REASON}the contents of memory, chosen here (--arg)"
NUMBERS_REASON = "numbers that were chosen may decide it (--arg)"
CONTENTS_REASON = "whether and where the two overlap depends on the contents of memory, chosen here (--arg)"
DEGENERATE_REASON = "a number that was chosen is 0 or 1 (--arg)"
_SHARED_SIZE_REGISTERS = ("%dynamic_smem_size", "%total_smem_size")


class AssumedInputs(Protocol):
    """The parts of the launch that were not specified: see `LaunchAssumptions`."""

    @property
    def contents(self) -> bool: ...
    @property
    def block(self) -> bool: ...
    @property
    def exhausted(self) -> bool: ...
    @property
    def evidence(self) -> LaunchEvidence: ...


def assumption_reason(
    finding: Violation, open_: AssumedInputs, influence: FaultDependence, *, is_degenerate: bool
) -> str:
    """Returns the reason why a finding of a run with chosen numbers, or a chosen block, may result from these.

    The reason is empty where the kernel's code requires them.
    """
    if is_degenerate:
        return DEGENERATE_REASON
    return _number_reason(finding, open_, influence) or _size_reason(finding, open_, influence)


def is_about_path(reason: str) -> bool:
    """Returns whether a reason is that chosen numbers may decide whether the faulty instruction is executed."""
    return reason.startswith(_PATH_REASON) and reason != _DATA_REASON


def _number_reason(finding: Violation, open_: AssumedInputs, influence: FaultDependence) -> str:
    protocol = influence.sync_dependence
    own, places = influence.control_sources(finding), influence.address_sources(finding)
    if own is None or places is None or not protocol.is_intraprocedural:
        return NUMBERS_REASON if influence.has_assumed_numbers else ""
    counted = influence.assumed_numbers(protocol.count_sources | places)
    if counted:
        return f"how many it waits for, or where it points, depends on {list_names(counted)}, chosen here (--arg)"
    deciding = influence.assumed_numbers(protocol.control_sources | own)
    if len(deciding) > 1 or (set(deciding) & set(influence.structures)):
        return f"{_PATH_REASON}{list_names(deciding)}, chosen here, which may have to fit each other (--arg)"
    if not set(deciding) <= protocol.compared_parameters:
        return f"{_PATH_REASON}what the kernel computes from {list_names(deciding)}, chosen here (--arg)"
    if open_.contents and protocol.depends_on_data:
        return _DATA_REASON
    return ""


def _size_reason(finding: Violation, open_: AssumedInputs, influence: FaultDependence) -> str:
    leaves = influence.sync_dependence.control_sources | influence.sync_dependence.count_sources
    if _has_register(leaves, _SHARED_SIZE_REGISTERS):
        return "the number of bytes of dynamic shared memory was chosen (--shared)"
    if not open_.block or open_.exhausted:
        return ""
    warps = {
        (each.cta, *(number // WARP_SIZE for number in each.thread[:1]), *each.thread[1:]) for each in finding.witnesses
    }
    if not any(each.space for each in finding.witnesses) or (len(warps) > 1 and not open_.evidence.has_cta_barriers):
        return "the number of threads in a CTA was chosen (--block)"
    return ""


def ignores_block_size(leaves: Collection[DependenceSource]) -> bool:
    """Returns whether an address depends on the thread's index, and not on the number of threads in a CTA."""
    return _has_register(leaves, ("%tid",)) and not _has_register(leaves, ("%ntid",))


def list_names(names: Sequence[str]) -> str:
    """Formats names as `` `a` and `b` ``; only the first three of many."""
    shown = [f"`{each}`" for each in names[:3]] + (["others"] if len(names) > 3 else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _has_register(leaves: Collection[DependenceSource], names: tuple[str, ...]) -> bool:
    return any(leaf.kind == "special" and leaf.name.startswith(names) for leaf in leaves)
