"""What a run shows of a kernel, and what only of the arguments that were chosen for it.

A host passes indices that lie in its arrays, and lists without doubles where threads scatter; what is chosen for it may
do neither. So nothing is said of a run that leaves memory, and accesses of two threads to the same global bytes count
where the numbers in memory are all different. A fault that nothing decides but the kernel itself counts in any run.
"""

from __future__ import annotations

from ptxkit.emulate import Finding
from ptxkit.emulate.actions.tensors import NO_MAP
from ptxkit.emulate.actions.textures import NO_OBJECT
from ptxkit.emulate.machine import DEADLOCK
from ptxkit.records import dataclass
from ptxkit.verifier.asking import DEGENERATE, NUMBERS, counts_blindly, named, why_chosen
from ptxkit.verifier.evidence import Evidence
from ptxkit.verifier.influence import Influence

_OUTSIDE, _UNALIGNED, _NOWHERE = "PTX207", "PTX205", "PTX202"
_BOXES = ("PTX503", "PTX304", "PTX205", "PTX206", "PTX207")
"""Codes of what comes of a box that is another one than the host's."""

_TWO = ("PTX304", "PTX621")
"""Codes of two accesses to the same bytes."""

_PLACES = (_OUTSIDE, _UNALIGNED, _NOWHERE, "PTX201", "PTX206", "PTX208")
"""Codes of faults that an instruction makes by itself, by where its operands point or by their values."""

_COPIED = ("PTX302", "PTX303")
"""Codes of two accesses of which one is a copy's: where rows lie that it brings is a matter of numbers, too."""

_COUNTS = ("PTX206", "PTX505")
"""Codes of counts of threads that are not there."""

_OTHERS = "PTX210"
"""The code of other CTAs of a cluster that are not there."""

_GLOBAL = ("global", "generic")
DISTINCT = "iota"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What of the launch nobody said. values: the size of blocks, or numbers; contents: of memory; boxes: of maps;
    images: textures and surfaces.

    grid, block: how many CTAs there are, and threads in each; some kernels want one only. cluster: CTAs of one.

    structures: what is passed by value and has parts, such as strides, which are zeros then.

    proven: codes and offsets of what the rules say, whatever the arguments are.

    laneless: the instructions that name Tensor Memory by constants, of which the rules do not mind the lanes.

    influence: what decides the instructions of the kernel; None where nobody asks. evidence: what its code shows of its
    launches. exhausted: whether blocks of all sizes were tried in vain.
    """

    values: bool = False
    contents: bool = False
    boxes: bool = False
    structures: bool = False
    images: bool = False
    grid: bool = False
    block: bool = False
    cluster: bool = False
    proven: frozenset[tuple[str, int]] = frozenset()
    laneless: frozenset[int] = frozenset()
    influence: Influence | None = None
    evidence: Evidence = Evidence()
    exhausted: bool = False

    def is_certain(self, finding: Finding) -> bool:
        """Whether a finding is a fault of the kernel alone, which no other choice would avoid."""
        if (finding.code, finding.offset) in self.proven:
            return True
        if finding.code not in _PLACES or (self.boxes and finding.code == _OUTSIDE):  # the box says how many bytes
            return False
        return self.influence is not None and self.influence.is_of_the_kernel_alone(finding)

    def misfits(self, finding: Finding) -> bool:
        """Whether a run shows by a finding that the kernel wants other arguments: nothing else in it counts then."""
        if self.is_certain(finding):
            return False
        where = {each.space for each in finding.witnesses[:1]}
        if self.boxes and (finding.code in _BOXES or finding.message.startswith(DEADLOCK) or self._collides(finding)):
            return True
        if (self.block and finding.code == _COUNTS[0]) or (self.cluster and finding.code == _OTHERS):
            return True
        if self._wants_cluster and finding.code in _PLACES:
            return True
        if self.values and (not finding.code.startswith("PTX") or finding.message.startswith((NO_MAP, NO_OBJECT))):
            return True
        if self.images and finding.code == _COUNTS[0]:
            return True
        if self.values and finding.code == _NOWHERE:  # such as what a structure of zeros points to
            return True
        if not (self.values or self.contents):
            return False
        if finding.code == _UNALIGNED:
            return self.values or not where or bool(where & {"", *_GLOBAL})
        return finding.code == _OUTSIDE

    @property
    def _wants_cluster(self) -> bool:
        """Whether the kernel may be meant for larger clusters: who says how many CTAs there are says of which size."""
        return self.cluster and self.grid and self.evidence.clusters

    def wants_others(self, finding: Finding) -> bool:
        """Whether a run shows by a finding that the kernel is meant for other blocks or boxes."""
        if self.boxes and (self.misfits(finding) or self.depends_on_grid(finding)):
            return True
        return self.block and (finding.code in _COUNTS or finding.message.startswith(DEADLOCK))

    def doubts(self, finding: Finding, contents: str, *, is_degenerate: bool = False) -> str:
        """Why a finding by itself may come only of what was chosen; empty where it does not. contents: the numbers in
        memory. is_degenerate: a number that was chosen is 0 or 1.
        """
        if self.is_certain(finding):
            return ""
        if self._collides(finding) or self._is_copied(finding):
            reason = self._doubts_collision(finding, contents, is_degenerate=is_degenerate)
            if reason:
                return reason
        if self._wants_cluster:
            return "the number of CTAs in a cluster was chosen (--cluster)"
        if not self.values or self.influence is None:
            return ""
        return why_chosen(finding, self, self.influence, is_degenerate=is_degenerate)

    def depends_on_grid(self, finding: Finding) -> bool:
        """Whether a finding needs several CTAs, of which only the kernel's code tells."""
        return self.grid and (self._collides(finding) or self._is_copied(finding)) and not _is_in_one_cta(finding)

    def _doubts_collision(self, finding: Finding, contents: str, *, is_degenerate: bool) -> str:
        """The same of accesses to the same bytes of global memory: numbers may put them there, as pitches do."""
        if self.boxes:
            return "where the boxes of a tensor map lie was chosen (--arg)"
        influence = self.influence
        places = influence.places(finding) if influence is not None else None
        if influence is None or places is None:
            if self.structures or (self.values and self._is_copied(finding)):
                return NUMBERS
        elif numbers := influence.numbers(places):
            return f"where the two meet depends on {named(numbers)}, chosen here (--arg)"
        if is_degenerate:
            return DEGENERATE
        if self.contents and contents != DISTINCT and (influence is None or influence.asks_memory(finding)):
            return "whether and where the two meet depends on what memory holds, chosen here (--arg)"
        if _is_in_one_cta(finding):
            return "the number of threads in a CTA was chosen (--block)" if self.block else ""
        if not self.grid:
            return ""
        first, *others = [each.cta for each in finding.witnesses]
        if not all(self.evidence.tells_apart(first, each) for each in others):
            return "nothing in the kernel shows that several CTAs run it (--grid)"
        if influence is not None and not influence.has_block and places is not None and counts_blindly(places):
            return "the number of threads in a CTA was chosen, and may put the two in one place (--block)"
        return ""

    @staticmethod
    def _is_copied(finding: Finding) -> bool:
        return finding.code in _COPIED and any(each.space in _GLOBAL for each in finding.witnesses[:1])

    @staticmethod
    def _collides(finding: Finding) -> bool:
        return finding.code in _TWO and any(each.space in _GLOBAL for each in finding.witnesses[:1])


def _is_in_one_cta(finding: Finding) -> bool:
    return len({each.cta for each in finding.witnesses}) < 2
