"""The declarations of a kernel or function: arrays in its body, and constants before it."""

from __future__ import annotations

from ptxkit.syntax import tree

DYNAMIC_SHARED = "dynamic_shared"
"""The name of the variable where launch-sized shared memory begins."""


class Declarations:
    """Declared variables: `variables` are declared in the kernel's body, `constants` before the kernel."""

    def __init__(self) -> None:
        self.variables: list[tree.Declaration] = []
        self.constants: list[tree.Declaration] = []
        self.module_prefix = ""
        """The prefix that makes names unique in the module."""
        self.dynamic_request = (0, 0)
        """The requested alignment and size in bytes of launch-sized shared memory."""
        self.static_bytes = 0
        """The size of the shared arrays so far, in bytes."""

    def names(self) -> set[str]:
        """Returns the names of the variables that are declared so far."""
        declared = (*self.variables, *self.constants)
        return {declarator.name for each in declared for declarator in each.declarators} | {DYNAMIC_SHARED}
