"""Diagnostics as data: findings, their locations, and fixes.

This module formats no text; `ptxkit.report` does, with one renderer for each output format.
"""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING

from ptxkit.diagnostics.code import Severity
from ptxkit.diagnostics.message import Message, OpenLinesText
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.mangled_names import short_name
from ptxkit.source import SourceFile, SourceLine, Span

if TYPE_CHECKING:
    from ptxkit.model.launch_contract import Requirement

_NO_PROPERTIES: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary location of a diagnostic, nearly always the *other* access, or what orders the two.

    origin: as in a diagnostic.
    """

    span: Span
    message: str
    origin: tuple[SourceLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Another location of a finding. origin: as in a diagnostic."""

    span: Span
    origin: tuple[SourceLine, ...] = ()


@dataclass(frozen=True, slots=True)
class DiagnosticTexts:
    """The texts of a diagnostic with the line numbers left open: of its own location, then of its labels.

    A report about the program that the PTX was compiled from inserts the lines of that program.
    """

    message: OpenLinesText
    labels: tuple[OpenLinesText, ...] = ()
    help: OpenLinesText | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the text of `span` by `replacement` (an empty span inserts)."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A change of the text: `safe` means that no correct program changes its meaning."""

    message: str
    edits: tuple[Edit, ...]
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    code: stable, e.g. `PTX401`; never reused. span: the primary place. labels: other places. help: what to do. isa: the
    titles of the manual's sections that state the violated requirement. properties: for machines, JSON values only.
    proposals: fixes that were not validated yet, the likeliest first; `ptxkit.fixes` determines which one is valid.
    origin: the line of the program that the primary place was compiled from, then where its function was inlined, and
    so on. wording: what copies of one fault have in common: the message without the numbers of lines, or with the
    opcode that is misspelled, or empty if that is the message. subject: the variable that it is about, if it is about
    one. copies: other places at which the same holds and the same fix settles it. texts: None if the texts name no line
    that could be another one. payload: what a fix needs to know, of a type that the catalogue defines next to the code,
    or None if a fix needs nothing. facts: what a message of the validator states, by its template; None for other
    messages, and where the result was stored. lacks: the orders that are missing: of the operation at one place before
    that at another, or, with one place, of the completion of its asynchronous operation before all that depends on it.
    What lacks the same order has the same cause. related: other findings with the same cause, if they are folded into
    this one.
    """

    code: str
    severity: Severity
    message: str
    source: SourceFile
    span: Span
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    isa: tuple[str, ...] = ()
    fix: Fix | None = None
    properties: Mapping[str, object] = field(default_factory=lambda: _NO_PROPERTIES)
    origin: tuple[SourceLine, ...] = ()
    proposals: tuple[Fix, ...] = ()
    wording: str = ""
    subject: str = ""
    copies: tuple[Place, ...] = ()
    texts: DiagnosticTexts | None = None
    payload: object = None
    facts: Message | None = field(default=None, compare=False, repr=False)
    lacks: tuple[tuple[Place, ...], ...] = ()
    related: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Undecided:
    """A question that the analysis could not decide: neither a violation nor a proof that none exists.

    code: the rule that is undecided. reason: the missing fact, e.g. "the address comes from a call". missing: the
    property of the launch that decides it and that `kernel` does not declare, with a number as an example: `block=256`;
    it is empty if the launch does not decide it. conditions: if a launch of `kernel` satisfies all of them, the
    question is decided as correct, as the analysis shows; empty if it shows that of no launch. kernel: empty if no
    launch decides the question. origin: as in a diagnostic. cause: the part of the reason that questions at other
    locations share, by which they are counted; empty if that is the whole reason. text: the reason with the lines left
    open: of its own location, then of the `others`; None if it names no line. tested: what runs on the reference
    machine show of it; empty without runs.
    """

    code: str
    reason: str
    source: SourceFile
    span: Span
    missing: str = ""
    kernel: str = ""
    origin: tuple[SourceLine, ...] = ()
    cause: str = ""
    text: OpenLinesText | None = None
    others: tuple[Place, ...] = ()
    conditions: tuple[Requirement, ...] = ()
    tested: str = ""

    @property
    def remedy(self) -> str:
        """The option that may decide the question, or empty."""
        if not self.missing:
            return ""
        what, _, _ = self.missing.partition("=")
        return f"{what} size unknown: try --launch {quote(f'{short_name(self.kernel)}:{self.missing}')}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one verifier for a module."""

    diagnostics: tuple[Diagnostic, ...]
    undecided: tuple[Undecided, ...] = ()
