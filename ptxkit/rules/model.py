"""What a rule says of one pair of places in one scenario, before anyone words it for a reader."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Literal

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import DiagnosticCode, Message, Severity
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.rules.limits import MAX_CONSTANT_CANDIDATES
from ptxkit.syntax.tree import Integer, Name

#: Why it is not known that nothing orders two places.
TRUNCATED = ptx3xx.LOOP_CUT_SHORT()


@dataclass(frozen=True, slots=True)
class StepEdit:
    """One change to the text at a step: `text` before or after its statement, or in the place of an operand."""

    step: Step
    text: str
    position: Literal["before", "after"] | int = "before"


@dataclass(frozen=True, slots=True)
class FixCandidate:
    """What may settle a finding; a check of the changed text shows whether it does. safe: no correct program changes
    its meaning."""

    message: str
    edits: tuple[StepEdit, ...]
    safe: bool = True


def replace_constant(step: Step, old: int | None, new: int | None) -> tuple[StepEdit, ...]:
    """The change of an operand that is the constant `old` into `new`; none where no operand is, or nothing is known.

    Where no operand is that constant, the last one is changed, if it is a register: it may hold the constant.
    """
    if old is None or new is None:
        return ()
    operands = step.instruction.operands
    places = [place for place, each in enumerate(operands) if isinstance(each, Integer) and each.value == old]
    if not places and operands and isinstance(operands[-1], Name):
        places = [len(operands) - 1]  # a register that holds it
    return (StepEdit(step, str(new), places[-1]),) if places else ()


def decrease_constant(step: Step) -> Iterator[StepEdit]:
    """The changes of its last constant operand into each smaller one, the next smaller first."""
    old = next((each.value for each in reversed(step.instruction.operands) if isinstance(each, Integer)), 0)
    for new in range(min(old, MAX_CONSTANT_CANDIDATES) - 1, -1, -1):
        yield from replace_constant(step, old, new)


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation. labels: (step, words) of the other places.

    severity: None where it is the default of the rule's code.

    cause: findings of one rule and one cause have one fix; they are reported together. None: nothing is shared.

    fixes: the likeliest first.

    payload: as a diagnostic's.

    `{0}` in message and help stands for the line of `primary`, `{1}`, `{2}`... for those of the labels.
    """

    primary: Step
    message: Message
    labels: tuple[tuple[Step, Message], ...] = ()
    help: Message | None = None
    severity: Severity | None = None
    properties: Mapping[str, object] = field(default_factory=dict)
    payload: object = None
    group_key: Hashable = None
    fixes: tuple[FixCandidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """One look at a pair of steps: `finding` where the rule is broken there, None where it is kept.

    scenario_index: where it was made. exact: the paths that led there need no guess. threads: how many take part; two
    that guess may guess differently, which proves nothing.
    """

    key: tuple[Step, Step | None]
    scenario_index: int
    exact: bool
    finding: Finding | None = None
    threads: int = 1


@dataclass(frozen=True, slots=True)
class OpenObligation:
    """A question that the rule could not answer. missing: what of the launch decides it, `block` or `cluster`."""

    step: Step
    reason: Message
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its code, and its check.

    on_request: it gives notes only, where the caller requests them. asynchronous: it is only about operations that are
    asynchronous, or that order such ones, so that kernels without any are not held against it.
    """

    code: DiagnosticCode
    check: Callable[[KernelFacts], Iterator[Observation | OpenObligation]]
    on_request: bool = False
    asynchronous: bool = False
