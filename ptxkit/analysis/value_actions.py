"""What a walker does where registers get values: those of the table's value expressions, of vectors part by part."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ptxkit.analysis.lanes import load, load_parts, reads_signed
from ptxkit.analysis.operands import Operands, Reader
from ptxkit.analysis.operations import Operations
from ptxkit.analysis.terms import Terms, Value, lifted, mask
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import Call, Expression
from ptxkit.syntax.tree import Arguments, Name, Vector

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Action, Walker


def assignment(operands: Operands, effect: fx.Value) -> Action | None:
    """Sets the register, or the vector of registers, that an effect gives a value."""
    target = operands.role(effect.result)
    if isinstance(target, Vector):
        return _assign_vector(operands, target, effect.value)
    if not isinstance(target, Name) or target.is_sink:
        return None
    register = operands.scope.register(target.text)
    source = operands.evaluator(effect.value) or (lambda walker: walker.fresh("value"))

    def assign(walker: Walker) -> None:
        walker.set(register, source(walker))

    return assign


def forget_names(operands: Operands) -> Action:
    """An instruction without a form: whatever it names may have changed, and anything may have happened."""
    names: list[str] = []
    for operand in operands.step.instruction.operands:
        elements = operand.elements if isinstance(operand, Vector | Arguments) else (operand,)
        names.extend(operands.scope.register(e.text) for e in elements if isinstance(e, Name))

    def forget(walker: Walker) -> None:
        walker.record_opaque()
        for name in names:
            walker.set(name, walker.fresh(name))

    return forget


def _assign_vector(operands: Operands, target: Vector, value: Expression) -> Action:
    names = [operands.scope.register(e.text) if isinstance(e, Name) else "_" for e in target.elements]
    function = value.function if isinstance(value, Call) else ""
    if isinstance(value, Call) and function == "load":
        return _load_vector(operands, names, value)
    if isinstance(value, Call) and function == "unpack":
        source = operands.evaluator(value.arguments[-1]) or (lambda walker: walker.fresh("value"))
        return _unpack(names, source)

    def forget(walker: Walker) -> None:
        for position, name in enumerate(names):
            walker.set(name, walker.fresh(f"element {position}"))

    return forget


def _load_vector(operands: Operands, names: list[str], call: Call) -> Action:
    space, address, width = load_parts(operands, call)
    is_signed = reads_signed(operands)

    def load_all(walker: Walker) -> None:
        base = address(walker)
        for position, name in enumerate(names):
            place = walker.operations.held(Operations.op_add, 64, base, position * (width // 8))
            walker.set(name, load(walker, space, place, width, position, is_signed=is_signed))

    return load_all


def _unpack(names: list[str], source: Reader) -> Action:
    count = len(names)

    def unpack(walker: Walker) -> None:
        whole = source(walker)
        for position, name in enumerate(names):
            walker.set(name, lifted(partial(_part, walker.terms, position, count), whole))

    return unpack


def _part(terms: Terms, position: int, count: int, whole: Value) -> Value:
    width = 64 // count
    if isinstance(whole, int):
        return whole >> position * width & mask(width)
    return terms.of(("unpack", whole, position, count))
