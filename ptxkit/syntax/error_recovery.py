"""Finds all syntax errors of a text that is not PTX, without a time limit.

The text is traversed in the pieces of the fast parser. If a piece is not a statement, Lark parses its tokens one by one
up to the one that it rejects; then the traversal continues at the next position where a statement can begin.
"""

from __future__ import annotations

import re

from ptxkit.diagnostics import Diagnostic, Label, Message, Severity
from ptxkit.diagnostics.catalogue import ptx1xx, syntax_errors
from ptxkit.diagnostics.catalogue.ptx1xx import MissingBrace
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.source import SourceFile, Span
from ptxkit.syntax.builder import SOURCE_SECTION
from ptxkit.syntax.constants import MalformedConstructError
from ptxkit.syntax.error_explainer import SyntaxProblem, explain_error
from ptxkit.syntax.errors import PTXSyntaxError, UnexpectedTokenError
from ptxkit.syntax.grammar import NulError, TooDeepError, TooLongError, grammar
from ptxkit.syntax.limits import MAX_NESTING, MAX_SYNTAX_ERRORS
from ptxkit.syntax.operands import OperandMemo
from ptxkit.syntax.reference_parser import parse_with_lark
from ptxkit.syntax.statement_splitter import BLANK, COMMENT, statement_splitter
from ptxkit.syntax.statements import StatementMemo
from ptxkit.syntax.tree import Module

_WORD_START = re.compile(r"[A-Za-z_$%@]")
_FUNCTION = re.compile(rf"(?:\.(?:visible|extern|weak){BLANK}*)*\.(?:entry|func)\b")
_ITEM = re.compile(r"(?<=[\s)])\.(?:visible|extern|weak|common|entry|func|global|const|shared|section|file)\b")
_HEADING = re.compile(r"\.(version|target)\b")
_LATER_HEADING = re.compile(r"^[ \t]*(\.version[ \t]+[0-9])", re.MULTILINE)

# Where a statement may begin again: after a semicolon, or on a line that resembles the start of one.
_RESUME = re.compile(
    rf'(?:{COMMENT}|"[^"\n]*")|(;)|([{{}}])'
    r"|\n[ \t\r]*(?=[.@}]|[A-Za-z_$%][A-Za-z0-9_$]*[ \t]*:|[a-z][a-z0-9_]*\.[a-z])"
)

_SECTIONS = (".section", f".{SOURCE_SECTION}")
_LONG_STATEMENT_CHARS = 65536
"""The number of characters from which on a piece probably has no end, and is examined before it is parsed."""

_SMALL_TEXT_CHARS = 16384
"""The number of characters up to which Lark parses the whole text before an error is reported."""

_VECTOR = re.compile(r"\{[^{};]*\}")


def recover_module(source: SourceFile) -> Module:
    """Returns the module if Lark accepts the text; else raises `PTXSyntaxError`."""
    walk = _ErrorRecovery(source)
    walk.run()
    if not walk.diagnostics or len(source.text) <= _SMALL_TEXT_CHARS:
        # The grammar defines PTX. The traversal only knows where statements end.
        try:
            return parse_with_lark(source)
        except (UnexpectedTokenError, MalformedConstructError) as error:
            if not walk.diagnostics:
                place = error.offset if isinstance(error, UnexpectedTokenError) else 0
                walk.report(SyntaxProblem(Span(place, place + 1), _refusal(error)))
    found = sorted(walk.diagnostics, key=lambda diagnostic: diagnostic.span)
    raise PTXSyntaxError(tuple(found[:MAX_SYNTAX_ERRORS]))


def _refusal(error: UnexpectedTokenError | MalformedConstructError) -> Message:
    """Returns the error in a text that Lark rejects although it accepts all of its statements."""
    if isinstance(error, MalformedConstructError):
        return error.message
    return syntax_errors.REFUSED(error=str(error).partition("\n")[0])


@dataclass(slots=True)
class _ErrorRecovery:
    """`braces` holds the offsets of the open braces; `headings` counts `.version` and `.target`.

    excused: a missing heading has been reported, or must not be. is_ptx: a part of a module has been parsed.
    """

    source: SourceFile
    diagnostics: list[Diagnostic] = field(default_factory=list)
    braces: list[int] = field(default_factory=list)
    statements: StatementMemo = field(default_factory=lambda: StatementMemo(grammar(), OperandMemo(grammar())))
    headings: int = 0
    heading_reported: bool = False
    is_ptx: bool = False
    expects_body: bool = False
    """Whether a function's header directly precedes, so that its body begins here."""

    def report(self, finding: SyntaxProblem, *labels: Label) -> None:
        self.diagnostics.append(
            Diagnostic(
                code=ptx1xx.SYNTAX_ERROR,
                severity=Severity.ERROR,
                message=str(finding.message),
                source=self.source,
                span=finding.span,
                labels=labels,
                help=None if finding.help is None else str(finding.help),
                isa=("Syntax",),
                fix=finding.fix,
                payload=finding.payload,
            )
        )

    def run(self) -> None:
        text = self.source.text
        end = statement_splitter().text_end(text)
        place = self._skip_blanks(0)
        while place < end and len(self.diagnostics) < MAX_SYNTAX_ERRORS:
            place = max(self._read_next(place), place + 1)
            place = self._skip_blanks(place)
        if not self.diagnostics:
            self._require_headings(end)
        if len(self.diagnostics) > 1 and not self.is_ptx:
            self._reject_text(self._skip_blanks(0))
        elif self.braces and len(self.diagnostics) < MAX_SYNTAX_ERRORS:
            opened = self.braces[-1]
            message = syntax_errors.UNCLOSED_AT_END()
            finding = SyntaxProblem(Span(end, end), message, syntax_errors.CLOSE_BLOCKS(), payload=MissingBrace())
            self.report(finding, Label(Span(opened, opened + 1), str(syntax_errors.NEVER_CLOSED())))

    def _reject_text(self, place: int) -> None:
        """Reports that the text is not a module, instead of all other errors."""
        later = _LATER_HEADING.search(self.source.text, place)
        if later is None:
            remedy = syntax_errors.NAME_PTX_FILE()
        else:
            line, _ = self.source.position(later.start(1))
            remedy = syntax_errors.REMOVE_BEFORE_VERSION(line=line)
        self.diagnostics.clear()
        self.report(SyntaxProblem(Span(place, place + 1), syntax_errors.NO_PTX(), remedy))

    def _skip_blanks(self, place: int) -> int:
        found = statement_splitter().trivia.match(self.source.text, place)
        return found.end() if found else place

    def _require_headings(self, place: int) -> None:
        """Reports, once, that `.version` or `.target` is missing before `place`."""
        if self.headings == 2 or self.heading_reported:
            return
        self.heading_reported = True
        name, example = ((".version", ".version 8.7"), (".target", ".target sm_90a"))[self.headings]
        message = syntax_errors.HEADING_MISSING(directive=name)
        self.report(SyntaxProblem(Span(place, place), message, syntax_errors.ADD_HEADING(example=example)))

    def _read_next(self, place: int) -> int:
        """Parses one statement, brace or item from `place` on, and returns the offset where to continue."""
        text = self.source.text
        found = statement_splitter().piece.match(text, place)
        first = text[place]
        if first != "." and not (self.is_ptx or self.heading_reported):
            self._reject_text(place)
            return len(text)
        if first in "{}":
            return self._read_brace(place, first)
        heading = _HEADING.match(text, place)
        self.is_ptx = self.is_ptx or heading is not None or _FUNCTION.match(text, place) is not None
        if heading and not self.braces:
            return self._read_heading(place, heading[1], found)
        if found is not None or _FUNCTION.match(text, place):
            self._require_headings(place)
        if self.braces and _FUNCTION.match(text, place) and not (found and self._is_statement(found.group())):
            self._report_unclosed(place)
        if not self.braces and _WORD_START.match(first) and not text.startswith("@@", place):
            return self._report_outside_module(place, found)
        if text.startswith(_SECTIONS, place) and (found is None or text[found.end() : found.end() + 1] == "{"):
            message = syntax_errors.SECTION_MALFORMED()
            self.report(SyntaxProblem(Span(place, place + 1), message, syntax_errors.SECTION_FORM()))
            return len(text)
        function = not self.braces and _FUNCTION.match(text, place) is not None
        self.expects_body = function and found is not None and text[found.end() : found.end() + 1] == "{"
        start = "statement" if self.braces else "header" if self.expects_body else "item"
        if found is not None and len(found.group()) > _LONG_STATEMENT_CHARS and explain_error(text, place, start):
            return self._examine(place, start, None)
        if found is not None:
            try:
                if start == "statement":
                    self.statements[found.group()]
                else:
                    grammar().node(found.group(), start)
                self.is_ptx = True
            except (UnexpectedTokenError, MalformedConstructError) as error:
                end = self._declaration_end(place, found.end()) if function else None
                return end or self._examine(place, start, error)
            return found.end()
        self.expects_body = False
        return self._examine(place, start, None)

    def _is_statement(self, piece: str) -> bool:
        try:
            return self.statements[piece] is not None
        except (UnexpectedTokenError, MalformedConstructError):
            return False

    def _declaration_end(self, place: int, end: int) -> int | None:
        """Returns the end of a function's declaration without a semicolon, before the item that follows it, or None."""
        for found in _ITEM.finditer(self.source.text, place, end):
            piece = self.source.text[place : found.start()]
            if not _FUNCTION.search(piece) or piece.count("(") != piece.count(")"):
                continue
            try:
                grammar().node(piece, "item")
            except (UnexpectedTokenError, MalformedConstructError):
                return None
            self.expects_body = False
            return found.start()
        return None

    def _read_brace(self, place: int, brace: str) -> int:
        span = Span(place, place + 1)
        if brace == "}":
            if self.braces:
                self.braces.pop()
            else:
                self.report(SyntaxProblem(span, syntax_errors.CLOSES_NOTHING(), syntax_errors.REMOVE_BRACE()))
            return place + 1
        if not self.braces and not self.expects_body:
            self._require_headings(place)
            help_text = syntax_errors.WRITE_HEADER()
            self.report(SyntaxProblem(span, syntax_errors.HEADER_MISSING(), help_text))
        self.expects_body = False
        if len(self.braces) > MAX_NESTING:
            self.report(SyntaxProblem(span, syntax_errors.BLOCKS_TOO_DEEP(limit=MAX_NESTING)))
            self.braces.clear()
            return len(self.source.text)
        self.braces.append(place)
        return place + 1

    def _read_heading(self, place: int, name: str, found: re.Match[str] | None) -> int:
        if self.headings < 2 and name == ("version", "target")[self.headings]:
            self.headings += 1
        elif name == "target" and self.headings == 2:
            pass  # it may be repeated
        elif self.headings == 0:
            self._require_headings(place)
        elif not self.heading_reported:
            message = syntax_errors.HEADING_TWICE(directive=name)
            self.report(SyntaxProblem(Span(place, place + len(name) + 1), message, syntax_errors.REMOVE_IT()))
        return found.end() if found else self._examine(place, name, None)

    def _report_unclosed(self, place: int) -> None:
        opened = self.braces[0]
        message = syntax_errors.FUNCTION_INSIDE_BODY()
        self.report(
            SyntaxProblem(Span(place, place + 1), message, syntax_errors.CLOSE_BODY(), payload=MissingBrace()),
            Label(Span(opened, opened + 1), str(syntax_errors.BODY_OPEN())),
        )
        self.braces.clear()

    def _report_outside_module(self, place: int, found: re.Match[str] | None) -> int:
        finding = explain_error(self.source.text, place, "statement")
        end = place + 1
        while end < len(self.source.text) and end < place + 60 and not self.source.text[end].isspace():
            end += 1
        if finding is None or found is not None:
            message = syntax_errors.OUTSIDE_FUNCTION()
            self.report(SyntaxProblem(Span(place, end), message, syntax_errors.PUT_INSIDE_FUNCTION()))
            return found.end() if found else end
        self.report(
            SyntaxProblem(Span(place, end), syntax_errors.NO_MODULE_DIRECTIVE(word=self.source.text[place:end]))
        )
        return self._find_resume_point(place)

    def _examine(self, place: int, start: str, error: Exception | None) -> int:
        if isinstance(error, TooLongError):
            return self._report_too_long(place, error)
        if isinstance(error, MalformedConstructError) and not isinstance(error, NulError):
            return self._report_malformed(place, error)
        finding = explain_error(self.source.text, place, start)
        if finding is None:
            end = place + 1
            self.report(SyntaxProblem(Span(place, end), syntax_errors.UNREADABLE()))
            return self._find_resume_point(place)
        self.report(finding)
        if finding.fatal:
            return len(self.source.text)
        if self.source.text.startswith(".section", place):
            end = self.source.text.find("}", finding.span.start)
            return end + 1 or len(self.source.text)
        return (
            finding.resume
            if finding.resume is not None
            else self._find_resume_point(finding.span.start, start, finding.depth)
        )

    def _report_too_long(self, place: int, error: TooLongError) -> int:
        self.report(SyntaxProblem(Span(place, place + 1), error.message, syntax_errors.SPLIT_IT()))
        return self._find_resume_point(place)

    def _report_malformed(self, place: int, error: MalformedConstructError) -> int:
        text = self.source.text
        found = statement_splitter().piece.match(text, place)
        end = place + len(found.group().rstrip()) if found else place + 1
        help_text = None if isinstance(error, TooDeepError) else error.help
        self.report(SyntaxProblem(_malformed_span(text, place, end), error.message, help_text))
        return found.end() if found else self._find_resume_point(place)

    def _find_resume_point(self, place: int, start: str = "statement", depth: int = 0) -> int:
        """Returns the next offset from `place` on where a statement may begin; `depth` braces are open there."""
        text = self.source.text
        function: re.Match[str] | None = None
        is_sought = not self.braces and start != "header"
        for found in _RESUME.finditer(text, place):
            if found[1]:
                return found.end()
            if found[2] == "{":
                if is_sought:  # once, because there may be very many braces
                    function, is_sought = _FUNCTION.search(text, place), False
                is_after = function is not None and function.end() <= found.start()
                header = not self.braces and (start == "header" or is_after)
                self.expects_body = self.expects_body or (depth == 0 and header)
                if depth == 0 and (header or (self.braces and not _VECTOR.match(text, found.start()))):
                    return found.start()
                depth += 1
            elif found[2] == "}":
                if depth == 0 and self.braces:
                    return found.start()
                depth = max(0, depth - 1)
                if depth == 0 and not self.braces:
                    end = self._skip_blanks(found.end())
                    return end + 1 if text.startswith(";", end) else found.end()
            elif not found.group().startswith(("/", '"')) and found.start() >= place:
                return found.end()
        return len(text)


def _malformed_span(text: str, start: int, end: int) -> Span:
    """Returns the span of the invalid operand, or the whole statement."""
    from ptxkit.syntax.positions import statement_spans

    for span in statement_spans(SourceFile("", text[start:end]), 0).operands:
        try:
            grammar().node(text[start + span.start : start + span.end], "operand")
        except MalformedConstructError:
            return Span(start + span.start, start + span.end)
        except UnexpectedTokenError:
            continue
    return Span(start, end)
