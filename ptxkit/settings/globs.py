"""Patterns for input files: `corpus/**`, `*.sm_90.ptx`."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase


def matches(path: str, pattern: str, folder: str) -> bool:
    """Whether the input at `path` fits the pattern: its name alone, or its path from `folder` on.

    `*` and `?` stand for any characters, `/` too, so that `build/*` and `build/**` are all below `build`. A pattern
    that names a folder is all below it. Places outside `folder` fit patterns that begin with `/` or `*`.
    """
    name = os.path.basename(path)
    whole = os.path.abspath(path).replace(os.sep, "/")
    root = os.path.abspath(folder).replace(os.sep, "/").rstrip("/") + "/"
    relative = whole[len(root) :] if whole.startswith(root) else whole
    wanted = pattern.replace(os.sep, "/").removeprefix("./")
    return (
        fnmatchcase(name, wanted)
        or fnmatchcase(relative, wanted)
        or fnmatchcase(whole, wanted)
        or fnmatchcase(relative, f"{wanted.rstrip('/')}/*")
    )
