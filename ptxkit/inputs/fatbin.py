"""Fat binaries: a header, then entries with PTX or machine code, each for one target, raw or compressed.

NVIDIA documents the outer header (`fatbinary_section.h` of the toolkit); the contents of the entries were determined
from files of nvcc 13.0: kind, sizes of header and payload, compressed size, version, target, offset of a name, flags,
size when decompressed. All numbers are little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ptxkit.byte_source import Bytes
from ptxkit.fast_dataclasses import dataclass
from ptxkit.inputs.decompress import CompressionError, decompress_lz4, decompress_zstd
from ptxkit.inputs.entries import DAMAGED_REMEDY, ContainerEntry, ContainerProblem, EmbeddedPtx, SkippedCode
from ptxkit.inputs.limits import MAX_EMBEDDED_BYTES, MAX_ENTRY_NAME_BYTES

MAGIC = b"\x50\xed\x55\xba"
_HEADER = struct.Struct("<4sHHQ")
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")

_PTX, _CODE, _INTERMEDIATE = 1, 2, 8
_LZ4, _ZSTD = 0x2000, 0x8000
_CHIP, _FAMILY = 0x100000, 0x200000


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry. start: of its header, to which offsets are relative. payload: bytes up to the next entry."""

    kind: int
    start: int
    header: int
    payload: int
    compressed: int
    architecture: int
    name: tuple[int, int]
    flags: int
    size: int

    @property
    def target(self) -> str:
        suffix = "a" if self.flags & _CHIP else "f" if self.flags & _FAMILY else ""
        return f"sm_{self.architecture}{suffix}"


def fat_binaries(data: Bytes, start: int, end: int) -> Iterator[ContainerEntry]:
    """Yields all entries of the fat binaries between two offsets, which follow each other with padding between."""
    place = start
    while (place := data.find(MAGIC, place, end)) >= 0:
        if end - place < _HEADER.size:
            yield ContainerProblem(f"a fat binary at byte {place:,} that ends in its header", DAMAGED_REMEDY)
            return
        _, version, header, size = _HEADER.unpack_from(data, place)
        if version != 1 or not _HEADER.size <= header <= 1024:
            yield ContainerProblem(
                f"a fat binary at byte {place:,} of an unknown version ({version})", "report it with the file"
            )
            place += len(MAGIC)
            continue
        stop = place + header + size
        if stop > end:
            yield ContainerProblem(
                f"a fat binary at byte {place:,} states its end at byte {stop:,}, but the file ends at byte {end:,}",
                DAMAGED_REMEDY,
            )
            stop = end
        yield from _entries(data, place + header, stop)
        place = max(stop, place + len(MAGIC))


def _entries(data: Bytes, place: int, end: int) -> Iterator[ContainerEntry]:
    while end - place >= _ENTRY.size:
        kind, _, header, payload, compressed, _, _, _, chip, name, length, flags, _, size = _ENTRY.unpack_from(
            data, place
        )
        if header < _ENTRY.size or header > end - place or not any((kind, payload)):
            if any(data[place : place + _ENTRY.size]):
                yield ContainerProblem(
                    f"an entry at byte {place:,} states a header of {header:,} bytes", DAMAGED_REMEDY
                )
            return
        entry = _Entry(kind, place, header, payload, compressed, chip, (name, length), flags, size)
        if payload > end - place - header:
            yield ContainerProblem(
                f"an entry at byte {place:,} for {entry.target} is truncated: it states a payload of {payload:,} bytes",
                DAMAGED_REMEDY,
            )
            return
        yield _read_entry(data, entry)
        place += header + payload
    if end - place > 0 and any(data[place:end]):
        yield ContainerProblem(f"an entry at byte {place:,} that ends in its header", DAMAGED_REMEDY)


def _read_entry(data: Bytes, entry: _Entry) -> ContainerEntry:
    if entry.kind != _PTX:
        what = {_CODE: "machine code", _INTERMEDIATE: "intermediate code (LTO)"}.get(
            entry.kind, f"code of kind {entry.kind}"
        )
        return SkippedCode(f"{what} for {entry.target}")
    try:
        text = _decompress_payload(data, entry)
    except CompressionError as error:
        return ContainerProblem(f"the PTX for {entry.target} at byte {entry.start:,}: {error}", error.remedy)
    return EmbeddedPtx(text.rstrip(b"\0"), entry.target, _entry_name(data, entry))


def _decompress_payload(data: Bytes, entry: _Entry) -> bytes:
    begin = entry.start + entry.header
    packed = entry.compressed or entry.payload
    if packed > entry.payload:
        raise CompressionError(f"its compressed size of {packed:,} bytes is more than its payload of {entry.payload:,}")
    if entry.flags & (_LZ4 | _ZSTD):
        unpack = decompress_zstd if entry.flags & _ZSTD else decompress_lz4
        if entry.size > MAX_EMBEDDED_BYTES:
            raise CompressionError(f"its header states {entry.size:,} bytes; {MAX_EMBEDDED_BYTES:,} are read at most")
        return unpack(bytes(data[begin : begin + packed]), entry.size)
    if packed > MAX_EMBEDDED_BYTES:
        raise CompressionError(f"it has {packed:,} bytes; {MAX_EMBEDDED_BYTES:,} are read at most")
    if entry.compressed:
        raise CompressionError(f"it is compressed by an unknown algorithm (flags {entry.flags:#x})")
    return bytes(data[begin : begin + packed])


def _entry_name(data: Bytes, entry: _Entry) -> str:
    offset, length = entry.name
    if not offset or not length or length > MAX_ENTRY_NAME_BYTES or offset + length > entry.header + entry.payload:
        return ""
    begin = entry.start + offset
    return bytes(data[begin : begin + length]).split(b"\0", 1)[0].decode("utf-8", "replace")
