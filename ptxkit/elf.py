"""Reads ELF files: their sections, names and symbols, of either width, little-endian as on all hosts and devices of
CUDA.

A file may come from any source, so each offset and count is compared with the size of the file before it is used, and
the work is limited by `ptxkit.limits`, whatever the headers state.

Source: System V Application Binary Interface, "Object Files": "ELF Header", "Sections", "String Table", "Symbol Table".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from ptxkit.byte_source import Bytes
from ptxkit.fast_dataclasses import dataclass
from ptxkit.limits import MAX_ELF_NAME_BYTES, MAX_ELF_SECTIONS

MAGIC = b"\x7fELF"
EM_CUDA = 190
"""`e_machine` of machine code for GPUs."""
ET_REL = 1
"""`e_type` of a relocatable file."""
SHT_NULL, SHT_SYMTAB, SHT_NOBITS = 0, 2, 8
STT_NOTYPE, STT_OBJECT, STT_FUNC = 0, 1, 2
STB_GLOBAL = 1
SHN_UNDEF = 0

_ELFCLASS32, _ELFCLASS64, _ELFDATA2LSB = 1, 2, 1
_SHN_XINDEX = 0xFFFF
_HEADER_BYTES = 64

_REBUILD = "build the file again; it is cut off or damaged"


class ElfError(ValueError):
    """An error in a file. remedy: what its owner can do."""

    def __init__(self, message: str, remedy: str = _REBUILD) -> None:
        super().__init__(message)
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class ElfSection:
    """One header. type: of `SHT_...`; offset, size: of the contents; link: the number of a related section."""

    name: str
    type: int
    offset: int
    size: int
    link: int

    @property
    def end(self) -> int:
        """The offset after the contents, which may be beyond the end of the file."""
        return self.offset + self.size


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """One symbol. section: the number of the one that defines it, or `SHN_UNDEF`; other: `st_other`."""

    name: str
    type: int
    binding: int
    other: int
    section: int


def machine_of(data: Bytes) -> int | None:
    """Returns `e_machine`, or None if the bytes are not an ELF file, or its header is truncated."""
    return struct.unpack_from("<H", data, 18)[0] if data[:4] == MAGIC and len(data) >= 20 else None


class ElfFile:
    """The tables of an ELF file. Raises ElfError if the header cannot be read."""

    def __init__(self, data: Bytes) -> None:
        if len(data) < _HEADER_BYTES:
            raise ElfError(f"an ELF file of {len(data)} bytes, which is less than its header has")
        if data[4] not in (_ELFCLASS32, _ELFCLASS64) or data[5] != _ELFDATA2LSB:
            raise ElfError(
                "an ELF file of an unknown width or byte order", "give it a file for a little-endian machine"
            )
        self._data = data
        self._is_wide = data[4] == _ELFCLASS64
        self._name_bytes = 0
        self.type, self.machine = struct.unpack_from("<HH", data, 16)

    def sections(self) -> Iterator[ElfSection]:
        """Yields the headers of all sections, including the empty one at the start; nothing if the file has no table of
        sections.

        Raises ElfError. A section may extend beyond the file, which `find_overrun` detects.
        """
        rows, names = self._read_table()
        for name, kind, _, _, offset, size, link, *_ in rows:
            yield ElfSection(self._read_name(names, name), kind, offset, size, link)

    def contents(self, section: ElfSection) -> bytes:
        """Returns the bytes of a section. Raises ElfError if it extends beyond the file."""
        if section.type == SHT_NOBITS:
            return b""
        if (overrun := self.find_overrun(section)) is not None:
            raise overrun
        return bytes(self._data[section.offset : section.end])

    def find_overrun(self, section: ElfSection) -> ElfError | None:
        """Returns the error of a section whose contents extend beyond the file, or None."""
        if section.type == SHT_NOBITS or section.end <= len(self._data):
            return None
        return ElfError(
            f"section {section.name!r} ends at byte {section.end:,}, after the end of the file at {len(self._data):,}"
        )

    def symbols(self) -> Iterator[ElfSymbol]:
        """Yields the symbols of all tables of symbols except for dynamic ones. Raises ElfError."""
        sections = tuple(self.sections())
        layout = struct.Struct("<IBBHQQ" if self._is_wide else "<IIIBBH")
        for table in sections:
            if table.type != SHT_SYMTAB:
                continue
            if table.link >= len(sections):
                raise ElfError(f"section {table.name!r} has its names in a section that is not there")
            names, body = sections[table.link], self.contents(table)
            for row in layout.iter_unpack(body[: len(body) - len(body) % layout.size]):
                name, info, other, section = row[:4] if self._is_wide else (row[0], *row[3:])
                text = self._read_name((names.offset, names.size), name)
                yield ElfSymbol(text, info & 15, info >> 4, other, section)

    def _read_table(self) -> tuple[Iterable[tuple[int, ...]], tuple[int, int]]:
        """Returns the rows of the table of sections, and offset and size of their names."""
        data, is_wide = self._data, self._is_wide
        table = struct.unpack_from("<Q", data, 40)[0] if is_wide else struct.unpack_from("<I", data, 32)[0]
        step, count, names = struct.unpack_from("<HHH", data, 58 if is_wide else 46)
        layout = struct.Struct("<IIQQQQIIQQ" if is_wide else "<IIIIIIIIII")
        if not table:
            return (), (0, 0)
        if step < layout.size or table + step > len(data):
            raise ElfError(f"an ELF file of {len(data):,} bytes with its table of sections at byte {table:,}")
        first = layout.unpack_from(data, table)
        count = count or first[5]
        names = first[6] if names == _SHN_XINDEX else names
        if count > MAX_ELF_SECTIONS or table + count * step > len(data) or names >= count:
            raise ElfError(f"an ELF file of {len(data):,} bytes whose {count:,} sections exceed it")
        rows = (layout.unpack_from(data, table + number * step) for number in range(count))
        title = layout.unpack_from(data, table + names * step)
        return rows, (title[4], title[5])

    def _read_name(self, table: tuple[int, int], offset: int) -> str:
        """Returns the name at an offset in a table of strings, or an empty text if it is not in the table."""
        start, size = table
        begin, end = start + offset, min(start + size, len(self._data))
        if begin >= end:
            return ""
        stop = self._data.find(b"\0", begin, min(end, begin + MAX_ELF_NAME_BYTES))
        stop = end if stop < 0 else stop
        self._name_bytes += stop - begin
        if self._name_bytes > MAX_ELF_NAME_BYTES:
            raise ElfError(f"an ELF file whose names have more than {MAX_ELF_NAME_BYTES:,} bytes")
        return bytes(self._data[begin:stop]).decode("utf-8", "replace")
