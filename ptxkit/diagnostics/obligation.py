"""What the instructions of a kernel demand, each with the verdict on it, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from ptxkit.fast_dataclasses import dataclass
from ptxkit.source import SourceFile, Span


class ObligationVerdict(StrEnum):
    """The verdict on one obligation."""

    VIOLATED = "violated"
    """A diagnostic shows an execution that does not satisfy it."""
    DISCHARGED = "discharged"
    """It is proven for all paths, threads and data."""
    OPEN = "open"
    """It is neither shown to be violated nor proven."""


@dataclass(frozen=True, slots=True)
class JudgedObligation:
    """An obligation: the instruction at `span` demands something of `subject`, as the rule of `code` states.

    code: that of the rule. kernel: the kernel in which it is judged. subject: an operand of the instruction, or a word.
    words: the violation, the proof, or the reason why it is open. evidence: the kind of the proof; empty if there is
    none. steps: the instructions on which the proof rests.
    """

    code: str
    kernel: str
    subject: str
    source: SourceFile
    span: Span
    verdict: ObligationVerdict
    words: str
    evidence: str = ""
    steps: tuple[Span, ...] = ()


def count_verdicts(obligations: Iterable[JudgedObligation]) -> Mapping[str, Counter[ObligationVerdict]]:
    """Returns the number of obligations of each verdict by code, in the order of the codes."""
    found: dict[str, Counter[ObligationVerdict]] = {}
    for each in obligations:
        found.setdefault(each.code, Counter())[each.verdict] += 1
    return dict(sorted(found.items()))
