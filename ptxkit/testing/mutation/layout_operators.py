"""Addresses, sizes and alignments that hardware does not accept, and wrong objects."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, MbarrierComplete, MbarrierInit, ProxyFence
from ptxkit.isa.expressions import OperandRole
from ptxkit.syntax import statement_tokens
from ptxkit.syntax.tree import Declaration, operand_names
from ptxkit.testing.mutation.edits import MutationEdit, add_offset, combine_with_number, resolve_constant
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.mutation.mutation_operator import MutationOperator

_LOW_ALIGNMENT = 4
_EIGHT = 8
#: The bytes of a tensor map.
_TENSOR_MAP_BYTES = 128


@dataclass(frozen=True, slots=True)
class _AlignmentRequirement:
    """An address with a required alignment. rule: the one that a misaligned address violates."""

    role: str
    alignment: int
    rule: str


def _alignment_requirements(reading: FunctionAnalysis, step: Step) -> list[_AlignmentRequirement]:
    found = [_AlignmentRequirement(role, _EIGHT, "MB1") for role in reading.mbarrier_roles(step)]
    for access in reading.effects(step, Access):
        if access.via != "address" or access.proxy == "tensormap":
            continue
        if access.proxy == "async":
            found.append(_AlignmentRequirement(access.address, 16, "BK1"))
        elif access.completion == "cp.async":
            found.append(
                _AlignmentRequirement(access.address, resolve_constant(access.size, reading, step) or 16, "CA7")
            )
    return [each for each in dict.fromkeys(found) if each.alignment > _LOW_ALIGNMENT]


def _misalign_address(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step in reading.steps:
        for need in _alignment_requirements(reading, step):
            yield add_offset(reading, step, need.role, _LOW_ALIGNMENT, (need.rule,))


def _lower_alignment(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    """Aligns a variable of shared memory to 4 bytes only, although an instruction needs more for an address in it."""
    wanted: dict[str, str] = {}
    for step in reading.steps:
        for need in _alignment_requirements(reading, step):
            names = list(operand_names(step.operand(need.role)))
            for name in [*names, *(each for writer in reading.origins(step, names) for each in _symbols(writer))]:
                wanted.setdefault(name, need.rule)
    body = reading.program.function.body
    inside = body.flatten_blocks() if body is not None else ()
    for declaration, start in (*inside, *reading.module.with_offsets()):
        if not isinstance(declaration, Declaration):
            continue
        rules = [wanted[each.name] for each in declaration.declarators if each.name in wanted]
        if declaration.space == "shared" and (declaration.alignment or 0) > _LOW_ALIGNMENT and rules:
            words = statement_tokens(reading.source, start)
            place = [text for text, _ in words].index(".align") if ".align" in [text for text, _ in words] else None
            if place is not None:
                span = words[place + 1][1]
                description = (
                    f"{declaration.declarators[0].name} aligned to {_LOW_ALIGNMENT} instead of {declaration.alignment}"
                )
                yield MutationEdit(start, description, ((span.start, span.end, str(_LOW_ALIGNMENT)),), (rules[0],))


def _symbols(step: Step) -> list[str]:
    return [name for each in step.instruction.operands[1:] for name in operand_names(each) if not name.startswith("%")]


def _odd_size(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step in reading.steps:
        sizes = [each.size for each in reading.effects(step, Access) if each.proxy == "async"]
        roles = dict.fromkeys(size.name for size in sizes if isinstance(size, OperandRole))
        for role in roles:
            yield combine_with_number(reading, step, role, -_EIGHT)


def _other_mbarrier(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Replaces an mbarrier by the one after it; if none exists, the memory there was never initialized."""
    for step in reading.steps:
        if not reading.effects(step, MbarrierInit):
            for role in reading.mbarrier_roles(step):
                yield add_offset(reading, step, role, _EIGHT)


def _multicast_to_more_ctas(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, complete in reading.steps_with(MbarrierComplete):
        if complete.multicast is not None:
            yield combine_with_number(reading, step, complete.multicast, 1 << 15, operation="|")


def _other_map(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Replaces a tensor map by the one after it."""
    for step, fence in reading.steps_with(ProxyFence):
        if fence.proxy == "tensormap" and fence.direction == "acquire" and fence.address is not None:
            yield add_offset(reading, step, fence.address, _TENSOR_MAP_BYTES)


OPERATORS = (
    MutationOperator("misaligned-address", ("BK1",), _misalign_address),
    MutationOperator("lower-alignment", ("BK1",), _lower_alignment),
    MutationOperator("odd-size", ("BK1",), _odd_size),
    MutationOperator("other-mbarrier", ("MB2", "MB7"), _other_mbarrier),
    MutationOperator("other-tensor-map", ("TM4",), _other_map),
    MutationOperator("multicast-to-more", ("BK14",), _multicast_to_more_ctas),
)
