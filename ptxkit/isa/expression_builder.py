"""Builds expressions of the notation from their parse trees, with every name resolved.

In an unbound form a modifier is `Call("modifier", (Const(name),))` and a `let` name `Call("let", (Const(name),))`;
binding replaces both. A name that belongs to another form of the section is an absent modifier: `Const(None)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lark import Token

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.functions import FUNCTIONS, VALUE_OPERATIONS
from ptxkit.isa.notation import Node, NotationError

ErrorFactory = Callable[[str, "Node | Token"], NotationError]

# Operators of operands: `not` is a keyword of the notation, so the bitwise operation is written `invert`.
_FUNCTION_ALIASES = {"invert": "not"}
_ROLE_FUNCTIONS = frozenset({"present", "default", "selector", "minus"})


@dataclass(frozen=True, slots=True)
class NotationScope:
    """The names that are defined in one form."""

    modifiers: frozenset[str] = frozenset()
    lets: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    other_forms: frozenset[str] = frozenset()
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class ExpressionBuilder:
    """Builds expressions in the scope of one form."""

    def __init__(self, fail: ErrorFactory, names: NotationScope) -> None:
        self.fail, self.names = fail, names

    def build(self, node: Node) -> Expression:
        """Returns the expression under a node of the grammar's `expression` or `atom`."""
        children = node.children
        match node.data:
            case "integer":
                return ConstantExpr(int(children[0], 0))
            case "signed":
                return ConstantExpr(int(children[1], 0) * (-1 if children[0] == "-" else 1))
            case "word":
                return ConstantExpr(str(children[0])[1:])
            case "string":
                return ConstantExpr(str(children[0])[1:-1])
            case "true" | "false":
                return ConstantExpr(node.data == "true")
            case "name":
                return self.name(children[0])
            case "call":
                return self._call(children[0], [child for child in children[1:] if child is not None])
            case "member":
                return CallExpr("in", (self.build(children[0]), *self._values(children[1])))
            case "stranger":
                return CallExpr("not", (CallExpr("in", (self.build(children[0]), *self._values(children[1]))),))
            case "compare" | "sum" | "product":
                return CallExpr(str(children[1]), (self.build(children[0]), self.build(children[2])))
            case "if" | "implies" | "or" | "and" | "not":
                return CallExpr(str(node.data), tuple(self.build(child) for child in children))
            case _:
                raise self.fail(f"{node.data} is no expression", node)

    def name(self, token: Token) -> Expression:
        """Returns the expression that a bare name denotes in this form."""
        name = str(token)
        if name in self.names.lets:
            return CallExpr("let", (ConstantExpr(name),))
        if name in self.names.modifiers:
            return CallExpr("modifier", (ConstantExpr(name),))
        if name in self.names.roles:
            return OperandRole(name)
        if name == "unknown":
            return CallExpr("unknown", ())
        if name in self.names.other_forms:
            return ConstantExpr(None)
        raise self.fail(f"{name} is no modifier, let or operand here (a value has a dot in front)", token)

    def _call(self, token: Token, arguments: list[Node]) -> Expression:
        name = _FUNCTION_ALIASES.get(str(token), str(token))
        if name not in FUNCTIONS and name not in VALUE_OPERATIONS and name not in _ROLE_FUNCTIONS:
            raise self.fail(f"there is no function {token}", token)
        return CallExpr(name, tuple(self.build(argument) for argument in arguments))

    def _values(self, node: Node) -> list[Expression]:
        values: list[str] = []
        for token in node.children:
            if token.startswith("."):
                values.append(str(token)[1:])
            elif str(token) in self.names.sets:
                values.extend(self.names.sets[str(token)])
            else:
                raise self.fail(f"there is no set {token}; a value has a dot in front", token)
        return [ConstantExpr(value) for value in values]
