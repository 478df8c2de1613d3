"""Finds the parameters through which a kernel writes to memory.

Addresses are followed from the parameters through computations, in the order of the text and around loops, to the
accesses that write. Values loaded from memory and addresses that are passed to a function are not followed, so a kernel
may write through more parameters than are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.effects import Access
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import Match
from ptxkit.syntax import tree


@dataclass(frozen=True, slots=True)
class _InstructionUse:
    """The registers that an instruction reads and writes.

    `written` are the registers in the addresses that it writes to. The results of a value operation depend on its
    operands; a parameter load only accesses parameters.
    """

    results: frozenset[str]
    operands: frozenset[str]
    written: frozenset[str]
    is_parameter_load: bool
    is_value_operation: bool


def find_written_parameters(instructions: Sequence[tree.Instruction]) -> frozenset[str]:
    """Returns the names of the parameters through which these instructions of a kernel write."""
    uses = [_make_use(each, match) for each in instructions if isinstance(match := table().match(each), Match)]
    held: dict[str, frozenset[str]] = {}  # for each register, the parameters whose addresses it may hold
    changed = True
    while changed:
        changed = False
        for use in uses:
            if not use.is_value_operation and not use.is_parameter_load:
                continue
            come = (
                frozenset(use.operands)
                if use.is_parameter_load
                else frozenset[str]().union(*_iterate_held(held, use.operands))
            )
            for name in use.results:
                known = held.get(name, frozenset())
                if not come <= known:
                    held[name] = known | come
                    changed = True
    return frozenset[str]().union(*(each for use in uses for each in _iterate_held(held, use.written)))


def _iterate_held(held: dict[str, frozenset[str]], names: frozenset[str]) -> Iterator[frozenset[str]]:
    return (held[name] for name in names if name in held)


def _make_use(instruction: tree.Instruction, match: Match) -> _InstructionUse:
    accesses = [each for each in match.effects if isinstance(each, Access)]
    spaces = {each.space.partition("::")[0] for each in accesses}
    results = frozenset(name for role in match.results for name in _iterate_names(match.operand(role, instruction)))
    others = [role for role in match.roles if role not in match.results]
    operands = frozenset(name for role in others for name in _iterate_names(match.operand(role, instruction)))
    written = frozenset(
        name
        for each in accesses
        if each.kind != "read"
        and each.space.partition("::")[0] in ("global", "generic")
        and each.size != ConstantExpr(0)
        for name in _iterate_names(match.operand(each.address, instruction))
    )
    return _InstructionUse(results, operands, written, spaces == {"param"}, not accesses)


def _iterate_names(operand: tree.Operand | None) -> Iterator[str]:
    match operand:
        case tree.Name(text=text):
            yield text
        case tree.Address(base=inner) | tree.Unary(operand=inner):
            yield from _iterate_names(inner)
        case tree.Binary(left=left, right=right):
            yield from (*_iterate_names(left), *_iterate_names(right))
        case tree.Vector(elements=elements):
            for each in elements:
                yield from _iterate_names(each)
        case _:
            pass
