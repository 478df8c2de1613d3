"""Names that nothing declares, and names that are declared twice, in words with a remedy.

Source: PTX ISA, "Identifiers", "Parameterized Variable Names", "Labels and Function Names as Operands".
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from ptxkit.diagnostics.catalogue import ptx1xx
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
    LABEL: "a label",
    FUNCTION: "a function",
    ENTRY: "a kernel",
    BRANCH_TARGETS: "a list of branch targets",
    CALL_TARGETS: "a list of call targets",
    PROTOTYPE: "a call prototype",
    KERNEL_PARAMETER: "a kernel parameter",
    INPUT: "a parameter of the function",
    OUTPUT: "a return parameter of the function",
    ARGUMENT: "a .param variable of the body",
    "&texref": "a texture reference",
    "&surfref": "a surface reference",
    "&samplerref": "a sampler reference",
    SPECIAL: "a special register",
}


def describe_class(kind: str) -> str:
    """A class of names in words: `a .shared variable`, `a label`, `a .b32 register`."""
    found = _CLASSES.get(kind)
    if found is not None:
        return found
    return f"a .{kind[1:]} variable" if is_symbol(kind) else f"a .{kind} register"


def undeclared_problem(name: str, scope: TypedScope, operand: int | None = None, role: str = "") -> Problem:
    """The problem of a name that nothing declares; the remedy is the nearest name that something does."""
    shown = clip_text(name)
    match = _NUMBERED.fullmatch(name)
    numbered = scope.numbered_registers(match[1]) if match is not None else None
    if match is not None and numbered is not None:
        count, named = numbered
        last = f"`{clip_text(match[1])}0` to `{clip_text(match[1])}{count - 1}`" if count else "no register"
        return Problem(
            ptx1xx.REGISTER_BEYOND_COUNT(
                role=role, name=shown, register=clip_text(match[1]), count=count, declared=last
            ),
            operand,
            help=f"raise the number in `{clip_text(match[1])}<{count}>`, or use one of its registers",
            related=(named, "declared here"),
            section="Parameterized Variable Names",
        )
    hiding = scope.shadowing_binding(name)
    if hiding is not None:
        whole = clip_text(name.rpartition(".")[0])
        return Problem(
            ptx1xx.ELEMENT_NOT_DECLARED(role=role, name=shown, whole=whole, kind=describe_class(hiding.kind)),
            operand,
            help=f"give what is declared as `{whole}` another name" if table().special(name) is not None else None,
            related=(hiding, "declared here"),
        )
    near = get_close_matches(name, list(dict.fromkeys(scope.visible_names())), 1, 0.6) if len(name) < 200 else []
    help_ = (
        f"did you mean `{clip_text(near[0])}`?" if near else "declare it before this line, in this block or around it"
    )
    found = scope.find(near[0]) if near else None
    related = (found, f"{describe_class(found.kind)} of a like name") if found is not None else None
    return Problem(ptx1xx.NAME_NOT_DECLARED(role=role, name=shown), operand, help=help_, related=related)


def redeclared_problem(clash: NameClash) -> Problem:
    """The problem of a name that its block already has."""
    earlier = describe_class(clash.earlier.kind)
    message = ptx1xx.DECLARED_TWICE_IN_BLOCK(name=clip_text(clash.display_name), earlier=earlier)
    if clash.later.kind == LABEL:
        message = ptx1xx.LABEL_TWICE_IN_BLOCK(name=clip_text(clash.display_name))
        if clash.earlier.kind != LABEL:
            message = ptx1xx.LABEL_NAME_TAKEN(name=clip_text(clash.display_name), earlier=earlier)
    return Problem(
        message,
        help="rename one of them, or give one a block `{ ... }` of its own",
        related=(clash.earlier, "the name is taken here"),
        section="Identifiers",
    )
