"""The entries of a container file."""

from __future__ import annotations

from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmbeddedPtx:
    """A PTX text. inside: the names of the members that contain it, from the outermost on. target: `sm_90a`.

    name: the name that the compiler stored, or empty.
    """

    data: bytes
    target: str
    name: str = ""
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContainerProblem:
    """A part that contradicts its header, or exceeds a limit. offset: of the file or member, in bytes."""

    message: str
    remedy: str
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedCode:
    """Code of another kind that was skipped: `machine code for sm_90a`."""

    what: str


ContainerEntry: TypeAlias = EmbeddedPtx | ContainerProblem | SkippedCode

DAMAGED_REMEDY = "build the file again; it is truncated or damaged"


def display_name(path: str, found: EmbeddedPtx, number: int) -> str:
    """Returns the name of a text in reports: `libfoo.so!2.sm_90a.ptx`, `foo.whl!foo/k.ptx`. number: of the text in its
    file.
    """
    if not found.target and found.inside and found.inside[-1].endswith(".ptx"):
        return "!".join((path, *found.inside))
    last = ".".join(filter(None, (str(number), found.target, "ptx")))
    return "!".join((path, *found.inside, last))
