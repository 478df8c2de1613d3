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

    influence: what decides the instructions of the kernel; None where nobody asks.
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

    def wants_others(self, finding: Finding) -> bool:
        """Whether a run shows by a finding that the kernel is meant for other blocks or boxes."""
        if self.boxes and self.misfits(finding):
            return True
        return self.block and (finding.code in _COUNTS or finding.message.startswith(DEADLOCK))

    def doubts(self, finding: Finding, contents: str, *, is_degenerate: bool = False) -> bool:
        """Whether a finding by itself may come of what was chosen. contents: the numbers in memory.

        is_degenerate: a number that was chosen is 0 or 1.
        """
        if (finding.code, finding.offset) in self.proven:
            return False
        if self.values and finding.code in _COPIED and any(each.space in _GLOBAL for each in finding.witnesses[:1]):
            return True
        if not self._collides(finding):
            return False
        if self.structures or is_degenerate:
            return True
        first, *others = [each.cta for each in finding.witnesses]
        alone = self.block if all(each == first for each in others) else self.grid
        return alone or (self.contents and contents != DISTINCT)

    @staticmethod
    def _collides(finding: Finding) -> bool:
        return finding.code in _TWO and any(each.space in _GLOBAL for each in finding.witnesses[:1])
