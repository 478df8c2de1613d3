"""The reader of ELF files: their contents, and the errors of inconsistent files."""

from __future__ import annotations

import random
import struct

import pytest

from ptxkit import elf
from ptxkit.device import cubin_reader
from ptxkit.elf import ElfError, ElfFile
from tests.inputs.building import elf as elf_file

BOTH_WIDTHS = pytest.mark.parametrize("wide", [True, False])


def symbol(name: int, *, wide: bool = True, info: int = 0x12, other: int = 0x10, section: int = 1) -> bytes:
    if wide:
        return struct.pack("<IBBHQQ", name, info, other, section, 0, 0)
    return struct.pack("<IIIBBH", name, 0, 0, info, other, section)


def with_symbols(symbols: bytes, names: bytes, *, wide: bool = True, link: int = 2, info: bytes = b"") -> bytes:
    """A cubin with a table of symbols as section 1 and its names as section 2."""
    sections = [(".symtab", symbols), (".strtab", names), (".nv.info.k", info)]
    data = bytearray(elf_file(sections, wide=wide, machine=elf.EM_CUDA))
    table = struct.unpack_from("<Q" if wide else "<I", data, 40 if wide else 32)[0]
    row = table + (64 if wide else 40)
    struct.pack_into("<I", data, row + 4, elf.SHT_SYMTAB)
    struct.pack_into("<I", data, row + (40 if wide else 24), link)
    return bytes(data)


@BOTH_WIDTHS
def test_sections_have_names_and_contents(wide: bool) -> None:
    file = ElfFile(elf_file([(".text", b"code"), (".data", b"")], wide=wide))
    named = {each.name: each for each in file.sections()}
    assert list(named) == ["", ".text", ".data", ".shstrtab"]
    assert file.contents(named[".text"]) == b"code"
    assert (file.type, file.machine) == (elf.ET_REL, 62)


@BOTH_WIDTHS
def test_symbols_have_names_and_kinds(wide: bool) -> None:
    [found] = ElfFile(with_symbols(symbol(1, wide=wide), b"\0k\0", wide=wide)).symbols()
    assert (found.name, found.type, found.binding, found.other, found.section) == ("k", elf.STT_FUNC, 1, 0x10, 1)


def test_a_file_without_a_table_of_sections_has_none() -> None:
    assert list(ElfFile(elf_file([(".text", b"code")], stripped=True)).sections()) == []


def test_a_kernel_is_read_from_a_cubin() -> None:
    parameter = struct.pack("<BBHIHHI", 4, 0x17, 12, 0, 0, 0, 8 << 18)
    image = cubin_reader.read_cubin(with_symbols(symbol(1), b"\0k\0", info=parameter))
    [kernel] = image.kernels
    assert (kernel.name, [each.type for each in kernel.arguments]) == ("k", ["b64"])
    assert image.is_relocatable


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (elf.MAGIC, "less than its header has"),
        (with_symbols(symbol(1), b"\0k\0", link=99), "has its names in a section that is not there"),
        (with_symbols(symbol(1), b"\0k\0", info=struct.pack("<BBHI", 4, 0x17, 4, 0)), "of kernel 'k' cannot be read"),
    ],
)
def test_a_damaged_cubin_is_an_error_with_a_remedy(data: bytes, message: str) -> None:
    with pytest.raises(ElfError, match=message) as caught:
        cubin_reader.read_cubin(data)
    assert caught.value.remedy


def test_contents_beyond_the_end_of_the_file_are_rejected() -> None:
    data = bytearray(elf_file([(".text", b"code")]))
    table = struct.unpack_from("<Q", data, 40)[0]
    struct.pack_into("<Q", data, table + 64 + 32, 1 << 50)
    file = ElfFile(bytes(data))
    section = next(each for each in file.sections() if each.name == ".text")
    with pytest.raises(ElfError, match=r"section '\.text' ends at byte"):
        file.contents(section)


def test_the_bytes_of_all_names_of_sections_are_bounded() -> None:
    data = elf_file([("x" * 200_000, b"")] * 1000)
    with pytest.raises(ElfError, match="whose names have more than 67,108,864 bytes"):
        list(ElfFile(data).sections())


def test_randomly_changed_bytes_are_read_or_rejected() -> None:
    chance = random.Random(7)
    whole = with_symbols(symbol(1) * 3, b"\0k\0", info=struct.pack("<BBHIHHI", 4, 0x17, 12, 0, 0, 0, 8 << 18))
    refused = 0
    for _ in range(3000):
        data = bytearray(whole[: chance.randrange(20, len(whole) + 1)] if chance.random() < 0.2 else whole)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(16, len(data))] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
        try:
            cubin_reader.read_cubin(bytes(data))
        except ElfError:
            refused += 1
    assert refused > 100
