"""The instruction set: forms, their operands, gates and effects, and matching instructions to them.

`table()` loads `grammars/isa/*.isa` on first use; importing this package reads no file.
"""

from __future__ import annotations

from functools import cache

# Imported here and not in the function: a later import of the submodule `table` would replace the function.
from ptxkit.isa.table import InstructionTable

__all__ = ["table"]


@cache
def table() -> InstructionTable:
    """Returns the instruction table of this installation, which is loaded once in a process."""
    from ptxkit.isa.compiled_table import load_cached
    from ptxkit.isa.match_store import load_store

    return InstructionTable(load_cached, load_store)
