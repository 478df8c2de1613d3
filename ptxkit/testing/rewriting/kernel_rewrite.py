"""The interface of rewrites of kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import ClassVar, Protocol, TypeAlias

from ptxkit.syntax.tree_edit import TreeEdit
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis

RewritePlace: TypeAlias = Callable[[Random], TreeEdit]
"""A place where a rewrite is possible: makes the edit, with the choices that a random generator makes."""


class KernelRewrite(Protocol):
    """A rewrite of kernels that preserves their semantics. name: of the rewrite, on the command line and in tables."""

    name: ClassVar[str]

    def places(self, function: FunctionAnalysis) -> Iterable[RewritePlace]:
        """Yields the places of a function where the rewrite is possible."""
        ...
