"""Members of zip archives, such as wheels, which are unpacked one at a time to a file without a name.

The unpacked size of an archive is limited, in total and relative to its size: an archive with members that are bombs is
a `ContainerProblem`, and so is one that states wrong sizes.
"""

from __future__ import annotations

import lzma
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from ptxkit.fast_dataclasses import dataclass
from ptxkit.inputs.entries import DAMAGED_REMEDY, ContainerProblem
from ptxkit.inputs.limits import (
    MAX_LISTING_BYTES,
    MAX_MEMBERS,
    MAX_UNPACKED_BYTES,
    MAX_UNPACKED_RATIO,
    MAX_UNSUSPICIOUS_BYTES,
)

MAGIC = b"PK\x03\x04"
_HEAD_BYTES = 16
_CHUNK_BYTES = 1 << 20
_ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, MemoryError),
    *(NotImplementedError, RuntimeError, ValueError, LookupError, OverflowError),
)
"""The exceptions of `zipfile` for archives that are damaged, or compressed in an unknown way."""
_TAIL_BYTES = (1 << 16) + 128
"""The bytes at the end of an archive that contain its last records: a comment after them may have 65,535."""


@dataclass(frozen=True, slots=True)
class UnpackedMember:
    """A member: its name, and a file with its contents, which is removed with the next member."""

    name: str
    file: IO[bytes]
    size: int


def zip_members(file: IO[bytes], wanted: tuple[bytes, ...], suffix: str) -> Iterator[UnpackedMember | ContainerProblem]:
    """Yields the members that begin with one of the `wanted` bytes, or whose name ends in `suffix`."""
    if _directory_size(file) > MAX_LISTING_BYTES:
        yield ContainerProblem(
            f"a zip archive whose table of members is longer than {MAX_LISTING_BYTES:,} bytes", "split it"
        )
        return
    try:
        archive = zipfile.ZipFile(file)
    except _ZIP_ERRORS as error:
        yield ContainerProblem(f"a zip archive that cannot be read: {error}", DAMAGED_REMEDY)
        return
    left = MAX_UNPACKED_BYTES
    with archive:
        infos = archive.infolist()
        if len(infos) > MAX_MEMBERS:
            yield ContainerProblem(
                f"a zip archive of {len(infos):,} members; {MAX_MEMBERS:,} are read at most", "split it"
            )
            return
        for info in infos:
            if info.filename.endswith("/"):  # `is_dir` fails if there is no name
                continue
            try:
                with archive.open(info) as member, _scratch_file() as scratch:
                    head = member.read(_HEAD_BYTES)
                    if not (head.startswith(wanted) or info.filename.endswith(suffix)):
                        continue
                    size = _unpack(head, member, scratch, min(left, _max_unpacked_size(info)))
                    if size is None:
                        yield ContainerProblem(*_bomb_problem(info, left), (info.filename,))
                        return
                    left -= size
                    scratch.seek(0)
                    yield UnpackedMember(info.filename, scratch, size)
            except _ZIP_ERRORS as error:
                remedy = "unpack it with its password" if info.flag_bits & 1 else DAMAGED_REMEDY
                yield ContainerProblem(
                    f"this member of the archive cannot be unpacked: {error}", remedy, (info.filename,)
                )


def _directory_size(file: IO[bytes]) -> int:
    """Returns the size in bytes of the table of members, which is read into memory, as the end of the archive states,
    or 0.

    Source: PKWARE, "APPNOTE": "End of central directory record", and the one of Zip64 before it.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL_BYTES))
    tail = file.read()
    file.seek(0)
    end, large = tail.rfind(b"PK\5\6"), tail.rfind(b"PK\6\6")
    sizes = [0]
    if end >= 0 and len(tail) - end >= 16:
        sizes.append(struct.unpack_from("<I", tail, end + 12)[0])
    if large >= 0 and len(tail) - large >= 48:
        sizes.append(struct.unpack_from("<Q", tail, large + 40)[0])
    return min(max(sizes), size)


def _max_unpacked_size(info: zipfile.ZipInfo) -> int:
    """Returns the number of bytes to which a member may be unpacked: its stated size, unless that is implausible."""
    return min(info.file_size, max(MAX_UNSUSPICIOUS_BYTES, MAX_UNPACKED_RATIO * info.compress_size))


def _bomb_problem(info: zipfile.ZipInfo, left: int) -> tuple[str, str]:
    if left < _max_unpacked_size(info):
        return f"the archive unpacks to more than {MAX_UNPACKED_BYTES:,} bytes", "unpack it, and name the files"
    message = f"{info.compress_size:,} bytes that unpack to more than {_max_unpacked_size(info):,}"
    return message, "unpack it, and name the files, if you trust it"


def _unpack(head: bytes, member: IO[bytes], scratch: IO[bytes], most: int) -> int | None:
    """Unpacks a member, and returns its size, or None if it exceeds `most`."""
    size = len(head)
    scratch.write(head)
    while size <= most:
        chunk = member.read(_CHUNK_BYTES)
        if not chunk:
            return size
        size += len(chunk)
        scratch.write(chunk)
    return None


@contextmanager
def _scratch_file() -> Iterator[IO[bytes]]:
    """Creates a file that no other program sees and that is removed when it is closed."""
    with tempfile.TemporaryFile(prefix="ptxkit-") as file:
        yield file
