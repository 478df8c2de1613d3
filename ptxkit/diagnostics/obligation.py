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
class LaunchNeed:
    """A condition on a launch, which the code of a kernel cannot decide.

    subject: the name of a parameter, of a variable whose size the launch determines, or of a special register. demand:
    `multiple` if the argument must be a multiple of `amount` bytes, and `factor` if it must be one of that number;
    `space` if it must be an address in the state space `space`; `bytes` if the variable must have at least `amount`
    bytes; `extent` if the register must be `amount`, and `least` if it must be at least that. position: the offset in
    bytes of the argument in its parameter.
    """

    subject: str
    demand: str
    amount: int = 0
    space: str = ""
    position: int = 0


@dataclass(frozen=True, slots=True)
class JudgedObligation:
    """An obligation: the instruction at `span` demands something of `subject`, as the rule of `code` states.

    code: that of the rule. kernel: the kernel in which it is judged. subject: an operand of the instruction, or a word.
    words: the violation, the proof, or the reason why it is open. evidence: the kind of the proof; empty if there is
    none. steps: the instructions on which the proof rests. needs: the conditions on the launch under which an open
    obligation is satisfied; empty if they are unknown.
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
    needs: tuple[LaunchNeed, ...] = ()


def count_verdicts(obligations: Iterable[JudgedObligation]) -> Mapping[str, Counter[ObligationVerdict]]:
    """Returns the number of obligations of each verdict by code, in the order of the codes."""
    found: dict[str, Counter[ObligationVerdict]] = {}
    for each in obligations:
        found.setdefault(each.code, Counter())[each.verdict] += 1
    return dict(sorted(found.items()))
