"""Where the grammars stand: in the checkout's `grammars/`, or inside an installed wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@cache
def grammars() -> Path:
    """The folder that holds `ptx.lark`, `isa.lark` and `isa/*.isa`."""
    for folder in (_PACKAGE / "_grammars", _PACKAGE.parent / "grammars"):
        if (folder / "ptx.lark").is_file():
            return folder
    raise FileNotFoundError(f"ptxkit's grammars are missing beside {_PACKAGE}; install ptxkit again")
