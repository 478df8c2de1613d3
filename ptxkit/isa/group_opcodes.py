"""The opcodes of instructions that commit a group of asynchronous operations, or wait for groups."""

from __future__ import annotations

from functools import cache

from ptxkit.isa import table
from ptxkit.isa.expressions import ConstantExpr, OperandRole


def commit_opcode(name: str, group: str) -> str:
    """Returns the opcode that commits operations of a kind of group. Raises KeyError if none exists.

    name: that of the operations, `cp` or `wgmma`; the other instructions of a family begin with the same word.
    """
    return _opcodes(name, "commit_group")[group]


def wait_opcode(name: str, group: str) -> str:
    """Returns the opcode that waits until a number of groups are pending. Raises KeyError if none exists."""
    return _opcodes(name, "wait_group")[group]


@cache
def _opcodes(name: str, effect: str) -> dict[str, str]:
    """Returns the first form with the effect, by kind of group; of waits one whose operand is the number."""
    found: dict[str, str] = {}
    for form in table().forms(name):
        for arguments in (dict(each.arguments) for each in form.effects if each.name == effect):
            group, pending = arguments["group"], arguments.get("pending")
            if isinstance(group, ConstantExpr) and (pending is None or isinstance(pending, OperandRole)):
                slots = (each for each in form.modifiers if not each.optional or each.name == "aligned")
                found.setdefault(str(group.value), ".".join((name, *(each.values[0] for each in slots))))
    return found
