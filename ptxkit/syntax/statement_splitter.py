"""Splits a module's text into pieces: one statement, brace, or function header each, with the blanks that follow it.

The expressions are made from the grammar's own terminals. In a correct text the splits are exactly between statements;
in an incorrect one a piece may be too long, which the parser detects because the piece is not a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate
from operator import itemgetter

from ptxkit.fast_dataclasses import dataclass
from ptxkit.syntax.grammar import Grammar, grammar

BLANK = r"[ \t\r\n]"
# Groups are repeated as `(?>(?:...)*)` and not as `(?:...)*+`, which means the same: Python before 3.11.5 loses matches
# of the latter, where its last attempt fails half-way. tests/test_architecture.py sees to it.
COMMENT = r"//[^\n]*+|/\*[^*]*+\*++(?:[^*/][^*]*+\*++)*/"
TRIVIA = rf"{BLANK}*+(?>(?:(?:{COMMENT}){BLANK}*+)*)"
"""Blanks and comments."""

_COMMENT_OR_SLASH = f"{COMMENT}|/(?![*/])"
_LABELED = r"\.(?:branchtargets|calltargets|callprototype)\b"


def _up_to(stops: str, units: str) -> str:
    """Returns an expression for anything but `stops`, in which strings, comments and other `units` are atomic."""
    plain = f"[^{stops}]*+"
    return rf"{plain}(?>(?:(?:{units}){plain})*)"


_SECTION = rf"\.section\b{_up_to('{;/', _COMMENT_OR_SLASH)}\{{{_up_to('}/', _COMMENT_OR_SLASH)}\}}"


def _pattern(terminals: Mapping[str, str]) -> str:
    ident, integer, string = terminals["IDENT"], terminals["INT"], terminals["STRING"]
    comment = _COMMENT_OR_SLASH
    gap = f"(?=[ \t\r\n/]){TRIVIA}"
    number = rf"(?:{integer}|{terminals['WARP_SIZE']})(?!\.)"
    comma = rf"{TRIVIA},{TRIVIA}"
    strings = rf"{string}(?>(?:{comma}{string})*)"
    instruction = rf"{_up_to(';/', comment)};"
    place = rf"{number}{gap}{number}{gap}{number}"
    label = rf"(?>{ident}|{terminals['DOT']})(?:{TRIVIA}\+{TRIVIA}{number})?"
    attributes = rf"(?>(?:{comma}(?>{ident}){TRIVIA}(?:{place}|{label}))*)"
    header_stops = ';{="/.'
    header_units = rf"\.pragma{TRIVIA}{strings}{TRIVIA};|\.|{string}|{comment}"
    words = [
        rf"(?>{ident}){TRIVIA}(?::(?:{TRIVIA}{_LABELED}{instruction})?|{instruction})",
        rf"@(?!@){instruction}",
        rf"\\{instruction}",
        r"[{}]",
        rf"\.loc{gap}{place}{attributes}",
        rf"\.loc_intermediate{gap}{place}",
        rf"\.version{gap}(?:{terminals['FLOAT']})",
        rf"\.target{gap}{ident}(?>(?:{comma}{ident})*)",
        rf"\.address_size{gap}{number}",
        rf"\.file{gap}{number}{TRIVIA}{string}(?>(?:{comma}{number})*)",
        rf"\.pragma{TRIVIA}{strings}{TRIVIA};",
        _SECTION,
        terminals["SOURCE_SECTION"],
        terminals["DWARF_LINE"],
        rf"\.{_up_to(header_stops, header_units)}(?:;|(?=\{{)|={instruction})",
    ]
    return f"(?:{'|'.join(words)})"


# The instructions without comments, with their parts as groups. The words are wider than the grammar's, for speed;
# `statements` checks each distinct one again.
_WORD = r"[A-Za-z0-9_$%][A-Za-z0-9_$.]*+(?>(?:::[A-Za-z0-9_$.]++)*)"
_INSTRUCTION = rf"(@{BLANK}*+!?{BLANK}*+[A-Za-z0-9_$%.]++{BLANK}*+)?({_WORD}){BLANK}*+(?!:)([^;/]*+);"


PieceRow = tuple[str, str, str, str]
"""A piece, and of a plain instruction its guard, opcode and operands as texts; the opcode of any other is empty."""


@dataclass(frozen=True, slots=True)
class PieceBatch:
    """A portion of a text in pieces: a row for each, and its offset."""

    rows: Sequence[PieceRow]
    starts: Sequence[int]


_BATCH_CHARS = 1 << 18
"""The least number of characters that are split at once: few enough that the results stay in the processor's cache."""


class FastPathError(Exception):
    """The fast path does not support this text, which the grammar must parse."""


class StatementSplitter:
    """The expression that splits texts, for one grammar."""

    def __init__(self, grammar: Grammar) -> None:
        terminals = grammar.terminals.expressions
        pattern = _pattern(terminals)
        self._piece = f"{pattern}{TRIVIA}"
        # Text that is not a piece is matched as a whole: searching for a piece again at each character would take
        # quadratic time.
        self._all = re.compile(rf"((?:{_INSTRUCTION}|{pattern}){TRIVIA}|[\s\S]++)")
        self.trivia = re.compile(TRIVIA)
        self._trailing_nul = re.compile(terminals["TRAILING_NUL"])

    @cached_property
    def piece(self) -> re.Pattern[str]:
        """The expression of one piece, which is made on first use, because a correct text does not need it
        (`piece_at`).
        """
        return re.compile(self._piece)

    def piece_at(self, text: str, start: int) -> re.Match[str] | None:
        """Returns the piece that begins at an offset of a text that can be parsed, or None."""
        found = self._all.match(text, start)
        if found is None or found.end() < len(text) or found[3] or text[start] in "{}":
            return found
        return self.piece.match(text, start)  # the last one, or the rest of the text from where no piece begins

    def text_end(self, text: str) -> int:
        """Returns the end of the text without the NUL that some producers append."""
        if not text.rstrip(" \t\r\n").endswith("\0"):
            return len(text)
        found = self._trailing_nul.search(text, len(text.rstrip("\0 \t\r\n")))
        return found.start() if found else len(text)

    def split(self, text: str) -> Iterator[PieceBatch]:
        """Yields all pieces, in portions that end after a function's body. Raises `FastPathError` for text that is not
        a piece.
        """
        end = self.text_end(text)
        blank = self.trivia.match(text, 0, end)
        start = blank.end() if blank else 0
        while start < end:
            stop = self._batch_end(text, start, end)
            rows = self._all.findall(text, start, stop)
            if not self._is_piece(rows[-1]):
                if stop == end:
                    raise FastPathError
                # The portion ended inside a piece: take the rest as one.
                rows, stop = self._all.findall(text, start, end), end
                if not self._is_piece(rows[-1]):
                    raise FastPathError
            starts = list(accumulate(map(len, map(itemgetter(0), rows)), initial=start))
            start = starts.pop()
            yield PieceBatch(rows, starts)

    def _is_piece(self, row: PieceRow) -> bool:
        """Returns whether the last row is a piece, and not the rest of the text from where no piece begins.

        Mostly it is `}`, or debugging data, which can be recognized without the complex expression.
        """
        piece = row[0]
        if piece[0] in "{}" or row[2] != "" or re.fullmatch(rf"{_SECTION}{TRIVIA}", piece):
            return True
        return self.piece.fullmatch(piece) is not None

    def _batch_end(self, text: str, start: int, end: int) -> int:
        found = text.find("\n}", start + _BATCH_CHARS, end)
        blank = self.trivia.match(text, found + 2, end) if found >= 0 else None
        return blank.end() if blank else end


@cache
def statement_splitter() -> StatementSplitter:
    """Returns the splitter of the installed grammar."""
    return StatementSplitter(grammar())
