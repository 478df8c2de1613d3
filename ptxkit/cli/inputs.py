"""Where the texts come from: files, folders and standard input. Whatever cannot be read becomes a failed result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from errno import EACCES, EISDIR, ENOENT, EPERM
from stat import S_ISDIR
from typing import IO

from ptxkit.limits import MAX_FILE_BYTES
from ptxkit.linter import not_checked
from ptxkit.results import FileResult
from ptxkit.source import SourceFile

STDIN = "-"
STDIN_NAME = "<stdin>"
SUFFIX = ".ptx"

_REMEDIES = {
    ENOENT: "check the spelling, and the folder that the path is relative to",
    EACCES: "you lack the permission to read it",
    EPERM: "you lack the permission to read it",
}
_NOT_TEXT = {
    b"\x7fELF": ("an ELF file (a cubin, an object or a library)", "take the PTX out of it first: cuobjdump -xptx all"),
    b"\x50\xed\x55\xba": ("a CUDA fat binary", "take the PTX out of it first: cuobjdump -xptx all"),
    b"!<arch>\n": ("an archive of object files", "take the PTX out of it first: cuobjdump -xptx all"),
    b"PK\x03\x04": ("a zip archive", "unpack it first"),
    b"\x1f\x8b": ("compressed by gzip", "decompress it first: gzip -dc FILE | ptxkit lint -"),
    b"\xff\xfe": ("UTF-16 text", "PTX is ASCII: convert it with iconv -f UTF-16 -t UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "PTX is ASCII: convert it with iconv -f UTF-16 -t UTF-8"),
}
"""How a file that is certainly no PTX begins; what it is, and what to do."""


def sources(paths: Sequence[str]) -> Iterator[SourceFile | FileResult]:
    """The texts at `paths`, in their order and each once, or why there is none. A folder stands for its `*.ptx`."""
    return (found if isinstance(found, FileResult) else read(found) for found in expand(paths))


def expand(paths: Sequence[str]) -> Iterator[str | FileResult]:
    """The paths of the files at `paths`, in their order and each once, or why there is none."""
    seen: set[str] = set()
    for path in paths:
        for found in _expand(path):
            if isinstance(found, FileResult):
                yield found
            elif found not in seen:
                seen.add(found)
                yield found


def read(path: str, stdin_name: str | None = None) -> SourceFile | FileResult:
    """The text of one file, or of standard input for `-`, which may have a name.

    Bytes that are not UTF-8 become lone surrogates, one each: in a comment they do no harm, and elsewhere the parser
    points at them.
    """
    name = (stdin_name or STDIN_NAME) if path == STDIN else path
    try:
        if path == STDIN:
            if sys.stdin is None:
                return not_checked(name, "cannot be read: standard input is closed", remedy="give it something to read")
            data = _limited(sys.stdin.buffer)
        else:
            with open(path, "rb") as stream:
                data = _limited(stream)
    except (OSError, ValueError) as error:
        return _unreadable(name, error)
    if len(data) > MAX_FILE_BYTES:
        return not_checked(name, f"longer than {MAX_FILE_BYTES:,} bytes, the most that is read", remedy="split it")
    for magic, (what, remedy) in _NOT_TEXT.items():
        if data.startswith(magic):
            return not_checked(name, f"not PTX text: {what}", remedy=remedy)
    return SourceFile(name, data.decode("utf-8", "surrogateescape"))


def _limited(stream: IO[bytes]) -> bytes:
    """At most one byte over the limit, so that a device without an end does not fill the memory."""
    return stream.read(MAX_FILE_BYTES + 1)


def _expand(path: str) -> Iterator[str | FileResult]:
    if path == STDIN or not _is_folder(path):
        yield path
        return
    failures: list[OSError] = []
    found = [
        file
        for folder, _, names in os.walk(path, onerror=failures.append)
        for name in names
        if name.endswith(SUFFIX) and _holds_text(file := os.path.join(folder, name))
    ]
    yield from sorted(found)
    for failure in failures:
        yield _unreadable(os.fsdecode(failure.filename or path), failure)
    if not found and not failures:
        yield not_checked(path, f"the folder holds no file named *{SUFFIX}", remedy="name the files themselves")


def _is_folder(path: str) -> bool:
    try:
        return S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False  # reading it says why


def _holds_text(path: str) -> bool:
    """Whether to read a file found in a folder: a pipe or device there could keep the command waiting for ever.

    A link that leads nowhere is read all the same, which fails and says so.
    """
    return os.path.isfile(path) or not os.path.exists(path)


def _unreadable(name: str, error: OSError | ValueError) -> FileResult:
    if isinstance(error, OSError) and error.strerror:
        number = error.errno or 0
        remedy = _REMEDIES.get(number, "name a file that can be read, a folder, or - for standard input")
        reason = "is a folder" if number == EISDIR else error.strerror[0].lower() + error.strerror[1:]
        return not_checked(name, f"cannot be read: {reason}", remedy=remedy)
    return not_checked(name, f"cannot be read: {error}", remedy="name a file that can be read")
