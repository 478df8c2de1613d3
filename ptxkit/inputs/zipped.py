"""Members of zip archives, wheels above all, unpacked one at a time into a file without a name.

What an archive may unpack to is bounded, in all and for each byte of it: an archive whose members are bombs is a
`Problem`, and so is one that lies about their sizes.
"""

from __future__ import annotations

import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from ptxkit.inputs.found import DAMAGED, Problem
from ptxkit.limits import MAX_UNPACKED_BYTES, MAX_UNPACKED_RATIO
from ptxkit.records import dataclass

MAGIC = b"PK\x03\x04"
_HEAD = 16
_CHUNK = 1 << 20
_SMALL = 1 << 20
"""Bytes below which no ratio is suspicious: a file of zeros packs well."""
_MOST_MEMBERS = 100_000


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A member: its name, and a file with its contents that is gone with the next member."""

    name: str
    file: IO[bytes]
    size: int


def members(file: IO[bytes], wanted: tuple[bytes, ...], suffix: str) -> Iterator[Unpacked | Problem]:
    """The members that begin with one of the `wanted` bytes, or whose name ends in `suffix`."""
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
        yield Problem(f"a zip archive that cannot be read: {error}", DAMAGED)
        return
    left = MAX_UNPACKED_BYTES
    with archive:
        infos = archive.infolist()
        if len(infos) > _MOST_MEMBERS:
            yield Problem(f"a zip archive of {len(infos):,} members; {_MOST_MEMBERS:,} are read at most", "split it")
            return
        for info in infos:
            if info.is_dir():
                continue
            try:
                with archive.open(info) as member, _scratch() as scratch:
                    head = member.read(_HEAD)
                    if not (head.startswith(wanted) or info.filename.endswith(suffix)):
                        continue
                    size = _copy(head, member, scratch, min(left, _most(info)))
                    if size is None:
                        yield Problem(*_bomb(info, left), (info.filename,))
                        return
                    left -= size
                    scratch.seek(0)
                    yield Unpacked(info.filename, scratch, size)
            except (
                zipfile.BadZipFile,
                zlib.error,
                EOFError,
                OSError,
                NotImplementedError,
                RuntimeError,
                ValueError,
            ) as error:
                remedy = "unpack it with its password" if info.flag_bits & 1 else DAMAGED
                yield Problem(f"this member of the archive cannot be unpacked: {error}", remedy, (info.filename,))


def _most(info: zipfile.ZipInfo) -> int:
    """Bytes that a member may unpack to: what it says, unless that is beyond belief."""
    return min(info.file_size, max(_SMALL, MAX_UNPACKED_RATIO * info.compress_size))


def _bomb(info: zipfile.ZipInfo, left: int) -> tuple[str, str]:
    if left < _most(info):
        return f"the archive unpacks to more than {MAX_UNPACKED_BYTES:,} bytes", "unpack it, and name the files"
    message = f"{info.compress_size:,} bytes that unpack to more than {_most(info):,}"
    return message, "unpack it, and name the files, if you trust it"


def _copy(head: bytes, member: IO[bytes], scratch: IO[bytes], most: int) -> int | None:
    """Unpack a member; how many bytes that were, or None where they are more than `most`."""
    size = len(head)
    scratch.write(head)
    while size <= most:
        chunk = member.read(_CHUNK)
        if not chunk:
            return size
        size += len(chunk)
        scratch.write(chunk)
    return None


@contextmanager
def _scratch() -> Iterator[IO[bytes]]:
    """A file that no other program sees and that is gone when it is closed."""
    with tempfile.TemporaryFile(prefix="ptxkit-") as file:
        yield file
