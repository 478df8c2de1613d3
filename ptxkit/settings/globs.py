"""Patterns for input files: `corpus/**`, `*.sm_90.ptx`."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase


def matches(path: str, pattern: str, folder: str) -> bool:
    """Returns whether the input at `path` matches the pattern: its name, or its path relative to `folder`.

    `*` and `?` match any characters, including `/`, so that `build/*` and `build/**` both match all files below
    `build`. A pattern that names a folder matches all files below it. Paths outside `folder` match patterns that begin
    with `/` or `*`.
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
