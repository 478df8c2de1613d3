"""Lark itself, for `grammars/ptx.lark`: it parses only what the recipes do not cover, and texts with errors."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import lark
from lark import Lark, Tree, UnexpectedInput
from lark.grammar import Rule
from lark.lexer import PatternStr, TerminalDef

from ptxkit.compile_cache import load_or_compile
from ptxkit.installation import grammar_files
from ptxkit.syntax.errors import UnexpectedTokenError
from ptxkit.syntax.tokenizer import Terminals

STARTS = (
    *("module", "version", "target", "item", "header", "parameter", "function_directive"),
    *("section_line", "statement", "operand"),
)


NAME = "lark"


@cache
def lark_parser() -> Lark:
    """Returns the parser of the installed grammar, with cached tables if available."""
    tables = load_or_compile(NAME, sources(), compile_tables)
    source: Any = {"data": tables[0], "memo": tables[1]}
    return Lark.load(source)


def sources() -> list[str]:
    """Returns every file that the tables depend on; Lark's file identifies its release."""
    return [*grammar_files("ptx.lark"), lark.__file__, __file__]


def compile_tables() -> Any:
    """Returns Lark's tables of the grammar, as plain data."""
    (path,) = grammar_files("ptx.lark")
    with open(path, encoding="utf-8") as file:
        made = Lark(
            file.read(),
            parser="lalr",
            lexer="basic",
            start=list(STARTS),
            maybe_placeholders=False,
            propagate_positions=True,
        )
    return made.memo_serialize([TerminalDef, Rule])


def tree_of(text: str, start: str) -> Tree[Any]:
    """Returns Lark's tree of a piece of text. Raises `RefusedError`."""
    try:
        return lark_parser().parse(text, start=start)
    except UnexpectedInput as error:
        raise UnexpectedTokenError(str(error), error.pos_in_stream or 0) from None


def terminals() -> Terminals:
    """Returns the terminals in the order in which Lark's basic lexer tries them."""
    parser = lark_parser()
    ordered = sorted(
        parser.terminals,
        key=lambda each: (-each.priority, -each.pattern.max_width, -len(each.pattern.value), each.name),
    )
    names = [each.name for each in ordered]
    spelling = {each.name: each.pattern.value for each in ordered if isinstance(each.pattern, PatternStr)}
    expressions = {each.name: each.pattern.to_regexp() for each in ordered}
    keywords = {
        text: names.index(name)
        for name, text in spelling.items()
        if any(re.fullmatch(expressions[other], text) for other in names if other not in spelling)
    }
    return Terminals(
        names=names,
        expressions=expressions,
        spelling=spelling,
        keywords=keywords,
        scanned=[kind for kind, name in enumerate(names) if spelling.get(name) not in keywords],
        ignored=[names.index(name) for name in parser.lexer_conf.ignore],
    )
