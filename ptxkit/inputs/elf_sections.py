"""Sections of ELF files, of either width, little-endian as all of CUDA's hosts and devices are.

Source: System V Application Binary Interface, "Object Files": "ELF Header", "Sections", "String Table".
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ptxkit.fast_dataclasses import dataclass
from ptxkit.inputs.byte_source import Bytes
from ptxkit.inputs.entries import DAMAGED_REMEDY, ContainerProblem

MAGIC = b"\x7fELF"
CUDA_MACHINE = 190
"""`e_machine` of machine code for GPUs."""

_WIDE, _LITTLE = 2, 1
_NOBITS = 8
_LARGE_INDEX = 0xFFFF
_MAX_SECTIONS = 1 << 20


@dataclass(frozen=True, slots=True)
class ElfSection:
    """Where a section stands in the file."""

    name: str
    offset: int
    size: int


def elf_machine(data: Bytes) -> int | None:
    """`e_machine`, or None where the header is cut off."""
    return struct.unpack_from("<H", data, 18)[0] if len(data) >= 20 else None


def elf_sections(data: Bytes) -> Iterator[ElfSection | ContainerProblem]:
    """The sections that have contents; none where the file has no table of them.

    What the headers say is held against the size of the file: a section that leaves it is a problem.
    """
    if len(data) < 64:
        yield ContainerProblem(f"an ELF file of {len(data)} bytes, which is less than its header has", DAMAGED_REMEDY)
        return
    if data[4] not in (1, _WIDE) or data[5] != _LITTLE:
        yield ContainerProblem(
            "an ELF file of an unknown width or byte order", "give it a file for a little-endian machine"
        )
        return
    wide = data[4] == _WIDE
    table = struct.unpack_from("<Q", data, 40)[0] if wide else struct.unpack_from("<I", data, 32)[0]
    size, count, names = struct.unpack_from("<HHH", data, 58 if wide else 46)
    layout = struct.Struct("<IIQQQQIIQQ" if wide else "<IIIIIIIIII")
    if not table:
        return
    if size < layout.size or table + size > len(data):
        yield ContainerProblem(
            f"an ELF file of {len(data):,} bytes with its table of sections at byte {table:,}", DAMAGED_REMEDY
        )
        return
    first = layout.unpack_from(data, table)
    count = count or first[5]
    names = first[6] if names == _LARGE_INDEX else names
    if count > _MAX_SECTIONS or table + count * size > len(data) or names >= count:
        yield ContainerProblem(f"an ELF file of {len(data):,} bytes whose {count:,} sections leave it", DAMAGED_REMEDY)
        return
    rows = [layout.unpack_from(data, table + place * size) for place in range(count)]
    text_start, text_size = rows[names][4], rows[names][5]
    for row in rows:
        if row[1] in (0, _NOBITS):
            continue
        name = _section_name(data, text_start, text_size, row[0])
        if row[4] + row[5] > len(data):
            yield ContainerProblem(
                f"section {name!r} is said to end at byte {row[4] + row[5]:,} of {len(data):,}", DAMAGED_REMEDY
            )
        else:
            yield ElfSection(name, row[4], row[5])


def _section_name(data: Bytes, start: int, size: int, offset: int) -> str:
    begin = start + offset
    end = min(start + size, begin + 256, len(data))
    return bytes(data[begin:end]).split(b"\0", 1)[0].decode("utf-8", "replace") if begin < end else ""
