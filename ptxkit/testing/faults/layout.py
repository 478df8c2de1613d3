"""Addresses, sizes and alignments that hardware cannot take, and the wrong object."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.program import Step
from ptxkit.isa.effects import Access, MbarrierComplete, MbarrierInit, ProxyFence
from ptxkit.isa.expressions import Role
from ptxkit.records import dataclass
from ptxkit.syntax import statement_words
from ptxkit.syntax.tree import Block, Body, Declaration
from ptxkit.testing.faults.changes import Change, constant, with_number, with_offset
from ptxkit.testing.faults.family import Operator
from ptxkit.testing.faults.reading import Reading, names_in, operand

_LOW = 4
_EIGHT = 8
#: Bytes of a tensor map.
_MAP = 128


@dataclass(frozen=True, slots=True)
class _Need:
    """An address that must be aligned. rule: what is broken when it is not."""

    role: str
    bytes: int
    rule: str


def _needs(reading: Reading, step: Step) -> list[_Need]:
    found = [_Need(role, _EIGHT, "MB1") for role in reading.mbarriers(step)]
    for access in reading.effects(step, Access):
        if access.via != "address" or access.proxy == "tensormap":
            continue
        if access.proxy == "async":
            found.append(_Need(access.address, 16, "BK1"))
        elif access.completion == "cp.async":
            found.append(_Need(access.address, constant(access.size, reading, step) or 16, "CA7"))
    return [each for each in dict.fromkeys(found) if each.bytes > _LOW]


def _misaligned(reading: Reading) -> Iterator[Change | None]:
    for step in reading.steps:
        for need in _needs(reading, step):
            yield with_offset(reading, step, need.role, _LOW, (need.rule,))


def _lower_alignment(reading: Reading) -> Iterator[Change]:
    """A variable of shared memory aligned to 4 bytes only, while an instruction needs more of an address in it."""
    wanted: dict[str, str] = {}
    for step in reading.steps:
        for need in _needs(reading, step):
            names = names_in(operand(step, need.role))
            for name in [*names, *(each for writer in reading.origins(step, names) for each in _symbols(writer))]:
                wanted.setdefault(name, need.rule)
    body = reading.program.function.body
    declared = [*_declarations(body)] if body is not None else []
    declared += [(item, start) for item, start in reading.module.located() if isinstance(item, Declaration)]
    for declaration, start in declared:
        rules = [wanted[each.name] for each in declaration.declarators if each.name in wanted]
        if declaration.space == "shared" and (declaration.alignment or 0) > _LOW and rules:
            words = statement_words(reading.source, start)
            place = [text for text, _ in words].index(".align") if ".align" in [text for text, _ in words] else None
            if place is not None:
                span = words[place + 1][1]
                said = f"{declaration.declarators[0].name} aligned to {_LOW} instead of {declaration.alignment}"
                yield Change(start, said, ((span.start, span.end, str(_LOW)),), (rules[0],))


def _declarations(body: Body) -> Iterator[tuple[Declaration, int]]:
    for statement, start in body.located():
        if isinstance(statement, Declaration):
            yield statement, start
        elif isinstance(statement, Block):
            yield from _declarations(statement.body)


def _symbols(step: Step) -> list[str]:
    return [name for each in step.instruction.operands[1:] for name in names_in(each) if not name.startswith("%")]


def _odd_size(reading: Reading) -> Iterator[Change | None]:
    for step in reading.steps:
        sizes = [each.size for each in reading.effects(step, Access) if each.proxy == "async"]
        roles = dict.fromkeys(size.name for size in sizes if isinstance(size, Role))
        for role in roles:
            yield with_number(reading, step, role, -_EIGHT)


def _other_object(reading: Reading) -> Iterator[Change | None]:
    """The mbarrier behind the right one; where there is none, what lies there was never initialised."""
    for step in reading.steps:
        if not reading.effects(step, MbarrierInit):
            for role in reading.mbarriers(step):
                yield with_offset(reading, step, role, _EIGHT)


def _more_ctas(reading: Reading) -> Iterator[Change | None]:
    for step, complete in reading.having(MbarrierComplete):
        if complete.multicast is not None:
            yield with_number(reading, step, complete.multicast, 1 << 15, operation="|")


def _other_map(reading: Reading) -> Iterator[Change | None]:
    """The tensor map behind the one that is copied by."""
    for step, fence in reading.having(ProxyFence):
        if fence.proxy == "tensormap" and fence.direction == "acquire" and fence.address is not None:
            yield with_offset(reading, step, fence.address, _MAP)


OPERATORS = (
    Operator("misaligned-address", ("BK1",), _misaligned),
    Operator("lower-alignment", ("BK1",), _lower_alignment),
    Operator("odd-size", ("BK1",), _odd_size),
    Operator("other-mbarrier", ("MB2", "MB7"), _other_object),
    Operator("other-tensor-map", ("TM4",), _other_map),
    Operator("multicast-to-more", ("BK14",), _more_ctas),
)
