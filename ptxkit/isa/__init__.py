"""The instruction set: forms, their operands, gates and effects, and matching instructions to them.

`table()` loads `grammars/isa/*.isa` on first use; importing this package reads no file.
"""

from __future__ import annotations

from functools import cache

# Here and not inside the function: loading the submodule `table` later would put it in the function's place.
from ptxkit.isa.table import InstructionTable

__all__ = ["table"]


@cache
def table() -> InstructionTable:
    """The instruction table of this installation, loaded once a process."""
    from ptxkit.isa.compiled_table import load_cached
    from ptxkit.isa.match_store import load_store

    return InstructionTable(load_cached, load_store)
