"""Builds many instructions at once, column by column.

A module is mostly instructions, and most of those are new, because each names its own registers. So their parts are
processed as columns (all guards, all opcodes, all operand lists), each in one pass that remains inside the
interpreter's own loops.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from itertools import islice, repeat

from ptxkit.syntax.grammar import Grammar
from ptxkit.syntax.operands import INVALID_OPERAND, OperandMemo
from ptxkit.syntax.statement_splitter import FastPathError
from ptxkit.syntax.tree import Guard, Instruction, Operand

_new = Instruction.__new__
# An instruction is frozen, and its constructor takes four times as long as setting its slots. No other code accesses
# these objects before they are complete.
_set_opcode = Instruction.__dict__["opcode"].__set__
_set_operands = Instruction.__dict__["operands"].__set__
_set_guard = Instruction.__dict__["guard"].__set__


class OpcodeMemo(dict[str, str]):
    """Opcodes by text: each is one string. Raises `FastPathError` for a text that is not an opcode."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__()
        self._is_word = re.compile(grammar.terminal("IDENT")).fullmatch

    def __missing__(self, text: str) -> str:
        if not self._is_word(text):
            raise FastPathError
        self[text] = text
        return text


class GuardMemo(dict[str, Guard | None]):
    """Guards by text, including blanks after them; the empty text is no guard."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__({"": None})
        blank = r"[ \t\r\n]*+"
        self._match = re.compile(rf"@{blank}(!?){blank}({grammar.terminal('IDENT')}){blank}").fullmatch

    def __missing__(self, text: str) -> Guard | None:
        found = self._match(text)
        if not found or "." in found[2]:
            raise FastPathError
        guard = self[text] = Guard(found[2], bool(found[1]))
        return guard


def operand_lists(texts: Sequence[str], memo: OperandMemo) -> list[tuple[Operand, ...]]:
    """Returns the operands of each text between opcode and semicolon. Raises `FastPathError` if one is not an
    operand.
    """
    # Braces and parentheses contain further commas: such texts, and empty ones, are handled by the loop below;
    # until then they are replaced by one operand, the sink.
    flat = ["_" if not text or "{" in text or "(" in text else text for text in texts]
    counts = [text.count(",") + 1 for text in flat]
    nodes = list(map(memo.__getitem__, ",".join(flat).replace(", ", ",").split(",")))
    lists: list[tuple[Operand, ...]] = list(map(tuple, map(islice, repeat(iter(nodes)), counts)))
    apart = [place for place, text in enumerate(flat) if text == "_"]
    if memo.has_invalid:
        apart += [place for place, operands in enumerate(lists) if any(node is INVALID_OPERAND for node in operands)]
    for place in apart:
        lists[place] = memo.split(texts[place]) if texts[place] else ()
    return lists


def instructions(
    guards: Sequence[Guard | None], opcodes: Sequence[str], operands: Sequence[tuple[Operand, ...]]
) -> list[Instruction]:
    """Returns the instructions of these columns, all of one length."""
    made: list[Instruction] = list(map(_new, repeat(Instruction, len(opcodes))))
    deque(map(_set_opcode, made, opcodes), maxlen=0)
    deque(map(_set_operands, made, operands), maxlen=0)
    deque(map(_set_guard, made, guards), maxlen=0)
    return made
