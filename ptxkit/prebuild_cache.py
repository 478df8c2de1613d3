"""Writes all data of `ptxkit.compile_cache` for the wheel, which contains it."""

from __future__ import annotations

from ptxkit.compile_cache import prebuilt_store
from ptxkit.installation import checksum_key


def write_all(folder: str) -> list[str]:
    """Writes every copy to a folder, and returns the paths. Passes exceptions of the compilers on, and raises
    OSError.
    """
    from ptxkit.isa import compiled_table as table
    from ptxkit.syntax import grammar, lark_tables

    made = (
        (table.NAME, table.sources(), table.compile_table),
        (grammar.NAME, grammar.sources(), grammar.compile_grammar),
        (lark_tables.NAME, lark_tables.sources(), lark_tables.compile_tables),
    )
    store = prebuilt_store(folder)
    return [store.write(name, checksum_key(sources), compiled()) for name, sources, compiled in made]
