"""The runs that may answer the open questions of the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.diagnostics import Verdict
from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.model.launch_contract import Requirement
from ptxkit.source import SourceFile


def offsets_of_questions(static: Verdict) -> frozenset[int]:
    """Returns the offsets of the instructions about which a question is open for each launch."""
    return frozenset(item.span.start for item in static.undecided if not item.conditions)


def conditions_of_questions(static: Verdict, kernel: str) -> Iterable[Requirement]:
    """Returns the requirements of a launch of a kernel that decide a question."""
    return dict.fromkeys(each for item in static.undecided if item.kernel == kernel for each in item.conditions)


def lines_of_flag_questions(static: Verdict, source: SourceFile) -> Iterator[int]:
    """Yields the lines of the accesses that a flag, or a counter, in global memory may not order."""
    for item in static.undecided:
        if item.code in (ptx6xx.FLAG_UNORDERED, ptx6xx.LAST_BLOCK_UNORDERED):
            yield from (source.position(span.start)[0] for span in (item.span, *(each.span for each in item.others)))
