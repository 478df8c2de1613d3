"""What a register holds at a point, as far as its assignments tell, and the state space that it is an address in."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

from ptxkit.analysis.formula_operations import Formula
from ptxkit.analysis.formulas import Formulas
from ptxkit.analysis.program import Step, flatten
from ptxkit.isa.effects import Access
from ptxkit.lsp.names import Names, Word
from ptxkit.records import dataclass, field
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.tree import Address, Function, Instruction, Module, Name


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one function's registers. steps: by where they begin in the text. turn: of who asks."""

    formulas: Formulas
    steps: dict[int, Step]
    turn: Lock = field(default_factory=Lock)


def values_of(module: Module, function: Function) -> Values:
    """The values of a function that has a body."""
    program = flatten(module, function)
    return Values(Formulas(program), {step.start: step for step in program.steps})


def value_words(names: Names, word: Word) -> Iterator[str]:
    """The value of a register where a word names it, in words; nothing outside of instructions."""
    place = word.place
    if not isinstance(place.node, Instruction) or place.function is None or place.function.body is None:
        return
    values = names.values(place.function)
    step = values.steps.get(place.start)
    if step is None:
        return
    assigned = _is_assigned(names, word, step)
    with values.turn:
        found = (values.formulas.after if assigned else values.formulas.before)(step, word.text)
    if found is not None:
        number = found.sum.number
        shown = f"{found}" if number is None or found.truth or abs(number) < 10 else f"{number} ({hex(number)})"
        when = "after this instruction" if assigned else "here"
        yield f"Holds `{shown}` {when}."
        if "rounds(" in shown:
            yield "`rounds(line N)`: how often line N had been executed when the value was made."
    space = _space_words(found) if found is not None else ""
    if space:
        yield space
    elif found is None or not found.truth:
        yield from _uses(names, values, step, word.text)


def _space_words(found: Formula) -> str:
    if found.space is None:
        return ""
    return f"A generic address of `.{found.space}` memory." if found.generic else f"An address in `.{found.space}`."


def _uses(names: Names, values: Values, step: Step, name: str) -> Iterator[str]:
    """As an address in which state spaces the function uses the register."""
    register = step.scope.register(name)
    spaces: dict[str, int] = {}
    for other in values.steps.values():
        for effect in other.effects:
            if not isinstance(effect, Access) or other.match is None or effect.via != "address":
                continue
            operand = other.match.operand(effect.address, other.instruction)
            base = operand.base if isinstance(operand, Address) else None
            if isinstance(base, Name) and other.scope.register(base.text) == register:
                spaces.setdefault(effect.space, names.source.position(other.start)[0])
    for space, line in spaces.items():
        words = "a generic address" if space == "generic" else f"an address in `.{space}`"
        yield f"Used as {words} (line {line})."


def _is_assigned(names: Names, word: Word, step: Step) -> bool:
    """Whether the word stands where the instruction writes."""
    match = step.match
    spans = statement_spans(names.source, step.start).operands
    index = next((number for number, span in enumerate(spans) if _within(word.span, span)), None)
    return match is not None and index is not None and any(match.roles.get(role) == index for role in match.results)


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
