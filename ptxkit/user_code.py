"""Whose code a line is: of the frames of an inlined call, the one that a programmer wrote.

Compilers inline nearly all that a library offers, so that the innermost line of an instruction is often one of a header
of CUDA, CUTLASS or Triton. A finding is shown at the innermost line outside of such files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ptxkit.source import SourceLine

_LIBRARY = re.compile(
    r"""
    (^|/)(site-packages|dist-packages)/           # Python
    | ^/usr/(local/)?(include|lib|lib64|share)/   # a system
    | /cuda[^/]*/(targets/[^/]+/)?include/        # a CUDA toolkit
    | /targets/[^/]+/include/
    | /include/(cccl|cooperative_groups|crt|cub|cuda|cute|cutlass|nv|thrust)/
    | /\.(cargo|rustup|julia)/ | ^/rustc/         # registries and standard libraries of other languages
    """,
    re.VERBOSE,
)
"""Folders in which libraries and compilers keep their files."""


def is_library_file(path: str) -> bool:
    """Whether a file belongs to a compiler or to an installed library, as far as its folder shows that."""
    return _LIBRARY.search(path.replace("\\", "/")) is not None


def source_languages(origin: Sequence[SourceLine]) -> tuple[str, ...]:
    """The languages of a program by its files, as `grammars/isa/spellings.toml` names them, the likeliest first."""
    paths = [place.file.replace("\\", "/") for place in origin]
    is_cutlass = any(re.search(r"/(cutlass|cute)/", path) for path in paths)
    if any(path.endswith(".py") for path in paths):
        return ("cute-dsl",) if is_cutlass else ("gluon",)
    return ("cutlass", "cuda") if is_cutlass else ("cuda", "cutlass")


def user_frames(origin: Sequence[SourceLine]) -> tuple[SourceLine, ...]:
    """The frames of an inlined call from the innermost one outside of libraries on, without those of libraries.

    Where all are in libraries, the outermost one.
    """
    return tuple(place for place in origin if not is_library_file(place.file)) or tuple(origin[-1:])
