"""Undeclared names, and names that are declared twice, with a remedy.

Source: PTX ISA, "Identifiers", "Parameterized Variable Names", "Labels and Function Names as Operands".
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import declaration_helps, ptx1xx
from ptxkit.isa import table
from ptxkit.isa.wording import clip_text
from ptxkit.semantics.symbols import (
    ARGUMENT,
    BRANCH_TARGETS,
    CALL_TARGETS,
    ENTRY,
    FUNCTION,
    INPUT,
    KERNEL_PARAMETER,
    LABEL,
    OUTPUT,
    PROTOTYPE,
    NameClash,
    is_symbol,
)
from ptxkit.validate.problem import Problem
from ptxkit.validate.typed_scope import SPECIAL, TypedScope

_NUMBERED = re.compile(r"(.*?[^0-9])[0-9]+")

_CLASSES = {
    LABEL: declaration_helps.LABEL_KIND(),
    FUNCTION: declaration_helps.FUNCTION_KIND(),
    ENTRY: declaration_helps.KERNEL_KIND(),
    BRANCH_TARGETS: declaration_helps.BRANCH_TARGETS_KIND(),
    CALL_TARGETS: declaration_helps.CALL_TARGETS_KIND(),
    PROTOTYPE: declaration_helps.PROTOTYPE_KIND(),
    KERNEL_PARAMETER: declaration_helps.KERNEL_PARAMETER_KIND(),
    INPUT: declaration_helps.INPUT_KIND(),
    OUTPUT: declaration_helps.OUTPUT_KIND(),
    ARGUMENT: declaration_helps.ARGUMENT_KIND(),
    "&texref": declaration_helps.TEXTURE_KIND(),
    "&surfref": declaration_helps.SURFACE_KIND(),
    "&samplerref": declaration_helps.SAMPLER_KIND(),
    SPECIAL: declaration_helps.SPECIAL_REGISTER_KIND(),
}


def describe_class(kind: str) -> Message:
    """Describes a class of names: `a .shared variable`, `a label`, `a .b32 register`."""
    found = _CLASSES.get(kind)
    if found is not None:
        return found
    if is_symbol(kind):
        return declaration_helps.A_VARIABLE(type=kind[1:])
    return declaration_helps.REGISTER_KIND(type=kind)


def undeclared_problem(name: str, scope: TypedScope, operand: int | None = None, role: Message | str = "") -> Problem:
    """Returns the problem of an undeclared name; the remedy is the nearest declared name."""
    shown = clip_text(name)
    match = _NUMBERED.fullmatch(name)
    numbered = scope.numbered_registers(match[1]) if match is not None else None
    if match is not None and numbered is not None:
        count, named = numbered
        last = (
            f"`{clip_text(match[1])}0` to `{clip_text(match[1])}{count - 1}`"
            if count
            else declaration_helps.NO_REGISTER()
        )
        return Problem(
            ptx1xx.REGISTER_BEYOND_COUNT(
                role=role, name=shown, register=clip_text(match[1]), count=count, declared=last
            ),
            operand,
            help=declaration_helps.RAISE_COUNT(register=clip_text(match[1]), count=count),
            related=(named, declaration_helps.DECLARED_HERE()),
            section="Parameterized Variable Names",
        )
    hiding = scope.shadowing_binding(name)
    if hiding is not None:
        whole = clip_text(name.rpartition(".")[0])
        return Problem(
            ptx1xx.ELEMENT_NOT_DECLARED(role=role, name=shown, whole=whole, kind=describe_class(hiding.kind)),
            operand,
            help=declaration_helps.RENAME_HIDING(name=whole) if table().special(name) is not None else None,
            related=(hiding, declaration_helps.DECLARED_HERE()),
        )
    near = get_close_matches(name, list(dict.fromkeys(scope.visible_names())), 1, 0.6) if len(name) < 200 else []
    help_ = declaration_helps.DID_YOU_MEAN(name=clip_text(near[0])) if near else declaration_helps.DECLARE_BEFORE()
    found = scope.find(near[0]) if near else None
    related = (found, declaration_helps.OF_SIMILAR_NAME(kind=describe_class(found.kind))) if found is not None else None
    return Problem(ptx1xx.NAME_NOT_DECLARED(role=role, name=shown), operand, help=help_, related=related)


def redeclared_problem(clash: NameClash) -> Problem:
    """Returns the problem of a name that its block already has."""
    earlier = describe_class(clash.earlier.kind)
    message = ptx1xx.DECLARED_TWICE_IN_BLOCK(name=clip_text(clash.display_name), earlier=earlier)
    if clash.later.kind == LABEL:
        message = ptx1xx.LABEL_TWICE_IN_BLOCK(name=clip_text(clash.display_name))
        if clash.earlier.kind != LABEL:
            message = ptx1xx.LABEL_NAME_TAKEN(name=clip_text(clash.display_name), earlier=earlier)
    return Problem(
        message,
        help=declaration_helps.RENAME_OR_BLOCK(),
        related=(clash.earlier, declaration_helps.NAME_TAKEN_HERE()),
        section="Identifiers",
    )
