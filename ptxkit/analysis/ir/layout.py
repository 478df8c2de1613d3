"""The layout of a function's variables: the scopes that name them, and an address for each.

Only shared, local and parameter memory has addresses here; addresses of global memory are symbols.

Source: PTX ISA, "Variable Declarations", "State Spaces" (a nested block has a scope of its own for registers, variables
and labels).
"""

from __future__ import annotations

from ptxkit.analysis.ir.shared_window import FIRST_ADDRESS, SHARED_END
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.semantics.layout import DeclaredVariable, align_up, variable_of
from ptxkit.syntax.tree import Declaration, Declarator

_SHARED_GAP = 16
#: The bytes between two variables, so that an overrun of one is not taken for an access to the other.
_GUARD = 128


@dataclass(slots=True)
class SymbolScope:
    """Names declared between one pair of braces. `suffix` makes them unique in the function."""

    suffix: str = ""
    parent: SymbolScope | None = None
    registers: set[str] = field(default_factory=set)
    families: dict[str, int] = field(default_factory=dict)
    variables: dict[str, DeclaredVariable] = field(default_factory=dict)

    def register_name(self, name: str) -> str:
        """The unique name of a register: registers of a nested block shadow outer ones."""
        if not self.suffix:
            return name
        scope: SymbolScope | None = self
        while scope is not None and scope.suffix:
            if name in scope.registers or scope._is_in_family(name):
                return name + scope.suffix
            scope = scope.parent
        return name

    def _is_in_family(self, name: str) -> bool:
        stem = name.rstrip("0123456789")
        return stem in self.families and len(stem) < len(name) and int(name[len(stem) :]) < self.families[stem]

    def shadows_special_register(self, name: str) -> bool:
        """Whether a declared register has the name of a special register, or of the vector that contains it."""
        whole = name.partition(".")[0]
        scope: SymbolScope | None = self
        while scope is not None:
            if whole in scope.registers or scope._is_in_family(whole):
                return True
            scope = scope.parent
        return False

    def variable(self, name: str) -> DeclaredVariable | None:
        """The variable of that name, from the innermost scope out."""
        scope: SymbolScope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.parent
        return None


class VariableLayout:
    """Assigns addresses: static shared memory first, then one address that all open arrays share."""

    def __init__(self) -> None:
        self.placed_variables: list[DeclaredVariable] = []
        self._next = dict(FIRST_ADDRESS)
        self._open_arrays: list[tuple[SymbolScope, DeclaredVariable]] = []

    def place(self, scope: SymbolScope, declaration: Declaration, declarator: Declarator) -> None:
        variable = variable_of(declaration, declarator)
        space = variable.space
        scope.variables[variable.name] = variable
        if space == "shared" and variable.is_open:
            self._open_arrays.append((scope, variable))
        elif space in FIRST_ADDRESS:
            address = align_up(self._next[space], max(variable.alignment, _SHARED_GAP))
            self._next[space] = address + variable.size + _GUARD
            self._put(scope, replace(variable, address=address))

    def finish(self) -> None:
        """Places launch-sized shared memory after all the rest, at the largest alignment in use."""
        base = align_up(self._next["shared"], 1024)
        for scope, variable in self._open_arrays:
            self._put(scope, replace(variable, address=base))

    @property
    def exceeds_shared_limit(self) -> bool:
        """Whether static shared memory takes more than a CTA can have."""
        return self._next["shared"] > SHARED_END

    def copy_for(self, scope: SymbolScope) -> VariableLayout:
        """A copy of the layout so far, for a scope that replaces its only scope."""
        other = VariableLayout()
        other.placed_variables, other._next = list(self.placed_variables), dict(self._next)
        other._open_arrays = [(scope, variable) for _, variable in self._open_arrays]
        return other

    def _put(self, scope: SymbolScope, placed: DeclaredVariable) -> None:
        scope.variables[placed.name] = placed
        self.placed_variables.append(placed)
