"""Paths as other tools want them."""

from __future__ import annotations

import os


def from_root(path: str, root: str | None = None) -> str:
    """The path from the root of the work tree (the working directory) on, with `/`; as it is where it is not below."""
    base = os.path.abspath(root or os.getcwd())
    whole = os.path.abspath(path)
    if whole == base or not whole.startswith(os.path.join(base, "")):
        return path.replace(os.sep, "/")
    return os.path.relpath(whole, base).replace(os.sep, "/")
