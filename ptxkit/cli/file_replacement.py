"""Replacing a file in one step: a reader sees the old text or the new one, also after a crash or a full disk."""

from __future__ import annotations

import io
import os
import stat
import tempfile
from difflib import unified_diff

from ptxkit.small_files import is_inside
from ptxkit.source import SourceFile, TextOrigin
from ptxkit.untrusted_text import escape_text


def encode(text: str) -> bytes:
    """The bytes that the text was read from, where it was not UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def rewrite_file(origin: TextOrigin, text: str) -> str | None:
    """Write the text over the file that another text was read from; why that failed, and then the file is as it was.

    Nothing is written for a member of a container, nor through a link that leads out of the folder that was named (of
    a file that was named: out of its own folder). The author of the folder could name any file of the user by such a
    link, and say what is written.
    """
    return replace_content(origin, encode(text))


def replace_content(origin: TextOrigin, content: bytes) -> str | None:
    """The same of bytes."""
    if origin.container is not None:
        return "it is inside another file; extract it first: ptxkit extract"
    if origin.file is None:
        return "it is no file"
    target = os.path.realpath(origin.file)
    if not is_inside(target, origin.folder or os.path.dirname(origin.file) or "."):
        return f"it is a link that leads out of its folder; name the file itself: {escape_text(target)}"
    try:
        replace_file(target, content)
    except OSError as error:
        return error.strerror or str(error)
    return None


def replace_atomically(target: str, content: bytes, mode: int) -> None:
    """Put a file with these permissions in the place of what is there, in one step; OSError, and nothing is changed."""
    temporary = _write_temporary(target, content)
    try:
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def replace_file(target: str, content: bytes) -> None:
    """Other contents for a regular file, which stays what else it is: its permissions, its owner and its other names.

    In one step where a new file can be all that. Where it cannot, the contents of the file itself are changed, after
    they have been written next to it: so there was room for them. Raises OSError.
    """
    status = os.stat(target)
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is no regular file")
    temporary = _write_temporary(target, content)
    try:
        if status.st_nlink == 1 and _set_owner(temporary, status):
            os.chmod(temporary, stat.S_IMODE(status.st_mode))  # after the owner, whose change takes special ones away
            os.replace(temporary, target)
            return
        _overwrite(target, content)
    except BaseException:
        os.unlink(temporary)
        raise
    os.unlink(temporary)


def _write_temporary(target: str, content: bytes) -> str:
    """A new file with these contents in the folder of another one."""
    handle, temporary = tempfile.mkstemp(prefix=".ptxkit-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _set_owner(path: str, status: os.stat_result) -> bool:
    """Whether a file has that owner and group now: only root may give a file away."""
    own = os.stat(path)
    if (own.st_uid, own.st_gid) == (status.st_uid, status.st_gid):
        return True
    try:
        os.chown(path, status.st_uid, status.st_gid)
    except OSError:
        return False
    return True


def _overwrite(target: str, content: bytes) -> None:
    """Other contents in the same file; the old ones again where that fails."""
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
    """What changes from a text to another one, as a unified diff. what: `formatted`, `fixed`.

    Lines end at line feeds alone. What else a terminal or the reader of a log would act on is spelt out: a lone
    carriage return ends a line for some, and the next one could be taken for a message of ours.
    """
    name = escape_text(source.path)
    lines = unified_diff(
        _diff_lines(source.text), _diff_lines(text), f"{name} (as it is)", f"{name} ({what})", lineterm=""
    )
    return "".join(f"{line}\n" for line in lines)


def _diff_lines(text: str) -> list[str]:
    """The lines of a text as a diff shows them: that of the last says where no line end follows."""
    *whole, last = text.split("\n")
    shown = [escape_text(line[:-1]) + "\r" if line.endswith("\r") else escape_text(line) for line in whole]
    return [*shown, f"{escape_text(last)}\n\\ No newline at end of file"] if last else shown
