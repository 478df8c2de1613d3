"""Determines the user's line: among the frames of an inlined call, the one that a programmer wrote.

Compilers inline most functions of libraries, so that the innermost line of an instruction is often in a header of CUDA,
CUTLASS or Triton. A finding is shown at the innermost line outside of such files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from ptxkit.source import SourceLine

_LIBRARY = r"""
    (^|/)(site-packages|dist-packages)/           # Python
    | ^/usr/(local/)?(include|lib|lib64|share)/   # a system
    | /cuda[^/]*/(targets/[^/]+/)?include/        # a CUDA toolkit
    | /targets/[^/]+/include/
    | /include/(cccl|cooperative_groups|crt|cub|cuda|cute|cutlass|nv|thrust)/
    | /\.(cargo|rustup|julia)/ | ^/rustc/         # registries and standard libraries of other languages
"""
"""The folders of files of libraries and compilers."""


def is_library_file(path: str) -> bool:
    """Returns whether a file belongs to a compiler or to an installed library, as far as its folder shows this."""
    return re.search(_LIBRARY, path.replace("\\", "/"), re.VERBOSE) is not None


def source_languages(origin: Sequence[SourceLine]) -> tuple[str, ...]:
    """Returns the languages of a program by its files, with the names of `grammars/isa/spellings.toml`, the likeliest
    first.
    """
    paths = [place.file.replace("\\", "/") for place in origin]
    is_cutlass = any(re.search(r"/(cutlass|cute)/", path) for path in paths)
    if any(path.endswith(".py") for path in paths):
        return ("cute-dsl",) if is_cutlass else ("gluon",)
    return ("cutlass", "cuda") if is_cutlass else ("cuda", "cutlass")


def user_frames(origin: Sequence[SourceLine]) -> tuple[SourceLine, ...]:
    """Returns the frames of an inlined call from the innermost one outside of libraries on, without those of libraries.

    If all are in libraries, it returns the outermost one.
    """
    return tuple(place for place in origin if not is_library_file(place.file)) or tuple(origin[-1:])


def relative_line(place: SourceLine, at: SourceLine) -> str:
    """A line as it is named in a text about another place: `33`, or `9 of tma.cuh` in another file."""
    return str(place.line) if place.file == at.file else f"{place.line} of {os.path.basename(place.file)}"
