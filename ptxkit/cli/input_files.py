"""Reads the inputs: files, folders and standard input. An input that cannot be read becomes a failed result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from errno import EACCES, EISDIR, ENOENT, EPERM
from io import BytesIO
from shlex import quote
from stat import S_ISDIR
from typing import IO, TYPE_CHECKING

from ptxkit.cli.limits import MAX_NAMED_TEXTS
from ptxkit.fast_dataclasses import dataclass
from ptxkit.limits import MAX_FILE_BYTES
from ptxkit.linter import crash_result, unchecked_result
from ptxkit.results import FileResult
from ptxkit.source import SourceFile, TextOrigin

if TYPE_CHECKING:
    from ptxkit.inputs import ContainerEntry


STDIN = "-"
STDIN_NAME = "<stdin>"
SUFFIX = ".ptx"

_REMEDIES = {
    ENOENT: "check the spelling, and the folder that the path is relative to",
    EACCES: "check its permissions",
    EPERM: "check its permissions",
}
_NOT_TEXT = {
    b"\x1f\x8b": ("compressed by gzip", "decompress it first: gzip -dc FILE | ptxkit lint -"),
    b"\xff\xfe": ("UTF-16 text", "PTX is ASCII: convert it with iconv -f UTF-16 -t UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "PTX is ASCII: convert it with iconv -f UTF-16 -t UTF-8"),
}
"""Prefixes of files that are certainly not PTX, with a description and a remedy."""

_CUDA, _CUDA_HEADER, _PYTHON = ".cu", ".cuh", ".py"

_MAY_HOLD_PTX = (b"\x7fELF", b"\x50\xed\x55\xba", b"!<arch>\n", b"PK\x03\x04")
"""Prefixes of the container formats of `ptxkit.inputs`, which is imported for these only."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read. folder: the named folder in which the file was found; None if the file itself was named or
    matched."""

    path: str
    folder: str | None = None


def read_sources(paths: Sequence[str]) -> Iterator[SourceFile | FileResult]:
    """Yields the texts at `paths` in order and without duplicates, or failed results.

    A folder stands for its `*.ptx` files, and a container, such as a library, for the texts in it.
    """
    for found in expand_paths(paths):
        if isinstance(found, FileResult):
            yield found
        else:
            yield from read_texts(found)


def expand_paths(paths: Sequence[str], *, binaries: bool | None = None) -> Iterator[InputFile | FileResult]:
    """Yields the files at `paths` in order and without duplicates, or failed results.

    binaries: whether folders are also searched for containers, whatever their names; None if the command has no such
    option. Patterns that the shell did not expand are expanded here.
    """
    seen: set[str] = set()
    for path in paths:
        for found in _expand_path(path, binaries=binaries):
            if isinstance(found, FileResult):
                yield found
            elif found.path not in seen:
                seen.add(found.path)
                yield found


def cache_folder_paths(caches: Sequence[str]) -> list[str]:
    """The cache folders of compilers."""
    from ptxkit.inputs.compiler_caches import cache_folders

    return [folder for cache in caches for folder in cache_folders(cache, os.environ)]


def read_text(path: str, stdin_name: str | None = None) -> SourceFile | FileResult:
    """Returns the only text at a path, or on standard input for `-`, or a failed result."""
    found = list(read_texts(InputFile(path), stdin_name))
    texts = [each for each in found if isinstance(each, SourceFile)]
    if len(found) == 1 or not texts:
        return found[0]
    what = f"holds {len(texts)} texts, but one is required{_list_names(found)}"
    if path == STDIN:
        return unchecked_result(
            stdin_name or STDIN_NAME, what, remedy="extract it first: ptxkit extract --target SM -o - -"
        )
    return unchecked_result(path, what, remedy="name one of them, e.g. " + texts[0].path)


def read_texts(given: InputFile, stdin_name: str | None = None) -> Iterator[SourceFile | FileResult]:
    """Yields the texts of one file, or of standard input for `-`, under the given name. For a file with several texts,
    yields all of them, or the one that the path selects (`libfoo.so!1.sm_90a.ptx`).

    Bytes that are not UTF-8 become lone surrogates: they are harmless in comments, and elsewhere the parser reports
    them.
    """
    path = given.path
    outer = _container_path(path)
    if outer is not None:
        found = list(read_texts(InputFile(outer)))
        missing = unchecked_result(
            path, f"holds no such text{_list_names(found)}", remedy="ptxkit extract --list lists all"
        )
        yield from [each for each in found if each.path == path] or [missing]
        return
    name = (stdin_name or STDIN_NAME) if path == STDIN else path
    try:
        if path == STDIN:
            if sys.stdin is None:
                yield unchecked_result(
                    name, "cannot be read: standard input is closed", remedy="provide an input on standard input"
                )
                return
            data = _read_limited(sys.stdin.buffer)
            if data is not None and data.startswith(_MAY_HOLD_PTX):
                yield from _embedded_texts(name, BytesIO(data))
                return
        else:
            with open(path, "rb") as stream:
                if stream.peek(8).startswith(_MAY_HOLD_PTX):
                    yield from _embedded_texts(name, stream)
                    return
                data = _read_limited(stream)
    except (OSError, ValueError) as error:
        yield _unreadable_result(name, error)
        return
    yield _decode_text(name, data, TextOrigin() if path == STDIN else TextOrigin(path, given.folder))


def decode_texts(name: str, data: bytes) -> Iterator[SourceFile | FileResult]:
    """Yields the texts of a file with these contents, under the names that `read_texts` gives them."""
    if data.startswith(_MAY_HOLD_PTX):
        yield from _embedded_texts(name, BytesIO(data))
    else:
        yield _decode_text(name, data if len(data) <= MAX_FILE_BYTES else None, TextOrigin())


def _container_path(path: str) -> str | None:
    """The container file that a path leads into; None if the path names a file itself, or nothing."""
    if "!" not in path or os.path.lexists(path):
        return None
    parts = path.split("!")
    candidates = ("!".join(parts[:end]) for end in range(len(parts) - 1, 0, -1))
    return next((candidate for candidate in candidates if os.path.lexists(candidate)), None)


def _list_names(found: Sequence[SourceFile | FileResult]) -> str:
    names = [each.path for each in found if isinstance(each, SourceFile)]
    more = ", ..." if len(names) > MAX_NAMED_TEXTS else ""
    return f": {', '.join(names[:MAX_NAMED_TEXTS])}{more}" if names else ""


def _decode_text(name: str, data: bytes | None, origin: TextOrigin) -> SourceFile | FileResult:
    if data is None:
        return unchecked_result(name, f"longer than {MAX_FILE_BYTES:,} bytes, the limit", remedy="split it")
    for magic, (what, remedy) in _NOT_TEXT.items():
        if data.startswith(magic):
            return unchecked_result(name, f"not PTX text: {what}", remedy=remedy)
    if name.endswith((_CUDA, _CUDA_HEADER, _PYTHON)) and b".version" not in data:
        language = "Python" if name.endswith(_PYTHON) else "CUDA C++"
        return unchecked_result(name, f"not PTX text: {language}", remedy=_remedy_for_program(name))
    return SourceFile(name, data.decode("utf-8", "surrogateescape"), origin)


def _remedy_for_program(name: str) -> str:
    """The command that makes the PTX of a program; no program is compiled unless the user requests it."""
    if name.endswith(_PYTHON):
        return "run it, and check what its compiler kept: ptxkit lint --cache triton, or inductor, or cute-dsl"
    if name.endswith(_CUDA_HEADER):
        return "check the PTX of a .cu file that includes it: nvcc -ptx -lineinfo -arch=sm_90a FILE.cu"
    ptx = os.path.splitext(name)[0] + SUFFIX
    return f"compile it, and name the PTX: nvcc -ptx -lineinfo -arch=sm_90a {quote(name)} -o {quote(ptx)}"


def _embedded_texts(name: str, stream: IO[bytes]) -> Iterator[SourceFile | FileResult]:
    """Yields the texts in a container, each under the name of the file and its own."""
    from ptxkit.inputs import texts_in

    try:
        yield from _container_texts(name, texts_in(stream))
    except Exception as error:  # an error of ptxkit: the other files are still read
        yield crash_result(name, error)


def _container_texts(name: str, everything: Iterable[ContainerEntry]) -> Iterator[SourceFile | FileResult]:
    from ptxkit.inputs import ContainerProblem, EmbeddedPtx, SkippedCode, display_name

    found_any = False
    passed: dict[str, None] = {}
    number = 0
    for found in everything:
        if isinstance(found, SkippedCode):
            passed[found.what] = None
            continue
        found_any = True
        if isinstance(found, ContainerProblem):
            yield unchecked_result("!".join((name, *found.inside)), found.message, remedy=found.remedy)
        elif isinstance(found, EmbeddedPtx):
            number += 1
            yield _decode_text(display_name(name, found, number), found.data, TextOrigin(container=name))
    if not found_any:
        only = f", only {' and '.join(passed)}" if passed else ""
        remedy = "let the compiler embed PTX: nvcc -gencode arch=compute_90a,code=compute_90a"
        yield unchecked_result(name, f"holds no PTX{only}", remedy=remedy)


def _read_limited(stream: IO[bytes]) -> bytes | None:
    """Returns the contents; None if they exceed the limit, without keeping them in memory."""
    try:
        if os.fstat(stream.fileno()).st_size > MAX_FILE_BYTES:
            return None
    except (OSError, ValueError):
        pass  # not a regular file: read it up to the limit
    data = stream.read(MAX_FILE_BYTES + 1)
    return data if len(data) <= MAX_FILE_BYTES else None


def _expand_path(path: str, *, binaries: bool | None) -> Iterator[InputFile | FileResult]:
    if path == STDIN or not _is_folder(path):
        yield from map(InputFile, _match_pattern(path) or [path])
        return
    failures: list[OSError] = []
    found = [
        file
        for folder, _, names in os.walk(path, onerror=failures.append)
        for name in names
        if (name.endswith(SUFFIX) and _is_readable_file(file := os.path.join(folder, name)))
        or (binaries and _may_hold_ptx(file := os.path.join(folder, name)))
    ]
    yield from (InputFile(file, path) for file in sorted(found))
    for failure in failures:
        yield _unreadable_result(os.fsdecode(failure.filename or path), failure)
    if not found and not failures:
        what = f"named *{SUFFIX}" + (" or that may hold PTX" if binaries else "")
        remedy = "name the files themselves" + (", or look into others with --binaries" if binaries is False else "")
        program = next(_programs_in(path), None)
        yield unchecked_result(
            path,
            f"the folder holds no file {what}",
            remedy=remedy if program is None else _remedy_for_program(program),
        )


def _programs_in(path: str) -> Iterator[str]:
    return (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(_CUDA))


def _match_pattern(path: str) -> list[str]:
    """Expands a pattern if no file has that name; shells do not expand quoted patterns."""
    if not set(path) & set("*?[") or os.path.lexists(path):
        return []
    from glob import glob

    return sorted(glob(path, recursive=True))


def _may_hold_ptx(path: str) -> bool:
    """Returns whether the file begins like a container of PTX."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as stream:
            return stream.read(8).startswith(_MAY_HOLD_PTX)
    except OSError:
        return False  # any contents: a *.ptx file is reported if it is not PTX


def _is_folder(path: str) -> bool:
    try:
        return S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False  # reading it reports the reason


def _is_readable_file(path: str) -> bool:
    """Returns whether to read a file that was found in a folder: a pipe or a device could block the command.

    A dangling link is read, which fails and reports the reason.
    """
    return os.path.isfile(path) or not os.path.exists(path)


def _unreadable_result(name: str, error: OSError | ValueError) -> FileResult:
    if isinstance(error, OSError) and error.strerror:
        number = error.errno or 0
        remedy = _REMEDIES.get(number, "name a file that can be read, a folder, or - for standard input")
        reason = "is a folder" if number == EISDIR else error.strerror[0].lower() + error.strerror[1:]
        return unchecked_result(name, f"cannot be read: {reason}", remedy=remedy)
    return unchecked_result(name, f"cannot be read: {error}", remedy="name a file that can be read")
