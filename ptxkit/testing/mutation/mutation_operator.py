"""A mutation operator: a name, the rules that it violates, and a search for places."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass
from ptxkit.testing.mutation.edits import MutationEdit
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis

Search: TypeAlias = Callable[[FunctionAnalysis], Iterable[MutationEdit | None]]


@dataclass(frozen=True, slots=True)
class MutationOperator:
    """A family of mutants. rules: the violated rules, unless a change names others; empty if it is harmless."""

    family: str
    rules: tuple[str, ...]
    search: Search
