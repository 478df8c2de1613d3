"""The location of the grammars: in the checkout's `grammars/`, or inside an installed wheel."""

from __future__ import annotations

import os
from functools import cache

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = os.path.dirname(os.path.realpath(__file__))
"""The folder of the package."""


@cache
def grammar_folder() -> str:
    """Returns the folder with `ptx.lark`, `isa.lark` and `isa/*.isa`."""
    for folder in (os.path.join(PACKAGE, "_grammars"), os.path.join(os.path.dirname(PACKAGE), "grammars")):
        if os.path.isfile(os.path.join(folder, "ptx.lark")):
            return folder
    raise FileNotFoundError(f"the grammars of ptxkit are missing from {PACKAGE} and its parent; reinstall ptxkit")


def grammar_path() -> Path:
    """Returns `grammar_folder` as a path."""
    from pathlib import Path  # which takes longer to import than a small file to parse

    return Path(grammar_folder())
