"""Whether ptxkit comes to an end: what breaks, takes long or much memory is told."""

from __future__ import annotations

import resource
import sys
import time

import pytest

from ptxkit import linter
from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.testing import oracles, survival
from tests.testing.test_oracles import DOUBLE


@pytest.mark.parametrize("text", [DOUBLE, DOUBLE[:200], "", "}", DOUBLE.replace("u32", "x32")])
def test_any_text_is_survived(text: str) -> None:
    assert survival.fault_of(text) == ""


ONCE_TOO_MUCH = {
    "a header with three thousand directives": ".reqntid 128, 1, 1\n" * 3000,
    "blocks of 2^38 threads": ".reqntid 128, 1, 0x7fffffff",
    "blocks of at most 2^38 threads": ".maxntid 128, 1, 0x7fffffff",
}
"""Behind `.entry kernel()`: what changed files hung at, or filled the memory with."""


@pytest.mark.parametrize("bounds", ONCE_TOO_MUCH.values(), ids=ONCE_TOO_MUCH.keys())
def test_what_once_took_too_much_is_survived(bounds: str) -> None:
    assert survival.fault_of(f".version 8.6\n.target sm_90\n.entry kernel()\n{bounds}\n{{ ret; }}\n") == ""


def test_what_breaks_in_the_linter_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(source: SourceFile) -> FileResult:
        return linter.broken(source.path, KeyError("x"))

    monkeypatch.setattr(survival, "lint_source", breaks)
    with pytest.raises(AssertionError, match="the analysis of this file broke: KeyError: 'x'"):
        oracles.assert_survives(DOUBLE)


def test_what_takes_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(source: SourceFile) -> FileResult:
        end = time.process_time() + survival.SECONDS + 0.3
        while time.process_time() < end:
            pass
        return linter.lint_source(source)

    monkeypatch.setattr(survival, "lint_source", slow)
    monkeypatch.setattr(survival, "SECONDS", 0.2)
    monkeypatch.setattr(survival, "_slowness", lambda: 1.0)
    assert survival.fault_of(DOUBLE).startswith("takes too long: ")
    monkeypatch.setattr(survival, "_slowness", lambda: 100.0)
    assert survival.fault_of(DOUBLE) == ""


def test_a_small_module_has_one_second_and_a_large_file_as_much_for_each_of_its_parts() -> None:
    assert survival.seconds_for(DOUBLE) == survival.seconds_for(".entry" * 1000) == 1.0
    assert survival.seconds_for("x" * 3 * survival.SMALL) == 3.0


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell of memory")
@pytest.mark.parametrize("megabytes", [20, 20_000])
def test_what_takes_much_memory_is_told(megabytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def large(source: SourceFile) -> FileResult:
        try:
            bytearray(megabytes * 1_000_000)
        except Exception as error:
            return linter.failure(source.path, error)  # as the linter does with whatever comes up inside of it
        return linter.lint_source(source)

    monkeypatch.setattr(survival, "lint_source", large)
    told = f"takes too much memory: more than 60 MB for {len(DOUBLE)} characters" if megabytes == 20_000 else ""
    assert survival.fault_of(DOUBLE) == told


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell of memory")
def test_the_limit_of_memory_is_taken_away_again() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with survival._at_most(60_000_000):
        assert resource.getrlimit(resource.RLIMIT_AS) != before
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_another_text_after_printing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        survival, "format_source", lambda source: DOUBLE.replace("shl.b32 %r2, %r1, 1", "mov.u32 %r2, 0")
    )
    assert survival.fault_of(DOUBLE) == "formatted it is another module"
