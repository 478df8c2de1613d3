"""What a walker does where control leaves the next step: branches, calls, ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.analysis.operands import Operands
from ptxkit.analysis.terms import Lanes, of_lane
from ptxkit.analysis.walker import END
from ptxkit.isa import effects as fx
from ptxkit.syntax.tree import Arguments, Name, Operand

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Action, Walker


def control_action(operands: Operands, effect: fx.Control) -> Action:
    """Goes where an effect leads."""
    match effect.kind:
        case "branch":
            where = _label(operands, operands.step.instruction.operands[-1])
            return lambda _: where
        case "branch_indexed":
            return _indexed_branch(operands)
        case "call":
            return _call(operands)
        case "return":
            return lambda walker: walker.leave()
        case "trap":
            return _trap
    return lambda _: END


def _trap(walker: Walker) -> int:
    """Ends the launch: what the threads would have done comes no more."""
    walker.trace.ended = "trap"
    return END


def _label(operands: Operands, operand: Operand) -> int:
    target = operands.scope.label(operand.text) if isinstance(operand, Name) else None
    return END if target is None else target


def _indexed_branch(operands: Operands) -> Action:
    selector, *_, last = operands.step.instruction.operands
    index = operands.reader(selector)
    names = operands.scope.branch_targets(last.text) if isinstance(last, Name) else ()
    targets = [found for name in names if (found := operands.scope.label(name)) is not None]

    def jump(walker: Walker) -> int:
        held = index(walker)
        value = of_lane(held, 0)
        if isinstance(held, Lanes):
            walker.part(held.values)
        if isinstance(value, int):
            return targets[value] if value < len(targets) else END
        walker.note_guess()
        return targets[walker.visit % len(targets)] if targets else END

    return jump


def _call(operands: Operands) -> Action:
    name = ""
    results: tuple[str, ...] = ()
    arguments: tuple[Operand, ...] = ()
    for operand in operands.step.instruction.operands:
        if isinstance(operand, Name) and not name:
            name = operand.text
        elif isinstance(operand, Arguments) and name:
            arguments = operand.elements
        elif isinstance(operand, Arguments):
            results = tuple(e.text for e in operand.elements if isinstance(e, Name))
    back = operands.step.index + 1
    return lambda walker: walker.enter(name, back, results, arguments)
