"""Atomic replacement of files: a reader sees the old or the new contents, even after a crash or on a full disk."""

from __future__ import annotations

import io
import os
import stat
import tempfile
from difflib import unified_diff

from ptxkit.fast_dataclasses import dataclass
from ptxkit.small_files import is_inside
from ptxkit.source import SourceFile, TextOrigin
from ptxkit.untrusted_text import escape_text

_UNCHANGED = "the file is unchanged; make it and its folder writable"


@dataclass(frozen=True, slots=True)
class WriteFailure:
    """Why a file is unchanged, and what to do about it."""

    reason: str
    remedy: str

    def report(self, path: str) -> None:
        """Prints the failure."""
        from ptxkit.cli.refusals import write_refusal

        write_refusal(f"cannot be rewritten: {self.reason}", self.remedy, path)


def encode(text: str) -> bytes:
    """Encodes a text as the bytes that it was read from, including bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def rewrite_file(origin: TextOrigin, text: str) -> WriteFailure | None:
    """Writes the text to the file that another text was read from. Returns a failure, which leaves the file unchanged.

    Members of containers are never written, nor files through a link that leaves the folder that the user named (for a
    file that the user named, its own folder). Otherwise the author of the folder could choose any file of the user by
    such a link, and determine its contents.
    """
    return replace_content(origin, encode(text))


def replace_content(origin: TextOrigin, content: bytes) -> WriteFailure | None:
    """Does the same for bytes."""
    if origin.container is not None:
        return WriteFailure("it is inside another file", "extract it first: `ptxkit extract`")
    if origin.file is None:
        return WriteFailure("it is not a file", "name a file")
    target = os.path.realpath(origin.file)
    if not is_inside(target, origin.folder or os.path.dirname(origin.file) or "."):
        return WriteFailure(
            "it is a link that leads out of its folder", f"name the file itself: `{escape_text(target)}`"
        )
    try:
        replace_file(target, content)
    except OSError as error:
        return WriteFailure(error.strerror or str(error), _UNCHANGED)
    return None


def replace_atomically(target: str, content: bytes, mode: int) -> None:
    """Replaces a path atomically by a file with these permissions. Raises OSError, and then nothing is changed."""
    temporary = _write_temporary(target, content)
    try:
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def replace_file(target: str, content: bytes) -> None:
    """Replaces the contents of a regular file, and keeps its permissions, owner and hard links.

    The file is replaced atomically if a new file can have all of these. Otherwise its contents are overwritten after
    they have been written to a temporary file next to it, so that there is enough space. Raises OSError.
    """
    status = os.stat(target)
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is not a regular file")
    temporary = _write_temporary(target, content)
    try:
        if status.st_nlink == 1 and _set_owner(temporary, status):
            os.chmod(temporary, stat.S_IMODE(status.st_mode))  # after chown, which clears special bits
            os.replace(temporary, target)
            return
        _overwrite(target, content)
    except BaseException:
        os.unlink(temporary)
        raise
    os.unlink(temporary)


def _write_temporary(target: str, content: bytes) -> str:
    """Writes the contents to a new file in the folder of another one."""
    handle, temporary = tempfile.mkstemp(prefix=".ptxkit-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _set_owner(path: str, status: os.stat_result) -> bool:
    """Returns whether the file now has the given owner and group: only root may change the owner."""
    own = os.stat(path)
    if (own.st_uid, own.st_gid) == (status.st_uid, status.st_gid):
        return True
    try:
        os.chown(path, status.st_uid, status.st_gid)
    except OSError:
        return False
    return True


def _overwrite(target: str, content: bytes) -> None:
    """Overwrites the contents of a file; restores the old contents on failure."""
    handle = os.open(target, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "r+b", buffering=0) as stream:
        old = stream.read()
        try:
            _write_all(stream, content)
        except BaseException:
            _write_all(stream, old)
            raise


def _write_all(stream: io.FileIO, content: bytes) -> None:
    stream.seek(0)
    left = memoryview(content)
    while left:
        left = left[stream.write(left) :]
    stream.truncate(len(content))


def render_diff(source: SourceFile, text: str, what: str) -> str:
    """Returns the changes from one text to another as a unified diff. what: `formatted` or `fixed`.

    Lines end at line feeds only. Other control characters are escaped: some programs treat a lone carriage return as a
    line end, and the next line could be mistaken for a message of ptxkit.
    """
    name = escape_text(source.path)
    lines = unified_diff(
        _diff_lines(source.text), _diff_lines(text), f"{name} (unchanged)", f"{name} ({what})", lineterm=""
    )
    return "".join(f"{line}\n" for line in lines)


def _diff_lines(text: str) -> list[str]:
    """The lines of a text for a diff; a last line without a line end is marked."""
    *whole, last = text.split("\n")
    shown = [escape_text(line[:-1]) + "\r" if line.endswith("\r") else escape_text(line) for line in whole]
    return [*shown, f"{escape_text(last)}\n\\ No newline at end of file"] if last else shown
