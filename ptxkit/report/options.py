"""The options of the reports for people."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from ptxkit.fast_dataclasses import dataclass

ShownCode: TypeAlias = Literal["source", "ptx", "both"]
SHOWN_CODE: tuple[ShownCode, ...] = get_args(ShownCode)


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """show: the program that the PTX was compiled from, the PTX, or both, where `.loc` leads to a program.

    show_undecided: open questions, too. all_places: each copy of a finding that unrolling or inlining made, instead of
    one with their number, and each finding with the same cause as another one. verbose: mangled names, and the frames
    of libraries that an instruction was inlined from.
    """

    show: ShownCode = "both"
    show_undecided: bool = False
    all_places: bool = False
    verbose: bool = False


DEFAULT_OPTIONS = ReportOptions()
