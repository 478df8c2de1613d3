"""Names that nothing declares, and names that are declared twice, in words with a remedy.

Source: PTX ISA, "Identifiers", "Parameterized Variable Names", "Labels and Function Names as Operands".
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from ptxkit.isa import table
from ptxkit.isa.words import clip
from ptxkit.validate.problems import Problem
from ptxkit.validate.scopes import (
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
    SPECIAL,
    Clash,
    Scope,
    is_symbol,
)

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


def class_words(kind: str) -> str:
    """A class of names in words: `a .shared variable`, `a label`, `a .b32 register`."""
    found = _CLASSES.get(kind)
    if found is not None:
        return found
    return f"a .{kind[1:]} variable" if is_symbol(kind) else f"a .{kind} register"


def undeclared(name: str, scope: Scope, operand: int | None = None, role: str = "") -> Problem:
    """The problem of a name that nothing declares; the remedy is the nearest name that something does."""
    shown = clip(name)
    match = _NUMBERED.fullmatch(name)
    numbered = scope.numbered_for(match[1]) if match is not None else None
    if match is not None and numbered is not None:
        count, named = numbered
        last = f"`{clip(match[1])}0` to `{clip(match[1])}{count - 1}`" if count else "no register"
        return Problem(
            "PTX106",
            f"{role}`{shown}` is not declared: `{clip(match[1])}<{count}>` declares {last}",
            operand,
            help=f"raise the number in `{clip(match[1])}<{count}>`, or use one of its registers",
            related=(named, "declared here"),
            section="Parameterized Variable Names",
        )
    hiding = scope.hiding(name)
    if hiding is not None:
        whole = clip(name.rpartition(".")[0])
        return Problem(
            "PTX106",
            f"{role}`{shown}` is not declared: `{whole}` is {class_words(hiding.kind)}, which has no such element",
            operand,
            help=f"give what is declared as `{whole}` another name" if table().special(name) is not None else None,
            related=(hiding, "declared here"),
        )
    near = get_close_matches(name, list(dict.fromkeys(scope.visible())), 1, 0.6) if len(name) < 200 else []
    help_ = f"did you mean `{clip(near[0])}`?" if near else "declare it before this line, in this block or around it"
    found = scope.find(near[0]) if near else None
    related = (found, f"{class_words(found.kind)} of a like name") if found is not None else None
    return Problem("PTX106", f"{role}`{shown}` is not declared", operand, help=help_, related=related)


def declared_twice(clash: Clash) -> Problem:
    """The problem of a name that its block already has."""
    earlier = class_words(clash.earlier.kind)
    message = f"`{clip(clash.shown)}` is declared twice in one block: it is {earlier} already"
    if clash.later.kind == LABEL:
        message = f"the label `{clip(clash.shown)}` stands twice in one block"
        if clash.earlier.kind != LABEL:
            message = f"the label `{clip(clash.shown)}` has a name that is taken: it is {earlier}"
    return Problem(
        "PTX110",
        message,
        help="rename one of them, or give one a block `{ ... }` of its own",
        related=(clash.earlier, "the name is taken here"),
        section="Identifiers",
    )
