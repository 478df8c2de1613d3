"""The layout of a function's variables: the scopes that name them, and an address for each.

Only shared, local and parameter memory has addresses here; addresses of global memory are symbols.

Source: PTX ISA, "Variable Declarations", "State Spaces" (a nested block has a separate scope for registers, variables
and labels).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from itertools import count
from typing import Self

from ptxkit.analysis.ir.shared_window import FIRST_ADDRESS, SHARED_END
from ptxkit.fast_dataclasses import replace
from ptxkit.isa import table
from ptxkit.isa.functions import is_declarable
from ptxkit.semantics.layout import DeclaredVariable, align_up
from ptxkit.semantics.symbols import ARGUMENT, OUTPUT, NameScope
from ptxkit.syntax.tree import Declaration

_SHARED_GAP = 16
#: The number of bytes between two variables, so that an overrun of one is not taken for an access to the other.
_GUARD = 128


class NameKind(Enum):
    """What a name in an operand denotes, other than a variable: a register that holds one value, a special register,
    or anything else.
    """

    REGISTER = auto()
    SPECIAL = auto()
    OTHER = auto()


class SymbolScope(NameScope):
    """The names of a block, with the variables that they denote.

    `suffix` makes the registers of a nested block unique in the function; it is empty for the function's outermost
    block and for the module.
    """

    def __init__(self, outer: Self | None = None, suffix: str = "") -> None:
        super().__init__(outer)
        self.suffix = suffix
        self.variables: dict[str, DeclaredVariable] = {}
        self._suffixes: Iterator[str] = outer._suffixes if outer is not None and suffix else map("#{}".format, count(1))
        self._register_names: dict[str, str] = {}
        self._parameters: dict[str, Declaration | None] = {}
        self._meanings: dict[str, DeclaredVariable | NameKind] = {}

    def make_nested(self) -> Self:
        return type(self)(self, next(self._suffixes))

    def later_part(self) -> Self:
        following = super().later_part()
        following._register_names, following._parameters, following._meanings = {}, {}, {}
        return following

    def copy(self) -> SymbolScope:
        """Returns a scope with the same names, whose variables can be placed elsewhere."""
        other = SymbolScope()
        other.names, other.numbered, other.variables = self.names, self.numbered, dict(self.variables)
        return other

    def register_name(self, name: str) -> str:
        """Returns the unique name of a register, or of a component of a vector; any other name is returned unchanged.

        The scopes must be complete.
        """
        found = self._register_names.get(name)
        if found is None:
            found = self._register_names[name] = self._unique_name(name)
        return found

    def _unique_name(self, name: str) -> str:
        for whole in (name, name.rpartition(".")[0]):
            located = self.locate(whole)
            if located is not None:
                scope, named = located
                return f"{scope.declared_name(whole)}{name[len(whole) :]}{scope.suffix}" if named.is_register else name
        return name

    def meaning_of(self, name: str) -> DeclaredVariable | NameKind:
        """Returns the variable that a name denotes, or else what kind of name it is. The scopes must be complete."""
        found = self._meanings.get(name)
        if found is None:
            found = self._meanings[name] = self._find_meaning(name)
        return found

    def _find_meaning(self, name: str) -> DeclaredVariable | NameKind:
        variable = self.variable(name) if self.register_name(name) == name else None
        if variable is not None:
            return variable
        if table().special(name) is not None and not self.shadows_special_register(name):
            return NameKind.SPECIAL
        named = self.find(name)
        is_register = named is not None and named.is_register and (is_declarable(named.kind) or named.kind == "pred")
        return NameKind.REGISTER if is_register else NameKind.OTHER

    def parameter(self, name: str) -> Declaration | None:
        """Returns the declaration of the function's parameter that a name denotes here.

        The result is None for all other names, also for `.param` variables of the body and for results. The scopes must
        be complete.
        """
        if name not in self._parameters:
            named = self.find(name)
            node = None if named is None or named.kind in (ARGUMENT, OUTPUT) else named.node
            self._parameters[name] = node if isinstance(node, Declaration) and node.space == "param" else None
        return self._parameters[name]

    def shadows_special_register(self, name: str) -> bool:
        """Returns whether the name of a special register, or of the vector that contains it, is declared."""
        return self.find(name.partition(".")[0]) is not None

    def variable(self, name: str) -> DeclaredVariable | None:
        located = self.locate(name)
        return None if located is None else located[0].variables.get(name)


class VariableLayout:
    """Assigns addresses: static shared memory first, then one address that all open arrays share."""

    def __init__(self) -> None:
        self.placed_variables: list[DeclaredVariable] = []
        self._next = dict(FIRST_ADDRESS)
        self._open_arrays: list[tuple[SymbolScope, DeclaredVariable]] = []

    def place(self, scope: SymbolScope, variable: DeclaredVariable) -> None:
        """Assigns an address to a variable of a scope, if its state space has addresses here."""
        space = variable.space
        scope.variables[variable.name] = variable
        if space == "shared" and variable.is_open:
            self._open_arrays.append((scope, variable))
        elif space in FIRST_ADDRESS:
            address = align_up(self._next[space], max(variable.alignment, _SHARED_GAP))
            self._next[space] = address + variable.size + _GUARD
            self._put(scope, replace(variable, address=address))

    def finish(self) -> None:
        """Places launch-sized shared memory after all other variables, at the largest alignment in use."""
        base = align_up(self._next["shared"], 1024)
        for scope, variable in self._open_arrays:
            self._put(scope, replace(variable, address=base))

    @property
    def exceeds_shared_limit(self) -> bool:
        """Whether static shared memory is larger than a CTA can have."""
        return self._next["shared"] > SHARED_END

    def copy_for(self, scope: SymbolScope) -> VariableLayout:
        """Returns a copy of the layout so far, for a scope that replaces its only scope."""
        other = VariableLayout()
        other.placed_variables, other._next = list(self.placed_variables), dict(self._next)
        other._open_arrays = [(scope, variable) for _, variable in self._open_arrays]
        return other

    def _put(self, scope: SymbolScope, placed: DeclaredVariable) -> None:
        scope.variables[placed.name] = placed
        self.placed_variables.append(placed)
