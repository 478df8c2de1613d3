"""Replacing a file in one step: a reader sees the old text or the new one, also after a crash or a full disk."""

from __future__ import annotations

import os
import tempfile
from difflib import unified_diff

from ptxkit.source import SourceFile


def encode(text: str) -> bytes:
    """The bytes that the text was read from, where it was not UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def rewrite(path: str, text: str) -> str | None:
    """Write the text over the file at `path`; why that failed, and then the file is as it was."""
    target = os.path.realpath(path)
    try:
        put(target, encode(text), os.stat(target).st_mode & 0o7777)
    except OSError as error:
        return error.strerror or str(error)
    return None


def put(target: str, content: bytes, mode: int) -> None:
    """Put a file with these permissions in the place of what is there, in one step; OSError, and nothing is changed."""
    handle, temporary = tempfile.mkstemp(prefix=".ptxkit-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def difference(source: SourceFile, text: str, what: str) -> str:
    """What changes from a text to another one, as a unified diff. what: `formatted`, `mended`."""
    name = source.path
    lines = unified_diff(
        source.text.splitlines(keepends=True), text.splitlines(keepends=True), f"{name} (as it is)", f"{name} ({what})"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
