"""What decides that an instruction is executed, and where its operands point: the launch, or the kernel alone.

A fault that nothing decides but the kernel's constants, its variables, and the place of a thread that every launch has
is there in every launch. The leaves of data and control dependence say so; a load from memory may bring anything, and
so may what a called function returns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from ptxkit.analysis.certainty import Certainty
from ptxkit.analysis.dependence import Leaf
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.scenario import launch_of
from ptxkit.emulate import Finding, Witness
from ptxkit.emulate.windows import RANK_SHIFT
from ptxkit.isa.effects import Access
from ptxkit.isa.expressions import Role
from ptxkit.syntax.tree import Address, Operand
from ptxkit.verifier.protocol import Protocol

_WITHIN = ("PTX202", "PTX205", "PTX207")
"""Codes of faults whose witness names the state space that the instruction accesses, and not the one that it meets."""
_ANY = "any"
"""Stands for all state spaces that an instruction accesses."""
_OF_SPACES = ("PTX201", "PTX208")
"""Codes of faults that are about an address, whatever space it should be in."""

_DATA = ("memory", "unknown")
_FIXED = ("WARP_SZ",)
_THREADS = ("%tid", "%warpid", "%laneid", "%lanemask")
_CTAS = ("%ctaid", "%clusterid")
_RANKS = ("%cluster_ctarank", "%cluster_ctaid")
_BLOCK = ("%ntid", "%nwarpid")
_CLUSTER = ("%cluster_nct", "%is_explicit_cluster")


class Influence:
    """What decides the steps of a kernel. has_block, has_cluster: whether the size of its blocks, or clusters, is known
    and not chosen. chosen: the parameters of which nobody said what to pass; pointers: parameters, and bytes in them,
    that hold addresses; structures: those of the chosen that have parts.
    """

    def __init__(
        self,
        program: Program,
        *,
        has_block: bool,
        has_cluster: bool,
        chosen: Collection[str] = (),
        pointers: Collection[tuple[str, int]] = (),
        structures: Collection[str] = (),
    ) -> None:
        self._program = program
        self.structures = structures
        self._chosen, self._pointers = chosen, pointers
        self._has_block, self._has_cluster = has_block, has_cluster
        self._known: dict[tuple[int, str], frozenset[Leaf] | None] = {}

    @cached_property
    def _certainty(self) -> Certainty:
        return Certainty(self._program, launch_of(self._program))

    @cached_property
    def _steps(self) -> dict[int, Step]:
        return {step.start: step for step in self._program.steps}

    @cached_property
    def _is_whole(self) -> bool:
        """Whether the table has a form for each instruction; another one may assign anything."""
        return all(step.match is not None for step in self._program.steps)

    def is_of_the_kernel_alone(self, finding: Finding) -> bool:
        """Whether each launch with clusters and blocks of these sizes has the fault: neither arguments, nor memory, nor
        the size of the grid decides it."""
        if not finding.witnesses:
            return False
        first = finding.witnesses[0]
        if not self._has_cluster and self._is_of_others(finding, first):
            return False
        leaves = self.leaves(finding.offset, self._space(finding.code, first))
        return leaves is not None and all(self._is_there(leaf, first) for leaf in leaves)

    def _is_of_others(self, finding: Finding, witness: Witness) -> bool:
        """Whether a fault is about another CTA of the cluster, which may be there in a larger one."""
        if finding.code == "PTX207":
            return bool(witness.start >> RANK_SHIFT)
        step = self._steps.get(finding.offset)
        accesses = [each for each in step.effects if isinstance(each, Access)] if step is not None else []
        return finding.code == "PTX206" and any(each.multicast is not None for each in accesses)

    @staticmethod
    def _space(code: str, witness: Witness) -> str:
        if code in _WITHIN:
            return witness.space or _ANY
        return _ANY if code in _OF_SPACES else ""

    @cached_property
    def protocol(self) -> Protocol:
        """How the kernel synchronises."""
        return Protocol(self._program, self._certainty)

    @property
    def has_block(self) -> bool:
        """Whether the size of blocks is known."""
        return self._has_block

    def numbers(self, leaves: Iterable[Leaf]) -> list[str]:
        """The parameters among some leaves that were chosen, and are no addresses."""
        found = {leaf.name for leaf in leaves if leaf.kind == "parameter" and not any(map(leaf.holds, self._pointers))}
        return sorted(found & set(self._chosen))

    @cached_property
    def has_numbers(self) -> bool:
        """Whether any parameter was chosen that is no address alone."""
        alone = {name for name, offset in self._pointers if not offset} - set(self.structures)
        return not alone >= set(self._chosen)

    def control(self, finding: Finding) -> frozenset[Leaf] | None:
        """What decides that the instruction at fault is executed; None where nobody knows."""
        step = self._steps.get(finding.offset) if self._is_whole else None
        return None if step is None else self._certainty.leaves(step, None)

    def places(self, finding: Finding) -> frozenset[Leaf] | None:
        """What the addresses are made of at which a finding's accesses meet; None where nobody knows."""
        found: set[Leaf] = set()
        for number, witness in enumerate(finding.witnesses):
            steps = self._at_line.get(witness.line, []) if number else [self._steps.get(finding.offset)]
            if not steps or not self._is_whole:
                return None
            for step in steps:
                if step is None:
                    return None
                operands = list(_addresses(step, witness.space or _ANY))
                found.update(leaf for each in operands for leaf in self._certainty.dependence.of(step, each))
        return frozenset(found)

    def asks_memory(self, finding: Finding) -> bool:
        """Whether what stands in memory may decide that the accesses of a finding happen, or where."""
        leaves = self.leaves(finding.offset, finding.witnesses[0].space if finding.witnesses else "")
        places = self.places(finding)
        return leaves is None or places is None or any(leaf.kind in _DATA for leaf in leaves | places)

    @cached_property
    def _at_line(self) -> dict[int, list[Step]]:
        source = self._program.module.source
        found: dict[int, list[Step]] = {}
        for step in self._program.steps if source is not None else ():
            assert source is not None
            found.setdefault(source.position(step.start)[0], []).append(step)
        return found

    def leaves(self, offset: int, space: str = "") -> frozenset[Leaf] | None:
        """What decides the statement that begins at an offset of the text, and its addresses in a state space (all that
        it reads, if it is empty); None where nobody knows, as in a function that the kernel calls."""
        key = (offset, space)
        if key not in self._known:
            step = self._steps.get(offset) if self._is_whole else None
            self._known[key] = None if step is None else self._leaves(step, space)
        return self._known[key]

    def _leaves(self, step: Step, space: str) -> frozenset[Leaf]:
        found: set[Leaf] = set()
        for operand in (None, *_addresses(step, space)):
            found |= self._certainty.leaves(step, operand)
        return frozenset(found)

    def _is_there(self, leaf: Leaf, witness: Witness) -> bool:
        """Whether a leaf is the same in each launch, for the thread of a witness."""
        if leaf.kind == "variable":
            return True
        if leaf.kind != "special":
            return False
        name = leaf.name
        if name.startswith(_THREADS):
            return self._has_block or not any(witness.thread)
        if name.startswith(_CTAS):
            return not any(witness.cta)
        return (
            name.startswith(_FIXED)
            or (self._has_block and name.startswith(_BLOCK))
            or (self._has_cluster and name.startswith((*_CLUSTER, *_RANKS)))
        )


def _addresses(step: Step, space: str) -> Iterator[Operand]:
    """The operands that say where an instruction accesses a state space, and how many bytes of it; all that it reads,
    where no space is given, or it accesses no memory."""
    match = step.match
    assert match is not None
    family = space.partition("::")[0]
    accesses = [each for each in match.effects if isinstance(each, Access)] if family else []
    found = [each for each in accesses if _is_of(each, family)] or accesses
    for effect in found:
        for role in (effect.address, *((effect.size.name,) if isinstance(effect.size, Role) else ())):
            operand = match.operand(role, step.instruction)
            if operand is not None:
                yield operand
    if not found:
        results = {match.roles[role] for role in match.results if role in match.roles}
        operands = enumerate(step.instruction.operands)
        yield from (each for at, each in operands if at not in results or isinstance(each, Address))


def _is_of(access: Access, family: str) -> bool:
    own = access.space.partition("::")[0]
    return own == "generic" or family in (own, "generic", _ANY)
