"""Cuts a module's text into pieces: one statement, brace, or function header each, with the blanks that follow it.

The expressions are made from the grammar's own terminals. In a correct text the cuts fall exactly between statements;
in an incorrect one a piece may be too long, which the parser finds when the piece is no statement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from ptxkit.syntax.grammar import Grammar, grammar

BLANK = r"[ \t\r\n]"
COMMENT = r"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/"
TRIVIA = rf"{BLANK}*+(?:(?:{COMMENT}){BLANK}*+)*+"
"""Blanks and comments."""

_LABELLED = r"\.(?:branchtargets|calltargets|callprototype)\b"


def _up_to(stops: str, units: str) -> str:
    """Anything but `stops`, in which strings, comments and other `units` count as wholes."""
    plain = f"[^{stops}]*+"
    return rf"{plain}(?:(?:{units}){plain})*+"


def _pattern(terminals: dict[str, str]) -> str:
    ident, integer, string = terminals["IDENT"], terminals["INT"], terminals["STRING"]
    comment = f"{COMMENT}|/(?![*/])"
    gap = f"{BLANK}++{TRIVIA}"
    number = f"(?:{integer})"
    comma = rf"{TRIVIA},{TRIVIA}"
    strings = rf"{string}(?:{comma}{string})*+"
    instruction = rf"{_up_to(';/', comment)};"
    place = rf"{gap}{number}{gap}{number}{gap}{number}"
    inlined = rf"(?:{comma}{ident}{gap}(?:{number}{gap}{number}{gap}{number}|{ident}(?:{TRIVIA}\+{TRIVIA}{number})?))*+"
    header_stops = ';{="/.'
    header_units = rf"\.pragma{TRIVIA}{strings}{TRIVIA};|\.|{string}|{comment}"
    words = [
        rf"(?>{ident}){TRIVIA}(?::(?:{TRIVIA}{_LABELLED}{instruction})?|{instruction})",
        rf"@(?!@){instruction}",
        r"[{}]",
        rf"\.loc{place}{inlined}",
        rf"\.loc_intermediate{place}",
        rf"\.version{gap}(?:{terminals['FLOAT']})",
        rf"\.target{gap}{ident}(?:{comma}{ident})*+",
        rf"\.address_size{gap}{number}",
        rf"\.file{gap}{number}{TRIVIA}{string}(?:{comma}{number})*+",
        rf"\.pragma{TRIVIA}{strings}{TRIVIA};",
        rf"\.section\b{_up_to('{;/', comment)}\{{{_up_to('}/', comment)}\}}",
        terminals["SOURCE_SECTION"],
        terminals["DWARF_LINE"],
        rf"\.{_up_to(header_stops, header_units)}(?:;|(?=\{{)|={instruction})",
    ]
    return f"(?:{'|'.join(words)})"


# The instructions that hold no comment, with their parts as groups. The words are wider than the grammar's, to be
# quick; `statements` looks at each distinct one again.
_WORD = r"[A-Za-z0-9_$%][A-Za-z0-9_$.]*+(?:::[A-Za-z0-9_$.]++)*+"
_INSTRUCTION = rf"(@{BLANK}*+!?{BLANK}*+[A-Za-z0-9_$%.]++{BLANK}*+)?({_WORD}){BLANK}*+(?!:)([^;/]*+);"


@dataclass(frozen=True, slots=True)
class Cut:
    """A text in pieces: where each begins, and for a plain instruction its guard, opcode and operands as texts.

    The four columns have one entry for each piece; where the piece is no plain instruction, its opcode is empty.
    """

    pieces: Sequence[str]
    starts: Sequence[int]
    guards: Sequence[str]
    opcodes: Sequence[str]
    rests: Sequence[str]


class Cutter:
    """The expression that cuts, for one grammar."""

    def __init__(self, grammar: Grammar) -> None:
        terminals = {term.name: term.pattern.to_regexp() for term in grammar.lark.terminals}
        pattern = _pattern(terminals)
        self.piece = re.compile(f"{pattern}{TRIVIA}")
        # What is no piece is taken as a whole: to look for one again at each character would take quadratic time.
        self._all = re.compile(rf"((?:{_INSTRUCTION}|{pattern}){TRIVIA}|[\s\S]++)")
        self.trivia = re.compile(TRIVIA)
        self._trailing_nul = re.compile(terminals["TRAILING_NUL"])

    def end(self, text: str) -> int:
        """Where the text ends when the NUL that some producers append is left out."""
        if not text.rstrip(" \t\r\n").endswith("\0"):
            return len(text)
        found = self._trailing_nul.search(text, len(text.rstrip("\0 \t\r\n")))
        return found.start() if found else len(text)

    def cut(self, text: str) -> Cut | None:
        """All pieces; None where something in between is no piece."""
        end = self.end(text)
        blank = self.trivia.match(text, 0, end)
        first = blank.end() if blank else 0
        rows = self._all.findall(text, first, end)
        if not rows or not self.piece.match(rows[-1][0]):
            return None
        pieces, guards, opcodes, rests = zip(*rows, strict=True)
        starts = list(accumulate(map(len, pieces), initial=first))
        starts.pop()
        return Cut(pieces, starts, guards, opcodes, rests)


@cache
def cutter() -> Cutter:
    """The cutter of the installed grammar."""
    return Cutter(grammar())
