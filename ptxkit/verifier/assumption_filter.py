"""Separates findings about a kernel from those about the arguments that were chosen for it.

A host passes indices that lie in its arrays, and lists without doubles where threads scatter; what is chosen for it may
do neither. So nothing is reported of a run that accesses memory out of bounds, and accesses of two threads to the same
global bytes count where the numbers in memory are all different. A fault that nothing decides but the kernel itself
counts in any run.
"""

from __future__ import annotations

from ptxkit.emulator import Violation
from ptxkit.emulator.actions.cp_async_bulk_tensor import NO_MAP_PREFIX
from ptxkit.emulator.actions.textures import NO_OBJECT_PREFIX
from ptxkit.emulator.engine.machine import DEADLOCK_PREFIX
from ptxkit.fast_dataclasses import dataclass
from ptxkit.verifier.assumption_reasons import (
    DEGENERATE_REASON,
    NUMBERS_REASON,
    assumption_reason,
    ignores_block_size,
    list_names,
)
from ptxkit.verifier.fault_dependence import FaultDependence
from ptxkit.verifier.launch_evidence import LaunchEvidence

_OUT_OF_BOUNDS, _UNALIGNED, _WRONG_WINDOW = "PTX207", "PTX205", "PTX202"
_BOX_SIZE_CODES = ("PTX503", "PTX304", "PTX205", "PTX206", "PTX207")
"""Codes of what comes of a box that is another one than the host's."""

_CONFLICT_CODES = ("PTX304", "PTX621")
"""Codes of two accesses to the same bytes."""

_OPERAND_CODES = (_OUT_OF_BOUNDS, _UNALIGNED, _WRONG_WINDOW, "PTX201", "PTX206", "PTX208")
"""Codes of faults that an instruction makes by itself, by where its operands point or by their values."""

_COPY_CONFLICT_CODES = ("PTX302", "PTX303")
"""Codes of two accesses of which one is a copy's: where rows lie that it brings is a matter of numbers, too."""

_THREAD_COUNT_CODES = ("PTX206", "PTX505")
"""Codes of counts of threads that are not there."""

_REMOTE_CTA_CODE = "PTX210"
"""The code of other CTAs of a cluster that are not there."""

_GLOBAL = ("global", "generic")
DISTINCT_CONTENTS = "iota"


@dataclass(frozen=True, slots=True)
class LaunchAssumptions:
    """What of the launch nobody said. values: the size of blocks, or numbers; contents: of memory; boxes: of maps;
    images: textures and surfaces.

    grid, block: how many CTAs there are, and threads in each; some kernels want one only. cluster: CTAs of one.

    structures: what is passed by value and has parts, such as strides, which are zeros then.

    proven: codes and offsets of what the rules say, whatever the arguments are.

    laneless: the instructions that name Tensor Memory by constants, of which the rules do not mind the lanes.

    influence: what decides the instructions of the kernel; None where nobody asks. evidence: what its code shows of its
    launches. exhausted: whether blocks of all sizes were tried without success.
    """

    values: bool = False
    contents: bool = False
    boxes: bool = False
    structures: bool = False
    images: bool = False
    grid: bool = False
    block: bool = False
    cluster: bool = False
    proven_violations: frozenset[tuple[str, int]] = frozenset()
    laneless: frozenset[int] = frozenset()
    fault_dependence: FaultDependence | None = None
    evidence: LaunchEvidence = LaunchEvidence()
    exhausted: bool = False

    def is_certain(self, finding: Violation) -> bool:
        """Return whether a finding is a fault of the kernel alone, which no other choice would avoid."""
        if (finding.code, finding.offset) in self.proven_violations:
            return True
        if finding.code not in _OPERAND_CODES or (
            self.boxes and finding.code == _OUT_OF_BOUNDS
        ):  # the box says how many bytes
            return False
        return self.fault_dependence is not None and self.fault_dependence.is_kernel_fault(finding)

    def shows_wrong_arguments(self, finding: Violation) -> bool:
        """Whether a run shows by a finding that the kernel wants other arguments: nothing else in it counts then."""
        if self.is_certain(finding):
            return False
        where = {each.space for each in finding.witnesses[:1]}
        if self.boxes and (
            finding.code in _BOX_SIZE_CODES or finding.message.startswith(DEADLOCK_PREFIX) or self._is_conflict(finding)
        ):
            return True
        if (self.block and finding.code == _THREAD_COUNT_CODES[0]) or (
            self.cluster and finding.code == _REMOTE_CTA_CODE
        ):
            return True
        if self._may_need_cluster and finding.code in _OPERAND_CODES:
            return True
        if self.values and (
            not finding.code.startswith("PTX") or finding.message.startswith((NO_MAP_PREFIX, NO_OBJECT_PREFIX))
        ):
            return True
        if self.images and finding.code == _THREAD_COUNT_CODES[0]:
            return True
        if self.values and finding.code == _WRONG_WINDOW:  # such as what a structure of zeros points to
            return True
        if not (self.values or self.contents):
            return False
        if finding.code == _UNALIGNED:
            return self.values or not where or bool(where & {"", *_GLOBAL})
        return finding.code == _OUT_OF_BOUNDS

    @property
    def _may_need_cluster(self) -> bool:
        """Whether the kernel may be meant for larger clusters: who says how many CTAs there are says of which size."""
        return self.cluster and self.grid and self.evidence.uses_clusters

    def shows_wrong_launch(self, finding: Violation) -> bool:
        """Whether a run shows by a finding that the kernel is meant for other blocks or boxes."""
        if self.boxes and (self.shows_wrong_arguments(finding) or self.requires_several_ctas(finding)):
            return True
        return self.block and (finding.code in _THREAD_COUNT_CODES or finding.message.startswith(DEADLOCK_PREFIX))

    def undecided_reason(self, finding: Violation, contents: str, *, is_degenerate: bool = False) -> str:
        """Why a finding by itself may come only of what was chosen; empty where it does not. contents: the numbers in
        memory. is_degenerate: a number that was chosen is 0 or 1.
        """
        if self.is_certain(finding):
            return ""
        if self._is_conflict(finding) or self._is_copy_conflict(finding):
            reason = self._collision_reason(finding, contents, is_degenerate=is_degenerate)
            if reason:
                return reason
        if self._may_need_cluster:
            return "the number of CTAs in a cluster was chosen (--cluster)"
        if not self.values or self.fault_dependence is None:
            return ""
        return assumption_reason(finding, self, self.fault_dependence, is_degenerate=is_degenerate)

    def requires_several_ctas(self, finding: Violation) -> bool:
        """Return whether a finding needs several CTAs, for which only the kernel's code is evidence."""
        return (
            self.grid
            and (self._is_conflict(finding) or self._is_copy_conflict(finding))
            and not _is_within_one_cta(finding)
        )

    def _collision_reason(self, finding: Violation, contents: str, *, is_degenerate: bool) -> str:
        """The same of accesses to the same bytes of global memory: numbers may put them there, as pitches do."""
        if self.boxes:
            return "where the boxes of a tensor map lie was chosen (--arg)"
        influence = self.fault_dependence
        places = influence.address_sources(finding) if influence is not None else None
        if influence is None or places is None:
            if self.structures or (self.values and self._is_copy_conflict(finding)):
                return NUMBERS_REASON
        elif numbers := influence.assumed_numbers(places):
            return f"where the two meet depends on {list_names(numbers)}, chosen here (--arg)"
        if is_degenerate:
            return DEGENERATE_REASON
        if (
            self.contents
            and contents != DISTINCT_CONTENTS
            and (influence is None or influence.depends_on_memory(finding))
        ):
            return "whether and where the two meet depends on what memory holds, chosen here (--arg)"
        if _is_within_one_cta(finding):
            return "the number of threads in a CTA was chosen (--block)" if self.block else ""
        if not self.grid:
            return ""
        first, *others = [each.cta for each in finding.witnesses]
        if not all(self.evidence.distinguishes_ctas(first, each) for each in others):
            return "nothing in the kernel shows that several CTAs run it (--grid)"
        if influence is not None and not influence.has_block and places is not None and ignores_block_size(places):
            return "the number of threads in a CTA was chosen, and may put the two in one place (--block)"
        return ""

    @staticmethod
    def _is_copy_conflict(finding: Violation) -> bool:
        return finding.code in _COPY_CONFLICT_CODES and any(each.space in _GLOBAL for each in finding.witnesses[:1])

    @staticmethod
    def _is_conflict(finding: Violation) -> bool:
        return finding.code in _CONFLICT_CODES and any(each.space in _GLOBAL for each in finding.witnesses[:1])


def _is_within_one_cta(finding: Violation) -> bool:
    return len({each.cta for each in finding.witnesses}) < 2
