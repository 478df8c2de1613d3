"""Operands by text: each text of an operand is one node, and is looked at once in a module."""

from __future__ import annotations

import re
from collections import deque
from itertools import repeat

from lark import UnexpectedInput

from ptxkit.syntax.constants import integer
from ptxkit.syntax.grammar import Grammar
from ptxkit.syntax.tree import Address, Name, Operand, Vector

_BLANKS = " \t\r\n"
_BLANK = r"[ \t\r\n]*+"

BROKEN = Name("")
"""What stands for a text that is no operand by itself, such as `[%r1` of `[%r1, %r2]` cut at its comma."""

_new = Name.__new__
_set_text = Name.__dict__["text"].__set__  # see ptxkit.syntax.instructions


class UnfitError(Exception):
    """The quick way does not know this text; the grammar must look at it."""


_REGISTER = re.compile(r"%[A-Za-z0-9_$]++(?!\.)")
_PLAIN_ADDRESS = re.compile(r"\[(%[A-Za-z0-9_$]++)(?:\+([1-9][0-9]*+|0))?\]")


class OperandMemo(dict[str, Operand]):
    """The operands of one module, by text. A text that is none gives `BROKEN`, and sets `broken`."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__({"": BROKEN})
        self.broken = False
        self._grammar = grammar
        ident, number = grammar.terminal("IDENT"), grammar.terminal("INT")
        self._name = re.compile(ident).fullmatch
        self._number = re.compile(number).fullmatch
        self._address = re.compile(
            rf"\[{_BLANK}((?:{ident})){_BLANK}(?:\+{_BLANK}(-?){_BLANK}({number}){_BLANK})?\]"
        ).fullmatch
        self._parts = re.compile(
            r"(?:[^,{}\[\]()]++|\{[^{}]*+\}|\[(?:[^\[\]{}]++|\{[^{}]*+\})*+\]|\([^()]*+\))++"
        ).findall
        self._constants = ConstantMemo(grammar)

    def learn(self, text: str) -> None:
        """Make the registers and plain addresses that occur in a text, all at once."""
        texts = dict.fromkeys(_REGISTER.findall(text))
        names = list(map(_new, repeat(Name, len(texts))))
        deque(map(_set_text, names, texts), maxlen=0)
        self.update(zip(texts, names, strict=True))
        rows = dict.fromkeys(_PLAIN_ADDRESS.findall(text))
        for base, offset in rows:
            if offset:
                self[f"[{base}+{offset}]"] = Address(self[base], int(offset))
            else:
                self[f"[{base}]"] = Address(self[base])

    def __missing__(self, text: str) -> Operand:
        node = self._operand(text)
        self[text] = node
        self.broken = self.broken or node is BROKEN
        return node

    def split(self, text: str) -> tuple[Operand, ...]:
        """The operands of an instruction, given what stands between its opcode and its semicolon, without comments."""
        parts: list[str] = self._parts(text)
        if ",".join(parts) != text:
            raise UnfitError
        nodes = tuple(map(self.__getitem__, parts))
        if self.broken and any(node is BROKEN for node in nodes):
            raise UnfitError
        return nodes

    def constants(self, text: str) -> tuple[Operand, ...]:
        """The elements of a flat initialiser; raises `UnfitError` where one is not a plain constant or name."""
        return tuple(map(self._constants.__getitem__, text.split(",")))

    def _operand(self, text: str) -> Operand:
        if self._number(text):
            return integer(text)
        if self._name(text):
            return Name(text)
        stripped = text.strip(_BLANKS)
        if stripped != text:
            return self[stripped]
        if text[0] == "[":
            return self._bracketed(text)
        if text[0] == "{" and text.find("}") == len(text) - 1 and "{" not in text[1:]:
            elements = tuple(map(self.__getitem__, text[1:-1].replace(", ", ",").split(",")))
            return BROKEN if any(node is BROKEN for node in elements) else Vector(elements)
        if "," in text and text[0] not in "{(":
            return BROKEN
        return self._parsed(text)

    def _bracketed(self, text: str) -> Operand:
        found = self._address(text)
        if found is None:
            return self._parsed(text) if text[-1] == "]" else BROKEN
        base, minus, offset = found.groups()
        if offset is None:
            return Address(self[base])
        value = integer(offset).value
        return Address(self[base], -value if minus else value)

    def _parsed(self, text: str) -> Operand:
        try:
            node: Operand = self._grammar.node(text, "operand")
        except UnexpectedInput:
            return BROKEN
        return node


class ConstantMemo(dict[str, Operand]):
    """The elements of tables, by text: a name, or a number with or without a sign; `UnfitError` for all else."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__()
        self._grammar = grammar
        words = "|".join(grammar.terminal(name) for name in ("BITS", "FLOAT", "INT", "IDENT"))
        self._plain = re.compile(rf"{_BLANK}-?{_BLANK}(?:{words}){_BLANK}").fullmatch

    def __missing__(self, text: str) -> Operand:
        if not self._plain(text):
            raise UnfitError
        node: Operand = self._grammar.node(text, "operand")
        self[text] = node
        return node
