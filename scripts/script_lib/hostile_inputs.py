"""Hostile inputs for a linter, generated from a seed: texts, containers, and unusual entries of folders.

`write_inputs(folder, count, seed)` writes them and returns their description: most are small files of invalid PTX, one
in six is a damaged library, archive or wheel, and each kind of large or nested text occurs at least once.
"""

from __future__ import annotations

import io
import os
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from warnings import catch_warnings, simplefilter

from bench_lib.bench_common import ROOT

MAX_SEED_BYTES = 6_000
"""The bytes of the largest file of the corpus that is changed: many small ones are checked in the time of one large
one.
"""
HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
MEGA = 1_000_000

Random = random.Random


def seed_texts() -> list[bytes]:
    """Returns the texts that are changed: real kernels and the fixtures of rules."""
    found = [
        path.read_bytes() for path in sorted((ROOT / "corpus").rglob("*.ptx")) if path.stat().st_size <= MAX_SEED_BYTES
    ]
    assert found
    return found


# --------------------------------------------------------------------------------------------- changes of a text


def flip_bits(data: bytes, chance: Random) -> bytes:
    """Flips some bits."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def truncate(data: bytes, chance: Random) -> bytes:
    """Keeps the beginning, or the end, or removes a part in the middle."""
    first, last = sorted(chance.randrange(len(data)) for _ in range(2))
    return chance.choice((data[:first], data[first:], data[:first] + data[last:]))


def make_junk(_: bytes, chance: Random) -> bytes:
    """Returns random bytes, or printable ones, or words of PTX."""
    size = chance.choice((0, 1, 7, 100, 5_000, 50_000))
    kind = chance.randrange(3)
    if kind == 0:
        return chance.randbytes(size)
    if kind == 1:
        return bytes(chance.choices(range(32, 127), k=size))
    words = '.reg .b32 { } ( ) [ ] ; , : %r1 $L 0x 1e9 0f3f800000 .entry .func @%p1 bra ret add.u32 " /* */ // \\ \n'
    return " ".join(chance.choices(words.split(" "), k=size // 4)).encode()


def shuffle_lines(data: bytes, chance: Random) -> bytes:
    """Shuffles the lines, some of which are repeated."""
    lines = data.split(b"\n")
    return b"\n".join(
        chance.choices(lines, k=len(lines)) if chance.random() < 0.5 else chance.sample(lines, len(lines))
    )


def mix_binary(data: bytes, chance: Random) -> bytes:
    """Inserts binary data, NULs or other encodings in the text."""
    place = chance.randrange(len(data))
    other = chance.choice((b"\0" * 999, chance.randbytes(300), b"\xff\xfe", "é日本".encode(), b"\x1b[2J", b"\r", data))
    return data[:place] + other + data[place:]


def repeat_line(data: bytes, chance: Random) -> bytes:
    """Repeats one line very often, or as one long line."""
    lines = data.split(b"\n")
    place = chance.randrange(len(lines))
    again = (lines[place] + chance.choice((b"\n", b" ", b""))) * chance.choice((2, 50, 2_000))
    return b"\n".join([*lines[:place], again, *lines[place:]])


MUTATORS: tuple[tuple[Callable[[bytes, Random], bytes], int], ...] = (
    (flip_bits, 8),
    (truncate, 4),
    (shuffle_lines, 2),
    (mix_binary, 2),
    (make_junk, 2),
    (repeat_line, 1),
)
"""The changes, and their frequencies."""


# --------------------------------------------------------------------------------------------------- large ones


def kernel_module(statements: str, declared: str = "") -> str:
    """Returns a kernel of these statements."""
    return f"{HEAD}.visible .entry k()\n{{\n\t.reg .b32 %r<9>;\n\t.reg .pred %p<3>;\n{declared}{statements}\tret;\n}}\n"


def large_texts(scale: float) -> dict[str, bytes]:
    """Returns texts that are each large or deep in one respect. scale: 1 for the full size."""
    many = max(20, int(MEGA * scale))
    some = max(20, int(100_000 * scale))
    few = max(5, int(2_000 * scale))
    made = {
        "open braces": "{" * many,
        "braces in a kernel": kernel_module("{" * many + "}" * many),
        "closed braces": kernel_module("}" * many),
        "brackets": kernel_module("mov.b32 %r1, " + "[" * many + ";\n"),
        "parentheses": kernel_module("mov.b32 %r1, " + "(" * many + "1" + ")" * many + ";\n"),
        "minus signs": kernel_module("mov.b32 %r1, " + "-" * many + "1;\n"),
        "a sum": kernel_module("mov.b32 %r1, 1" + "+1" * many + ";\n"),
        "a choice": kernel_module("mov.b32 %r1, " + "1?" * some + "1" + ":1" * some + ";\n"),
        "a vector": kernel_module("mov.b64 {" + "%r1," * some + "%r1}, 1;\n"),
        "nested vectors": HEAD + ".global .u32 a[] = " + "{" * some + "1" + "}" * some + ";\n",
        "one long name": kernel_module("x" * many + ": bra " + "x" * many + ";\n"),
        "one long opcode": kernel_module("add" + ".u32" * some + " %r1, %r1, %r1;\n"),
        "one long number": kernel_module("mov.b32 %r1, " + "9" * many + ";\n"),
        "one long string": HEAD + '.file 1 "' + "a" * many + '"\n',
        "a string that is never closed": HEAD + '.file 1 "' + "a\n" * some,
        "a comment that is never closed": HEAD + "/*" * some,
        "one long line": kernel_module("add.u32 %r1, %r1, %r1; " * some),
        "blanks": HEAD + " \t\n" * many,
        "NULs": "\0" * many,
        "labels": kernel_module("".join(f"$L{n}: bra $L{n + 1};\n" for n in range(some)) + f"$L{some}:\n"),
        "the same label": kernel_module("$L:\n" * some),
        "branches": kernel_module("".join(f"@%p1 bra $L;\n$M{n}:\n" for n in range(few)) + "$L:\n"),
        "loops in loops": kernel_module(
            "".join(f"$L{n}:\n" for n in range(few)) + "".join(f"@%p1 bra $L{n};\n" for n in range(few))
        ),
        "irreducible flow": kernel_module("".join(f"$L{n}: @%p1 bra $L{(n * 7919 + 13) % few};\n" for n in range(few))),
        "registers": kernel_module("", "".join(f"\t.reg .b32 %q{n}<2000000000>;\n" for n in range(few))),
        "variables": HEAD + "".join(f".shared .align 16 .b8 s{n}[2147483647];\n" for n in range(few)),
        "kernels": HEAD + "".join(f".entry k{n}() {{ ret; }}\n" for n in range(few)),
        "functions that call each other": HEAD
        + "".join(f".func f{n}();\n" for n in range(few))
        + "".join(f".func f{n}() {{ call f{(n + 1) % few}; call f{(n + 7) % few}; ret; }}\n" for n in range(few)),
        "parameters": HEAD + ".entry k(" + ", ".join(f".param .u64 p{n}" for n in range(some)) + ") { ret; }\n",
        "comments for the linter": "// ptxkit: ignore-file[" + "PTX4, " * some + "]\n" + kernel_module(""),
        "places of another source": HEAD
        + "".join(f'.file {n} "f{n}"\n' for n in range(few))
        + kernel_module(".loc 1 1 1\n" * few),
        "copies in flight": kernel_module(
            "".join(f"cp.async.ca.shared.global [s+{n % 64 * 16}], [%rd1], 16;\n" for n in range(few))
            + "cp.async.commit_group;\n",
            "\t.reg .b64 %rd<3>;\n\t.shared .align 16 .b8 s[1024];\n",
        ),
        "barriers": kernel_module("bar.sync 0;\n@%p1 bar.sync 1;\n" * few),
        "an initial value": HEAD + ".global .u8 a[] = {" + "1," * many + "1};\n",
        "carriage returns": HEAD + "\r" * many,
    }
    return {name: text.encode() for name, text in made.items()}


# --------------------------------------------------------------------------------------------------- containers


def fat_binary(text: bytes, chance: Random, lies: bool) -> bytes:
    """Returns a fat binary with one text."""
    size, flags, packed = len(text), 0, 0
    if lies:
        size = chance.choice((0, size + 1, size * 255, 1 << 31, 1 << 62))
        flags = chance.choice((0, 0x2000, 0x8000, 0xA000))
        packed = chance.choice((0, len(text), len(text) * 2, 0xFFFFFFFF))
    payload = chance.choice((len(text), 0, 1 << 30, len(text) + 8)) if lies and chance.random() < 0.5 else len(text)
    entry = struct.pack("<HHIQIIHHIIIQQQ", 1, 0x101, 80, payload, packed, 0, 0, 8, 90, 0, 0, flags, 0, size) + b"\0" * 8
    whole = len(entry) + len(text)
    return struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, whole) + entry + text


def elf(section: bytes, chance: Random, lies: bool) -> bytes:
    """Returns an object file with a section of fat binaries."""
    names = b"\0.shstrtab\0.nv_fatbin\0"
    offset = 64 + len(names)
    table = offset + len(section)
    size = chance.choice((1 << 40, len(section) + 64, 0)) if lies else len(section)
    rows = [struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)]
    rows.append(struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, 64, len(names), 0, 0, 1, 0))
    rows.append(struct.pack("<IIQQQQIIQQ", 11, 1, 0, 0, offset, size, 0, 0, 8, 0))
    count = chance.choice((3, 0, 0xFFFE)) if lies else 3
    header = b"\x7fELF\2\1\1" + b"\0" * 9
    header += struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, count, 1)
    return header + names + section + b"".join(rows)


def archive(members: list[tuple[str, bytes]], chance: Random, lies: bool) -> bytes:
    """Returns a library of objects."""
    data = b"!<arch>\n"
    for name, contents in members:
        size = chance.choice((len(contents) * 9, 9_999_999_999, 0)) if lies else len(contents)
        data += f"{name[:15] + '/':<16}{'0':<12}{'0':<6}{'0':<6}{'644':<8}{size:<10}`\n".encode()
        data += contents + b"\n" * (len(contents) % 2)
    return data


NAMES = (
    *("k.ptx", "../../../escaped.ptx", "/tmp/escaped.ptx", "a/" * 300 + "k.ptx", "n" * 60_000 + ".ptx"),
    *("é\x1b[2J.ptx", "", "..\\x.ptx", "C:\\x.ptx", "k\n.ptx"),
)
"""The names of members of wheels."""


def wheel(members: list[tuple[str, bytes]]) -> bytes:
    """Returns a zip archive."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, contents in members:
            with catch_warnings():
                simplefilter("ignore")  # some names occur twice
                made.writestr(name or "?", contents)
    return data.getvalue()


def zip_bomb(size: int, start: bytes = b"") -> bytes:
    """Returns a wheel with one nearly empty member, which is unpacked to `size` bytes."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made, made.open("lib.so", "w") as member:
        member.write(b"\x7fELF" + start)
        for _ in range(max(1, size // MEGA)):
            member.write(b"\0" * MEGA)
    return data.getvalue()


def understated_wheel(size: int) -> bytes:
    """Returns a wheel that states that its member, a bomb, has a hundred bytes."""
    packed = zlib.compress(b"\0" * size, 9)[2:-4]
    name = b"k.ptx"
    local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, 0, 8, 0, 0, 0, len(packed), 100, len(name), 0) + name
    place = len(local) + len(packed)
    central = struct.pack(
        "<4sHHHHHHIIIHHHHHII", b"PK\1\2", 20, 20, 0, 8, 0, 0, 0, len(packed), 100, len(name), 0, 0, 0, 0, 0, 0
    )
    central += name
    return local + packed + central + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, len(central), place, 0)


def make_container(text: bytes, chance: Random) -> tuple[str, bytes]:
    """Returns the suffix and the contents of a library, archive or wheel, most of them damaged."""
    lies = chance.random() < 0.6
    inner = fat_binary(text, chance, lies and chance.random() < 0.5)
    kind = chance.randrange(4)
    if kind == 0:
        end, data = ".fatbin", inner
    elif kind == 1:
        end, data = ".so", elf(inner, chance, lies)
    elif kind == 2:
        end, data = ".a", archive([("x.o", elf(inner, chance, False)), ("y.o", inner)], chance, lies)
    else:
        members = [(chance.choice(NAMES), chance.choice((text, inner, elf(inner, chance, lies)))) for _ in range(3)]
        end, data = ".whl", wheel(members)
    if lies and chance.random() < 0.5:
        data = data[:8] + chance.choice((flip_bits, truncate))(data[8:] or b"\0", chance)
    return end, data


# --------------------------------------------------------------------------------------------------- all of them


def write_inputs(folder: Path, count: int, seed: int, scale: float) -> tuple[int, list[str]]:
    """Writes `count` inputs below a folder. Returns the number of files that lint reads in the folder, and additional
    arguments.
    """
    chance = random.Random(seed)
    seeds = seed_texts()
    odd = make_odd_entries(folder / "odd")
    number = 0
    for name, data in large_texts(scale).items():
        write_file(folder / "large" / f"{name}.ptx", data)
        number += 1
    for name, data in {
        "bomb": zip_bomb(int(400 * MEGA * scale)),
        "understated": understated_wheel(int(100 * MEGA * scale)),
        "bomb in a wheel": wheel([("inner.whl", zip_bomb(int(50 * MEGA * scale)))]),
        "members": wheel([(f"{n}.ptx", b"") for n in range(int(2_000 * scale) + 1)]),
        "names": wheel([(name, seeds[0]) for name in NAMES]),
    }.items():
        write_file(folder / "large" / f"{name}.whl", data)
        number += 1
    while number < count:
        text = chance.choice(seeds)
        place = folder / f"{number % 97:02}"
        if chance.random() < 1 / 6:
            end, data = make_container(text, chance)
        else:
            change = chance.choices([each for each, _ in MUTATORS], [weight for _, weight in MUTATORS])[0]
            end, data = ".ptx", change(text, chance)
        write_file(place / f"{number}{end}", data)
        number += 1
    return number, odd


def write_file(path: Path, data: bytes) -> None:
    """Writes a file, and creates its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def make_odd_entries(folder: Path) -> list[str]:
    """Creates unusual links, pipes, folders and names. Returns those that must be named as arguments to be read."""
    folder.mkdir(parents=True)
    for name, target in {
        "loop.ptx": "loop.ptx",
        "one.ptx": "other.ptx",
        "other.ptx": "one.ptx",
        "nowhere.ptx": "not/there",
        "up.ptx": "..",
        "zero.ptx": "/dev/zero",
        "memory.ptx": "/proc/self/mem",
        "itself": "folder.ptx",
    }.items():
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe.ptx")
    (folder / "folder.ptx").mkdir()
    (folder / "unreadable.ptx").write_text(HEAD)
    (folder / "unreadable.ptx").chmod(0)
    (folder / "unreadable").mkdir()
    (folder / "unreadable").chmod(0)
    (folder / "empty.ptx").touch()
    for name in (
        b"new\nline.ptx",
        b"bytes\xff\xfe.ptx",
        b"escape\x1b[2J.ptx",
        b"n" * 251 + b".ptx",
        b"-.ptx",
        b"--jobs.ptx",
    ):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(HEAD.encode())
    deep = folder
    for _ in range(60):
        deep = deep / ("d" * 30)
    deep.mkdir(parents=True)
    (deep / "deep.ptx").write_text(HEAD)
    return [
        str(folder / "loop.ptx"),
        "/dev/zero",
        "/dev/null",
        "/proc/self/mem",
        "no such file",
        str(folder / "itself"),
    ]
