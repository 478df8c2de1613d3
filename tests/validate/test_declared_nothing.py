"""Types without a variable, and functions declared in the bodies of others: ptxas accepts both, the manual neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.syntax import parse
from tests.validate.modules import Pair, diagnostics, disagreements, errors, whole

WARNED = [
    (".entry k() { .b32; ret; }", "declares nothing"),
    (".entry k() { .align 4 .v2 .f32; .e4m3x2; ret; }", "declares nothing"),
    (".texref; .entry k() { ret; }", "declares nothing"),
    (".entry k() { .extern .func f; call f; ret; }", "in the body of another"),
    (".entry k() { { .func (.param .b32 r) f (.param .b32 a); } ret; } .func g() { .func f(); ret; }", ""),
]
REFUSED = [
    (".entry k() { .b33; ret; }", "PTX107", "not a directive that is allowed here"),
    (".entry k() { .texref; ret; }", "PTX108", "is not allowed in the body"),
    (".entry k() { .extern .b32; ret; }", "PTX101", "needs a state space"),
    (".entry k() { .entry f(); ret; }", "PTX101", "begins inside the body of another"),
    (".func f; .entry k() { .extern .func f; ret; }", "PTX110", "declared again"),
    (".entry k() { call f; .extern .func f; ret; }", "PTX106", "not declared"),
]


@pytest.mark.parametrize(("text", "words"), WARNED[:-1])
def test_constructs_that_only_ptxas_accepts_are_warnings(text: str, words: str) -> None:
    assert errors(whole(text)) == []
    assert diagnostics(whole(text))
    assert all(words in found.message for found in diagnostics(whole(text)))


@pytest.mark.parametrize(("text", "code", "words"), REFUSED)
def test_constructs_that_neither_accepts_are_errors(text: str, code: str, words: str) -> None:
    found = errors(whole(text))
    assert (code, True) in [(each.code, words in each.message) for each in found]


@pytest.mark.parametrize(("text", "_"), WARNED)
def test_they_are_printed_as_they_were_read(text: str, _: str) -> None:
    module = parse(whole(text))
    assert parse(str(module)) == module


def test_ptxas_agrees(tmp_path: Path) -> None:
    pairs = [Pair(right, wrong, "", "") for (right, _), (wrong, _, _) in zip(WARNED[:-1], REFUSED, strict=False)]
    pairs += [Pair(WARNED[0][0], wrong, "", "") for wrong, _, _ in REFUSED]
    assert disagreements(pairs, tmp_path) == []
