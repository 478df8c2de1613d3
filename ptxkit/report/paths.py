"""Paths as other tools want them."""

from __future__ import annotations

import os

from ptxkit.report.style import visible


def from_root(path: str, root: str | None = None) -> str:
    """The path from the root of the work tree (the working directory) on, with `/`; as it is where it is not below."""
    base = os.path.abspath(root or os.getcwd())
    whole = os.path.abspath(path)
    if whole == base or not whole.startswith(os.path.join(base, "")):
        return path.replace(os.sep, "/")
    return os.path.relpath(whole, base).replace(os.sep, "/")


def printable(text: str) -> str:
    """The text with all that is no plain character spelt out; line ends stay."""
    return "\n".join(map(visible, text.split("\n")))
