"""The instruction set: forms, their operands, gates and effects, and matching instructions to them.

`table()` loads `grammars/isa/*.isa` on first use; importing this package loads nothing.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxkit.isa.table import Table

__all__ = ["table"]


@cache
def table() -> Table:
    """The instruction table of this installation, loaded once a process."""
    from ptxkit.isa.cache import load_cached
    from ptxkit.isa.table import Table

    return Table(load_cached())
