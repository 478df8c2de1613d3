"""Imports of ptxkit in runs of pytest, without pytest's rewriting of assertions.

Pytest rewrites the assertions of the whole package that has a plugin. In ptxkit no test is among its modules, and
compiling hundreds of them again takes each process longer than most tests of users.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

import pytest


class PlainImportFinder:
    """Finds the modules inside of ptxkit as Python does. It precedes the finder of pytest."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, path, target) if name.startswith("ptxkit.") else None


def import_plainly(config: pytest.Config) -> None:
    """Lets Python import the modules of ptxkit until the configuration of pytest is out of use."""
    finder = PlainImportFinder()
    sys.meta_path.insert(0, finder)
    config.add_cleanup(lambda: sys.meta_path.remove(finder))
