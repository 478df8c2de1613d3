"""Reads from a cubin its kernels with their parameters, and the names that it defines and uses.

A cubin is an ELF file. Each function has a section `.nv.info.<name>` of records (format, attribute, size, data), which
contains its parameters and launch bounds. They suffice to launch a kernel whose source is not known.

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
"""Records of this format have data of a stated size; those of other formats have two bytes instead of the size."""


@dataclass(frozen=True, slots=True)
class CubinSymbol:
    """A name that is visible to other modules. It may be a kernel, and it is either defined or used by the module."""

    name: str
    is_kernel: bool
    is_defined: bool


@dataclass(frozen=True, slots=True)
class CubinImage:
    """The parts of a cubin that ptxkit uses."""

    is_relocatable: bool
    symbols: tuple[CubinSymbol, ...]
    kernels: tuple[Signature, ...]

    @property
    def defined_names(self) -> frozenset[str]:
        """The functions and variables that the module defines."""
        return frozenset(each.name for each in self.symbols if each.is_defined)

    @property
    def undefined_names(self) -> frozenset[str]:
        """The functions and variables that other modules must define."""
        return frozenset(each.name for each in self.symbols if not each.is_defined)


def is_cubin(data: bytes) -> bool:
    """Returns whether bytes are an ELF file for a GPU."""
    return elf.machine_of(data) == elf.EM_CUDA


def read_cubin(data: bytes) -> CubinImage:
    """Reads a cubin. Raises `ElfError` for damaged bytes."""
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
    """Returns the sections of a cubin with their sizes in bytes, including those without data in the file.

    Raises `ElfError` for damaged bytes.
    """
    return tuple((each.name, each.size) for each in ElfFile(data).sections())


def _iterate_symbols(file: ElfFile) -> Iterator[CubinSymbol]:
    for each in file.symbols():
        is_defined = each.section != elf.SHN_UNDEF
        # Undefined symbols of another type are launch-sized shared memory, which no module defines.
        is_code_or_data = each.type in (elf.STT_OBJECT, elf.STT_FUNC)
        is_seen = is_code_or_data or (not is_defined and each.type == elf.STT_NOTYPE)
        # The tools reserve names that begin with a dot.
        if each.binding == elf.STB_GLOBAL and is_seen and not each.name.startswith("."):
            yield CubinSymbol(each.name, bool(each.other & _STO_CUDA_ENTRY) and is_defined, is_defined)


def _read_signature(name: str, information: bytes) -> Signature:
    sizes: dict[int, int] = {}
    shapes: dict[int, tuple[int, int, int]] = {}
    for attribute, body in iterate_records(information):
        if attribute == _EIATTR_KPARAM_INFO:
            _, number, _, packed = struct.unpack("<IHHI", body)
            sizes[number] = packed >> 18
        elif attribute in (_EIATTR_REQNTID, _EIATTR_CTA_PER_CLUSTER):
            x, y, z = struct.unpack("<III", body)
            shapes[attribute] = x, y, z
    arguments = tuple(_opaque_argument(number, sizes[number]) for number in sorted(sizes))
    return Signature(name, arguments, shapes.get(_EIATTR_REQNTID), cluster=shapes.get(_EIATTR_CTA_PER_CLUSTER))


def _opaque_argument(number: int, size: int) -> Argument:
    """Returns a parameter of which only the size is known."""
    name = f"parameter {number}"
    return Argument(name, f"b{8 * size}") if size in (1, 2, 4, 8) else Argument(name, None, size=size)


def iterate_records(information: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields (attribute, data) of each record of a section `.nv.info`."""
    place = 0
    while place + 4 <= len(information):
        form, attribute, size = struct.unpack_from("<BBH", information, place)
        place += 4
        if form != _EIFMT_SVAL:
            yield attribute, information[place - 2 : place]
            continue
        yield attribute, information[place : place + size]
        place += size
