"""What the names in a function stand for: registers with their types, and everything else that has an address.

Names are looked up from the inside out; `%r<9>` declares `%r0` to `%r8`, `%v.x` is an element of the vector `%v`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ptxkit.isa import table
from ptxkit.syntax.tree import Body, Declaration, Directive, Function, LabelStatement, Module, Prototype

_NUMBERED = re.compile(r"(.*?[^0-9])([0-9]{1,9})")
_COMPONENTS = frozenset("xyzwrgba")
_PARTS = re.compile(r"b[0-7]{1,4}|h[0-3]{1,2}")  # of a register in a video instruction
_ALWAYS_KNOWN = frozenset({"WARP_SZ", "_"})

# Classes of names that are no registers.
SYMBOL = "symbol"
SPECIAL = "special"
UNKNOWN = "unknown"


class Scope:
    """The names of one body. `type_of` gives a register's type word (`b32`), `symbol`, `special`, or `unknown`.

    `unknown` is a name that nothing declares. A special register has no type here: it is read at several widths.
    """

    def __init__(self, outer: Scope | None = None) -> None:
        self._outer = outer
        self._names: dict[str, str] = {}
        self._numbered: dict[str, tuple[int, str]] = {}
        self._memo: dict[str, str] = {}
        # The checker's notes on operands in this scope, by identity: the parser shares equal operands, and the module
        # that is checked keeps them alive.
        self.shapes: dict[int, str | tuple[object, ...]] = {}

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
            elif isinstance(statement, Prototype | Directive) and statement.label is not None:
                self._names[statement.label] = SYMBOL

    def name(self, symbols: Iterable[str]) -> None:
        """Enter names that have an address: functions."""
        self._names.update(dict.fromkeys(symbols, SYMBOL))

    def type_of(self, name: str) -> str:
        """What the name is: a type word, `v2.u32` of a vector register, `symbol`, `special` or `unknown`."""
        found = self._memo.get(name)
        if found is None:
            found = self._memo[name] = self._find(name) or UNKNOWN
        return found

    def _find_numbered(self, name: str) -> str | None:
        match = _NUMBERED.fullmatch(name)
        if match is None or match[1] not in self._numbered:
            return None
        count, kind = self._numbered[match[1]]
        return kind if int(match[2]) < count else None

    def _find(self, name: str) -> str | None:
        found = self._names.get(name) or self._find_numbered(name)
        if found is None and "." in name:
            base, _, component = name.rpartition(".")
            whole = self._names.get(base) or self._find_numbered(base)
            if whole is not None and whole.startswith("v") and component in _COMPONENTS:
                found = whole.partition(".")[2]
            elif whole is not None and _PARTS.fullmatch(component):
                found = whole
        if found is not None:
            return found
        if self._outer is not None:
            return self._outer.type_of(name)
        return SPECIAL if name in _ALWAYS_KNOWN or table().special(name) is not None else None


def module_scope(module: Module) -> Scope:
    """The names that all functions of a module see."""
    scope = Scope()
    for item in module.items:
        if isinstance(item, Declaration):
            scope.declare(item)
        elif isinstance(item, Function):
            scope.name([item.name])
        elif isinstance(item, Prototype):
            scope.name([item.label])
    return scope


def function_scope(function: Function, outer: Scope) -> Scope:
    """The names of a function's parameters, and of its body where it has one."""
    scope = Scope(outer)
    for declaration in (*function.parameters, *function.results):
        scope.declare(declaration)
    if function.body is not None:
        scope.enter(function.body)
    return scope
