"""Builds a `SemanticsForm` from the parse tree of a `means` line."""

from __future__ import annotations

from lark import Token, Tree

from ptxkit.isa.expression_builder import ExpressionBuilder
from ptxkit.isa.expressions import ConstantExpr, Expression, OperandRole
from ptxkit.isa.notation import Node
from ptxkit.isa.value_semantics import SemanticsForm


def build_semantics(node: Node, builder: ExpressionBuilder, text: str) -> SemanticsForm:
    """Returns the semantics of one `means` line. Errors are reported with their location."""
    results, name, given, condition = node.children
    operands: list[Expression] = []
    words: dict[str, Expression] = {}
    for argument in given.children if given is not None else ():
        if isinstance(argument, Tree) and argument.data == "named":
            key, value = argument.children
            if str(key) in words:
                raise builder.fail(f"{key} is given twice", argument)
            words[str(key)] = builder.build(value)
        elif words:
            raise builder.fail("operands precede the named arguments", argument)
        else:
            operands.append(builder.build(argument))
    return SemanticsForm(
        str(name),
        tuple(_result_role(token, builder) for token in (results.children if results is not None else ())),
        tuple(operands),
        tuple(words.items()),
        None if condition is None else builder.build(condition.children[0]),
        text,
    )


def _result_role(token: Token, builder: ExpressionBuilder) -> Expression:
    role = builder.name(token)
    if not isinstance(role, OperandRole) and role != ConstantExpr(None):
        raise builder.fail(f"{token} receives a result, and is no operand", token)
    return role
