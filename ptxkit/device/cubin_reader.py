"""What a cubin says of itself: its kernels and their parameters, and the names it defines and needs.

A cubin is an ELF file. Each function has a section `.nv.info.<name>` of records (format, attribute, size, data), from
which parameters and launch bounds are read; that suffices to launch a kernel of which nothing else is known.

Source: CUDA Binary Utilities; the attributes are those that `cuobjdump -elf` prints (EIATTR_KPARAM_INFO,
EIATTR_REQNTID, EIATTR_CTA_PER_CLUSTER).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ptxkit.device.signature import Argument, Signature
from ptxkit.fast_dataclasses import dataclass

MAGIC = b"\x7fELF"
_CUDA = 190
"""EM_CUDA"""
_RELOCATABLE = 1
_SECTION, _SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")
_SYMBOLS, _OBJECT, _FUNCTION, _GLOBAL, _ENTRY = 2, 1, 2, 1, 0x10
"""SHT_SYMTAB; types and binding of symbols; the flag of kernels."""
_PARAMETER, _THREADS, _CLUSTER = 0x17, 0x10, 0x3D
_WITH_SIZE = 4
"""Records of this format have data of a size; those of others have two bytes."""


@dataclass(frozen=True, slots=True)
class CubinSymbol:
    """A name that other modules see. is_kernel: as a kernel; is_defined: here."""

    name: str
    is_kernel: bool
    is_defined: bool


@dataclass(frozen=True, slots=True)
class CubinImage:
    """The parts of a cubin that are looked at."""

    is_relocatable: bool
    symbols: tuple[CubinSymbol, ...]
    kernels: tuple[Signature, ...]

    @property
    def defined_names(self) -> frozenset[str]:
        """Functions and variables that it has."""
        return frozenset(each.name for each in self.symbols if each.is_defined)

    @property
    def undefined_names(self) -> frozenset[str]:
        """Functions and variables that others must have."""
        return frozenset(each.name for each in self.symbols if not each.is_defined)


def is_cubin(data: bytes) -> bool:
    """Whether bytes are an ELF file for a GPU."""
    return data.startswith(MAGIC) and len(data) > 20 and int.from_bytes(data[18:20], "little") == _CUDA


def read_cubin(data: bytes) -> CubinImage:
    """What a cubin says of itself. Errors: `struct.error` or `ValueError` for bytes that are damaged."""
    sections = dict(_iterate_sections(data))
    symbols = tuple(_iterate_symbols(sections))
    kernels = tuple(
        _read_signature(each.name, sections.get(f".nv.info.{each.name}", b"")) for each in symbols if each.is_kernel
    )
    (kind,) = struct.unpack_from("<H", data, 16)
    return CubinImage(kind == _RELOCATABLE, symbols, kernels)


def section_sizes(data: bytes) -> tuple[tuple[str, int], ...]:
    """The sections of a cubin, each with its bytes, those that take none in the file too."""
    return tuple((name, header[5]) for name, header in _read_headers(data))


def _read_headers(data: bytes) -> list[tuple[str, tuple[int, ...]]]:
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count, of_names = struct.unpack_from("<HHH", data, 58)
    headers = [_SECTION.unpack_from(data, start + size * number) for number in range(count)]
    names = headers[of_names][4]
    return [(_read_string(data, names + header[0]), header) for header in headers]


def _iterate_sections(data: bytes) -> Iterator[tuple[str, bytes]]:
    """(name, contents); the table of symbols has the name of its kind, the strings too."""
    headers = _read_headers(data)
    for name, (_, kind, _, _, offset, length, link, *_) in headers:
        body = data[offset : offset + length]
        yield name, body
        if kind == _SYMBOLS:
            strings = headers[link][1]
            yield "symbols", body
            yield "strings", data[strings[4] : strings[4] + strings[5]]


def _iterate_symbols(sections: dict[str, bytes]) -> Iterator[CubinSymbol]:
    strings = sections.get("strings", b"")
    for name, info, other, section, _, _ in _SYMBOL.iter_unpack(sections.get("symbols", b"")):
        # Undefined ones of another type are launch-sized shared memory, which nobody defines.
        if info >> 4 == _GLOBAL and (info & 15 in (_OBJECT, _FUNCTION) or (not section and not info & 15)):
            text = _read_string(strings, name)
            if not text.startswith("."):  # what the tools reserve for themselves
                yield CubinSymbol(text, bool(other & _ENTRY) and section != 0, section != 0)


def _read_signature(name: str, information: bytes) -> Signature:
    sizes: dict[int, int] = {}
    shapes: dict[int, tuple[int, int, int]] = {}
    for attribute, body in _iterate_records(information):
        if attribute == _PARAMETER:
            _, number, _, packed = struct.unpack("<IHHI", body)
            sizes[number] = packed >> 18
        elif attribute in (_THREADS, _CLUSTER):
            x, y, z = struct.unpack("<III", body)
            shapes[attribute] = x, y, z
    arguments = tuple(_opaque_argument(number, sizes[number]) for number in sorted(sizes))
    return Signature(name, arguments, shapes.get(_THREADS), cluster=shapes.get(_CLUSTER))


def _opaque_argument(number: int, size: int) -> Argument:
    """A parameter of which only the size is known."""
    name = f"parameter {number}"
    return Argument(name, f"b{8 * size}") if size in (1, 2, 4, 8) else Argument(name, None, size=size)


def _iterate_records(information: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place + 4 <= len(information):
        form, attribute, size = struct.unpack_from("<BBH", information, place)
        place += 4
        length = size if form == _WITH_SIZE else 0
        yield attribute, information[place : place + length]
        place += length


def _read_string(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode(errors="replace")
