"""How the text of an instruction is changed: dropped, doubled, replaced, moved, left to one thread."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.analysis.program import Step
from ptxkit.isa.expressions import Const, Expression, Role
from ptxkit.records import dataclass, replace
from ptxkit.syntax.printer import print_instruction, print_operand
from ptxkit.syntax.tree import Address, Guard, Instruction, Integer, Name, Operand
from ptxkit.testing.faults.mutant import Splice
from ptxkit.testing.faults.reading import Reading, operand

REGISTER = "%fault_value"
PREDICATE = "%fault_here"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing done to one function. start: offset of what is changed. rules: None where the operator's hold."""

    start: int
    text: str
    splices: tuple[Splice, ...]
    rules: tuple[str, ...] | None = None


def put(reading: Reading, step: Step, text: str) -> Splice:
    """Write a text in the place of an instruction."""
    span = reading.span(step)
    return span.start, span.end, text


def dropped(reading: Reading, step: Step, rules: tuple[str, ...] | None = None) -> Change:
    return Change(step.start, f"`{reading.text(step)}` deleted", (put(reading, step, ""),), rules)


def doubled(reading: Reading, step: Step, rules: tuple[str, ...] | None = None) -> Change:
    text = reading.text(step)
    return Change(step.start, f"`{text}` twice", (put(reading, step, f"{text} {text}"),), rules)


def replaced(reading: Reading, step: Step, new: Sequence[Instruction], rules: tuple[str, ...] | None = None) -> Change:
    """Other instructions in the place of one."""
    text = " ".join(print_instruction(each) for each in new)
    return Change(step.start, f"`{reading.text(step)}` becomes `{text}`", (put(reading, step, text),), rules)


def moved_before(reading: Reading, step: Step, place: Step, rules: tuple[str, ...] | None = None) -> Change:
    """An instruction moved in front of an earlier one."""
    text = reading.text(step)
    splices = (put(reading, place, f"{text} {reading.text(place)}"), put(reading, step, ""))
    return Change(step.start, f"`{text}` moved before `{reading.text(place)}`", splices, rules)


def moved_after(reading: Reading, step: Step, place: Step, rules: tuple[str, ...] | None = None) -> Change:
    """An instruction moved behind a later one."""
    text = reading.text(step)
    splices = (put(reading, step, ""), put(reading, place, f"{reading.text(place)} {text}"))
    return Change(step.start, f"`{text}` moved after `{reading.text(place)}`", splices, rules)


def by_one_thread(reading: Reading, step: Step, rules: tuple[str, ...] | None = None) -> Change:
    """An instruction that only thread 0 executes."""
    guarded = replace(step.instruction, guard=Guard(PREDICATE))
    text = (
        f"{{ .reg .pred {PREDICATE}; .reg .b32 {REGISTER}; mov.u32 {REGISTER}, %tid.x; "
        f"setp.eq.u32 {PREDICATE}, {REGISTER}, 0; {print_instruction(guarded)} }}"
    )
    return Change(step.start, f"`{reading.text(step)}` by thread 0 alone", (put(reading, step, text),), rules)


def unguarded(reading: Reading, step: Step, rules: tuple[str, ...] | None = None) -> Change:
    return replaced(reading, step, [replace(step.instruction, guard=None)], rules)


def with_operand(step: Step, role: str, new: Operand) -> Instruction | None:
    """The instruction with another operand for a role; None where the role stands inside another operand."""
    if step.match is None or role not in step.match.roles or step.match.paths.get(role):
        return None
    place = step.match.roles[role]
    operands = step.instruction.operands
    return replace(step.instruction, operands=(*operands[:place], new, *operands[place + 1 :]))


def with_number(
    reading: Reading, step: Step, role: str, number: int, rules: tuple[str, ...] | None = None, *, operation: str = "+"
) -> Change | None:
    """An operand plus a number, or combined with it by `^` or `|`: as a constant, else computed just before."""
    old = operand(step, role)
    if isinstance(old, Integer):
        value = {"+": old.value + number, "^": old.value ^ number, "|": old.value | number}[operation]
        new = with_operand(step, role, Integer(value, str(value)))
        return replaced(reading, step, [new], rules) if new is not None and value != old.value else None
    if not isinstance(old, Name):
        return None
    new = with_operand(step, role, Name(REGISTER))
    if new is None:
        return None
    wide = 16 if operation == "|" else 32
    word = {"+": "add.u32", "^": "xor.b32", "|": f"or.b{wide}"}[operation]
    text = f"{{ .reg .b{wide} {REGISTER}; {word} {REGISTER}, {old.text}, {number}; {print_instruction(new)} }}"
    said = f"`{reading.text(step)}` with {old.text} {operation} {number}"
    return Change(step.start, said, (put(reading, step, text),), rules)


def with_offset(
    reading: Reading, step: Step, role: str, bytes_: int, rules: tuple[str, ...] | None = None
) -> Change | None:
    """An address operand some bytes further on."""
    old = operand(step, role)
    if not isinstance(old, Address):
        return None
    new = with_operand(step, role, replace(old, offset=old.offset + bytes_))
    return replaced(reading, step, [new], rules) if new is not None else None


def through(
    reading: Reading, step: Step, role: str, conversion: str, rules: tuple[str, ...] | None = None
) -> Change | None:
    """An address operand that first goes through a conversion of 64-bit addresses, such as `cvta.shared.u64`."""
    old = operand(step, role)
    if not isinstance(old, Address) or not isinstance(old.base, Name):
        return None
    new = with_operand(step, role, replace(old, base=Name(REGISTER)))
    if new is None:
        return None
    get = "cvt.u64.u32" if reading.width(old.base.text) == 32 else "mov.u64"
    text = (
        f"{{ .reg .b64 {REGISTER}; {get} {REGISTER}, {old.base.text}; {conversion} {REGISTER}, {REGISTER}; "
        f"{print_instruction(new)} }}"
    )
    said = f"`{reading.text(step)}` with {print_operand(old.base)} through {conversion}"
    return Change(step.start, said, (put(reading, step, text),), rules)


def constant(expression: Expression | None, reading: Reading, step: Step) -> int | None:
    """The number that an effect's field is, if it is one that can be read off: a constant, or a register set once."""
    if isinstance(expression, Const) and isinstance(expression.value, int):
        return int(expression.value)
    if not isinstance(expression, Role):
        return None
    given = operand(step, expression.name)
    if isinstance(given, Integer):
        return given.value
    return known(reading, step, given.text) if isinstance(given, Name) else None


def known(reading: Reading, step: Step, name: str) -> int | None:
    """The constant in a register that is written once, by a move of a constant."""
    writers = reading.writers(step, name)
    if len(writers) != 1 or len(writers[0].instruction.operands) != 2:
        return None
    source = writers[0].instruction.operands[1]
    return source.value if isinstance(source, Integer) else None
