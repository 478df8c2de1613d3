"""Diagnostics as data: what was found, where, and what would fix it.

Nothing here formats text; `ptxkit.report` does that, one renderer for each output format.
"""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from types import MappingProxyType

from ptxkit.diagnostics.code import Severity
from ptxkit.diagnostics.message import OpenLinesText
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.source import SourceFile, SourceLine, Span

_NO_PROPERTIES: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary place of a diagnostic: nearly always the *other* access, or what orders the two.

    origin: as a diagnostic's.
    """

    span: Span
    message: str
    origin: tuple[SourceLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Another place at which a finding holds. origin: as a diagnostic's."""

    span: Span
    origin: tuple[SourceLine, ...] = ()


@dataclass(frozen=True, slots=True)
class DiagnosticTexts:
    """The texts of a diagnostic with the numbers of lines left open: of its own place, then of its labels.

    A report about the program that the PTX was compiled from fills in the lines of that program.
    """

    message: OpenLinesText
    labels: tuple[OpenLinesText, ...] = ()
    help: OpenLinesText | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `replacement` (an empty span inserts)."""

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

    code: stable, e.g. `PTX401`; never reused. span: the primary place. labels: other places. help: what to do.
    isa: the titles of the manual's sections that say so. properties: for machines, JSON values only. proposals: fixes
    that were not validated yet, the likeliest first; `ptxkit.fixes` determines which one is valid. origin: the line
    of the program that the primary place was compiled from, then where its function was inlined, and so on. wording:
    what copies of one fault have in common: the message without the numbers of lines, or with the opcode that is
    spelt wrong; empty where that is the message. subject: the variable that it is about, if it is about one. copies:
    other places at which the same holds and the same fix settles it. texts: None where the texts name no line that
    could be another one. payload: what a fix needs to know, of a type that the catalogue
    defines next to the code; None where a fix needs nothing.
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


@dataclass(frozen=True, slots=True)
class Undecided:
    """A question that the analysis could not answer: neither a violation nor the proof that there is none.

    code: the rule whose obligation is open. reason: what is missing, e.g. "the address comes from a call". missing: the
    property of the launch that decides it and that `kernel` does not declare, with a number as an example: `block=256`;
    both are empty where the launch does not decide it. origin: as a diagnostic's.
    """

    code: str
    reason: str
    source: SourceFile
    span: Span
    missing: str = ""
    kernel: str = ""
    origin: tuple[SourceLine, ...] = ()

    @property
    def remedy(self) -> str:
        """The option that may decide the question; empty where no option is known to."""
        if not self.missing:
            return ""
        what, _, _ = self.missing.partition("=")
        return f"{what} size unknown: try --launch {quote(f'{self.kernel}:{self.missing}')}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything that one verifier says about one module."""

    diagnostics: tuple[Diagnostic, ...]
    undecided: tuple[Undecided, ...] = ()
