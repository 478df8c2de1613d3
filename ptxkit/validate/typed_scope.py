"""The types of names at a location, with which the validator compares operands.

The names are those that are declared so far, labels of the whole block, special registers, and elements: `%v.x` is an
element of the vector `%v`.

Source: PTX ISA, "Identifiers", "Vectors", "Special Registers"; the precedence among equal names is that of ptxas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Self

from ptxkit.isa import table
from ptxkit.semantics.symbols import LABEL, NameBinding, NameScope, is_symbol
from ptxkit.syntax.tree import Body, Declaration, LabelStatement

_COMPONENTS = frozenset("xyzwrgba")
_PARTS = re.compile(r"b[0-7]{1,4}|h[0-3]{1,2}")  # of a register in a video instruction
_PREDEFINED = frozenset({"WARP_SZ", "_"})

# Types of names that are not declared.
SPECIAL = "special"
UNKNOWN = "unknown"


class TypedScope(NameScope):
    """The names of one body, with their types."""

    def __init__(self, outer: Self | None = None) -> None:
        super().__init__(outer)
        self._labels: dict[str, NameBinding] = {}
        self._memo: dict[str, str] = {}
        # The classes of operands in this scope, as numbers, by identity: the parser shares equal operands, and the
        # module that is checked keeps them alive.
        self.shapes: dict[int, int] = {}

    def later_part(self) -> Self:
        following = super().later_part()
        following._memo, following.shapes = {}, {}
        return following

    def enter_labels(self, body: Body) -> None:
        """Enters the labels of a body, which are also valid before their location; those of inner blocks are
        omitted.
        """
        for statement, start in body.with_offsets():
            if isinstance(statement, LabelStatement):
                self._labels.setdefault(statement.name, NameBinding(LABEL, statement, start))

    def clear_memo(self) -> None:
        """Clears the cache, because a name may have another meaning from here on."""
        if self._memo:
            self._memo.clear()
            self.shapes.clear()

    def _note_change(self, name: str | None = None, kind: str = "") -> None:
        if name is None or self._memo.get(name, kind) != kind:
            self.clear_memo()

    def type_of(self, name: str) -> str:
        """Returns the type of a name: a type word (`b32`), `v2.u32` for a vector register, a symbol's class
        (`&shared`), `special` for a special register, which has no type here, since it can be read with several widths,
        or `unknown`.
        """
        found = self._memo.get(name)
        if found is None:
            found = self._memo[name] = self._type_of(name)
        return found

    def find(self, name: str) -> NameBinding | None:
        declared = super().find(name)
        return self._find_label(name) or declared if declared is None or declared.kind == LABEL else declared

    def visible_names(self) -> Iterator[str]:
        yield from super().visible_names()
        for scope in self.enclosing():
            yield from scope._labels

    def shadowing_binding(self, name: str) -> NameBinding | None:
        """Returns the declaration with the name of the special register of an element, which then is not an element of
        the special register.
        """
        whole, dot, _ = name.rpartition(".")
        return self.find(whole) if dot else None

    def _find_label(self, name: str) -> NameBinding | None:
        return next((scope._labels[name] for scope in self.enclosing() if name in scope._labels), None)

    def _type_of(self, name: str) -> str:
        named = super().find(name)
        if named is not None:
            return named.kind
        part = self._selector_type(name) if "." in name else None
        if part is not None:
            return part
        if self.shadowing_binding(name) is not None:
            return UNKNOWN
        if name in _PREDEFINED or table().special(name) is not None:
            return SPECIAL
        return LABEL if self._find_label(name) is not None else UNKNOWN

    def _selector_type(self, name: str) -> str | None:
        base, _, component = name.rpartition(".")
        whole = super().find(base)
        if whole is None:
            return None
        if is_symbol(whole.kind):
            is_vector = isinstance(whole.node, Declaration) and whole.node.vector is not None
            return whole.kind if is_vector and component in _COMPONENTS else None
        if whole.kind.startswith("v") and component in _COMPONENTS:
            return whole.kind.partition(".")[2]
        return whole.kind if _PARTS.fullmatch(component) else None
