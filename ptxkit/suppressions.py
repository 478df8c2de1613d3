"""Comments that suppress known findings: `// ptxkit: ignore[PTX401] the host fences`.

At the end of a line, or on a separate line before it, such a comment applies to that line; if a function begins there,
to the whole function; `ignore-file[...]` anywhere applies to the file. The brackets contain codes or prefixes of codes.
A comment that suppresses nothing is reported (PTX191), and so is one that cannot be parsed (PTX192). Syntax errors
cannot be suppressed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.diagnostics import Diagnostic, Edit, Fix, Message, Severity, Undecided, Verdict
from ptxkit.diagnostics.catalogue import fix_titles, ptx1xx, ptx2xx, ptx4xx, ptx6xx
from ptxkit.diagnostics.catalogue.index import CODES
from ptxkit.fast_dataclasses import dataclass
from ptxkit.limits import MAX_COMMENTS_REPORTED
from ptxkit.source import SourceFile, Span

if TYPE_CHECKING:
    from ptxkit.syntax.tree import Module

MARK = "ptxkit:"
_LINE, _FILE = "ignore", "ignore-file"
UNSUPPRESSIBLE = (ptx1xx.NO_VERDICT, ptx1xx.SYNTAX_ERROR, ptx1xx.UNUSED_SUPPRESSION, ptx1xx.MALFORMED_SUPPRESSION)
"""Codes that no comment suppresses."""
_CODES_OF_RUNS = (
    *(ptx6xx.KERNEL_ABORTED, ptx6xx.UNINITIALIZED_DATA),
    ptx2xx.SPACE_OFFSET_AS_GENERIC,
    ptx2xx.MISALIGNED_ADDRESS,
    ptx2xx.NUMBER_OUT_OF_RANGE,
    ptx2xx.OUT_OF_BOUNDS,
)
"""Codes that runs on the reference machine report if they depend on the arguments, and that lint does not report: only
`verify` can determine whether their comments are used.
"""


_SuppressionKey: TypeAlias = "tuple[str, tuple[int, int]]"
"""A prefix of codes, and the first and last line."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """One code in one comment. place: of the code; comment: of the whole comment. lines: 1-based, first to last."""

    code: str
    code_span: Span
    comment_span: Span
    lines: tuple[int, int]
    is_only_code: bool

    @property
    def key(self) -> _SuppressionKey:
        """The codes and lines that it suppresses: two comments with equal keys are both used or both unused."""
        return self.code, self.lines


def apply_suppressions(
    verdict: Verdict,
    module: Module,
    shows: Callable[[str], bool],
    stricter: Callable[[], Verdict] | None = None,
    *,
    ran: bool = False,
) -> tuple[Verdict, int]:
    """Returns the verdict without suppressed findings, and their number.

    shows: whether findings of a code are reported at all; others are ignored. stricter: the verdict of the strict
    policy, if another one is in force; a comment that is used there is not reported. ran: the verdict contains the
    findings of runs on the reference machine, too; else comments for findings of runs are not reported.
    """
    source = module.source
    if source is None or MARK not in source.text:
        return verdict, 0
    written, wrong = _parse_suppressions(source, module)
    hiding = _SuppressionIndex(written)
    kept = tuple(item for item in verdict.diagnostics if not hiding.suppresses(item))
    asked = tuple(item for item in verdict.undecided if not hiding.suppresses(item))
    expected = {code: _would_be_reported(code, shows, ran=ran) for code in {each.code for each in written}}
    idle = [each for each in written if each.key not in hiding.used_keys and expected[each.code]]
    if idle and stricter is not None:
        more = stricter()
        for found in (more.diagnostics, more.undecided):
            for item in found:
                hiding.suppresses(item)
        idle = [each for each in idle if each.key not in hiding.used_keys]
    codes = Counter(each.comment_span.start for each in written)
    idle_or_wrong = []
    if shows(ptx1xx.UNUSED_SUPPRESSION):
        idle_or_wrong += [
            _unused_diagnostic(source, each, codes[each.comment_span.start]) for each in idle[:MAX_COMMENTS_REPORTED]
        ]
    if shows(ptx1xx.MALFORMED_SUPPRESSION):
        idle_or_wrong += wrong
    ordered = sorted((*kept, *idle_or_wrong), key=lambda item: (item.span.start, item.span.end, item.code))
    return Verdict(tuple(ordered), asked), len(verdict.diagnostics) - len(kept)


class _SuppressionIndex:
    """The codes and lines of all comments. used: the keys that have suppressed a finding."""

    def __init__(self, written: Sequence[Suppression]) -> None:
        self.used_keys: set[_SuppressionKey] = set()
        self._wide: dict[_SuppressionKey, None] = {}
        self._on_line: dict[int, dict[_SuppressionKey, None]] = {}
        for each in written:
            first, last = each.lines
            reaching = self._wide if first != last else self._on_line.setdefault(first, {})
            reaching[each.key] = None

    def suppresses(self, item: Diagnostic | Undecided) -> bool:
        """Returns whether some comment suppresses it, and records the use."""
        if item.code in UNSUPPRESSIBLE:
            return False
        line, _ = item.source.position(item.span.start)
        hiding = [
            (code, lines)
            for code, lines in (*self._on_line.get(line, ()), *self._wide)
            if item.code.startswith(code) and lines[0] <= line <= lines[1]
        ]
        self.used_keys.update(hiding)
        return bool(hiding)


def _would_be_reported(prefix: str, shows: Callable[[str], bool], *, ran: bool) -> bool:
    """Returns whether a finding with the prefix would have been reported."""
    codes = [code for code in CODES if code.startswith(prefix)]
    if not ran and all(code in _CODES_OF_RUNS for code in codes):
        return False
    return all(map(shows, codes))


@cache
def _prefixes() -> frozenset[str]:
    """Returns all prefixes of codes."""
    return frozenset(code[:length] for code in CODES for length in range(3, len(code) + 1))


# ------------------------------------------------------------------------------------------------ reading

_TRIVIA = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMENT = re.compile(r"(?://+|/\*+)[ \t]*ptxkit:[ \t]*([A-Za-z-]*)[ \t]*(?:\[([^\]\n]*)(\])?)?")
_WORD = re.compile(r"[^\s,]+")


def _ptxkit_comments(text: str) -> Iterator[re.Match[str]]:
    """Yields the comments for ptxkit; the groups are the word, the text in brackets, and the closing bracket."""
    for match in _TRIVIA.finditer(text):
        if match.group()[0] == "/" and MARK in match.group():
            found = _COMMENT.match(text, match.start(), match.end())
            if found is not None:
                yield found


def comment_ends(source: SourceFile) -> dict[int, int | None]:
    """Returns the 1-based lines that end inside a comment, with the offset in the line of the bracket that closes the
    codes of a ptxkit comment, or None.
    """
    found: dict[int, int | None] = {}
    for match in _TRIVIA.finditer(source.text):
        if match.group()[0] != "/":
            continue
        line = source.position(match.start())[0]
        if match.group().startswith("/*"):
            last = source.position(match.end())[0]
            found.update((each, None) for each in range(line, last))
        else:
            ours = _COMMENT.match(source.text, match.start(), match.end())
            closed = ours is not None and ours[1] == _LINE and ours[2] and ours[3]
            found[line] = source.position(ours.end() - 1)[1] - 1 if ours is not None and closed else None
    return found


def _end_of_comment(text: str, start: int) -> int:
    match = _TRIVIA.match(text, start)
    assert match is not None
    return match.end()


def _parse_suppressions(source: SourceFile, module: Module) -> tuple[list[Suppression], list[Diagnostic]]:
    written: list[Suppression] = []
    wrong: list[Diagnostic] = []
    places: _SuppressionScopes | None = None
    for match in _ptxkit_comments(source.text):
        word, inside, closed = match.groups()
        comment = Span(match.start(), _end_of_comment(source.text, match.start()))
        if word not in (_LINE, _FILE):
            if _is_misspelled_keyword(word):
                wrong.append(_malformed_diagnostic(source, Span(*match.span(1)), ptx1xx.UNKNOWN_COMMENT(word=word)))
            continue
        found = list(_WORD.finditer(source.text, *match.span(2))) if inside else []
        codes = list({each.group(): each for each in reversed(found)}.values())[::-1]
        if not codes or not closed:
            wrong.append(_malformed_diagnostic(source, Span(*match.span()), ptx1xx.NO_CODES_NAMED()))
            continue
        if places is None:
            places = _SuppressionScopes(source, module)
        lines = (1, source.line_count) if word == _FILE else places.covered_lines(comment)
        for code in codes:
            place = Span(*code.span())
            if code.group() in _prefixes():
                written.append(Suppression(code.group(), place, comment, lines, len(codes) == 1))
            elif len(wrong) < MAX_COMMENTS_REPORTED:
                wrong.append(_malformed_diagnostic(source, place, _unknown_code(code.group())))
    return written, wrong[:MAX_COMMENTS_REPORTED]


class _SuppressionScopes:
    """Determines the lines to which a comment applies."""

    def __init__(self, source: SourceFile, module: Module) -> None:
        self._source = source
        self._functions = _functions(source, module)
        self._starts = [first for first, _, _ in self._functions]
        self._blank = (0, 0)
        """The comments and blanks that were skipped last, because the same ones follow each of many comments."""

    def covered_lines(self, comment: Span) -> tuple[int, int]:
        """Returns the first and last line to which a comment applies."""
        source = self._source
        line, _ = source.position(comment.start)
        before = _blanks_start(source.text, comment.start)
        if before == 0 or source.text[before - 1] == "\n":  # on a separate line: it applies to the following code
            if not self._blank[0] <= comment.end <= self._blank[1]:
                after = _TRIVIA_OR_BLANK.match(source.text, comment.end)
                self._blank = comment.end, after.end() if after else comment.end
            line = source.position(self._blank[1])[0]
        at = bisect_right(self._starts, line) - 1
        if at >= 0:
            first, header, last = self._functions[at]
            if line <= header:
                return first, last
        return line, line


def _blanks_start(text: str, offset: int) -> int:
    """Returns the offset where the blanks before an offset begin."""
    while offset and text[offset - 1] in " \t":
        offset -= 1
    return offset


_TRIVIA_OR_BLANK = re.compile(r"(?:[ \t\r\n]++|//[^\n]*+|/\*.*?\*/)*", re.DOTALL)


def _functions(source: SourceFile, module: Module) -> list[tuple[int, int, int]]:
    """Returns (first line, last line of its header, last line) of each function with a body."""
    from ptxkit.syntax import statement_spans
    from ptxkit.syntax.tree import Function

    found = []
    placed = list(module.with_offsets())
    for index, (item, start) in enumerate(placed):
        if isinstance(item, Function) and item.body is not None:
            header = statement_spans(source, start).statement.end
            end = placed[index + 1][1] - 1 if index + 1 < len(placed) else len(source.text)
            found.append((source.position(start)[0], source.position(header)[0], source.position(end)[0]))
    return found


# ---------------------------------------------------------------------------------------------- reporting


def _unused_diagnostic(source: SourceFile, each: Suppression, codes: int) -> Diagnostic:
    """Returns the diagnostic of an unused comment. codes: the number of codes in its comment."""
    title = fix_titles.REMOVE_COMMENT() if codes == 1 else fix_titles.REMOVE_FROM_BRACKETS(code=each.code)
    return Diagnostic(
        ptx1xx.UNUSED_SUPPRESSION,
        Severity.WARNING,
        str(ptx1xx.COMMENT_WITHOUT_EFFECT(code=each.code)),
        source,
        each.code_span,
        help=title,
        fix=Fix(title, (_removal(source, each),), safe=True),
    )


def _removal(source: SourceFile, each: Suppression) -> Edit:
    """Returns an edit that removes the whole comment with the blanks before it, or one code with its comma."""
    text = source.text
    if not each.is_only_code:
        start, end = each.code_span.start, each.code_span.end
        after = re.compile(r"[ \t]*,[ \t]*").match(text, end)
        if after is not None:
            return Edit(Span(start, after.end()), "")
        before = _blanks_start(text, start)
        return Edit(Span(before - (text[before - 1 : before] == ","), end), "")
    start, end = _blanks_start(text, each.comment_span.start), each.comment_span.end
    if text[end - 1] == "\r":  # a part of the line end, and not of the comment
        end -= 1
    if text[start - 1 : start] in ("\n", ""):
        end += next((len(each) for each in ("\n", "\r\n") if text.startswith(each, end)), 0)
    return Edit(Span(start, end), "")


def _malformed_diagnostic(source: SourceFile, place: Span, message: Message) -> Diagnostic:
    help_ = str(ptx1xx.WRITE_COMMENT(code=ptx4xx.MISSING_PROXY_FENCE))
    return Diagnostic(message.code, message.code.severity, str(message), source, place, help=help_)


def _is_misspelled_keyword(word: str) -> bool:
    """Returns whether an unknown word was probably meant as a keyword; other words after the mark are ignored."""
    from difflib import get_close_matches

    return word in ("noqa", "disable", "allow", "suppress") or bool(get_close_matches(word, (_LINE, _FILE), n=1))


def _unknown_code(word: str) -> Message:
    from difflib import get_close_matches

    near = get_close_matches(word.upper(), CODES, n=1)
    return ptx1xx.SIMILAR_CODE(word=word, code=near[0]) if near else ptx1xx.UNKNOWN_CODE(word=word)


# ------------------------------------------------------------------------------------------------ writing


def add_ignore_comments(source: SourceFile, found: Sequence[Diagnostic], reason: str) -> str:
    """Returns the text with a comment at the end of each line that has findings; the codes are added to an existing
    one.
    """
    codes: dict[int, list[str]] = {}
    for item in found:
        here = codes.setdefault(source.position(item.span.start)[0], [])
        if item.code not in here:
            here.append(item.code)
    ends = comment_ends(source)
    lines = source.text.split("\n")
    for number, new in sorted(codes.items(), reverse=True):
        line, end = lines[number - 1], ""
        if line.endswith("\r"):
            line, end = line[:-1], "\r"
        close = ends.get(number)
        if close is not None:  # a comment that names codes: these are added
            lines[number - 1] = f"{line[:close]}, {', '.join(new)}{line[close:]}{end}"
            continue
        comment = " ".join([f"// ptxkit: ignore[{', '.join(new)}]", *reason.split()])
        if number in ends:  # additions to the line would be part of another comment
            lines.insert(number - 1, comment + end)
        else:
            lines[number - 1] = f"{line.rstrip()}  {comment}{end}"
    return "\n".join(lines)
