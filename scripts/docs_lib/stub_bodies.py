"""An extension of Griffe: the reference leaves out the stubs for type checkers, whose modules have pages of their own.

The stub of the builder's instruction methods has thousands of signatures, which all classes with these methods inherit:
reading them and collecting what is inherited took half of the time in which the site is built.
"""

from __future__ import annotations

import ast
from typing import Any

from griffe import Extension, Visitor


class StubBodies(Extension):
    """Reads a stub as an empty module."""

    def on_module_node(self, *, node: Any, agent: Any, **_: Any) -> None:
        """Remove the statements of a stub before they are visited."""
        if isinstance(agent, Visitor) and isinstance(node, ast.Module) and agent.filepath.suffix == ".pyi":
            node.body.clear()
