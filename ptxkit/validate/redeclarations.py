"""Redeclarations in a module: variables and functions, by the rules of linkage.

A declaration may precede its definition, and `.extern` variables may be declared any number of times, as long as all
declarations agree. The rules of agreement and linkage are those of ptxas.

Source: PTX ISA, "Linking Directives", "Kernel and Function Directives: .func".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import declaration_helps, ptx1xx
from ptxkit.isa.wording import clip_text
from ptxkit.semantics.symbols import NameClash, NameScope
from ptxkit.syntax.tree import Declaration, Declarator, Function, Item
from ptxkit.validate.arguments import argument_alignment
from ptxkit.validate.name_problems import redeclared_problem
from ptxkit.validate.problem import Problem

_SECTION = "Linking Directives"


def item_problems(item: Item, start: int, scope: NameScope) -> Iterator[Problem]:
    """Enters the declarations of an item in the module's scope, and yields differences from earlier declarations."""
    clashes = scope.enter(item, start)
    for clash in clashes:
        wrong = _difference(clash)
        if isinstance(wrong, Message):
            yield _redeclaration_problem(clash, wrong)
        elif not wrong:
            yield redeclared_problem(clash)
    if isinstance(item, Function) and not clashes and item.body is not None and "extern" in item.linkage:
        yield _extern_body_problem(item)


def _difference(clash: NameClash) -> Message | bool:
    """Returns the difference of a declaration from an earlier one; True if none exists, False if nothing declares
    both.
    """
    first, second = clash.earlier.node, clash.later.node
    if isinstance(first, Function) and isinstance(second, Function):
        return _function_difference(first, second) or True
    if not isinstance(first, Declaration) or not isinstance(second, Declaration):
        return False
    name = clash.display_name
    declared = clash.later.declarator(name)
    if declared is None:  # numbered registers
        return False
    one = clash.earlier.declarator(name) or first.declarators[0]
    return _variable_difference(first, one, second, declared) or _redeclaration_obstacle(first, second) or True


def _redeclaration_problem(clash: NameClash, wrong: Message) -> Problem:
    message = ptx1xx.REDECLARATION_DIFFERS(name=clip_text(clash.display_name), difference=wrong)
    help_ = declaration_helps.MAKE_DECLARATIONS_AGREE()
    return Problem(
        message, help=help_, related=(clash.earlier, declaration_helps.DECLARED_HERE_FIRST()), section=_SECTION
    )


def _extern_body_problem(item: Function) -> Problem:
    message = ptx1xx.EXTERN_WITH_BODY(name=clip_text(item.name))
    return Problem(message, help=declaration_helps.REMOVE_EXTERN_OR_BODY(), section=_SECTION)


def _variable_difference(
    first: Declaration, name: Declarator, second: Declaration, again: Declarator
) -> Message | None:
    """Returns a property in which two declarations of a variable differ, or None."""
    if first.space != second.space:
        both_extern = "extern" in first.linkage and "extern" in second.linkage
        return None if both_extern else declaration_helps.SPACE_DIFFERS(space=second.space, earlier=first.space)
    if (first.type, first.vector) != (second.type, second.vector):
        return declaration_helps.TYPE_DIFFERS(type=second.type, earlier=first.type)
    if len(name.dimensions) != len(again.dimensions):
        return declaration_helps.DIMENSIONS_DIFFER()
    for one, other in zip(name.dimensions, again.dimensions, strict=True):
        if one != other and None not in (one, other):
            return declaration_helps.LENGTH_DIFFERS(length=other, earlier=one)
    return None


def _redeclaration_obstacle(first: Declaration, second: Declaration) -> Message | None:
    """Returns why a variable that agrees cannot be declared again, or None."""
    if "extern" in second.linkage:
        return None
    if "extern" not in first.linkage:
        return declaration_helps.NOT_EXTERN()
    return None if second.linkage else declaration_helps.WITHOUT_LINKAGE()


def _function_difference(first: Function, second: Function) -> Message | None:
    if first.kind != second.kind:
        return declaration_helps.KIND_DIFFERS(kind=second.kind, earlier=first.kind)
    if first.body is not None:
        return declaration_helps.HAS_BODY_ALREADY()
    if "extern" in first.linkage and second.body is not None:
        return declaration_helps.FIRST_IS_EXTERN()
    if second.linkage and first.linkage != second.linkage:
        earlier = " ".join(first.linkage) or "none"
        return declaration_helps.LINKAGE_DIFFERS(earlier=earlier, linkage=" ".join(second.linkage))
    return prototype_difference(first, second)


def prototype_difference(first: Function, second: Function) -> Message | None:
    """Returns a property of the second function that the first does not have, or has otherwise, as a caller sees it, or
    None.
    """
    if (first.directive("noreturn") is None) != (second.directive("noreturn") is None):
        return declaration_helps.NORETURN_DIFFERS()
    if len(first.parameters) != len(second.parameters) or len(first.results) != len(second.results):
        return declaration_helps.PARAMETER_COUNT_DIFFERS()
    for one, other in zip((*first.results, *first.parameters), (*second.results, *second.parameters), strict=True):
        wrong = _parameter_difference(one, other)
        if wrong is not None:
            return declaration_helps.PARAMETER_DIFFERS(name=clip_text(other.declarators[0].name), difference=wrong)
    return None


def _parameter_difference(first: Declaration, second: Declaration) -> Message | None:
    if first.space != second.space:
        return declaration_helps.SPACE_DIFFERS(space=second.space, earlier=first.space)
    one, other = first.declarators[0], second.declarators[0]
    if (first.type, first.vector, one.dimensions) != (second.type, second.vector, other.dimensions):
        return declaration_helps.OTHER_TYPE()
    if argument_alignment(first) != argument_alignment(second):
        return declaration_helps.ALIGNMENT_DIFFERS(
            alignment=argument_alignment(second), earlier=argument_alignment(first)
        )
    return None
