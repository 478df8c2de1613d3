"""Files that contain PTX, built byte by byte as toolkits write them."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Sequence

import lz4.block
import zstandard

PTX, CODE, INTERMEDIATE = 1, 2, 8
LZ4, ZSTD, CHIP, FAMILY = 0x2000, 0x8000, 0x100000, 0x200000


def entry(
    text: bytes, architecture: int = 80, *, kind: int = PTX, flags: int = 0, name: bytes = b"", **lies: int
) -> bytes:
    """An entry of a fat binary. flags: LZ4 or ZSTD compress the text. lies: fields with wrong values."""
    size = len(text)
    payload = text
    if flags & LZ4:
        payload = lz4.block.compress(text, store_size=False)
    elif flags & ZSTD:
        payload = zstandard.ZstdCompressor(write_content_size=False).compress(text)
    packed = flags & (LZ4 | ZSTD)
    extra = name + bytes(-len(name) % 8)
    padded = payload + bytes(-len(payload) % 8)
    fields = {
        "kind": kind,
        "header": 64 + len(extra),
        "payload": len(padded),
        "compressed": len(payload) if packed else 0,
        "name_at": 64 if name else 0,
        "name_length": len(name),
        "size": size if packed else 0,
        **lies,
    }
    header = struct.pack(
        "<HHIQIIHHIIIQQQ",
        fields["kind"],
        0x101,
        fields["header"],
        fields["payload"],
        fields["compressed"],
        0,
        0,
        9,
        architecture,
        fields["name_at"],
        fields["name_length"],
        flags | 0x11,
        0,
        fields["size"],
    )
    return header + extra + padded


def fatbin(*entries: bytes, version: int = 1, header: int = 16, size: int | None = None) -> bytes:
    """Returns a fat binary of entries. size: the size in its header."""
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, version, header, len(body) if size is None else size) + body


def elf(
    sections: Sequence[tuple[str, bytes]], *, wide: bool = True, machine: int = 62, stripped: bool = False
) -> bytes:
    """Returns an ELF file with these sections; stripped: without a table of them."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _ in sections) + b".shstrtab\0"
    contents = [*(data for _, data in sections), names]
    head = 64 if wide else 52
    body, places = b"", []
    for data in contents:
        body += bytes(-(head + len(body)) % 8)
        places.append((head + len(body), len(data)))
        body += data
    body += bytes(-(head + len(body)) % 8)
    row = "<IIQQQQIIQQ" if wide else "<IIIIIIIIII"
    table = bytes(struct.calcsize(row))
    titles = [*(name for name, _ in sections), ".shstrtab"]
    for title, (offset, size) in zip(titles, places, strict=True):
        table += struct.pack(row, names.index(title.encode() + b"\0"), 1, 0, 0, offset, size, 0, 0, 8, 0)
    at = 0 if stripped else head + len(body)
    identity = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    shape = "<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH"
    header = struct.pack(
        shape, 1, machine, 1, 0, 0, at, 0, head, 0, 0, struct.calcsize(row), len(titles) + 1, len(titles)
    )
    return identity + header + body + (b"" if stripped else table)


def ar(*members: tuple[str, bytes]) -> bytes:
    """Returns an archive in GNU's form, with a table of symbols and one of long names."""
    long_names = b"".join(name.encode() + b"/\n" for name, _ in members if len(name) > 15)
    found = [(b"/", b"\0\0\0\0")]
    if long_names:
        found.append((b"//", long_names))
    for name, data in members:
        short = name.encode() + b"/" if len(name) <= 15 else b"/%d" % long_names.index(name.encode() + b"/\n")
        found.append((short, data))
    text = b"!<arch>\n"
    for raw, data in found:
        text += raw.ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8) + b"%-10d`\n" % len(data)
        text += data + b"\n" * (len(data) % 2)
    return text


def zip_members(members: dict[str, bytes]) -> bytes:
    """Returns a zip archive, such as a wheel is."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()
