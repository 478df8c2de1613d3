"""Operands by text: each text of an operand is one node, and is looked at once in a module."""

from __future__ import annotations

import re

from lark import UnexpectedInput

from ptxkit.syntax.constants import integer
from ptxkit.syntax.grammar import Grammar
from ptxkit.syntax.tree import Address, Name, Operand, Vector

_BLANKS = " \t\r\n"


class UnfitError(Exception):
    """The quick way does not know this text; the grammar must look at it."""


class OperandMemo(dict[str, Operand]):
    """The operands of one module, by text."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__()
        self._grammar = grammar
        ident, number = grammar.terminal("IDENT"), grammar.terminal("INT")
        blank = r"[ \t\r\n]*+"
        self._name = re.compile(ident).fullmatch
        self._address = re.compile(
            rf"\[{blank}((?:{ident})){blank}(?:\+{blank}(-?){blank}({number}){blank})?\]"
        ).fullmatch
        self._parts = re.compile(
            r"(?:[^,{}\[\]()]++|\{[^{}]*+\}|\[(?:[^\[\]{}]++|\{[^{}]*+\})*+\]|\([^()]*+\))++"
        ).findall

    def __missing__(self, text: str) -> Operand:
        node = self._operand(text)
        self[text] = node
        return node

    def split(self, text: str) -> tuple[Operand, ...]:
        """The operands of an instruction, given what stands between its opcode and its semicolon, without comments."""
        try:
            if "{" not in text and "(" not in text:
                return tuple(map(self.__getitem__, text.split(", ")))
        except UnfitError:
            pass
        parts: list[str] = self._parts(text)
        if ",".join(parts) != text:
            raise UnfitError
        return tuple(map(self.__getitem__, parts))

    def constants(self, text: str) -> tuple[Operand, ...]:
        """The elements of a flat initialiser; raises `UnfitError` where one is not a plain expression."""
        return tuple(map(self.__getitem__, text.split(",")))

    def _operand(self, text: str) -> Operand:
        if self._name(text):
            return Name(text)
        if not text or text[0] in _BLANKS or text[-1] in _BLANKS:
            return self[self._stripped(text)]
        if text[0] == "[":
            return self._bracketed(text)
        if text[0] == "{" and text.find("}") == len(text) - 1 and "{" not in text[1:]:
            return Vector(tuple(map(self.__getitem__, text[1:-1].split(","))))
        return self._parsed(text)

    def _stripped(self, text: str) -> str:
        stripped = text.strip(_BLANKS)
        if not stripped:
            raise UnfitError
        return stripped

    def _bracketed(self, text: str) -> Operand:
        found = self._address(text)
        if found is None:
            if text[-1] != "]":
                raise UnfitError
            return self._parsed(text)
        base, minus, offset = found.groups()
        if offset is None:
            return Address(self[base])
        value = integer(offset).value
        return Address(self[base], -value if minus else value)

    def _parsed(self, text: str) -> Operand:
        try:
            node: Operand = self._grammar.node(text, "operand")
        except UnexpectedInput as error:
            raise UnfitError from error
        return node
