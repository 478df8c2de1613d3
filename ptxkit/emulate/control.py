"""Changes of control: branches, calls, returns.

Source: PTX ISA, "Control Flow Instructions", "Kernel and Function Directives", "Function Declarations and Definitions".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Fault, UnsupportedError
from ptxkit.emulate.groups import Group, Jump, Leave, Scatter
from ptxkit.emulate.operands import Operands
from ptxkit.emulate.scopes import Label
from ptxkit.isa.effects import Control
from ptxkit.syntax.tree import Directive, Function, Name, Operand

if TYPE_CHECKING:
    from ptxkit.emulate.steps import Step


def control_step(control: Control, operands: Operands) -> Step:
    """What executes a change of control."""
    match control.kind:
        case "branch":
            jump = Jump(_label(operands, operands.node(control.target or "target")))
            return lambda _group: jump
        case "branch_indexed":
            return _indexed(operands, operands.node(control.target or "targets"))
        case "call":
            from ptxkit.emulate.calls import call_step

            return call_step(operands)
        case "return":
            return lambda _group: Leave()
        case "exit":
            return lambda _group: Leave(ends=True)
        case "trap":
            return _trap
        case kind:
            raise UnsupportedError(f"the machine does not know the change of control {kind}")


def _label(operands: Operands, node: Operand) -> int:
    found = operands.scope.lookup(node.text) if isinstance(node, Name) else None
    if not isinstance(found, Label):
        raise UnsupportedError(f"there is no label {node}")
    return found.place


def _indexed(operands: Operands, node: Operand) -> Callable[[Group], Any]:
    found = operands.scope.lookup(node.text) if isinstance(node, Name) else None
    if not isinstance(found, Directive):
        raise UnsupportedError(f"there is no list of labels {node}")
    names = [word for word in found.words if word not in (",", "{", "}")]
    targets = numpy.array([_label(operands, Name(name)) for name in names], numpy.int64)
    index = operands.source("index")

    def scatter(group: Group) -> Scatter:
        chosen = index.read(group)
        wrong = chosen >= len(targets)
        if wrong.any():
            message = f"the index {int(chosen[wrong][0])} is beyond the {len(targets)} labels of the list"
            raise Fault("PTX206", message, group.lanes.index[wrong])
        return Scatter(targets[chosen])

    return scatter


def _trap(group: Group) -> None:
    raise Fault("trap", "the kernel executed `trap`", group.lanes.index)


def callee_name(node: Operand, operands: Operands) -> str | None:
    """The function that a call names; None where a register holds its address."""
    if isinstance(node, Name):
        found = operands.scope.lookup(node.text)
        if isinstance(found, Function):
            return found.name
        if found is None:
            return node.text
    return None
