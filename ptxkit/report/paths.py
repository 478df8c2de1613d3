"""Paths as other tools want them."""

from __future__ import annotations

import os


def from_root(path: str, root: str | None = None) -> str:
    """The path from the root of the work tree (the working directory) on, with `/`; as it is where it is not below."""
    if not is_below_root(path, root):
        return path.replace(os.sep, "/")
    return os.path.relpath(os.path.abspath(path), os.path.abspath(root or os.getcwd())).replace(os.sep, "/")


def is_below_root(path: str, root: str | None = None) -> bool:
    """Whether a path is in the work tree (below the working directory)."""
    base = os.path.join(os.path.abspath(root or os.getcwd()), "")
    return os.path.abspath(path).startswith(base)
