"""Separates findings about a kernel from those about the arguments that were chosen for it.

A host passes indices within its arrays, and lists without duplicates where threads scatter; the chosen arguments may
violate both. No finding is therefore reported for a run that accesses memory out of bounds, and accesses of two threads
to the same global bytes are reported only where all numbers in memory are different. A fault that depends only on the
kernel itself is reported for any run.
"""

from __future__ import annotations

from ptxkit.analysis.contract.launch_evidence import LaunchEvidence
from ptxkit.diagnostics.catalogue import ptx2xx, ptx3xx, ptx4xx, ptx5xx, ptx6xx
from ptxkit.emulator import Violation
from ptxkit.fast_dataclasses import dataclass
from ptxkit.verifier.assumption_reasons import (
    CONTENTS_REASON,
    DEGENERATE_REASON,
    NUMBERS_REASON,
    assumption_reason,
    ignores_block_size,
    list_names,
)
from ptxkit.verifier.fault_dependence import FaultDependence

_BOX_SIZE_CODES = (
    ptx5xx.MBARRIER_TX_COUNT_MISMATCH,
    ptx3xx.OVERLAPPING_COPIES,
    ptx2xx.MISALIGNED_ADDRESS,
    ptx2xx.NUMBER_OUT_OF_RANGE,
    ptx2xx.OUT_OF_BOUNDS,
)
"""The codes of findings that may result from a box of another size than the host's."""

_BOX_COUNT_CODES = (ptx5xx.MBARRIER_TX_COUNT_MISMATCH, ptx3xx.OVERLAPPING_COPIES)
"""Those of them that nothing but the boxes, and the places to which they are copied, can cause."""

_CONFLICT_CODES = (ptx3xx.OVERLAPPING_COPIES, ptx6xx.SHARED_MEMORY_RACE)
"""The codes of findings about two accesses to the same bytes."""

_OPERAND_CODES = (
    ptx2xx.OUT_OF_BOUNDS,
    ptx2xx.MISALIGNED_ADDRESS,
    ptx2xx.SPACE_OFFSET_AS_GENERIC,
    ptx2xx.GENERIC_ADDRESS_IN_SPACE,
    ptx2xx.NUMBER_OUT_OF_RANGE,
    ptx2xx.ADDRESS_OF_ANOTHER_SPACE,
)
"""The codes of faults of a single instruction, which depend on its addresses or values."""

_COPY_CONFLICT_CODES = (ptx3xx.READ_BEFORE_WAIT, ptx3xx.SOURCE_REUSED_IN_FLIGHT)
"""The codes of findings about two accesses one of which is by a copy: numbers may also decide where its rows are."""

_THREAD_COUNT_CODES = (ptx2xx.NUMBER_OUT_OF_RANGE, ptx5xx.MBARRIER_EXCESS_ARRIVALS)
"""The codes of findings about counts of threads that do not exist."""


NO_TENSOR_MAP_TEMPLATES = (ptx4xx.NO_TENSOR_MAP, ptx4xx.NO_TENSOR_MAP_OF_MODE, ptx4xx.NO_TENSOR_MAP_OF_RANK)
"""The messages for an address of a tensor map at which there is no tensor map."""

_WRONG_ARGUMENT_TEMPLATES = (*NO_TENSOR_MAP_TEMPLATES, ptx2xx.NO_OBJECT_WITH_HANDLE)
"""The messages for an argument or memory that is not the required tensor map, texture, surface or sampler."""

_GLOBAL = ("global", "generic")
DISTINCT_CONTENTS = "iota"


@dataclass(frozen=True, slots=True)
class LaunchAssumptions:
    """The parts of the launch that were not specified.

    values: the size of blocks, or numbers. contents: the contents of memory. boxes: the boxes of tensor maps.
    structures: parameters that are passed by value and have parts, such as strides, which are zeros then. images:
    textures and surfaces. grid, block: the number of CTAs, and of threads in each; some kernels support only one.
    cluster: the number of CTAs of a cluster.

    proven_violations: the codes and offsets of the static findings, which hold for all arguments. laneless: the
    instructions that address Tensor Memory by constants, for which the rules do not check the lanes. fault_dependence:
    the dependences of the kernel's instructions; None where they are not needed. evidence: the evidence in the kernel's
    code for its launches. exhausted: whether blocks of all sizes were tried without success. unordered_lines: the lines
    of accesses that a flag in global memory may not order, as the rules ask.
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
    unordered_lines: frozenset[int] = frozenset()

    def is_certain(self, finding: Violation) -> bool:
        """Returns whether a finding is a fault of the kernel only, which no other choice would avoid."""
        if (finding.code, finding.offset) in self.proven_violations:
            return True
        if finding.code not in _OPERAND_CODES or self.fault_dependence is None:
            return False
        if self.boxes and finding.code == ptx2xx.OUT_OF_BOUNDS and self.fault_dependence.copies_box(finding):
            return False  # the box determines the number of bytes
        return self.fault_dependence.is_kernel_fault(finding)

    def shows_wrong_arguments(self, finding: Violation) -> bool:
        """Returns whether a finding shows that the kernel requires other arguments.

        Nothing else in the run counts then.
        """
        if self.is_certain(finding):
            return False
        where = {each.space for each in finding.witnesses[:1]}
        if self.boxes and (self._depends_on_box(finding) or _waits_for_bytes(finding)):
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
        ):  # such as the target of a pointer in a structure of zeros
            return True
        if not (self.values or self.contents):
            return False
        if not where & {"", *_GLOBAL} and self.fault_dependence and self.fault_dependence.has_kernel_address(finding):
            return False
        if finding.code == ptx2xx.MISALIGNED_ADDRESS:
            return self.values or not where or bool(where & {"", *_GLOBAL})
        return finding.code == ptx2xx.OUT_OF_BOUNDS

    def refutes_boxes(self, finding: Violation) -> bool:
        """Returns whether a finding shows that a box of another size than the chosen one is required."""
        return self.boxes and finding.code in _BOX_COUNT_CODES and not self._is_conflict(finding)

    def meets_in_global_memory(self, finding: Violation) -> bool:
        """Returns whether a finding is about two accesses to the same bytes of global memory."""
        return self._is_conflict(finding) or self._is_copy_conflict(finding)

    def rests_on_boxes(self, finding: Violation) -> bool:
        """Returns whether a box of another size than the chosen one may avoid a finding."""
        influence = self.fault_dependence
        return self.boxes and influence is not None and influence.involves_box(finding) and not self.is_certain(finding)

    def _depends_on_box(self, finding: Violation) -> bool:
        """Returns whether a box of another size may avoid a finding; places in global memory are no such matter."""
        return finding.code in _BOX_SIZE_CODES and not self._is_conflict(finding)

    @property
    def _may_need_cluster(self) -> bool:
        """Whether the kernel may require larger clusters.

        A caller that specifies the number of CTAs also specifies the size of clusters.
        """
        return self.cluster and self.grid and self.evidence.uses_clusters

    def shows_wrong_launch(self, finding: Violation) -> bool:
        """Returns whether a finding of a run shows that the kernel requires other blocks or boxes."""
        if self.boxes and (
            self.shows_wrong_arguments(finding) or self._is_conflict(finding) or self.requires_several_ctas(finding)
        ):
            return True
        if not self.block:
            return False
        if finding.code == ptx2xx.OUT_OF_BOUNDS and finding.witnesses[:1] and not self.is_certain(finding):
            return finding.witnesses[0].space.startswith("shared")  # the block decides which elements a thread accesses
        return finding.code in _THREAD_COUNT_CODES or finding.content.template == ptx6xx.DEADLOCK

    def undecided_reason(self, finding: Violation, contents: str, *, is_degenerate: bool = False) -> str:
        """Returns the reason why a finding may only result from a choice; empty where it does not.

        contents: the kind of the numbers in memory. is_degenerate: whether a chosen number is 0 or 1.
        """
        if self.is_certain(finding) or self._confirms_missing_order(finding):
            return ""
        if self._is_conflict(finding) or self._is_copy_conflict(finding):
            reason = self._collision_reason(finding, contents, is_degenerate=is_degenerate)
            if reason:
                return reason
        elif self._may_coincide(finding, contents):
            return CONTENTS_REASON
        if self._may_need_cluster:
            return "the number of CTAs in a cluster was chosen (--cluster)"
        if not self.values or self.fault_dependence is None:
            return ""
        return assumption_reason(finding, self, self.fault_dependence, is_degenerate=is_degenerate)

    def _may_coincide(self, finding: Violation, contents: str) -> bool:
        """Returns whether equal numbers in memory may lead two accesses to the same bytes of shared memory."""
        influence = self.fault_dependence
        places = influence.address_sources(finding) if influence is not None and self.contents else None
        return (
            contents != DISTINCT_CONTENTS
            and finding.code in _CONFLICT_CODES
            and any(leaf.kind == "memory" for leaf in places or ())
        )

    def _confirms_missing_order(self, finding: Violation) -> bool:
        """Returns whether two CTAs race at an access that a flag may not order, as the rules ask for another reason.

        A chosen number may be the value for which a flag is polled, so that the thread does not wait.
        """
        is_between_ctas = self._is_conflict(finding) and not _is_within_one_cta(finding)
        if not is_between_ctas or self.unordered_lines.isdisjoint(each.line for each in finding.witnesses):
            return False
        influence = self.fault_dependence
        return influence is None or not influence.assumed_numbers(influence.awaited_sources)

    def requires_several_ctas(self, finding: Violation) -> bool:
        """Returns whether a finding needs several CTAs, for which the kernel's code is the only evidence."""
        return (
            self.grid
            and (self._is_conflict(finding) or self._is_copy_conflict(finding))
            and not _is_within_one_cta(finding)
        )

    def _collision_reason(self, finding: Violation, contents: str, *, is_degenerate: bool) -> str:
        """Returns the same reason for accesses to the same bytes of global memory.

        Whether they are the same may depend on numbers such as pitches.
        """
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
            return CONTENTS_REASON
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


def _waits_for_bytes(finding: Violation) -> bool:
    """Returns whether threads wait without end for a phase of an mbarrier, which counts the bytes of boxes.

    If others also wait at a barrier, each of them is a finding of the run.
    """
    return finding.content.template == ptx6xx.DEADLOCK and finding.code != ptx6xx.BARRIER_DEADLOCK


def _is_within_one_cta(finding: Violation) -> bool:
    return len({each.cta for each in finding.witnesses}) < 2
