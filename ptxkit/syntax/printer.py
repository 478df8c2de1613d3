"""The canonical text of a tree.

One statement on each line, a tab for each level, one blank between words, no comments. Parsing the text again yields an
equal tree.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.syntax.tree import (
    Address,
    Apply,
    Arguments,
    Binary,
    Block,
    Body,
    Conditional,
    Declaration,
    Declarator,
    Directive,
    Element,
    Float,
    Function,
    Instruction,
    Integer,
    Item,
    LabelStatement,
    Module,
    Name,
    Not,
    Operand,
    Pair,
    Prototype,
    Section,
    Statement,
    Unary,
    Vector,
)

# The precedence of binary operators, as in the grammar; 0 is the conditional.
_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_UNARY = 11
_PRIMARY = 12

_TERMINATED = frozenset({"pragma", "alias", "branchtargets", "calltargets"})
_COMMA_FREE = frozenset({"loc", "loc_intermediate"})


def print_operand(operand: Operand) -> str:
    """Returns the text of one operand or initializer."""
    match operand:
        case Name(text) | Integer(_, text) | Float(_, _, text):
            return text
        case Vector(elements):
            return f"{{{_join_operands(elements)}}}"
        case Arguments(elements):
            return f"({_join_operands(elements)})"
        case Address():
            return _address(operand)
        case Element(base, index):
            return f"{base.text}[{print_operand(index)}]"
        case Not(name):
            return f"!{name.text}"
        case Pair(first, second):
            return f"{_parenthesize(first, 3)}|{_parenthesize(second, 4)}"
        case Apply(function, argument):
            return f"{function}({print_operand(argument)})"
        case _:
            return _expression(operand)


def _join_operands(operands: tuple[Operand, ...]) -> str:
    return ", ".join(map(print_operand, operands))


def _address(address: Address) -> str:
    sign = "+" if address.offset else ""
    offset = str(address.offset) if address.offset else ""
    index = f", {_join_operands(address.index)}" if address.index else ""
    return f"[{print_operand(address.base)}{sign}{offset}{index}]"


def _expression(operand: Operand) -> str:
    match operand:
        case Unary(operator, inner):
            # `- -1` must not become `--1`, which is harmless to PTX but hard to read. Parentheses instead of the blank
            # would make the nesting deeper, and perhaps too deep for the parser.
            text = _parenthesize(inner, _UNARY)
            return f"{operator} {text}" if text[0] in "+-" and operator in "+-" else f"{operator}{text}"
        case Binary("=", left, right):
            return f"{print_operand(left)} = {print_operand(right)}"
        case Binary(operator, left, right):
            binding = _PRECEDENCE[operator]
            # Blanks on both sides distinguish `7 % 3` from `7 %3`, which is an identifier.
            return f"{_parenthesize(left, binding)} {operator} {_parenthesize(right, binding + 1)}"
        case Conditional(test, then, otherwise):
            return f"{_parenthesize(test, 1)} ? {print_operand(then)} : {print_operand(otherwise)}"
        case _:
            raise TypeError(f"{operand!r} is no operand")


def _parenthesize(operand: Operand, binding: int) -> str:
    """Returns an operand of an operator of this precedence, in parentheses if its own is lower."""
    text = print_operand(operand)
    match operand:
        case Conditional():
            own = 0
        case Binary(operator):
            own = _PRECEDENCE.get(operator, 0)
        case Pair():
            own = 3
        case Unary() | Not():
            own = _UNARY
        case _:
            own = _PRIMARY
    return text if own >= binding else f"({text})"


# ---------------------------------------------------------------------------------------------- statements


def print_instruction(instruction: Instruction) -> str:
    """Returns, for example, `@%p add.s32 %r1, %r2, 3;` without a line end."""
    guard = instruction.guard
    before = f"@{'!' if guard.negated else ''}{guard.predicate} " if guard else ""
    operands = f" {_join_operands(instruction.operands)}" if instruction.operands else ""
    return f"{before}{instruction.opcode}{operands};"


def print_directive(directive: Directive) -> str:
    """Returns any directive, with its terminator if it has one."""
    name, words = directive.name, directive.words
    if name == "@@DWARF":
        return " ".join((name, *words))
    label = f"{directive.label}: " if directive.label else ""
    if name == "loc":
        text = _loc(words)
    elif name == "file":
        text = " ".join(words[:2]) + "".join(f", {word}" for word in words[2:])
    else:
        text = (" " if name in _COMMA_FREE else ", ").join(words)
    space = " " if text else ""
    return f"{label}.{name}{space}{text}{';' if name in _TERMINATED else ''}"


def _loc(words: tuple[str, ...]) -> str:
    text = " ".join(words[:3])
    place = 3
    while place < len(words):
        # An attribute is a word and a position of three numbers, or a word and a label.
        end = place + (4 if words[place + 1][0].isdigit() else 2)
        text += f", {' '.join(words[place:end])}"
        place = end
    return text


def _head(declaration: Declaration) -> str:
    parts = [f".{word}" for word in declaration.linkage]
    if declaration.space:
        parts.append(f".{declaration.space}")
    if declaration.attributes:
        parts.append(f".attribute({', '.join(declaration.attributes)})")
    if declaration.alignment is not None:
        parts.append(f".align {declaration.alignment}")
    if declaration.vector is not None:
        parts.append(f".{declaration.vector}")
    parts.append(f".{declaration.type}")
    if declaration.pointer is not None:
        parts.append(".ptr")
        parts += [f".{word}" for word in declaration.pointer]
    if declaration.pointer_alignment is not None:
        parts.append(f".align {declaration.pointer_alignment}")
    return " ".join(parts)


def _declarator(declarator: Declarator) -> str:
    count = f"<{declarator.count}>" if declarator.count is not None else ""
    dimensions = "".join("[]" if length is None else f"[{length}]" for length in declarator.dimensions)
    value = f" = {print_operand(declarator.initialiser)}" if declarator.initialiser is not None else ""
    return f"{declarator.name}{count}{dimensions}{value}"


def print_declaration(declaration: Declaration) -> str:
    """Returns a declaration without its semicolon, as it is written among parameters."""
    return f"{_head(declaration)} {', '.join(map(_declarator, declaration.declarators))}".rstrip()


def _prototype(prototype: Prototype) -> str:
    results = f" {_formals(prototype.results)}" if prototype.results else ""
    directives = "".join(f" {print_directive(directive)}" for directive in prototype.directives)
    return f"{prototype.label}: .callprototype{results} _ {_formals(prototype.parameters)}{directives};"


def _formals(parameters: tuple[Declaration, ...]) -> str:
    return f"({', '.join(map(print_declaration, parameters))})"


def statement_lines(statement: Statement, indent: str) -> Iterator[str]:
    """Yields the lines of one statement."""
    match statement:
        case Instruction():
            yield indent + print_instruction(statement)
        case LabelStatement(name):
            yield f"{name}:"
        case Declaration():
            yield f"{indent}{print_declaration(statement)};"
        case Directive():
            yield indent + print_directive(statement)
        case Prototype():
            yield indent + _prototype(statement)
        case Function():
            yield from (indent + line for line in item_lines(statement))
        case Block(body):
            yield f"{indent}{{"
            yield from body_lines(body, indent + "\t")
            yield f"{indent}}}"


def body_lines(body: Body, indent: str) -> Iterator[str]:
    """Yields the lines of all statements of a body."""
    for statement in body.statements:
        yield from statement_lines(statement, indent)


# -------------------------------------------------------------------------------------------------- module


def function_header_lines(function: Function) -> Iterator[str]:
    """Yields the lines before the body, without a terminator."""
    parts = [f".{word}" for word in function.linkage]
    parts.append(f".{function.kind}")
    if function.attributes:
        parts.append(f".attribute({', '.join(function.attributes)})")
    if function.results:
        parts.append(_formals(function.results))
    parts.append(function.name)
    head = " ".join(parts)
    if function.parameters:
        yield f"{head}("
        last = len(function.parameters) - 1
        for place, parameter in enumerate(function.parameters):
            yield f"\t{print_declaration(parameter)}{',' if place < last else ''}"
        yield ")"
    else:
        yield f"{head}()"
    for directive in function.directives:
        yield print_directive(directive)


def item_lines(item: Item) -> Iterator[str]:
    """Yields the lines of one item of a module."""
    match item:
        case Function(body=None):
            *before, last = function_header_lines(item)
            yield from before
            yield f"{last};"
        case Function(body=body):
            yield from function_header_lines(item)
            yield "{"
            if body is not None:
                yield from body_lines(body, "\t")
            yield "}"
        case Section(name, lines):
            dot = "" if name.startswith(".") else "."
            yield f"{dot}{name} {{" if dot else f".section {name} {{"
            for line in lines:
                yield line if dot or line.endswith(":") else f"\t{line}"
            yield "}"
        case Directive():
            yield print_directive(item)
        case Declaration():
            yield f"{print_declaration(item)};"
        case Prototype():
            yield _prototype(item)


def print_module(module: Module) -> str:
    """Returns the canonical text of a module, with a line end after each line and a blank line around functions and
    sections.
    """
    lines: list[str] = []
    apart = False
    for item in module.items:
        large = isinstance(item, Section) or (isinstance(item, Function) and item.body is not None)
        if lines and (large or apart):
            lines.append("")
        lines.extend(item_lines(item))
        apart = large
    return "\n".join(lines) + "\n"
