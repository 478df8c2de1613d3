"""What a cubin says of itself: its kernels and their parameters, and the names it defines and needs.

A cubin is an ELF file. Each function has a section `.nv.info.<name>` of records (format, attribute, size, data), from
which parameters and launch bounds are read; that suffices to launch a kernel of which nothing else is known.

Source: CUDA Binary Utilities; the attributes are those that `cuobjdump -elf` prints (EIATTR_KPARAM_INFO,
EIATTR_REQNTID, EIATTR_CTA_PER_CLUSTER).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ptxkit import elf
from ptxkit.device.signature import Argument, Signature
from ptxkit.elf import ElfError, ElfFile
from ptxkit.fast_dataclasses import dataclass

_STO_CUDA_ENTRY = 0x10
"""The flag of kernels in `st_other`."""
_EIATTR_KPARAM_INFO, _EIATTR_REQNTID, _EIATTR_CTA_PER_CLUSTER = 0x17, 0x10, 0x3D
_EIFMT_SVAL = 4
"""Records of this format have data of a size; those of others have two bytes."""


@dataclass(frozen=True, slots=True)
class CubinSymbol:
    """A name that other modules see; it may be a kernel, and is defined here or elsewhere."""

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
    return elf.machine_of(data) == elf.EM_CUDA


def read_cubin(data: bytes) -> CubinImage:
    """What a cubin says of itself. Raises ElfError for bytes that are damaged."""
    file = ElfFile(data)
    sections = {each.name: each for each in file.sections()}
    symbols = tuple(_iterate_symbols(file))
    kernels = []
    for name in (each.name for each in symbols if each.is_kernel):
        information = sections.get(f".nv.info.{name}")
        try:
            kernels.append(_read_signature(name, b"" if information is None else file.contents(information)))
        except struct.error:
            raise ElfError(f"a cubin whose description of kernel {name!r} cannot be read") from None
    return CubinImage(file.type == elf.ET_REL, symbols, tuple(kernels))


def section_sizes(data: bytes) -> tuple[tuple[str, int], ...]:
    """The sections of a cubin, each with its bytes, those that take none in the file too. Raises ElfError."""
    return tuple((each.name, each.size) for each in ElfFile(data).sections())


def _iterate_symbols(file: ElfFile) -> Iterator[CubinSymbol]:
    for each in file.symbols():
        is_defined = each.section != elf.SHN_UNDEF
        # Undefined ones of another type are launch-sized shared memory, which no module defines.
        is_code_or_data = each.type in (elf.STT_OBJECT, elf.STT_FUNC)
        is_seen = is_code_or_data or (not is_defined and each.type == elf.STT_NOTYPE)
        # What begins with a dot the tools reserve for themselves.
        if each.binding == elf.STB_GLOBAL and is_seen and not each.name.startswith("."):
            yield CubinSymbol(each.name, bool(each.other & _STO_CUDA_ENTRY) and is_defined, is_defined)


def _read_signature(name: str, information: bytes) -> Signature:
    sizes: dict[int, int] = {}
    shapes: dict[int, tuple[int, int, int]] = {}
    for attribute, body in _iterate_records(information):
        if attribute == _EIATTR_KPARAM_INFO:
            _, number, _, packed = struct.unpack("<IHHI", body)
            sizes[number] = packed >> 18
        elif attribute in (_EIATTR_REQNTID, _EIATTR_CTA_PER_CLUSTER):
            x, y, z = struct.unpack("<III", body)
            shapes[attribute] = x, y, z
    arguments = tuple(_opaque_argument(number, sizes[number]) for number in sorted(sizes))
    return Signature(name, arguments, shapes.get(_EIATTR_REQNTID), cluster=shapes.get(_EIATTR_CTA_PER_CLUSTER))


def _opaque_argument(number: int, size: int) -> Argument:
    """A parameter of which only the size is known."""
    name = f"parameter {number}"
    return Argument(name, f"b{8 * size}") if size in (1, 2, 4, 8) else Argument(name, None, size=size)


def _iterate_records(information: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place + 4 <= len(information):
        form, attribute, size = struct.unpack_from("<BBH", information, place)
        place += 4
        length = size if form == _EIFMT_SVAL else 0
        yield attribute, information[place : place + length]
        place += length
