"""Effects of the notation: from the parse tree of an `effect` line to an `EffectForm`."""

from __future__ import annotations

from lark import Token, Tree

from ptxkit.isa.effect_binding import ACCESS_KINDS, ROLE_FIELDS, effect_classes, effect_fields, is_required
from ptxkit.isa.effects import ALL
from ptxkit.isa.expression_builder import ExpressionBuilder
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import EffectForm
from ptxkit.isa.notation import Node


def build_effect(node: Node, builder: ExpressionBuilder, text: str) -> EffectForm:
    """Returns the effect of one `effect` line. Errors are reported with their location."""
    condition = None if node.children[2] is None else builder.build(node.children[2].children[0])
    if node.data == "value":
        target, value = node.children[0], node.children[1]
        arguments = (("result", builder.name(target)), ("value", builder.build(value)))
        return EffectForm("value", arguments, condition, text)
    token, given = node.children[0], node.children[1]
    name = str(token)
    if name not in ACCESS_KINDS and name not in effect_classes():
        known = ", ".join(sorted([*ACCESS_KINDS, *effect_classes()]))
        raise builder.fail(f"there is no effect {name}; known: {known}", token)
    names = [each.name for each in effect_fields(name)]
    found: dict[str, Expression] = {}
    for position, argument in enumerate(given.children if given is not None else ()):
        if isinstance(argument, Tree) and argument.data == "named":
            key, value = argument.children
        elif position < len(names):
            key, value = Token("NAME", names[position]), argument
        else:
            raise builder.fail(f"{name} has only {len(names)} fields", argument)
        if str(key) not in names:
            raise builder.fail(f"{name} has no field {key}; it has {', '.join(names)}", key)
        if str(key) in found:
            raise builder.fail(f"{key} is given twice", argument)
        found[str(key)] = _argument(str(key), value, builder)
    for each in effect_fields(name):
        if each.name not in found and is_required(each):
            raise builder.fail(f"{name} needs {each.name}", token)
    return EffectForm(name, tuple(found.items()), condition, text)


def _argument(key: str, node: Node, builder: ExpressionBuilder) -> Expression:
    if key == "spaces" and node.data == "call" and str(node.children[0]) == "list":
        return CallExpr("list", tuple(builder.build(child) for child in node.children[1:] if child is not None))
    value = builder.build(node)
    is_all_ctas = key == "multicast" and value == ConstantExpr(ALL)
    if key in ROLE_FIELDS and not isinstance(value, OperandRole) and value != ConstantExpr(None) and not is_all_ctas:
        raise builder.fail(f"{key} wants the role of an operand", node)
    return value
