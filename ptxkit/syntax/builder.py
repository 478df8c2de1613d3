"""Builds nodes from the rules of `grammars/ptx.lark`: one method for each rule, which is called with its children in
order.

Children are the texts of terminals and the results of other rules' methods. The methods depend only on their children,
and not on positions, so that the parser can apply them to other texts with the same token types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptxkit.diagnostics.catalogue import syntax_errors
from ptxkit.fast_dataclasses import replace
from ptxkit.syntax.constants import MalformedDeclarationError, require_plain_name
from ptxkit.syntax.declaration_rules import (
    DECLARATION_RULES,
    Attributes,
    Formals,
    Results,
    find_child,
    parse_count,
    without_dot,
)
from ptxkit.syntax.operand_rules import OPERAND_RULES, Children
from ptxkit.syntax.tree import (
    Directive,
    Function,
    Guard,
    Instruction,
    LabelStatement,
    Prototype,
    Section,
)

# ---------------------------------------------------------------------------------------------- module level


def _version(children: Children) -> Directive:
    return Directive("version", (children[0],))


def _target(children: Children) -> Directive:
    return Directive("target", tuple(children))


def _address_size(children: Children) -> Directive:
    return Directive("address_size", (children[0],))


def _file(children: Children) -> Directive:
    return Directive("file", tuple(children))


def _pragma(children: Children) -> Directive:
    return Directive("pragma", tuple(children))


def _alias(children: Children) -> Directive:
    return Directive("alias", tuple(children))


def _dwarf(children: Children) -> Directive:
    return Directive("@@DWARF", tuple(children[0].split()[1:]))


def _section(children: Children) -> Section:
    return Section(children[0], tuple(children[1:]))


def _section_label(children: Children) -> str:
    return f"{require_plain_name(children[0], 'label')}:"


def _section_data(children: Children) -> str:
    return f"{children[0]} {', '.join(children[1:])}"


def _section_value(children: Children) -> str:
    return "".join(children)


def _section_symbol(children: Children) -> str:
    for word in children:
        if word[0] not in ".+-" and not word[0].isdigit():
            require_plain_name(word, "symbol")
    return "".join(children)


SOURCE_SECTION = "nv_intermediate_source_section"


def _source_section(children: Children) -> Section:
    text: str = children[0]
    inner = text[text.index("{") + 1 : text.rindex("}")]
    return Section(SOURCE_SECTION, tuple(line.rstrip() for line in inner.strip("\r\n \t").split("\n")))


# ------------------------------------------------------------------------------------------------- functions


def _function(children: Children) -> Function:
    header: Function = children[0]
    if len(children) > 1:
        return replace(header, body=children[1])
    if header.kind == "func" and any(directive.name == "pragma" for directive in header.directives):
        raise MalformedDeclarationError(syntax_errors.PRAGMA_ENDS_DECLARATION())
    return header


def _open_function(children: Children) -> Function:
    header: Function = children[0]
    if header.kind == "entry":
        raise MalformedDeclarationError(syntax_errors.KERNEL_DECLARATION_WITHOUT_SEMICOLON())
    return header


def _inner_function(children: Children) -> Function:
    declared = _header(children)
    if declared.kind == "entry":
        raise MalformedDeclarationError(syntax_errors.KERNEL_IN_FUNCTION())
    return declared


def _header(children: Children) -> Function:
    linkages, *directives = children
    head: Function = directives.pop(0)
    return replace(head, linkage=tuple(linkages), directives=tuple(directives))


def _function_head(kind: str) -> Callable[[Children], Function]:
    def build(children: Children) -> Function:
        name = require_plain_name(next(child for child in children if isinstance(child, str)), "function")
        return Function(
            kind=kind,
            name=name,
            parameters=tuple(find_child(Formals, children) or ()),
            results=tuple(find_child(Results, children) or ()),
            attributes=tuple(find_child(Attributes, children) or ()),
        )

    return build


def _function_directive(children: Children) -> Directive:
    first, *words = children
    return first if isinstance(first, Directive) else Directive(without_dot(first), tuple(words))


def _first(children: Children) -> Any:
    return children[0]


# ------------------------------------------------------------------------------------------------ statements


def _label(children: Children) -> LabelStatement:
    return LabelStatement(require_plain_name(children[0], "label"))


def _loc(children: Children) -> Directive:
    words = list(children[:3])
    for attribute in children[3:]:
        words.extend(attribute)
    return Directive("loc", tuple(words))


def _loc_attribute(children: Children) -> tuple[str, ...]:
    keyword, *rest = children
    if keyword == "inlined_at":
        return tuple(children)
    if rest[0][0] != ".":
        require_plain_name(rest[0], "label")
    return keyword, "".join(rest)


def _loc_intermediate(children: Children) -> Directive:
    return Directive("loc_intermediate", tuple(children))


def _branch_targets(children: Children) -> Directive:
    label, keyword, *words = children
    require_plain_name(label, "label")
    return Directive(without_dot(keyword), tuple(words), label)


def _listed_target(children: Children) -> str:
    require_plain_name(children[0], "label")
    return children[0] if len(children) == 1 else f"{children[0]}<{parse_count(children[1])}>"


def _prototype(children: Children) -> Prototype:
    label, *rest = children
    require_plain_name(label, "label")
    if "_" not in rest:
        raise MalformedDeclarationError(syntax_errors.PROTOTYPE_NAME())
    return Prototype(
        label=label,
        results=tuple(find_child(Results, rest) or ()),
        parameters=tuple(find_child(Formals, rest) or ()),
        directives=tuple(child for child in rest if isinstance(child, Directive)),
    )


def _instruction(children: Children) -> Instruction:
    if isinstance(children[0], Guard):
        return Instruction(children[1], tuple(children[2:]), children[0])
    return Instruction(children[0], tuple(children[1:]))


def _guard(children: Children) -> Guard:
    return Guard(_predicate(children[0]))


def _guard_not(children: Children) -> Guard:
    return Guard(_predicate(children[0]), negated=True)


def _predicate(name: str) -> str:
    if "." in name:
        raise MalformedDeclarationError(syntax_errors.GUARD_WITH_DOT())
    return name


def _opcode(children: Children) -> str:
    return "".join(children)


RULES: dict[str, Callable[[Children], Any]] = {
    **OPERAND_RULES,
    **DECLARATION_RULES,
    "version": _version,
    "target": _target,
    "address_size": _address_size,
    "file": _file,
    "pragma": _pragma,
    "alias": _alias,
    "dwarf": _dwarf,
    "section": _section,
    "section_label": _section_label,
    "section_data": _section_data,
    "section_number": _section_value,
    "section_symbol": _section_symbol,
    "source_section": _source_section,
    "function": _function,
    "open_function": _open_function,
    "inner_function": _inner_function,
    "header": _header,
    "entry": _function_head("entry"),
    "func": _function_head("func"),
    "function_directive": _function_directive,
    "argument": _first,
    "label": _label,
    "loc": _loc,
    "loc_attribute": _loc_attribute,
    "loc_intermediate": _loc_intermediate,
    "branch_targets": _branch_targets,
    "listed_target": _listed_target,
    "prototype": _prototype,
    "instruction": _instruction,
    "guard": _guard,
    "guard_not": _guard_not,
    "opcode": _opcode,
    "modifier": _first,
}
"""The method of each rule but `module`, `body` and `block`, which need positions."""
