"""Proposes fixes of findings about addresses: of another kind or space than required, misaligned, or out of bounds."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix
from ptxkit.diagnostics.catalogue import fix_titles
from ptxkit.fast_dataclasses import replace
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.fixes.statement_edits import (
    delete_statement,
    labeled_steps,
    replace_base,
    replace_opcode,
    replace_operand,
    respell_opcode,
    statement_text,
)
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Name

_SPACES = ("shared", "shared::cta", "shared::cluster", "global", "local", "const", "param")


def fix_generic_in_space(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields fixes with the address before its conversion, with one converted back, or with a generic instruction."""
    space, address = _space_of_name(item, "space"), _address_operand(item, step)
    if address is None or space is None:
        return
    place, operand, base = address
    for writer in around.reaching_writers(step, base):
        source = _conversion_source(writer, "to_generic")
        if source is None:
            continue
        if source == base:
            yield Fix(fix_titles.REMOVE(text=statement_text(around, writer)), (delete_statement(around, writer),))
        else:
            title = fix_titles.USE_UNCONVERTED(source=source, opcode=writer.instruction.opcode, base=base)
            yield Fix(title, (replace_base(around, step, place, operand, source),))
    width = around.width(step, base)
    if width is not None:
        opcode = f"cvta.to.{space.partition('::')[0]}.u{width}"
        yield from _with_converted_address(around, step, place, operand, width, opcode)
    yield from _with_space_modifier(around, step, space, None)


def fix_offset_as_generic(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields fixes with the instruction for the state space, or with a converted address.

    The address is converted where it is copied from, or otherwise before the instruction.
    """
    space, address = _space_of_name(item, "space"), _address_operand(item, step)
    if space is None:
        return
    for word in dict.fromkeys((space, f"{space}::cta")):
        yield from _with_space_modifier(around, step, None, word)
    if address is None:
        return
    place, operand, base = address
    width = around.width(step, base)
    if width is None:
        return
    opcode = f"cvta.{space}.u{width}"
    for writer in around.reaching_writers(step, base):
        if _conversion_source(writer, "copy") is not None:
            yield Fix(fix_titles.CONVERT_ADDRESS(opcode=opcode), (replace_opcode(around, writer, opcode),))
    yield from _with_converted_address(around, step, place, operand, width, opcode)


def fix_wrong_space(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields fixes with the instruction for the state space that contains the address."""
    taken, origin = _space_of_name(item, "space"), _space_of_name(item, "origin")
    if taken is None or origin is None:
        return
    stem = taken.partition("::")[0]
    for word in dict.fromkeys((taken, stem, f"{stem}::cta")):
        yield from _with_space_modifier(around, step, word, origin)


def fix_double_conversion(item: Diagnostic, around: FunctionContext, _: Step) -> Iterator[Fix]:
    """Yields fixes without the conversion of an address that is not generic."""
    for other in labeled_steps(item, around):
        source = other.instruction.operands[-1]
        width = around.width(other, source.text) if isinstance(source, Name) else None
        if width is not None:
            opcode = f"mov.u{width}"
            yield Fix(fix_titles.KEEP_ADDRESS(opcode=opcode), (replace_opcode(around, other, opcode),))


def fix_misalignment(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields fixes with the nearest offsets that are multiples of the alignment.

    The offset is that of this access, or of another access through the same pointer.
    """
    needed, address = item.properties.get("alignment"), _address_operand(item, step)
    if not isinstance(needed, int):
        return
    found = [(step, *address[:2])] if address is not None else []
    for other in labeled_steps(item, around):
        operands = enumerate(other.instruction.operands)
        found += [(other, place, operand) for place, operand in operands if isinstance(operand, Address)]
    for each, place, operand in found:
        below = operand.offset - operand.offset % needed
        for offset in (below, below + needed) if operand.offset % needed else ():
            new = print_operand(replace(operand, offset=offset))
            yield Fix(fix_titles.MOVE_ADDRESS(address=new), (replace_operand(around, each, place, new),))


def fix_out_of_bounds(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields fixes with the nearest offset at which the variable contains all bytes of the access."""
    address, name = _address_operand(item, step), item.properties.get("variable")
    begin, needed = item.properties.get("offset"), item.properties.get("bytes")
    size = next((each.size for each in around.program.variables if each.name == name), None)
    if address is None or size is None or not isinstance(begin, int) or not isinstance(needed, int) or needed > size:
        return
    place, operand, _ = address
    moved = replace(operand, offset=operand.offset + min(max(begin, 0), size - needed) - begin)
    new = print_operand(moved)
    yield Fix(fix_titles.MOVE_ADDRESS(address=new), (replace_operand(around, step, place, new),))


def _address_operand(item: Diagnostic, step: Step) -> tuple[int, Address, str] | None:
    """Returns the operand of a finding: its position, the operand, and the name of its base register or variable."""
    role = item.properties.get("operand")
    if step.match is None or not isinstance(role, str) or step.match.paths.get(role):
        return None
    operand, place = step.operand(role), step.match.roles.get(role)
    if place is None or not isinstance(operand, Address) or not isinstance(operand.base, Name):
        return None
    return place, operand, operand.base.text


def _space_of_name(item: Diagnostic, name: str) -> str | None:
    value = item.properties.get(name)
    return value if value in _SPACES else None


def _conversion_source(step: Step, function: str) -> str | None:
    """Returns the name of the operand that an instruction converts or copies."""
    for effect in step.effects:
        if isinstance(effect, Value) and isinstance(effect.value, CallExpr) and effect.value.function == function:
            source = step.instruction.operands[-1]
            return source.text if isinstance(source, Name) and step.instruction.guard is None else None
    return None


def _with_converted_address(
    around: FunctionContext, step: Step, place: int, operand: Address, width: int, opcode: str
) -> Iterator[Fix]:
    """Yields a fix that converts the address before the instruction."""
    span = statement_spans(around.source, step.start).statement
    base = print_operand(operand.base)
    head = f"{{\n\t.reg .b{width} %converted;\n\t{opcode} %converted, {base};\n\t"
    yield Fix(
        fix_titles.CONVERT_ADDRESS(opcode=opcode),
        (
            Edit(Span(span.start, span.start), around.indent_lines(span.start, head)),
            replace_base(around, step, place, operand, "%converted"),
            Edit(Span(span.end, span.end), around.indent_lines(span.start, "\n}")),
        ),
    )


def _with_space_modifier(around: FunctionContext, step: Step, old: str | None, new: str | None) -> Iterator[Fix]:
    """Yields a fix with another state space in the opcode, if the instruction keeps its kinds of effects."""
    name, *words = step.instruction.opcode.split(".")
    if old is not None and old not in words:
        return
    kept = words if old is None else [word for word in words if word != old]
    where = range(len(kept) + 1) if old is None else [words.index(old)]
    tried = [".".join([name, *kept[:at], *([new] if new else []), *kept[at:]]) for at in where]
    for opcode in tried:
        wanted = respell_opcode(step, opcode)
        if wanted is not None:
            yield Fix(fix_titles.WRITE(text=wanted), (replace_opcode(around, step, wanted),))
            return
