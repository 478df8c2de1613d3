"""Links inputs of any kind to one cubin with nvJitLink. Needs no GPU and no driver.

Source: nvJitLink documentation, "Linking", "Supported Link Options".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from types import ModuleType

from ptxkit.device.cuda_libraries import import_nvjitlink
from ptxkit.device.errors import DeviceError
from ptxkit.fast_dataclasses import dataclass, field

_NEWEST_VERSION = re.compile(r"current version is '(\d+)\.(\d+)'")
_UNKNOWN_TARGET_WORD = re.compile(r"ERROR_(UNRECOGNIZED|UNSUPPORTED)_ARCH\b")


@dataclass(frozen=True, slots=True)
class NvJitLinkInput:
    """An input and its name in messages. `kind` is nvJitLink's name: PTX, CUBIN, FATBIN, LTOIR, OBJECT or LIBRARY."""

    name: str
    kind: str
    data: bytes = field(repr=False)


class UnknownTargetError(DeviceError):
    """The installed nvJitLink generates no machine code for the target."""


class NvJitLinkError(Exception):
    """nvJitLink failed: holds the input at which it failed, if that is known, and the name of the failure."""

    def __init__(self, word: str, log: str, piece: NvJitLinkInput | None = None) -> None:
        self.word, self.log, self.piece = word, log, piece
        super().__init__(log or word)


def nvjitlink_release() -> tuple[int, int]:
    """Returns the release of the installed nvJitLink, such as (13, 5)."""
    major, minor = import_nvjitlink().version()
    return major, minor


def link_cubin(pieces: Sequence[NvJitLinkInput], options: Sequence[str]) -> tuple[bytes, str]:
    """Returns the cubin and nvJitLink's remarks.

    Raises `NvJitLinkError`, and `DeviceError` for options that nvJitLink does not have.
    """
    library = import_nvjitlink()
    try:
        handle = library.create(len(options), list(options))
    except library.nvJitLinkError as error:
        kind = UnknownTargetError if _UNKNOWN_TARGET_WORD.match(str(error)) else DeviceError
        raise kind(_explain_refusal(options, str(error), library.version())) from None
    piece: NvJitLinkInput | None = None
    try:
        for piece in pieces:
            library.add_data(handle, getattr(library.InputType, piece.kind), piece.data, len(piece.data), piece.name)
        piece = None
        library.complete(handle)
        code = bytearray(library.get_linked_cubin_size(handle))
        library.get_linked_cubin(handle, code)
        return bytes(code), _read_log(library, handle, "info")
    except library.nvJitLinkError as error:
        word = str(error).partition(" ")[0]
        raise NvJitLinkError(word, _read_log(library, handle, "error") or str(error), piece) from None
    finally:
        library.destroy(handle)


@cache
def newest_nvjitlink_version(target: str) -> tuple[int, int] | None:
    """Returns the newest `.version` of PTX that nvJitLink compiles for a target, or None if it does not say it."""
    probe = NvJitLinkInput("probe", "PTX", b".version 99.0\n.target sm_50\n.address_size 64\n\0")
    try:
        link_cubin([probe], [f"-arch={target}"])
    except NvJitLinkError as refused:
        newest = _NEWEST_VERSION.search(refused.log)
        return (int(newest[1]), int(newest[2])) if newest else None
    except DeviceError:
        pass
    return None


def _explain_refusal(options: Sequence[str], word: str, version: Sequence[int]) -> str:
    release = f"nvJitLink {version[0]}.{version[1]}"
    if _UNKNOWN_TARGET_WORD.match(word):
        target = next(each for each in options if each.startswith("-arch=")).removeprefix("-arch=")
        return f"{release} makes no machine code for {target!r}; use for example 'sm_90a'"
    return f"{release} does not take the options {' '.join(options)}: {word}"


def _read_log(library: ModuleType, handle: int, kind: str) -> str:
    size = getattr(library, f"get_{kind}_log_size")(handle)
    buffer = bytearray(size)
    if size:
        getattr(library, f"get_{kind}_log")(handle, buffer)
    return buffer.rstrip(b"\0").decode(errors="replace").strip()
