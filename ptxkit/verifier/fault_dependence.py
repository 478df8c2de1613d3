"""Determines whether the launch, or only the kernel, decides that an instruction is executed and what it accesses.

A fault that depends only on the kernel's constants, its variables, and the position of a thread that every launch has
occurs in every launch. The leaves of data and control dependence show this. The value of a load from memory may be
arbitrary, and so may the result of a called function.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from ptxkit.analysis.dataflow.dependence import DependenceSource
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import read_operands, read_registers
from ptxkit.analysis.memory.flag_accesses import find_polls
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.emulator import Violation, Witness
from ptxkit.emulator.core.address_windows import RANK_SHIFT
from ptxkit.isa.effects import Access
from ptxkit.isa.expressions import OperandRole
from ptxkit.syntax.tree import Address, Operand
from ptxkit.verifier.sync_dependence import SyncDependence, is_comparison

_OPERAND_SPACE_CODES = (ptx2xx.SPACE_OFFSET_AS_GENERIC, ptx2xx.MISALIGNED_ADDRESS, ptx2xx.OUT_OF_BOUNDS)
"""The codes of faults whose witness has the state space that the instruction names, and not that of the address."""
_ANY_SPACE = "any"
"""Represents all state spaces that an instruction accesses."""
_ADDRESS_CODES = (ptx2xx.GENERIC_ADDRESS_IN_SPACE, ptx2xx.ADDRESS_OF_ANOTHER_SPACE)
"""The codes of faults that concern an address, whatever its space should be."""

_DATA_SOURCES = ("memory", "unknown")
_CONSTANTS = ("WARP_SZ",)
_THREAD_REGISTERS = ("%tid", "%warpid", "%laneid", "%lanemask")
_CTA_REGISTERS = ("%ctaid", "%clusterid")
_RANK_REGISTERS = ("%cluster_ctarank", "%cluster_ctaid")
_BLOCK_REGISTERS = ("%ntid", "%nwarpid")
_CLUSTER_REGISTERS = ("%cluster_nct", "%is_explicit_cluster")


class FaultDependence:
    """The dependences of the steps of a kernel.

    has_block, has_cluster: whether the size of its blocks, or clusters, is known and not chosen. chosen: the parameters
    that were not specified. pointers: the parameters, and bytes in them, that hold addresses. structures: the chosen
    parameters that have parts.
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
        self._unspecified, self._pointer_parameters = chosen, pointers
        self._has_block, self._has_cluster = has_block, has_cluster
        self._leaves_cache: dict[tuple[int, str], frozenset[DependenceSource] | None] = {}

    @cached_property
    def _input_independence(self) -> InputIndependence:
        return InputIndependence(self._program, launch_config_of(self._program))

    @cached_property
    def _steps(self) -> dict[int, Step]:
        return {step.start: step for step in self._program.steps}

    def is_kernel_fault(self, finding: Violation) -> bool:
        """Returns whether each launch with clusters and blocks of these sizes has the fault.

        It has if neither arguments, nor memory, nor the size of the grid decides it.
        """
        if not finding.witnesses:
            return False
        first = finding.witnesses[0]
        if not self._has_cluster and self._is_remote_cta_fault(finding, first):
            return False
        leaves = self.statement_sources(finding.offset, self._witness_space(finding.code, first))
        return leaves is not None and all(self._is_launch_invariant(leaf, first) for leaf in leaves)

    def has_kernel_address(self, finding: Violation) -> bool:
        """Returns whether each launch with such blocks that executes the faulty instruction has the fault.

        It has if only constants and the position of the thread decide the address, how often its loops are repeated,
        and which threads execute the instruction.
        """
        step, places = self._steps.get(finding.offset), self.address_sources(finding)
        if not finding.witnesses or step is None or places is None:
            return False
        certainty = self._input_independence
        operands = list(_address_operands(step, finding.witnesses[0].space))
        chosen = [leaf for each in operands for leaf in certainty.dependence_sources(step, each)]
        deciding = {*places, *chosen} - (certainty.dependence_sources(step, None) - places)
        if not all(self._is_launch_invariant(leaf, finding.witnesses[0]) for leaf in deciding):
            return False
        return not certainty.may_argument_select_threads(step, of_cta=True) and not any(
            certainty.depends_on_iterations(step, each) and certainty.may_input_decide_iterations(step, each)
            for each in operands
        )

    def _is_remote_cta_fault(self, finding: Violation, witness: Witness) -> bool:
        """Returns whether a fault concerns another CTA of the cluster, which may exist in a larger cluster."""
        if finding.code == ptx2xx.OUT_OF_BOUNDS:
            return bool(witness.start >> RANK_SHIFT)
        step = self._steps.get(finding.offset)
        accesses = [each for each in step.effects if isinstance(each, Access)] if step is not None else []
        return finding.code == ptx2xx.NUMBER_OUT_OF_RANGE and any(each.multicast is not None for each in accesses)

    def copies_box(self, finding: Violation) -> bool:
        """Returns whether a tensor map determines the bytes of the faulty copy; true in a called function."""
        step = self._steps.get(finding.offset)
        return step is None or any(isinstance(each, Access) and each.via == "tensormap" for each in step.effects)

    def involves_box(self, finding: Violation) -> bool:
        """Returns whether a tensor map determines the bytes of one of the accesses of a finding."""
        return self.copies_box(finding) or any(
            isinstance(effect, Access) and effect.via == "tensormap"
            for each in finding.witnesses
            for step in self._steps_by_line.get(each.line, ())
            for effect in step.effects
        )

    @staticmethod
    def _witness_space(code: str, witness: Witness) -> str:
        if code in _OPERAND_SPACE_CODES:
            return witness.space or _ANY_SPACE
        return _ANY_SPACE if code in _ADDRESS_CODES else ""

    @cached_property
    def awaited_sources(self) -> frozenset[DependenceSource]:
        """The sources of the values with which polled flags in global memory are compared."""
        polled = {name for step in self._program.analysis(find_polls) for name in step.result_registers()}
        dependence = self._input_independence.dependence
        return frozenset(
            leaf
            for step in self._program.steps
            if is_comparison(step) and not polled.isdisjoint(dependence.source_registers(read_registers(step)))
            for operand in read_operands(step)
            for leaf in dependence.sources_of(step, operand)
        )

    @cached_property
    def sync_dependence(self) -> SyncDependence:
        """The dependences of the kernel's synchronization."""
        return SyncDependence(self._program, self._input_independence)

    @property
    def has_block(self) -> bool:
        """Whether the size of blocks is known."""
        return self._has_block

    def assumed_numbers(self, leaves: Iterable[DependenceSource]) -> list[str]:
        """Returns the chosen parameters among some leaves that are not addresses."""
        found = {
            leaf.name
            for leaf in leaves
            if leaf.kind == "parameter" and not any(map(leaf.covers, self._pointer_parameters))
        }
        return sorted(found & set(self._unspecified))

    @cached_property
    def has_assumed_numbers(self) -> bool:
        """Whether any chosen parameter is not only an address."""
        pointer_names = {name for name, offset in self._pointer_parameters if not offset} - set(self.structures)
        return not pointer_names >= set(self._unspecified)

    def control_sources(self, finding: Violation) -> frozenset[DependenceSource] | None:
        """Returns the sources that decide whether the faulty instruction is executed; None where they are unknown."""
        step = self._steps.get(finding.offset) if self._program.is_fully_matched else None
        return None if step is None else self._input_independence.dependence_sources(step, None)

    def path_sources(self, finding: Violation) -> frozenset[DependenceSource]:
        """Returns the sources that decide whether threads reach the faulty instruction, or any synchronization."""
        return self.sync_dependence.control_sources | (self.control_sources(finding) or frozenset())

    def address_sources(self, finding: Violation) -> frozenset[DependenceSource] | None:
        """Returns the sources of the addresses at which a finding's accesses conflict; None where these are unknown."""
        found: set[DependenceSource] = set()
        for number, witness in enumerate(finding.witnesses):
            steps = self._steps_by_line.get(witness.line, []) if number else [self._steps.get(finding.offset)]
            if not steps or not self._program.is_fully_matched:
                return None
            for step in steps:
                if step is None:
                    return None
                operands = list(_address_operands(step, witness.space or _ANY_SPACE))
                found.update(
                    leaf for each in operands for leaf in self._input_independence.dependence.sources_of(step, each)
                )
        return frozenset(found)

    def depends_on_memory(self, finding: Violation) -> bool:
        """Returns whether the contents of memory may decide whether, or where, the accesses of a finding happen."""
        leaves = self.statement_sources(finding.offset, finding.witnesses[0].space if finding.witnesses else "")
        places = self.address_sources(finding)
        return leaves is None or places is None or any(leaf.kind in _DATA_SOURCES for leaf in leaves | places)

    @cached_property
    def _steps_by_line(self) -> dict[int, list[Step]]:
        source = self._program.module.source
        found: dict[int, list[Step]] = {}
        for step in self._program.steps if source is not None else ():
            assert source is not None
            found.setdefault(source.position(step.start)[0], []).append(step)
        return found

    def statement_sources(self, offset: int, space: str = "") -> frozenset[DependenceSource] | None:
        """Returns the sources that decide the execution and the addresses of a statement; None where they are unknown.

        offset: the offset of the statement in the text; in a called function, the sources are unknown. space: the state
        space of the addresses; all operands that the statement reads count if it is empty.
        """
        key = (offset, space)
        if key not in self._leaves_cache:
            step = self._steps.get(offset) if self._program.is_fully_matched else None
            self._leaves_cache[key] = None if step is None else self._step_sources(step, space)
        return self._leaves_cache[key]

    def _step_sources(self, step: Step, space: str) -> frozenset[DependenceSource]:
        found: set[DependenceSource] = set()
        for operand in (None, *_address_operands(step, space)):
            found |= self._input_independence.dependence_sources(step, operand)
        return frozenset(found)

    def _is_launch_invariant(self, leaf: DependenceSource, witness: Witness) -> bool:
        """Returns whether a leaf is the same in each launch, for the thread of a witness."""
        if leaf.kind == "variable":
            return True
        if leaf.kind != "special":
            return False
        name = leaf.name
        if name.startswith(_THREAD_REGISTERS):
            return self._has_block or not any(witness.thread)
        if name.startswith(_CTA_REGISTERS):
            return not any(witness.cta)
        return (
            name.startswith(_CONSTANTS)
            or (self._has_block and name.startswith(_BLOCK_REGISTERS))
            or (self._has_cluster and name.startswith((*_CLUSTER_REGISTERS, *_RANK_REGISTERS)))
        )


def _address_operands(step: Step, space: str) -> Iterator[Operand]:
    """Yields the operands that determine the addresses and sizes of an instruction's accesses to a state space.

    All operands that it reads are yielded where no space is given, or it accesses no memory.
    """
    match = step.match
    assert match is not None
    family = space.partition("::")[0]
    accesses = [each for each in match.effects if isinstance(each, Access)] if family else []
    found = [each for each in accesses if _is_in_space(each, family)] or accesses
    for effect in found:
        for role in (effect.address, *((effect.size.name,) if isinstance(effect.size, OperandRole) else ())):
            operand = step.operand(role)
            if operand is not None:
                yield operand
    if not found:
        results = {match.roles[role] for role in match.results if role in match.roles}
        operands = enumerate(step.instruction.operands)
        yield from (each for at, each in operands if at not in results or isinstance(each, Address))


def _is_in_space(access: Access, family: str) -> bool:
    own = access.space.partition("::")[0]
    return own == "generic" or family in (own, "generic", _ANY_SPACE)
