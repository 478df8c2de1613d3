"""Invalid text of every kind: diagnostics, never a traceback, and in time proportional to the text.

The bounds are generous: what they must detect takes minutes or does not end.
"""

from __future__ import annotations

import time
from random import Random

import pytest

from ptxkit import PTXSyntaxError
from ptxkit.syntax import parse
from ptxkit.syntax.limits import MAX_SYNTAX_ERRORS
from tests.syntax.support import HEADING, kernel

_SECONDS = 300.0

_random = Random(7)
_BYTES = "".join(chr(_random.randrange(256)) for _ in range(300_000))

JUNK = {
    "binary": _BYTES,
    "binary behind a heading": HEADING + _BYTES,
    "binary in a body": kernel(_BYTES),
    "a lone brace": "{",
    "a lone brace behind a heading": HEADING + "{",
    "NULs": "\0" * 1_000_000,
    "NULs before a word": HEADING + "\0" * 1_000_000 + "x",
    "one line of words": kernel("a " * 1_000_000),
    "one line of numbers": kernel("1 " * 500_000),
    "no semicolon at all": kernel("add.s32 %r1, %r2, %r3\n" * 30_000),
    "100,000 opening braces": HEADING + ".entry k()" + "{" * 100_000,
    "100,000 braces without a header": "{" * 100_000,
    "100,000 closing braces": HEADING + "}" * 100_000,
    "100,000 nested blocks": kernel("{" * 100_000 + "}" * 100_000),
    "100,000 parentheses": kernel(f"mov.u32 %r1, {'(' * 100_000}1{')' * 100_000};"),
    "100,000 brackets": kernel(f"mov.u32 %r1, {'[' * 100_000};"),
    "100,000 vectors in vectors": kernel(f"mov.u32 %r1, {'{' * 100_000};"),
    "100,000 signs": kernel(f"mov.u32 %r1, {'- ' * 100_000}1;"),
    "100,000 sums": kernel(f"mov.u32 %r1, {'1+' * 100_000}1;"),
    "100,000 conditions": kernel(f"mov.u32 %r1, {'1?1:' * 100_000}1;"),
    "100,000 applications": kernel(f"mov.u32 %r1, {'a(' * 100_000};"),
    "comments in comments": kernel("/*" * 500_000),
    "a comment of stars without an end": HEADING + "/*" + "*" * 1_000_000,
    "comment starts that never end": HEADING + "/* /" * 200_000,
    "quotes": HEADING + '"' * 300_001,
    "a string without an end": HEADING + '.pragma "' + "a\n" * 300_000,
    "dots": HEADING + "." * 500_000,
    "directives that are none": HEADING + ".a " * 200_000,
    "linkages without a function": HEADING + ".extern " * 100_000,
    "colons": kernel("a::" * 200_000),
    "at signs": kernel("@" * 200_000),
    "half of a .loc": kernel(".loc 1 2\n" * 20_000),
    "a section without an end": HEADING + ".section .debug_x {\n" + ".b8 1\n" * 100_000,
    "a source section without an end": HEADING + ".nv_intermediate_source_section { .code_block { " + ".x" * 300_000,
    "a table with a fault at its end": HEADING + ".global .b32 x[] = {" + "1," * 200_000 + "foo bar};",
    "a long line with a fault at its end": kernel("add.s32 %r1, %r2, %r3; " * 50_000 + " foo bar baz;"),
    "lone surrogates": HEADING + "\udcff" * 1000,
    "a number of 100,000 digits": kernel(f"mov.u32 %r1, {'9' * 100_000};"),
}


@pytest.mark.parametrize("text", JUNK.values(), ids=JUNK.keys())
def test_invalid_text_gives_diagnostics_in_linear_time(text: str) -> None:
    start = time.thread_time()
    with pytest.raises(PTXSyntaxError) as caught:
        parse(text)
    assert time.thread_time() - start < _SECONDS
    found = caught.value.diagnostics
    assert 1 <= len(found) <= MAX_SYNTAX_ERRORS
    for each in found:
        assert 0 <= each.span.start <= each.span.end <= len(text) + 1
        assert len(each.message) < 300, "a message must not quote the whole text"
        assert each.message[-1] not in ".\n"


LARGE = {
    "a long line of statements": kernel("add.s32 %r1, %r2, %r3; " * 50_000),
    "a long table": HEADING + ".global .b32 x[] = {" + "1," * 200_000 + "1};",
    "a long name": kernel(f"mov.u32 {'a' * 1_000_000}, 1;"),
    "a header of many parameters": f"{HEADING}.entry k({'.param .b32 p, ' * 5_000}.param .b32 q) {{ ret; }}",
    "many labels": kernel("a:" * 100_000),
    "a long section": HEADING + ".section .debug_x {\n" + ".b8 1, 2\n" * 50_000 + "}",
    "many carriage returns": HEADING + "\r" * 500_000,
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE.keys())
def test_large_correct_texts_are_read_in_linear_time(text: str) -> None:
    start = time.thread_time()
    parse(text)
    assert time.thread_time() - start < _SECONDS
