"""Separates findings about a kernel from those about the arguments that were chosen for it.

A host passes indices that lie in its arrays, and lists without doubles where threads scatter; what is chosen for it may
do neither. So nothing is reported of a run that accesses memory out of bounds, and accesses of two threads to the same
global bytes count where the numbers in memory are all different. A fault that nothing decides but the kernel itself
counts in any run.
"""

from __future__ import annotations

from ptxkit.diagnostics.catalogue import ptx2xx, ptx3xx, ptx4xx, ptx5xx, ptx6xx
from ptxkit.emulator import Violation
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

_BOX_SIZE_CODES = (
    ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
    ptx3xx.OVERLAPPING_COPIES,
    ptx2xx.MISALIGNED_ADDRESS,
    ptx2xx.NUMBER_OUT_OF_RANGE,
    ptx2xx.OUT_OF_BOUNDS,
)
"""Codes of what comes of a box that is another one than the host's."""

_CONFLICT_CODES = (ptx3xx.OVERLAPPING_COPIES, ptx6xx.SHARED_MEMORY_RACE)
"""Codes of two accesses to the same bytes."""

_OPERAND_CODES = (
    ptx2xx.OUT_OF_BOUNDS,
    ptx2xx.MISALIGNED_ADDRESS,
    ptx2xx.SPACE_OFFSET_AS_GENERIC,
    ptx2xx.GENERIC_ADDRESS_IN_SPACE,
    ptx2xx.NUMBER_OUT_OF_RANGE,
    ptx2xx.ADDRESS_OF_ANOTHER_SPACE,
)
"""Codes of faults that an instruction makes by itself, by where its operands point or by their values."""

_COPY_CONFLICT_CODES = (ptx3xx.READ_BEFORE_WAIT, ptx3xx.SOURCE_REUSED_IN_FLIGHT)
"""Codes of two accesses of which one is a copy's: where rows lie that it brings is a matter of numbers, too."""

_THREAD_COUNT_CODES = (ptx2xx.NUMBER_OUT_OF_RANGE, ptx5xx.MBARRIER_EXCESS_ARRIVALS)
"""Codes of counts of threads that are not there."""


NO_TENSOR_MAP_TEMPLATES = (ptx4xx.NO_TENSOR_MAP, ptx4xx.NO_TENSOR_MAP_OF_MODE)
"""What is reported where no tensor map is at the address that a copy takes one from."""

_WRONG_ARGUMENT_TEMPLATES = (*NO_TENSOR_MAP_TEMPLATES, ptx2xx.NO_OBJECT_WITH_HANDLE)
"""What is reported where an argument, or what memory holds, is no tensor map, or no texture, surface or sampler."""

_GLOBAL = ("global", "generic")
DISTINCT_CONTENTS = "iota"


@dataclass(frozen=True, slots=True)
class LaunchAssumptions:
    """What of the launch was not given. values: the size of blocks, or numbers; contents: of memory; boxes: of maps;
    images: textures and surfaces.

    grid, block: how many CTAs there are, and threads in each; some kernels want one only. cluster: CTAs of one.

    structures: what is passed by value and has parts, such as strides, which are zeros then.

    proven: codes and offsets of what the rules say, whatever the arguments are.

    laneless: the instructions that name Tensor Memory by constants, of which the rules do not mind the lanes.

    influence: what decides the instructions of the kernel; None where it is not needed. evidence: what its code shows
    of its launches. exhausted: whether blocks of all sizes were tried without success.
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
        if finding.code not in _OPERAND_CODES or self.fault_dependence is None:
            return False
        if self.boxes and finding.code == ptx2xx.OUT_OF_BOUNDS and self.fault_dependence.copies_box(finding):
            return False  # the box says how many bytes
        return self.fault_dependence.is_kernel_fault(finding)

    def shows_wrong_arguments(self, finding: Violation) -> bool:
        """Whether a run shows by a finding that the kernel wants other arguments: nothing else in it counts then."""
        if self.is_certain(finding):
            return False
        where = {each.space for each in finding.witnesses[:1]}
        if self.boxes and (
            finding.code in _BOX_SIZE_CODES or finding.content.template == ptx6xx.DEADLOCK or self._is_conflict(finding)
        ):
            return True
        if (self.block and finding.code == _THREAD_COUNT_CODES[0]) or (
            self.cluster and finding.code == ptx2xx.WRONG_CTA_ADDRESS
        ):
            return True
        if self._may_need_cluster and finding.code in _OPERAND_CODES:
            return True
        if self.values and finding.code == ptx6xx.KERNEL_ABORTED:
            return True
        if (self.values or self.contents) and finding.content.template in _WRONG_ARGUMENT_TEMPLATES:
            return True
        if self.images and finding.code == _THREAD_COUNT_CODES[0]:
            return True
        if (
            self.values and finding.code == ptx2xx.SPACE_OFFSET_AS_GENERIC
        ):  # such as what a structure of zeros points to
            return True
        if not (self.values or self.contents):
            return False
        if finding.code == ptx2xx.MISALIGNED_ADDRESS:
            return self.values or not where or bool(where & {"", *_GLOBAL})
        return finding.code == ptx2xx.OUT_OF_BOUNDS

    @property
    def _may_need_cluster(self) -> bool:
        """Whether the kernel may be meant for larger clusters: who says how many CTAs there are says of which size."""
        return self.cluster and self.grid and self.evidence.uses_clusters

    def shows_wrong_launch(self, finding: Violation) -> bool:
        """Whether a run shows by a finding that the kernel is meant for other blocks or boxes."""
        if self.boxes and (self.shows_wrong_arguments(finding) or self.requires_several_ctas(finding)):
            return True
        return self.block and (finding.code in _THREAD_COUNT_CODES or finding.content.template == ptx6xx.DEADLOCK)

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
            return "whether and where the two overlap depends on the contents of memory, chosen here (--arg)"
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
