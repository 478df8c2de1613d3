"""What a kernel or function declares: arrays in its body, and constants before it."""

from __future__ import annotations

from ptxkit.syntax import tree

DYNAMIC_SHARED = "dynamic_shared"
"""The one variable that launch-sized shared memory begins at."""


class Declarations:
    """Declared variables: `variables` are declared in the kernel's body, `constants` before it."""

    def __init__(self) -> None:
        self.variables: list[tree.Declaration] = []
        self.constants: list[tree.Declaration] = []
        self.module_prefix = ""
        """The prefix of names in the module, next to those of other kernels and functions."""
        self.dynamic_request = (0, 0)
        """Alignment and bytes of launch-sized memory that are asked for here."""
        self.static_bytes = 0
        """The size of the shared arrays so far."""

    def names(self) -> set[str]:
        """The names of variables that are declared so far."""
        declared = (*self.variables, *self.constants)
        return {declarator.name for each in declared for declarator in each.declarators} | {DYNAMIC_SHARED}
