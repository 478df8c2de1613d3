"""Changes of the text of an instruction: deleted, duplicated, replaced, moved, or restricted to one thread."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.expressions import ConstantExpr, Expression, OperandRole
from ptxkit.syntax.printer import print_instruction, print_operand
from ptxkit.syntax.tree import Address, Guard, Instruction, Integer, Name, Operand
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.mutation.mutant import Splice

SCRATCH_REGISTER = "%fault_value"
SCRATCH_PREDICATE = "%fault_here"


@dataclass(frozen=True, slots=True)
class MutationEdit:
    """One change of one function. start: the offset of the change. rules: the violated rules, or None for those of the
    operator.
    """

    start: int
    text: str
    splices: tuple[Splice, ...]
    rules: tuple[str, ...] | None = None


def splice_text(reading: FunctionAnalysis, step: Step, text: str) -> Splice:
    """Returns an edit that replaces an instruction by a text."""
    span = reading.span(step)
    return span.start, span.end, text


def delete_step(reading: FunctionAnalysis, step: Step, rules: tuple[str, ...] | None = None) -> MutationEdit:
    return MutationEdit(step.start, f"`{reading.text(step)}` deleted", (splice_text(reading, step, ""),), rules)


def duplicate_step(reading: FunctionAnalysis, step: Step, rules: tuple[str, ...] | None = None) -> MutationEdit:
    text = reading.text(step)
    return MutationEdit(step.start, f"`{text}` twice", (splice_text(reading, step, f"{text} {text}"),), rules)


def replace_step(
    reading: FunctionAnalysis, step: Step, new: Sequence[Instruction], rules: tuple[str, ...] | None = None
) -> MutationEdit:
    """Returns an edit that replaces an instruction by others."""
    text = " ".join(print_instruction(each) for each in new)
    return MutationEdit(
        step.start, f"`{reading.text(step)}` becomes `{text}`", (splice_text(reading, step, text),), rules
    )


def move_before(
    reading: FunctionAnalysis, step: Step, place: Step, rules: tuple[str, ...] | None = None
) -> MutationEdit:
    """Returns an edit that moves an instruction before an earlier one."""
    text = reading.text(step)
    splices = (splice_text(reading, place, f"{text} {reading.text(place)}"), splice_text(reading, step, ""))
    return MutationEdit(step.start, f"`{text}` moved before `{reading.text(place)}`", splices, rules)


def move_after(
    reading: FunctionAnalysis, step: Step, place: Step, rules: tuple[str, ...] | None = None
) -> MutationEdit:
    """Returns an edit that moves an instruction after a later one."""
    text = reading.text(step)
    splices = (splice_text(reading, step, ""), splice_text(reading, place, f"{reading.text(place)} {text}"))
    return MutationEdit(step.start, f"`{text}` moved after `{reading.text(place)}`", splices, rules)


def restrict_to_one_thread(reading: FunctionAnalysis, step: Step, rules: tuple[str, ...] | None = None) -> MutationEdit:
    """Returns an edit that makes only thread 0 execute an instruction."""
    guarded = replace(step.instruction, guard=Guard(SCRATCH_PREDICATE))
    text = (
        f"{{ .reg .pred {SCRATCH_PREDICATE}; .reg .b32 {SCRATCH_REGISTER}; mov.u32 {SCRATCH_REGISTER}, %tid.x; "
        f"setp.eq.u32 {SCRATCH_PREDICATE}, {SCRATCH_REGISTER}, 0; {print_instruction(guarded)} }}"
    )
    return MutationEdit(
        step.start, f"`{reading.text(step)}` by thread 0 only", (splice_text(reading, step, text),), rules
    )


def remove_guard(reading: FunctionAnalysis, step: Step, rules: tuple[str, ...] | None = None) -> MutationEdit:
    return replace_step(reading, step, [replace(step.instruction, guard=None)], rules)


def substitute_operand(step: Step, role: str, new: Operand) -> Instruction | None:
    """Returns the instruction with another operand for a role, or None if the role is inside another operand."""
    if step.match is None or role not in step.match.roles or step.match.paths.get(role):
        return None
    place = step.match.roles[role]
    operands = step.instruction.operands
    return replace(step.instruction, operands=(*operands[:place], new, *operands[place + 1 :]))


def combine_with_number(
    reading: FunctionAnalysis,
    step: Step,
    role: str,
    number: int,
    rules: tuple[str, ...] | None = None,
    *,
    operation: str = "+",
) -> MutationEdit | None:
    """Returns an edit that adds a number to an operand, or combines it by `^` or `|`: as a constant, or computed
    before.
    """
    old = step.operand(role)
    if isinstance(old, Integer):
        value = {"+": old.value + number, "^": old.value ^ number, "|": old.value | number}[operation]
        new = substitute_operand(step, role, Integer(value, str(value)))
        return replace_step(reading, step, [new], rules) if new is not None and value != old.value else None
    if not isinstance(old, Name):
        return None
    new = substitute_operand(step, role, Name(SCRATCH_REGISTER))
    if new is None:
        return None
    wide = 16 if operation == "|" else 32
    word = {"+": "add.u32", "^": "xor.b32", "|": f"or.b{wide}"}[operation]
    scratch = SCRATCH_REGISTER
    text = f"{{ .reg .b{wide} {scratch}; {word} {scratch}, {old.text}, {number}; {print_instruction(new)} }}"
    description = f"`{reading.text(step)}` with {old.text} {operation} {number}"
    return MutationEdit(step.start, description, (splice_text(reading, step, text),), rules)


def add_offset(
    reading: FunctionAnalysis, step: Step, role: str, bytes_: int, rules: tuple[str, ...] | None = None
) -> MutationEdit | None:
    """Returns an edit that adds an offset in bytes to an address operand."""
    old = step.operand(role)
    if not isinstance(old, Address):
        return None
    new = substitute_operand(step, role, replace(old, offset=old.offset + bytes_))
    return replace_step(reading, step, [new], rules) if new is not None else None


def convert_address(reading: FunctionAnalysis, step: Step, role: str, conversion: str) -> MutationEdit | None:
    """Returns an edit that applies a conversion of 64-bit addresses, such as `cvta.shared.u64`, to an address
    operand.
    """
    old = step.operand(role)
    if not isinstance(old, Address) or not isinstance(old.base, Name):
        return None
    new = substitute_operand(step, role, replace(old, base=Name(SCRATCH_REGISTER)))
    if new is None:
        return None
    get = "cvt.u64.u32" if reading.width(old.base.text) == 32 else "mov.u64"
    scratch = SCRATCH_REGISTER
    text = (
        f"{{ .reg .b64 {scratch}; {get} {scratch}, {old.base.text}; {conversion} {scratch}, {scratch}; "
        f"{print_instruction(new)} }}"
    )
    description = f"`{reading.text(step)}` with {print_operand(old.base)} through {conversion}"
    return MutationEdit(step.start, description, (splice_text(reading, step, text),))


def resolve_constant(expression: Expression | None, reading: FunctionAnalysis, step: Step) -> int | None:
    """Returns the value of an effect's field if it is a constant, or a register that is written once with a
    constant.
    """
    if isinstance(expression, ConstantExpr) and isinstance(expression.value, int):
        return int(expression.value)
    if not isinstance(expression, OperandRole):
        return None
    given = step.operand(expression.name)
    if isinstance(given, Integer):
        return given.value
    return register_constant(reading, step, given.text) if isinstance(given, Name) else None


def register_constant(reading: FunctionAnalysis, step: Step, name: str) -> int | None:
    """Returns the constant in a register that is written once, by a move of a constant, or None."""
    writers = reading.writers(step, name)
    if len(writers) != 1 or len(writers[0].instruction.operands) != 2:
        return None
    source = writers[0].instruction.operands[1]
    return source.value if isinstance(source, Integer) else None
