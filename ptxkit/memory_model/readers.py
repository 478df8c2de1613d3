"""Reads the litmus tests of a file in any of the formats, which its text shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ptxkit.memory_model.dat3m_format import parse_dat3m
from ptxkit.memory_model.errors import LitmusError
from ptxkit.memory_model.limits import MAX_TEST_BYTES
from ptxkit.memory_model.litmus_test import LitmusTest
from ptxkit.memory_model.mixedproxy_format import is_mixedproxy, parse_mixedproxy
from ptxkit.memory_model.ptx_format import parse_ptx_test
from ptxkit.memory_model.ptx_header import has_header

_DAT3M = "PTX"
"""The first word of a test in Dat3M's format."""

SUFFIXES = (".litmus", ".test", ".ptx")
"""The names of files with tests."""


def read_tests(text: str, path: str) -> Iterator[LitmusTest]:
    """Yields the tests of a file. Raises LitmusError."""
    if len(text) > MAX_TEST_BYTES:
        raise LitmusError(f"the test is longer than {MAX_TEST_BYTES:,} characters", "it is no litmus test")
    words = text.split(None, 1)
    if words and words[0] == _DAT3M:
        yield parse_dat3m(text)
    elif has_header(text):
        yield parse_ptx_test(text)
    elif is_mixedproxy(text):
        yield from parse_mixedproxy(text, PurePath(path).stem)
    else:
        raise LitmusError(
            "the text is in none of the formats of litmus tests",
            "begin with `PTX NAME` (Dat3M), write `d0.b0.t0 { ... }` (mixedproxy), or add `// litmus:` to a PTX module",
        )
