"""Where the table is written down."""

from __future__ import annotations

from pathlib import Path

from ptxkit.resources import grammar_path


def isa_files(folder: Path | None = None) -> tuple[Path, ...]:
    """The files that make the table, in a fixed order."""
    return tuple(sorted((folder or grammar_path() / "isa").glob("*.isa")))
