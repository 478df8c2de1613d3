"""The value of a register at a point, as far as its assignments determine it, and the state space of an address in
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

from ptxkit.analysis.dataflow.symbolic_expr_ops import SymbolicExpr
from ptxkit.analysis.dataflow.symbolic_exprs import SymbolicExprs
from ptxkit.analysis.ir.program import Step, flatten
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Access
from ptxkit.lsp.name_index import NameIndex, SourceWord
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.tree import Address, Function, Instruction, Module, Name


@dataclass(frozen=True, slots=True)
class RegisterValues:
    """The values of one function's registers. steps: by their offsets in the text. turn: of the request."""

    formulas: SymbolicExprs
    steps: dict[int, Step]
    lock: Lock = field(default_factory=Lock)


def values_of(module: Module, function: Function) -> RegisterValues:
    """Returns the values of a function that has a body."""
    program = flatten(module, function)
    return RegisterValues(SymbolicExprs(program), {step.start: step for step in program.steps})


def address_value(names: NameIndex, word: SourceWord) -> tuple[str, str] | None:
    """Returns the state space and the value of a register that an instruction reads as an address, or None if neither
    is known. The space is in words, such as `.shared` or `generic .global`, or "".
    """
    function = word.statement.function
    if function is None or function.body is None:
        return None
    values = names.values(function)
    step = values.steps.get(word.statement.start)
    if step is None:
        return None
    with values.lock:
        found = values.formulas.value_before(step, word.text)
    if found is None or found.condition_text:
        return None
    space = f"{'generic ' * found.is_generic}.{found.space}" if found.space is not None else ""
    return space, str(found)


def describe_value(names: NameIndex, word: SourceWord) -> Iterator[str]:
    """Yields the description of a register's value at a word; nothing outside of instructions."""
    place = word.statement
    if not isinstance(place.node, Instruction) or place.function is None or place.function.body is None:
        return
    values = names.values(place.function)
    step = values.steps.get(place.start)
    if step is None:
        return
    assigned = _is_assigned(names, word, step)
    with values.lock:
        found = (values.formulas.value_after if assigned else values.formulas.value_before)(step, word.text)
    if found is not None:
        number = found.sum.number
        shown = (
            f"{found}" if number is None or found.condition_text or abs(number) < 10 else f"{number} ({hex(number)})"
        )
        when = "after this instruction" if assigned else "here"
        yield f"Holds `{shown}` {when}."
        if "rounds(" in shown:
            yield "`rounds(line N)`: the number of executions of line N when the value was computed."
    space = _describe_space(found) if found is not None else ""
    if space:
        yield space
    elif found is None or not found.condition_text:
        yield from _describe_uses(names, values, step, word.text)


def _describe_space(found: SymbolicExpr) -> str:
    if found.space is None:
        return ""
    return f"A generic address of `.{found.space}` memory." if found.is_generic else f"An address in `.{found.space}`."


def _describe_uses(names: NameIndex, values: RegisterValues, step: Step, name: str) -> Iterator[str]:
    """Yields the state spaces in which the function uses the register as an address."""
    register = step.scope.register_name(name)
    spaces: dict[str, int] = {}
    for other in values.steps.values():
        for effect in other.effects:
            if not isinstance(effect, Access) or other.match is None or effect.via != "address":
                continue
            operand = other.match.operand(effect.address, other.instruction)
            base = operand.base if isinstance(operand, Address) else None
            if isinstance(base, Name) and other.scope.register_name(base.text) == register:
                spaces.setdefault(effect.space, names.source.position(other.start)[0])
    for space, line in spaces.items():
        words = "a generic address" if space == "generic" else f"an address in `.{space}`"
        yield f"Used as {words} (line {line})."


def _is_assigned(names: NameIndex, word: SourceWord, step: Step) -> bool:
    """Returns whether the instruction writes the register at the word."""
    match = step.match
    spans = statement_spans(names.source, step.start).operands
    index = next((number for number, span in enumerate(spans) if _within(word.span, span)), None)
    return match is not None and index is not None and any(match.roles.get(role) == index for role in match.results)


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
