"""Detects the kind of a file, and extracts the PTX from files of any kind."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import IO

from ptxkit import elf
from ptxkit.byte_source import Bytes
from ptxkit.fast_dataclasses import replace
from ptxkit.inputs import ar_archive, fatbin, zip_archive
from ptxkit.inputs.entries import ContainerEntry, ContainerProblem, EmbeddedPtx, SkippedCode
from ptxkit.inputs.limits import MAX_EMBEDDED_BYTES

KINDS = {
    elf.MAGIC: "an ELF file (a cubin, an object, a library or a program)",
    fatbin.MAGIC: "a CUDA fat binary",
    ar_archive.MAGIC: "an archive of object files",
    zip_archive.MAGIC: "a zip archive",
}
"""The first bytes of files that may contain PTX, and their kinds."""

_FATBIN_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
_DEBUG_TEXT = ".nv_debug_ptx_txt"
"""The section of machine code compiled with `-G` that contains its PTX, with lines ended by zeros."""
_MAGICS_IN_ZIP = (elf.MAGIC, fatbin.MAGIC, ar_archive.MAGIC)
"""The formats that are read in a zip archive; nested archives are not."""


def kind_of(head: bytes) -> str | None:
    """Returns the kind of a file with these first bytes, or None if it can only contain PTX as its own text."""
    return next((what for magic, what in KINDS.items() if head.startswith(magic)), None)


def texts_in(file: IO[bytes]) -> Iterator[ContainerEntry]:
    """Yields the entries of an open file of one of these kinds, and why parts of it cannot be read."""
    head = file.read(8)
    file.seek(0)
    if head.startswith(zip_archive.MAGIC):
        yield from _in_zip(file)
    else:
        with _memory_map(file) as data:
            yield from _in_data(data)


class _memory_map:  # noqa: N801 (used like a function)
    """The contents of a file, read on demand, or in memory if the file cannot be mapped."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._map: mmap.mmap | None = None

    def __enter__(self) -> Bytes:
        try:
            self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            return self._file.read()
        return self._map

    def __exit__(self, *_: object) -> None:
        if self._map is not None:
            self._map.close()


def _in_zip(file: IO[bytes]) -> Iterator[ContainerEntry]:
    for member in zip_archive.zip_members(file, _MAGICS_IN_ZIP, ".ptx"):
        if isinstance(member, ContainerProblem):
            yield member
            continue
        head = member.file.read(8)
        member.file.seek(0)
        if kind_of(head) is not None:
            for found in texts_in(member.file):
                yield _nest_in(found, member.name)
        elif member.size <= MAX_EMBEDDED_BYTES:
            yield EmbeddedPtx(member.file.read(), "", "", (member.name,))
        else:
            message = f"PTX of {member.size:,} bytes; {MAX_EMBEDDED_BYTES:,} are read at most"
            yield ContainerProblem(message, "unpack and split it", (member.name,))


def _in_data(data: Bytes) -> Iterator[ContainerEntry]:
    head = bytes(data[:8])
    if head.startswith(ar_archive.MAGIC):
        for member in ar_archive.archive_members(data):
            if isinstance(member, ContainerProblem):
                yield member
            elif kind_of(bytes(data[member.offset : member.offset + 8])) is not None:
                # offsets of sections are relative to the beginning of the member
                part = bytes(data[member.offset : member.offset + member.size])
                for found in _in_data(part):
                    yield _nest_in(found, member.name)
    elif head.startswith(fatbin.MAGIC):
        yield from fatbin.fat_binaries(data, 0, len(data))
    elif head.startswith(elf.MAGIC):
        yield from _in_elf(data)


def _in_elf(data: Bytes) -> Iterator[ContainerEntry]:
    is_machine_code = elf.machine_of(data) == elf.EM_CUDA
    has_sections = False
    try:
        file = elf.ElfFile(data)
        for section in file.sections():
            if section.type in (elf.SHT_NULL, elf.SHT_NOBITS):
                continue
            has_sections = True
            if (overrun := file.find_overrun(section)) is not None:
                yield ContainerProblem(str(overrun), overrun.remedy)
            elif section.name in _FATBIN_SECTIONS:
                yield from fatbin.fat_binaries(data, section.offset, section.end)
            elif section.name == _DEBUG_TEXT and is_machine_code:
                yield _debug_text(data, section)
    except elf.ElfError as error:
        has_sections = True
        yield ContainerProblem(str(error), error.remedy)
    if is_machine_code:
        yield SkippedCode("machine code")
    elif not has_sections:  # a program whose table of sections was removed
        yield from fatbin.fat_binaries(data, 0, len(data))


def _debug_text(data: Bytes, section: elf.ElfSection) -> ContainerEntry:
    if section.size > MAX_EMBEDDED_BYTES:
        message = f"PTX of {section.size:,} bytes; {MAX_EMBEDDED_BYTES:,} are read at most"
        return ContainerProblem(message, "extract the PTX first")
    text = bytes(data[section.offset : section.end])
    return EmbeddedPtx(text.replace(b"\0", b"\n"), "")


def _nest_in(found: ContainerEntry, name: str) -> ContainerEntry:
    return found if isinstance(found, SkippedCode) else replace(found, inside=(name, *found.inside))
