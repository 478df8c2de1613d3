"""Inputs of the linker: kernels and functions of the builder, PTX, cubins, LTO-IR, fat binaries, objects and libraries.

The type of a file is identified by its first bytes, not by its name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from ptxkit import elf
from ptxkit.device import cubin_reader
from ptxkit.device.compiler import Cubin
from ptxkit.device.errors import DeviceError
from ptxkit.device.nvjitlink import NvJitLinkInput
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.routines import BuiltRoutine
from ptxkit.syntax import parse, tree

Linkable: TypeAlias = "BuiltRoutine | tree.Module | Cubin | str | bytes | Path | LinkInput | Any"
"""Includes `ObjectCode` of `cuda.core`."""

_MAGIC = {
    b"!<arch>\n": "LIBRARY",
    b"\xed\x43\x4e\x7f": "LTOIR",
    b"\x50\xed\x55\xba": "FATBIN",
    b"BC\xc0\xde": "LTOIR",
    elf.MAGIC: "OBJECT",  # an object of the host, with embedded device code
}
_KINDS = {"ptx": "PTX", "cubin": "CUBIN", "ltoir": "LTOIR", "fatbin": "FATBIN", "object": "OBJECT"}
"""nvJitLink's names of the kinds, by those of `cuda.core`."""


@dataclass(frozen=True, slots=True)
class LinkInput:
    """An input and its name in messages. `source` is PTX, or a source of it; otherwise `piece` holds the bytes."""

    name: str
    source: BuiltRoutine | tree.Module | str | None = None
    piece: NvJitLinkInput | None = None


def make_link_input(value: Linkable, number: int) -> LinkInput:
    """Returns an input of a link. Messages contain its `number`, from 1. Raises `DeviceError` for other values."""
    if isinstance(value, LinkInput):
        return value
    if isinstance(value, BuiltRoutine):
        return LinkInput(f"{'kernel' if value.is_kernel else 'function'} {value.name!r}", value)
    if isinstance(value, tree.Module):
        path = value.source.path if value.source is not None else ""
        return LinkInput(path or f"input {number} (a module)", value)
    if isinstance(value, Cubin):
        if not value.ptx:
            raise DeviceError(f"input {number} is a linked cubin, which cannot be linked again")
        return LinkInput(f"input {number} (a cubin, from its PTX)", value.ptx)
    if isinstance(value, str):
        if ".version" not in value:
            raise DeviceError(f"input {number} is text without .version, so it is not PTX; a file is given as a Path")
        return LinkInput(f"input {number} (PTX)", value)
    if isinstance(value, Path):
        return _identify_bytes(str(value), value.read_bytes())
    if isinstance(value, bytes | bytearray):
        return _identify_bytes(f"input {number}", bytes(value))
    return _read_object_code(value, number)


def _read_object_code(value: Any, number: int) -> LinkInput:
    """Returns an input from `ObjectCode` of `cuda.core`, which states its kind, and holds bytes or names a file."""
    kind, code = getattr(value, "code_type", None), getattr(value, "code", None)
    if isinstance(code, str):
        code = Path(code).read_bytes()
    if kind is None or not isinstance(code, bytes | bytearray):
        raise DeviceError(f"input {number}: kernels, PTX, bytes and paths can be linked, not {type(value).__name__}")
    name = getattr(value, "name", "") or f"input {number}"
    if kind in _KINDS and kind != "ptx":
        return LinkInput(name, piece=NvJitLinkInput(name, _KINDS[kind], bytes(code)))
    return _identify_bytes(name, bytes(code))


def identify_binary(name: str, data: bytes) -> LinkInput | None:
    """Returns the input of a file that is not text, or None for other bytes."""
    if cubin_reader.is_cubin(data):
        return LinkInput(name, piece=NvJitLinkInput(name, "CUBIN", data))
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            return LinkInput(name, piece=NvJitLinkInput(name, kind, data))
    return None


def _identify_bytes(name: str, data: bytes) -> LinkInput:
    binary = identify_binary(name, data)
    if binary is not None:
        return binary
    text = data.rstrip(b"\0").decode(errors="replace")
    if ".version" not in text:
        raise DeviceError(f"{name} is neither PTX nor a cubin, LTO-IR, a fat binary, an object file or a library")
    return LinkInput(name, parse(text, path=name))
