"""PTX inside other files: its contents, and the errors of inconsistent files."""

from __future__ import annotations

import io
import shutil
import struct
import subprocess
import tempfile
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ptxkit.inputs import ContainerEntry, ContainerProblem, EmbeddedPtx, SkippedCode, display_name, kind_of, texts_in
from tests.cli.support import CLEAN
from tests.inputs.building import (
    CHIP,
    CODE,
    FAMILY,
    INTERMEDIATE,
    LZ4,
    ZSTD,
    ar,
    elf,
    entry,
    fatbin,
    zip_members,
)

TEXT = CLEAN.encode()
OTHER = TEXT.replace(b"sm_80", b"sm_90a")
TWO = fatbin(entry(TEXT), entry(OTHER, 90, flags=CHIP | ZSTD))


def find_all(data: bytes, *, mapped: bool = False) -> list[ContainerEntry]:
    """Returns the contents of a file of these bytes."""
    if not mapped:
        return list(texts_in(io.BytesIO(data)))
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return list(texts_in(file))


def texts(data: bytes) -> list[tuple[str, bytes]]:
    """Returns target and text of each PTX, where there are no errors."""
    everything = [each for each in find_all(data) if not isinstance(each, SkippedCode)]
    assert everything == [each for each in find_all(data, mapped=True) if not isinstance(each, SkippedCode)]
    assert all(isinstance(each, EmbeddedPtx) for each in everything), everything
    return [(each.target, each.data) for each in everything if isinstance(each, EmbeddedPtx)]


@contextmanager
def little_memory() -> Iterator[None]:
    """Fails where the block allocates 16 MB at once."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


def problems(data: bytes) -> list[str]:
    """Returns the errors of a file."""
    everything = find_all(data, mapped=True)
    assert [each for each in find_all(data) if isinstance(each, ContainerProblem)] == [
        each for each in everything if isinstance(each, ContainerProblem)
    ]
    return [each.message for each in everything if isinstance(each, ContainerProblem)]


@pytest.mark.parametrize("flags", [0, LZ4, ZSTD])
def test_a_fat_binary_contains_its_texts_raw_and_compressed(flags: int) -> None:
    data = fatbin(
        entry(TEXT, flags=flags), entry(OTHER, 90, flags=flags | CHIP), entry(TEXT, 100, flags=flags | FAMILY)
    )
    assert texts(data) == [("sm_80", TEXT), ("sm_90a", OTHER), ("sm_100f", TEXT)]


def test_code_of_other_kinds_is_skipped_and_named() -> None:
    data = fatbin(
        entry(b"\x7fELF", 90, kind=CODE, flags=CHIP), entry(b"x", 90, kind=INTERMEDIATE), entry(b"x", kind=64)
    )
    assert [each.what for each in find_all(data) if isinstance(each, SkippedCode)] == [
        "machine code for sm_90a",
        "intermediate code (LTO) for sm_90",
        "code of kind 64 for sm_80",
    ]


def test_several_fat_binaries_may_be_consecutive() -> None:
    assert len(texts(TWO + bytes(40) + TWO + TWO)) == 6


def test_the_name_of_an_entry_is_read() -> None:
    [each] = find_all(fatbin(entry(TEXT, name=b"kernel.ptx\0")))
    assert isinstance(each, EmbeddedPtx)
    assert each.name == "kernel.ptx"


@pytest.mark.parametrize("section", [".nv_fatbin", "__nv_relfatbin"])
@pytest.mark.parametrize("wide", [True, False])
def test_an_object_contains_the_texts_of_its_section(section: str, wide: bool) -> None:
    data = elf([(".text", b"\x90" * 33), (section, TWO), (".data", b"")], wide=wide)
    assert texts(data) == [("sm_80", TEXT), ("sm_90a", OTHER)]


def test_an_object_without_device_code_contains_nothing() -> None:
    assert find_all(elf([(".text", TWO)])) == []


def test_a_program_whose_table_of_sections_was_stripped_is_searched() -> None:
    assert texts(elf([(".nv_fatbin", TWO)], stripped=True)) == [("sm_80", TEXT), ("sm_90a", OTHER)]


def test_machine_code_for_debugging_contains_its_ptx() -> None:
    data = elf([(".nv_debug_ptx_txt", TEXT.replace(b"\n", b"\0"))], machine=190)
    assert texts(data) == [("", TEXT)]
    assert find_all(elf([(".text", b"x")], machine=190)) == [SkippedCode("machine code")]


def test_an_archive_contains_the_texts_of_its_members() -> None:
    members = [("a.o", elf([(".nv_fatbin", TWO)])), ("a_member_with_a_long_name.o", elf([("__nv_relfatbin", TWO)]))]
    everything = find_all(ar(("readme", b"odd"), *members))
    assert [each.inside for each in everything if isinstance(each, EmbeddedPtx)] == [
        ("a.o",),
        ("a.o",),
        ("a_member_with_a_long_name.o",),
        ("a_member_with_a_long_name.o",),
    ]


def test_an_archive_in_bsds_form_is_read() -> None:
    name = b"long name.o\0"
    body = name + elf([(".nv_fatbin", TWO)])
    data = b"!<arch>\n" + b"#1/12".ljust(16) + b"0".ljust(32) + b"%-10d`\n" % len(body) + body
    assert [each.inside for each in find_all(data) if isinstance(each, EmbeddedPtx)] == [("long name.o",)] * 2


def test_a_wheel_contains_the_texts_of_its_libraries_and_its_ptx_files() -> None:
    data = zip_members(
        {
            "foo/__init__.py": b"x = 1",
            "foo/lib.so": elf([(".nv_fatbin", TWO)]),
            "foo/kernels/k.ptx": TEXT,
            "foo/lib.a": ar(("a.o", elf([(".nv_fatbin", TWO)]))),
        }
    )
    everything = [each for each in find_all(data) if isinstance(each, EmbeddedPtx)]
    assert [display_name("foo.whl", each, number) for number, each in enumerate(everything, 1)] == [
        "foo.whl!foo/lib.so!1.sm_80.ptx",
        "foo.whl!foo/lib.so!2.sm_90a.ptx",
        "foo.whl!foo/kernels/k.ptx",
        "foo.whl!foo/lib.a!a.o!4.sm_80.ptx",
        "foo.whl!foo/lib.a!a.o!5.sm_90a.ptx",
    ]


def test_kinds_are_recognized_by_the_first_bytes() -> None:
    assert kind_of(TWO[:8]) == "a CUDA fat binary"
    assert kind_of(ar()[:8]) == "an archive of object files"
    assert kind_of(TEXT[:8]) is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (TWO[:10], "a fat binary at byte 0 that ends in its header"),
        (fatbin(entry(TEXT), version=3), "of an unknown version (3)"),
        (fatbin(entry(TEXT), header=5), "of an unknown version (1)"),
        (fatbin(entry(TEXT), size=1 << 60), "states its end at byte 1,152,921,504,606,846,992"),
        (fatbin(entry(TEXT, header=8)), "an entry at byte 16 states a header of 8 bytes"),
        (fatbin(entry(TEXT, header=1 << 31)), "states a header of 2,147,483,648 bytes"),
        (fatbin(entry(TEXT, payload=1 << 62)), "for sm_80 is truncated: it states a payload of"),
        (fatbin(entry(TEXT), b"\1" * 30), "that ends in its header"),
        (fatbin(entry(TEXT, compressed=7)), "compressed by an unknown algorithm (flags 0x11)"),
        (fatbin(entry(TEXT, flags=LZ4, compressed=1 << 20)), "is more than its payload"),
        (fatbin(entry(TEXT, flags=LZ4, size=5)), "its LZ4 data is invalid"),
        (fatbin(entry(TEXT, flags=LZ4, size=len(TEXT) + 1)), "it unpacks to 2"),
        (fatbin(entry(TEXT, flags=LZ4, size=100 << 20)), "cannot unpack to 104,857,600"),
        (fatbin(entry(TEXT, flags=LZ4, size=1 << 60)), "134,217,728 are read at most"),
        (fatbin(entry(TEXT, flags=ZSTD, size=5)), "it unpacks to more than 5 bytes, and 5 are expected"),
        (fatbin(entry(TEXT, flags=ZSTD, size=9999)), "and 9,999 are expected"),
        (fatbin(entry(TEXT, flags=ZSTD, compressed=3)), "it unpacks to 0 bytes, and 232 are expected"),
        (fatbin(entry(TEXT, flags=ZSTD)).replace(b"\x28\xb5\x2f\xfd", b"abcd"), "its zstd data is invalid"),
        (elf([(".nv_fatbin", TWO)])[:40], "an ELF file of 40 bytes, which is less than its header has"),
        (elf([(".nv_fatbin", TWO)])[:-1], "whose 3 sections exceed it"),
        (b"\x7fELF\x02\x02" + bytes(80), "an ELF file of an unknown width or byte order"),
        (ar(("a.o", elf([(".nv_fatbin", TWO)])))[:-9], "which exceeds the archive"),
        (ar(("a.o", TWO)) + b"garbage at the end that is longer than a header of a member, is it not?", "no member"),
        (ar(("a.o", TWO)) + b"rest", "4 bytes at the end of the archive are not a member"),
        (zip_members({"a.ptx": TEXT})[:-30], "a zip archive that cannot be read"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_or_truncated_header_is_reported(data: bytes, message: str) -> None:
    assert any(message in each for each in problems(data)), problems(data)


def test_entries_before_the_damage_are_still_read() -> None:
    everything = find_all(fatbin(entry(TEXT), entry(OTHER, payload=1 << 40)))
    assert [type(each) for each in everything] == [EmbeddedPtx, ContainerProblem]
    cut = TWO[:-100]
    assert [type(each) for each in find_all(cut)] == [ContainerProblem, EmbeddedPtx, ContainerProblem]


def test_a_section_beyond_the_end_of_the_file_is_reported() -> None:
    data = bytearray(elf([(".nv_fatbin", TWO)]))
    table = struct.unpack_from("<Q", data, 40)[0]
    struct.pack_into("<Q", data, table + 64 + 32, 1 << 50)
    assert problems(bytes(data)) == [
        f"section '.nv_fatbin' ends at byte {(1 << 50) + 64:,}, after the end of the file at {len(data):,}"
    ]


def test_a_frame_of_zstd_is_not_unpacked_beyond_its_declared_size() -> None:
    bomb = fatbin(entry(bytes(64 << 20), flags=ZSTD, size=1000))
    with little_memory():
        assert problems(bomb) == [
            "the PTX for sm_80 at byte 16: it unpacks to more than 1,000 bytes, and 1,000 are expected"
        ]


def test_a_zip_bomb_is_reported_and_not_unpacked() -> None:
    bomb = zip_members({"bomb.ptx": bytes(256 << 20), "k.ptx": TEXT})
    with little_memory():
        [message] = problems(bomb)
    assert "that unpack to more than" in message


def test_an_oversized_table_of_members_is_not_read() -> None:
    rows = b"PK\1\2" + bytes(42)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 65535, 65535, len(rows) * 800_000, 30, 0)
    assert problems(b"PK\3\4" + bytes(26) + rows * 800_000 + end) == [
        "a zip archive whose table of members is longer than 33,554,432 bytes"
    ]


def test_a_member_that_is_larger_than_declared_is_reported() -> None:
    data = bytearray(zip_members({"k.ptx": TEXT * 10}))
    true = struct.pack("<I", len(TEXT) * 10)
    while (place := data.find(true)) >= 0:
        data[place : place + 4] = struct.pack("<I", 100)
    assert len(problems(bytes(data))) == 1


def test_a_damaged_member_is_reported_and_the_others_are_read() -> None:
    data = bytearray(zip_members({"a.ptx": TEXT, "b.ptx": OTHER}))
    data[45] ^= 0xFF
    everything = find_all(bytes(data))
    assert [type(each) for each in everything] == [ContainerProblem, EmbeddedPtx]
    assert everything[0].inside == ("a.ptx",)  # type: ignore[union-attr]


def test_a_member_without_a_name_is_skipped() -> None:
    assert find_all(zip_members({"k.ptx": TEXT}).replace(b"k.ptx", b"\0.ptx")) == []


def test_a_link_in_an_archive_is_a_member_and_is_not_followed(tmp_path: Path) -> None:
    import zipfile

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        info = zipfile.ZipInfo("../../etc/k.ptx")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    [each] = find_all(stream.getvalue())
    assert isinstance(each, EmbeddedPtx)
    assert each.data == b"/etc/passwd"


@pytest.mark.parametrize("whole", [TWO, elf([(".nv_fatbin", TWO)]), ar(("a.o", elf([(".nv_fatbin", TWO)])))])
def test_any_byte_may_be_changed_or_missing_without_a_crash(whole: bytes) -> None:
    for place in [*range(min(len(whole), 400)), *range(400, len(whole), 37)]:
        for value in (0, 0x7F, 0xFF):
            find_all(whole[:place] + bytes([value]) + whole[place + 1 :])
        find_all(whole[:place])


NVCC = shutil.which("nvcc")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a kernel and nvcc's outputs for it."""
    folder = tmp_path_factory.mktemp("nvcc")
    (folder / "a.cu").write_text("__global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }\n")
    nvcc(folder, "-ptx", "-arch=compute_80", "-o", "sm_80.ptx")
    nvcc(folder, "-ptx", "-arch=compute_90a", "-o", "sm_90a.ptx")
    return folder


def nvcc(folder: Path, *arguments: str) -> None:
    assert NVCC is not None
    done = subprocess.run([NVCC, *arguments, "a.cu"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and "compress-mode" in done.stderr:
        pytest.skip("this nvcc cannot choose how to compress")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
@pytest.mark.parametrize(
    ("mode", "kind"),
    [("none", "-fatbin"), ("speed", "-fatbin"), ("size", "-fatbin"), ("size", "-c"), ("speed", "-c -rdc=true")],
)
def test_the_texts_that_nvcc_packs_are_those_it_compiles(source: Path, mode: str, kind: str) -> None:
    code = ["-gencode", "arch=compute_80,code=[sm_80,compute_80]", "-gencode", "arch=compute_90a,code=compute_90a"]
    expected = {(target, bare((source / f"{target}.ptx").read_bytes())) for target in ("sm_80", "sm_90a")}
    nvcc(source, *kind.split(), *code, f"--compress-mode={mode}", "-o", "packed")
    assert {(target, bare(text)) for target, text in texts((source / "packed").read_bytes())} == expected


def bare(text: bytes) -> bytes:
    """Without comments and blanks, which nvcc omits."""
    import re

    return b" ".join(re.sub(rb"//[^\n]*", b"", text).split())
