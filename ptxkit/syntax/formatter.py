"""`ptxkit fmt`: canonical text that keeps the comments.

The statements are printed as `printer` prints them. A comment on a separate line stays on one, before the next
statement; a comment after a statement stays after it; a comment inside a statement moves before it. Blank lines are
kept, one where there were several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.source import SourceFile
from ptxkit.syntax.grammar import grammar
from ptxkit.syntax.parser import parse
from ptxkit.syntax.printer import function_header_lines, item_lines, statement_lines
from ptxkit.syntax.statement_splitter import COMMENT, statement_splitter
from ptxkit.syntax.tree import Block, Body, Function, Module

_COMMENT = re.compile(COMMENT)
_STRING_OR_COMMENT = re.compile(rf'"[^"]*"|({COMMENT})')


@dataclass(frozen=True, slots=True)
class _Piece:
    """The output for one piece of the text: its lines, and the levels before and after it."""

    lines: list[str]
    level: int
    after: int


def format_source(source: SourceFile) -> str:
    """Returns the canonical text of `source`, with its comments. Formatting it again changes nothing.

    All lines end as the first one does, in CR LF or in LF. Raises `PTXSyntaxError`.
    """
    text = _format_text(replace(source, text=source.text.replace("\r\n", "\n")))
    return text.replace("\n", "\r\n") if source.text.partition("\n")[0].endswith("\r") else text


def _format_text(source: SourceFile) -> str:
    """Returns the canonical text of a source whose lines end in LF."""
    module = parse(source.text, source.path)
    cuts = list(statement_splitter().split(source.text))
    pieces = [row[0] for cut in cuts for row in cut.rows]
    planned = list(_module_pieces(module))
    if len(pieces) != len(planned):
        return source.text  # only Lark understands the text, which is not changed, so that no comment is lost
    writer = _Writer()
    writer.write_gap(source.text[: cuts[0].starts[0]])
    for plan, piece in zip(planned, pieces, strict=True):
        writer.write_piece(plan, piece)
    return "\n".join(writer.lines) + "\n"


def _module_pieces(module: Module) -> Iterator[_Piece]:
    for item in module.items:
        if isinstance(item, Function) and item.body is not None:
            yield _Piece(list(function_header_lines(item)), 0, 0)
            yield _Piece(["{"], 0, 1)
            yield from _body_pieces(item.body, 1)
            yield _Piece(["}"], 0, 0)
        else:
            yield _Piece(list(item_lines(item)), 0, 0)


def _body_pieces(body: Body, level: int) -> Iterator[_Piece]:
    for statement in body.statements:
        if isinstance(statement, Block):
            yield _Piece(["{"], level, level + 1)
            yield from _body_pieces(statement.body, level + 1)
            yield _Piece(["}"], level, level)
        else:
            yield _Piece(list(statement_lines(statement, "")), level, level)


@dataclass(slots=True)
class _Writer:
    """The lines written so far. `blank` requests a blank line before the next one, `level` is its indent."""

    lines: list[str] = field(default_factory=list)
    level: int = 0
    blank: bool = False

    def write_piece(self, plan: _Piece, piece: str) -> None:
        """Writes one piece of the text: the statement, then blanks and comments."""
        tokens, _ = grammar().tokenizer.scan(piece, limit=len(piece))
        _, last, offset = tokens[-1]
        end = offset + len(last)
        if piece.startswith(".section"):
            before, lines = _format_section(piece[:end], plan.lines)
        else:
            # A single token contains no comment, whatever its text is: it may be text of another language.
            before, lines = _comments(piece[:end]) if len(tokens) > 1 else [], plan.lines
        if lines[0] == "}":
            self.blank = False
        for comment in before:
            self.write_line(comment, plan.level)
        for line in lines:
            self.write_line(line, 0 if line.endswith(":") else plan.level)
        self.level = plan.after
        self.write_gap(piece[end:])

    def write_gap(self, gap: str) -> None:
        """Writes blanks and comments after a piece, or at the start of the text."""
        end = 0
        own_line = not self.lines
        for found in _COMMENT.finditer(gap):
            newlines = gap.count("\n", end, found.start())
            own_line = own_line or newlines > 0
            comment = found.group().rstrip()
            if own_line:
                self.blank = self.blank or newlines > 1
                self.write_line(comment, self.level)
            else:
                self.lines[-1] += f" {comment}"
                own_line = comment.startswith("//")
            end = found.end()
        self.blank = gap.count("\n", end) > 1

    def write_line(self, line: str, level: int) -> None:
        """Appends one line, after a blank one if that is requested and the line does not follow a brace."""
        if self.blank and self.lines and not self.lines[-1].lstrip("\t").startswith("{"):
            self.lines.append("")
        self.blank = False
        self.lines.append("\t" * level + line)


def _comments(code: str) -> list[str]:
    return [found[1].rstrip() for found in _STRING_OR_COMMENT.finditer(code) if found[1]]


def _format_section(code: str, canonical: list[str]) -> tuple[list[str], list[str]]:
    """Returns the comments before a section, and its lines: each comment remains with its line if lines match."""
    lines = canonical[:1]
    expected = iter(canonical[1:-1])
    for written in code[code.index("{") + 1 : code.rindex("}")].split("\n"):
        data, slashes, comment = written.partition("//")
        trailing = f"// {comment.strip()}" if slashes else ""
        if data.strip():
            line = next(expected, "")
            if "".join(data.split()) != "".join(line.split()):
                return _comments(code), canonical
            lines.append(f"{line} {trailing}".rstrip())
        elif trailing:
            lines.append(f"\t{trailing}".rstrip())
    return ([], [*lines, "}"]) if next(expected, None) is None else (_comments(code), canonical)
