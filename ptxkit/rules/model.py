"""The results that a rule reports for a pair of steps in one scenario, before they are formatted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import DiagnosticCode, Message, Severity
from ptxkit.diagnostics.catalogue import fix_titles, obligation_words, ptx3xx
from ptxkit.diagnostics.obligation import LaunchNeed
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.model.launch_contract import Requirement
from ptxkit.rules.limits import MAX_CONSTANT_CANDIDATES
from ptxkit.rules.obligation_sites import Site, SiteFinder, no_sites
from ptxkit.syntax.tree import Integer, Name

if TYPE_CHECKING:
    from ptxkit.rules.function_proofs import FunctionProofs

_NOTES = "PTX9"
"""The beginning of the codes of notes."""

#: The reason why it is unknown whether two positions are ordered.
TRUNCATED = ptx3xx.LOOP_CUT_SHORT()


@dataclass(frozen=True, slots=True)
class StepEdit:
    """An edit at a step: `text` before or after its statement, or in place of an operand."""

    step: Step
    text: str
    position: Literal["before", "after"] | int = "before"


@dataclass(frozen=True, slots=True)
class FixCandidate:
    """A fix that may settle a finding; a check of the changed text verifies it.

    safe: whether it changes the meaning of no correct program.
    """

    message: str
    edits: tuple[StepEdit, ...]
    safe: bool = True


def add_statement(change: StepEdit, *, safe: bool = True) -> FixCandidate:
    """Returns the fix that inserts one text, which its title shows on one line."""
    return FixCandidate(fix_titles.ADD(text=" ".join(change.text.split())), (change,), safe)


def replace_constant(step: Step, old: int | None, new: int | None) -> tuple[StepEdit, ...]:
    """Returns the edits that change the operand with the constant `old` to `new`.

    The result is empty if there is no such operand, or a value is unknown. If no operand is that constant, the last one
    is changed if it is a register, which may hold the constant.
    """
    if old is None or new is None:
        return ()
    operands = step.instruction.operands
    places = [place for place, each in enumerate(operands) if isinstance(each, Integer) and each.value == old]
    if not places and operands and isinstance(operands[-1], Name):
        places = [len(operands) - 1]  # a register that may hold the constant
    return (StepEdit(step, str(new), places[-1]),) if places else ()


def decrease_constant(step: Step) -> Iterator[StepEdit]:
    """Yields the edits of the last constant operand to each smaller value, the largest first."""
    old = next((each.value for each in reversed(step.instruction.operands) if isinstance(each, Integer)), 0)
    for new in range(min(old, MAX_CONSTANT_CANDIDATES) - 1, -1, -1):
        yield from replace_constant(step, old, new)


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation.

    labels: (step, message) of other locations. severity: None for the default of the code. group_key: findings of one
    rule with the same key have one cause: they share one fix and are reported together; None for a separate finding.
    fixes: the most likely first. payload: as for a diagnostic. lacks: the missing orders: of one instruction before
    another, or of an asynchronous instruction without a wait before everything that depends on it.

    `{0}` in message and help is the line of `primary`; `{1}`, `{2}`... are those of the labels.
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
    lacks: tuple[tuple[Step, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """The result of one check of a pair of steps: `finding` is None if the rule holds.

    scenario_index: the scenario of the check. exact: whether a launch certainly takes the paths. by_size: whether only
    the size of the block or of an argument decides that, and no guess; the paths of all scenarios are then proof.
    on_all_paths: whether every path to the first step has the violation, so that it is a warning if nothing shows more.
    """

    key: tuple[Step, Step | None]
    scenario_index: int
    exact: bool
    finding: Finding | None = None
    by_size: bool = False
    on_all_paths: bool = False


@dataclass(frozen=True, slots=True)
class OpenObligation:
    """A question that the rule could not decide.

    missing: the part of the launch that would decide it, `block` or `cluster`. conditions: those on the launch under
    which what the rule checks holds; empty if they are unknown. others: the instructions whose lines the reason names
    as `{1}`, `{2}`...
    """

    step: Step
    reason: Message
    missing: str = ""
    conditions: tuple[Requirement, ...] = ()
    others: tuple[Step, ...] = ()


#: The place for the lines of the steps in the words of evidence.
STEP_LINES = "{lines}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A proof that what a rule demands at a site holds in every execution.

    kind: the kind of the proof. words: the proof in words; `{lines}` are the lines of its steps. steps: the
    instructions on which the proof rests.
    """

    kind: str
    words: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Unproven:
    """What nothing proves at a site, although all that could prove it was examined.

    reason: the words of the question; `{lines}` are the lines of its steps, the other instructions.
    """

    reason: str
    steps: tuple[Step, ...] = ()


#: The conditions on a launch under which an obligation is satisfied.
LaunchNeeds: TypeAlias = tuple[LaunchNeed, ...]

ProofResult: TypeAlias = Evidence | LaunchNeeds | Unproven | None
"""The evidence for a site, the conditions on the launch that remain, what remains unproven, or None where it was not
examined."""

Prover: TypeAlias = "Callable[[FunctionProofs, Site], ProofResult]"
"""Returns what the proofs about all paths of a function show of a site in it."""


def _at_no_site(site: Site) -> bool:  # noqa: ARG001 (of any site)
    return False


#: The obligations are questions where all that could prove them was examined.
IF_EXAMINED: Callable[[Site], bool] = _at_no_site


def is_note(code: str) -> bool:
    """Returns whether the rule with a code reports only notes: redundant synchronization, and slow instructions."""
    return code.startswith(_NOTES)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its code, its check, and the obligations that it states.

    asynchronous: whether it concerns only
    asynchronous operations and their ordering; then kernels without any are not checked with it. ask: further questions
    of the rule, which no finding depends on; None without any.

    sites: the instructions of a kernel that the rule is about. policy: the policy under which it states obligations:
    `isa` for both. covers: what the executions must agree on so that a satisfied check of an instruction is a proof:
    `paths` if the check depends on the order of a thread's events only, empty if it never is a proof.
    compares_all_threads: whether it counts what all threads do, such as arrivals. prove: the proof about all paths, if
    there is any. proves_strict: whether it is one of what the policy `strict` demands, too. needs_proof: whether an
    obligation without a proof is an open question, also if the rule found nothing wrong; or at which sites it is one,
    or `IF_EXAMINED` for those where `prove` returns `Unproven`. unproven: why an obligation without a proof is open.
    """

    code: DiagnosticCode
    check: Callable[[KernelFacts], Iterator[Observation | OpenObligation]]
    ask: Callable[[KernelFacts], Iterator[OpenObligation]] | None = None
    asynchronous: bool = False
    sites: SiteFinder = no_sites
    policy: Literal["isa", "strict"] = "isa"
    covers: Literal["", "paths"] = ""
    compares_all_threads: bool = False
    prove: Prover | None = None
    proves_strict: bool = True
    needs_proof: bool | Callable[[Site], bool] = False
    unproven: Message | str = obligation_words.NOT_COVERED()

    @property
    def on_request(self) -> bool:
        """Whether it reports only notes, and only if they are requested."""
        return is_note(self.code)

    def observe(self, kernel: KernelFacts, *, with_questions: bool = True) -> Iterator[Observation | OpenObligation]:
        """Yields what the rule finds in a kernel, with its further questions unless only findings are wanted."""
        yield from self.check(kernel)
        if with_questions and self.ask is not None:
            yield from self.ask(kernel)
