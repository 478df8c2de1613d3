"""Archives of object files (`ar`): members one after the other, with long names in a separate table.

Source: System V Application Binary Interface, "Archive File"; GNU's and BSD's forms of long names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit.byte_source import Bytes
from ptxkit.fast_dataclasses import dataclass
from ptxkit.inputs.entries import DAMAGED_REMEDY, ContainerProblem

MAGIC = b"!<arch>\n"
_HEADER = 60
_NUMBER = re.compile(rb"\s*(\d+)\s*")


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """The name of a member, and the location of its contents."""

    name: str
    offset: int
    size: int


def archive_members(data: Bytes) -> Iterator[ArchiveMember | ContainerProblem]:
    """Yields the members, except for tables of symbols and names."""
    long_names = b""
    place = len(MAGIC)
    while place + _HEADER <= len(data):
        header = bytes(data[place : place + _HEADER])
        number = _NUMBER.fullmatch(header[48:58])
        if header[58:60] != b"`\n" or number is None:
            yield ContainerProblem(f"no member of an archive begins at byte {place:,}", DAMAGED_REMEDY)
            return
        begin, size = place + _HEADER, int(number[1])
        if begin + size > len(data):
            yield ContainerProblem(
                f"a member at byte {place:,} states a size of {size:,} bytes, which exceeds the archive", DAMAGED_REMEDY
            )
            return
        raw = header[:16].rstrip(b" ")
        if raw == b"//":
            long_names = bytes(data[begin : begin + size])
        elif raw not in (b"/", b"/SYM64/") and not raw.startswith(b"__.SYMDEF"):
            name, skipped = _member_name(raw, long_names, data, begin, size)
            yield ArchiveMember(name, begin + skipped, size - skipped)
        place = begin + size + size % 2
    if place < len(data) and data[place : place + 1] != b"\n":
        yield ContainerProblem(f"{len(data) - place} bytes at the end of the archive are not a member", DAMAGED_REMEDY)


def _member_name(raw: bytes, long_names: bytes, data: Bytes, begin: int, size: int) -> tuple[str, int]:
    """Returns the name, and the number of bytes of the contents that it occupies."""
    if raw.startswith(b"#1/") and raw[3:].isdigit() and int(raw[3:]) <= size:
        length = int(raw[3:])
        return bytes(data[begin : begin + length]).rstrip(b"\0").decode("utf-8", "replace"), length
    if raw.startswith(b"/") and raw[1:].isdigit():
        raw = long_names[int(raw[1:]) :].split(b"\n", 1)[0]
    return raw.rstrip(b"/").decode("utf-8", "replace"), 0
