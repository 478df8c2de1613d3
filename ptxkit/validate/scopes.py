"""What the names in a function stand for: registers with their types, and everything else that has an address.

Names are looked up from the inside out; `%r<9>` declares `%r0` to `%r8`, `%v.x` is an element of the vector `%v`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ptxkit.syntax.tree import Body, Declaration, Function, LabelStatement, Module

_NUMBERED = re.compile(r"(.*?[^0-9])(0|[1-9][0-9]*)")
_COMPONENTS = frozenset("xyzwrgba")

# Classes of names that are no registers.
SYMBOL = "symbol"
UNKNOWN = "unknown"


class Scope:
    """The names of one body. `type_of` gives a register's type word (`b32`), `symbol`, or `unknown`.

    `unknown` covers special registers, which nothing declares, and names that are not declared at all.
    """

    def __init__(self, outer: Scope | None = None) -> None:
        self._outer = outer
        self._names: dict[str, str] = {}
        self._numbered: dict[str, tuple[int, str]] = {}
        self._memo: dict[str, str] = {}

    def declare(self, declaration: Declaration) -> None:
        """Enter the names of a declaration."""
        is_register = declaration.space == "reg"
        for declarator in declaration.declarators:
            if not is_register:
                self._names[declarator.name] = SYMBOL
                continue
            kind = declaration.type if declaration.vector is None else f"{declaration.vector}.{declaration.type}"
            if declarator.count is None:
                self._names[declarator.name] = kind
            else:
                self._numbered[declarator.name] = (declarator.count, kind)

    def enter(self, body: Body) -> None:
        """Enter the declarations and labels that stand in a body, those of inner blocks left out."""
        for statement in body.statements:
            if isinstance(statement, Declaration):
                self.declare(statement)
            elif isinstance(statement, LabelStatement):
                self._names[statement.name] = SYMBOL

    def name(self, symbols: Iterable[str]) -> None:
        """Enter names that have an address: functions."""
        self._names.update(dict.fromkeys(symbols, SYMBOL))

    def type_of(self, name: str) -> str:
        """What the name is: a type word, `v2.u32` of a vector register, `symbol` or `unknown`."""
        found = self._memo.get(name)
        if found is None:
            found = self._memo[name] = self._find(name) or UNKNOWN
        return found

    def _find(self, name: str) -> str | None:
        found = self._names.get(name)
        if found is None:
            match = _NUMBERED.fullmatch(name)
            if match is not None and match[1] in self._numbered:
                count, kind = self._numbered[match[1]]
                found = kind if int(match[2]) < count else None
        if found is None and "." in name:
            base, _, component = name.rpartition(".")
            vector = self._find(base) if component in _COMPONENTS else None
            if vector is not None and vector.startswith("v"):
                found = vector.partition(".")[2]
        if found is None and self._outer is not None:
            found = self._outer.type_of(name)
            return None if found == UNKNOWN else found
        return found


def module_scope(module: Module) -> Scope:
    """The names that all functions of a module see."""
    scope = Scope()
    for item in module.items:
        if isinstance(item, Declaration):
            scope.declare(item)
        elif isinstance(item, Function):
            scope.name([item.name])
    return scope


def function_scope(function: Function, outer: Scope) -> Scope:
    """The names of a function's parameters, and of its body where it has one."""
    scope = Scope(outer)
    for declaration in (*function.parameters, *function.results):
        scope.declare(declaration)
    if function.body is not None:
        scope.enter(function.body)
    return scope
