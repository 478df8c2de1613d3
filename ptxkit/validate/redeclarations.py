"""What may be declared again in a module: variables and functions, by the rules of linkage.

A declaration may come before its definition, and `.extern` variables any number of times, as long as all agree. What
agrees, and which linkage may follow which, is as ptxas has it.

Source: PTX ISA, "Linking Directives", "Kernel and Function Directives: .func".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.isa.wording import clip_text
from ptxkit.semantics.symbols import NameClash, NameScope
from ptxkit.syntax.tree import Declaration, Declarator, Function, Item
from ptxkit.validate.arguments import argument_alignment
from ptxkit.validate.name_problems import redeclared_problem
from ptxkit.validate.problem import Problem

_SECTION = "Linking Directives"


def item_problems(item: Item, start: int, scope: NameScope) -> Iterator[Problem]:
    """Enter what an item declares into the module's scope; differences from an earlier declaration come back."""
    clashes = scope.enter(item, start)
    for clash in clashes:
        wrong = _difference(clash)
        if wrong is None:
            yield redeclared_problem(clash)
        elif wrong:
            yield _redeclaration_problem(clash, wrong)
    if isinstance(item, Function) and not clashes and item.body is not None and "extern" in item.linkage:
        yield _extern_body_problem(item)


def _difference(clash: NameClash) -> str | None:
    """In what a declaration differs from an earlier one; empty if it does not, None if nothing declares both."""
    first, second = clash.earlier.node, clash.later.node
    if isinstance(first, Function) and isinstance(second, Function):
        return _function_difference(first, second) or ""
    if not isinstance(first, Declaration) or not isinstance(second, Declaration):
        return None
    name = clash.display_name
    declared = clash.later.declarator(name)
    if declared is None:  # numbered registers
        return None
    one = clash.earlier.declarator(name) or first.declarators[0]
    return _variable_difference(first, one, second, declared) or _redeclaration_obstacle(first, second) or ""


def _redeclaration_problem(clash: NameClash, wrong: str) -> Problem:
    message = ptx1xx.REDECLARATION_DIFFERS(name=clip_text(clash.display_name), difference=wrong)
    help_ = "make both declarations say the same, or rename one"
    return Problem(message, help=help_, related=(clash.earlier, "declared here first"), section=_SECTION)


def _extern_body_problem(item: Function) -> Problem:
    message = ptx1xx.EXTERN_WITH_BODY(name=clip_text(item.name))
    return Problem(message, help="remove `.extern`, or the body", section=_SECTION)


def _variable_difference(first: Declaration, name: Declarator, second: Declaration, again: Declarator) -> str | None:
    """What two declarations of a variable do not agree in."""
    if first.space != second.space:
        both_extern = "extern" in first.linkage and "extern" in second.linkage
        return None if both_extern else f"is in .{second.space}, not .{first.space}"
    if (first.type, first.vector) != (second.type, second.vector):
        return f"has the type .{second.type}, not .{first.type}"
    if len(name.dimensions) != len(again.dimensions):
        return "differs in its dimensions"
    for one, other in zip(name.dimensions, again.dimensions, strict=True):
        if one != other and None not in (one, other):
            return f"has {other} elements, not {one}"
    return None


def _redeclaration_obstacle(first: Declaration, second: Declaration) -> str | None:
    """Why a variable that agrees cannot be declared again."""
    if "extern" in second.linkage:
        return None
    if "extern" not in first.linkage:
        return "only `.extern` variables can be declared again"
    return None if second.linkage else "a variable without linkage cannot stand for an `.extern` one: add `.visible`"


def _function_difference(first: Function, second: Function) -> str | None:
    if first.kind != second.kind:
        return f"is a .{second.kind}, not a .{first.kind}"
    if first.body is not None:
        return "has a body already"
    if "extern" in first.linkage and second.body is not None:
        return "is `.extern` in its first declaration, which a function with a body cannot be"
    if second.linkage and first.linkage != second.linkage:
        return f"its linkage was {' '.join(first.linkage) or 'none'}, and is {' '.join(second.linkage)}"
    return prototype_difference(first, second)


def prototype_difference(first: Function, second: Function) -> str | None:
    """What the second of two functions has that the first has not, or has otherwise, as a caller sees it; or None."""
    if (first.directive("noreturn") is None) != (second.directive("noreturn") is None):
        return "only one of both has `.noreturn`"
    if len(first.parameters) != len(second.parameters) or len(first.results) != len(second.results):
        return "has another number of parameters"
    for one, other in zip((*first.results, *first.parameters), (*second.results, *second.parameters), strict=True):
        wrong = _parameter_difference(one, other)
        if wrong is not None:
            return f"its parameter `{clip_text(other.declarators[0].name)}` {wrong}"
    return None


def _parameter_difference(first: Declaration, second: Declaration) -> str | None:
    if first.space != second.space:
        return f"is in .{second.space}, not .{first.space}"
    one, other = first.declarators[0], second.declarators[0]
    if (first.type, first.vector, one.dimensions) != (second.type, second.vector, other.dimensions):
        return "has another type"
    if argument_alignment(first) != argument_alignment(second):
        return f"is aligned to {argument_alignment(second)} bytes, not {argument_alignment(first)}"
    return None
