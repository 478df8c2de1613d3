"""Parses operands by text: equal texts of operands are one node, which is parsed once in a module."""

from __future__ import annotations

import re

from ptxkit.syntax.constants import parse_integer
from ptxkit.syntax.errors import UnexpectedTokenError
from ptxkit.syntax.grammar import Grammar
from ptxkit.syntax.statement_splitter import FastPathError
from ptxkit.syntax.tree import Address, Name, Operand, Pair, Vector

_BLANKS = " \t\r\n"
_BLANK = r"[ \t\r\n]*+"

INVALID_OPERAND = Name("")
"""The result for a text that is not an operand by itself, such as `[%r1` of `[%r1, %r2]` cut at its comma."""

_new = Name.__new__
_set_text = Name.__dict__["text"].__set__  # see ptxkit.syntax.instruction_columns


class OperandMemo(dict[str, Operand]):
    """The operands of one module, by text. A text that is not an operand yields `INVALID_OPERAND`, and sets
    `broken`.
    """

    def __init__(self, grammar: Grammar) -> None:
        super().__init__()
        self.has_invalid = False
        self._grammar = grammar
        ident, number = grammar.terminal("IDENT"), grammar.terminal("INT")
        self._name = re.compile(ident).fullmatch
        self._pair = re.compile(rf"(?!WARP_SZ\b)({ident}){_BLANK}\|{_BLANK}({ident})").fullmatch
        self._register = re.compile(r"%[A-Za-z0-9_$]++").fullmatch
        self._number = re.compile(number).fullmatch
        # The sink is not an address, and the warp's size is a constant: the grammar handles both.
        self._address = re.compile(
            rf"\[{_BLANK}(?!(?:_|WARP_SZ)[ \t\r\n+\]])((?:{ident})){_BLANK}"
            rf"(?:\+{_BLANK}(-?){_BLANK}({number}){_BLANK})?\]"
        ).fullmatch
        self._parts = re.compile(
            r"(?>(?:[^,{}\[\]()]++|\{[^{}]*+\}|\[(?>(?:[^\[\]{}]++|\{[^{}]*+\})*)\]|\([^()]*+\))+)"
        ).findall
        self._constants = ConstantMemo(grammar)

    def __missing__(self, text: str) -> Operand:
        if self._register(text):  # nearly all operands
            node: Operand = _new(Name)
            _set_text(node, text)
        else:
            node = self._parse_operand(text)
            self.has_invalid = self.has_invalid or node is INVALID_OPERAND
        self[text] = node
        return node

    def split(self, text: str) -> tuple[Operand, ...]:
        """Returns the operands of an instruction from the text between its opcode and its semicolon, without
        comments.
        """
        parts: list[str] = self._parts(text)
        if ",".join(parts) != text:
            raise FastPathError
        nodes = tuple(map(self.__getitem__, parts))
        if self.has_invalid and any(node is INVALID_OPERAND for node in nodes):
            raise FastPathError
        return nodes

    def constants(self, text: str) -> tuple[Operand, ...]:
        """Returns the elements of a flat initializer. Raises `FastPathError` if one is not a plain constant or name."""
        return tuple(map(self._constants.__getitem__, text.split(",")))

    def _parse_operand(self, text: str) -> Operand:
        if not text:
            return INVALID_OPERAND
        first = text[0]
        if first in _BLANKS or text[-1] in _BLANKS:
            return self[text.strip(_BLANKS)]
        if first == "[":
            return self._parse_bracketed(text)
        if first == "{":
            return self._parse_braced(text)
        if self._number(text):
            return parse_integer(text)
        if self._name(text):
            return Name(text)
        pair = self._pair(text)
        if pair:
            return Pair(self[pair[1]], self[pair[2]])
        if "," in text and first != "(":
            return INVALID_OPERAND
        return self._parse_with_grammar(text)

    def _parse_braced(self, text: str) -> Operand:
        if text.find("}") != len(text) - 1 or text.rfind("{") or "[" in text or "(" in text:
            return self._parse_with_grammar(text)
        elements = tuple(map(self.__getitem__, text[1:-1].replace(", ", ",").split(",")))
        if self.has_invalid and any(node is INVALID_OPERAND for node in elements):
            return INVALID_OPERAND
        return Vector(elements)

    def _parse_bracketed(self, text: str) -> Operand:
        found = self._address(text)
        if found is None:
            return self._parse_indexed(text) if text[-1] == "]" else INVALID_OPERAND
        base, minus, offset = found.groups()
        if offset is None:
            return Address(self[base])
        value = parse_integer(offset).value
        return Address(self[base], -value if minus else value)

    def _parse_indexed(self, text: str) -> Operand:
        """Parses `[map, {%r1, %r2}]`: an address with operands after it."""
        parts: list[str] = self._parts(text[1:-1])
        if len(parts) < 2 or ",".join(parts) != text[1:-1]:
            return self._parse_with_grammar(text)
        base = self[f"[{parts[0]}]"]
        index = tuple(map(self.__getitem__, parts[1:]))
        if not isinstance(base, Address) or any(node is INVALID_OPERAND for node in index):
            return INVALID_OPERAND
        return Address(base.base, base.offset, index)

    def _parse_with_grammar(self, text: str) -> Operand:
        try:
            node: Operand = self._grammar.node(text, "operand")
        except UnexpectedTokenError:
            return INVALID_OPERAND
        return node


class ConstantMemo(dict[str, Operand]):
    """The elements of tables, by text: a name, or a number with or without a sign. Raises `FastPathError` for
    others.
    """

    def __init__(self, grammar: Grammar) -> None:
        super().__init__()
        self._grammar = grammar
        words = "|".join(grammar.terminal(name) for name in ("BITS", "FLOAT", "INT", "IDENT"))
        self._plain = re.compile(rf"{_BLANK}-?{_BLANK}(?:{words}){_BLANK}").fullmatch

    def __missing__(self, text: str) -> Operand:
        if not self._plain(text):
            raise FastPathError
        node: Operand = self._grammar.node(text, "operand")
        self[text] = node
        return node
