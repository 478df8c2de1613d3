"""Everything that `ptxkit.cache` keeps, made at once: for the wheel, which brings it along."""

from __future__ import annotations

import os

from ptxkit.cache import checksum_key, write_entry


def write_all(folder: str) -> list[str]:
    """Write every copy into a folder; the paths. Raises what the compilers raise, and OSError."""
    from ptxkit.isa import compiled_table as table
    from ptxkit.syntax import grammar, lark_tables

    made = (
        (table.NAME, table.sources(), table.compile_table),
        (grammar.NAME, grammar.sources(), grammar.compile_grammar),
        (lark_tables.NAME, lark_tables.sources(), lark_tables.compile_tables),
    )
    paths = []
    for name, sources, compiled in made:
        paths.append(os.path.join(folder, f"{name}.bin"))
        write_entry(paths[-1], checksum_key(sources), compiled())
    return paths
