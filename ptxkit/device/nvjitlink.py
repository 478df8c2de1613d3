"""nvJitLink: pieces of any kind in, one cubin out. Needs no GPU and no driver.

Source: nvJitLink documentation, "Linking", "Supported Link Options".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import ModuleType

from ptxkit.device.cuda_libraries import import_nvjitlink
from ptxkit.device.errors import DeviceError
from ptxkit.fast_dataclasses import dataclass, field

_UNKNOWN_TARGET_WORD = re.compile(r"ERROR_(UNRECOGNIZED|UNSUPPORTED)_ARCH\b")


@dataclass(frozen=True, slots=True)
class NvJitLinkInput:
    """One input, by its name in messages. `kind` is nvJitLink's word: PTX, CUBIN, FATBIN, LTOIR, OBJECT or LIBRARY."""

    name: str
    kind: str
    data: bytes = field(repr=False)


class UnknownTargetError(DeviceError):
    """This nvJitLink makes no machine code for the target."""


class NvJitLinkError(Exception):
    """What nvJitLink refused: the input at which it did, where that is known, and its word for the failure."""

    def __init__(self, word: str, log: str, piece: NvJitLinkInput | None = None) -> None:
        self.word, self.log, self.piece = word, log, piece
        super().__init__(log or word)


def link_cubin(pieces: Sequence[NvJitLinkInput], options: Sequence[str]) -> tuple[bytes, str]:
    """The cubin and what nvJitLink remarks. Errors: `RefusedError`; `DeviceError` for options that it does not have."""
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


def _explain_refusal(options: Sequence[str], word: str, version: Sequence[int]) -> str:
    release = f"nvJitLink {version[0]}.{version[1]}"
    if _UNKNOWN_TARGET_WORD.match(word):
        target = next(each for each in options if each.startswith("-arch=")).removeprefix("-arch=")
        return f"{release} makes no machine code for {target!r}; say for example 'sm_90a'"
    return f"{release} does not take the options {' '.join(options)}: {word}"


def _read_log(library: ModuleType, handle: int, kind: str) -> str:
    size = getattr(library, f"get_{kind}_log_size")(handle)
    buffer = bytearray(size)
    if size:
        getattr(library, f"get_{kind}_log")(handle, buffer)
    return buffer.rstrip(b"\0").decode(errors="replace").strip()
