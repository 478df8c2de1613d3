"""Raw PTX inside a built kernel: `k.asm("...")`.

    rounded = k.register(b32)
    k.asm("cvt.rna.tf32.f32 {d}, {a};", d=rounded, a=value)
    k.asm("{ .reg .b32 low; mov.b64 {low, _}, {wide}; st.shared.b32 [{to}], low; }", wide=pair, to=tile[3])

`{name}` is replaced by the operand of that name: a register, an address (inside `[ ]`), a label, or a number. Other
braces are those of PTX. The text is parsed immediately, so that errors have the caller's line, and verified with the
rest of the kernel.

Source: PTX ISA, "Instruction Statements".
"""

from __future__ import annotations

import re

from ptxkit.build.addresses import Address
from ptxkit.build.errors import BuildError, BuildTypeError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.number_formats import float_operand
from ptxkit.build.operand_assignment import OperandAssignment, assign_operands
from ptxkit.build.recorder import Label
from ptxkit.build.registers import Register
from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.isa.table import Mismatch
from ptxkit.kernel_model.scalar_types import pred
from ptxkit.syntax import PTXSyntaxError, parse, tree
from ptxkit.syntax.nested_instructions import iterate_instructions

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
_MODULE_PREFIX = ".version 9.0\n.target sm_90a\n.address_size 64\n.entry asm()\n{\n"
"""The text before the statements that makes a module of them; its lines are not the user's."""
_MODULE_ITEMS = 4
"""The number of items in that module: three directives and the function."""


def asm(k: InstructionBuilder, text: str, **operands: object) -> None:
    """Appends statements of PTX text. `{name}` in the text is replaced by the operand of that name.

    Raises `BuildError` at the caller's line if the text is not PTX, or contains an instruction that the table does not
    have.
    """
    k.check_owner(tuple(operands.values()))
    used: set[str] = set()

    def spell(found: re.Match[str]) -> str:
        name = found[1]
        if name not in operands:
            return found[0]  # a vector of one element, or a block that only has a label: the braces of PTX
        used.add(name)
        return _format_operand(name, operands[name])

    filled = _PLACEHOLDER.sub(spell, text)
    unused = sorted(operands.keys() - used)
    if unused:
        raise BuildError(f"the text has no {{{unused[0]}}}, which is given")
    statements = _parse_statements(filled)
    gates = [gate for instruction in iterate_instructions(statements) for gate in _select_form(k, instruction).gates]
    k.raw_gates += gates
    for statement in statements:
        k.recorder.record(statement)


def _select_form(k: InstructionBuilder, instruction: tree.Instruction) -> Match:
    """Returns the form of an instruction. If several forms have the same spelling, the types of predicates decide."""
    found = _match_or_raise(instruction)
    values = [_value(k, each) for each in instruction.operands]
    if len(values) == len(found.operands):
        tried = [assign_operands(each, values, results_given=True) for each in table().candidates(instruction.opcode)]
        fitting = [each for each in tried if isinstance(each, OperandAssignment)]
        return min(fitting, key=lambda each: each.distance).match if fitting else found
    return found


def _value(k: InstructionBuilder, operand: tree.Operand) -> object:
    """Returns a predicate of the kernel with its type, and any other operand as it is written, which every form
    accepts.
    """
    if isinstance(operand, tree.Not):
        return _value(k, operand.operand)
    if isinstance(operand, tree.Name) and operand.text.startswith("%p") and operand.text[2:].isdigit():
        return Register(k, pred, operand.text)
    return operand


def _format_operand(name: str, operand: object) -> str:
    if isinstance(operand, Register | Label):
        return operand.name
    if isinstance(operand, Address):
        base = operand.base if isinstance(operand.base, str) else operand.base.name
        return base + (f"+{operand.offset}" if operand.offset else "")
    if isinstance(operand, float):
        return float_operand(operand, 32).text
    if isinstance(operand, int) and not isinstance(operand, bool):
        return str(operand)
    raise BuildTypeError(f"{{{name}}} is a register, an address, a label or a number, not {type(operand).__name__}")


def _parse_statements(text: str) -> tuple[tree.Statement, ...]:
    try:
        module = parse(f"{_MODULE_PREFIX}{text}\n}}\n")
    except PTXSyntaxError as error:
        first = error.diagnostics[0]
        line = first.source.position(first.span.start)[0] - _MODULE_PREFIX.count("\n")
        message = first.message
        if first.span.start >= len(_MODULE_PREFIX) + len(text.rstrip()) - 1:
            message = message.replace("found `}`", "found its end")  # the brace is not the user's
        raise BuildError(f"line {line} of the text: {message}") from None
    function = module.items[-1]
    if len(module.items) != _MODULE_ITEMS or not isinstance(function, tree.Function) or function.body is None:
        raise BuildError("the text has a brace that closes nothing")
    return tuple(_strip_offsets(each) for each in function.body.statements)


def _strip_offsets(statement: tree.Statement) -> tree.Statement:
    """Returns the statement without offsets, which built trees do not have."""
    if isinstance(statement, tree.Block):
        return tree.Block(tree.Body(tuple(_strip_offsets(each) for each in statement.body.statements)))
    return statement


def _match_or_raise(instruction: tree.Instruction) -> Match:
    match = table().match(instruction)
    if isinstance(match, Mismatch):
        raise BuildError(str(match.message))
    return match
