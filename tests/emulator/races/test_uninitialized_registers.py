"""Reads of registers by threads that have not written them, and those that change results."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.emulator import run
from ptxkit.emulator.driver.uninitialized_dependence import find_significant_reads
from ptxkit.syntax import parse
from tests.emulator.support import kernel

STORE = "mov.u32 %r31, %tid.x; ld.param.u64 %d1, [out]; mad.wide.u32 %d1, %r31, 4, %d1; st.global.u32 [%d1], %r0;"
FIRST = "mov.u32 %r31, %tid.x; setp.eq.u32 %p1, %r31, 0;"


def find_all(body: str) -> tuple[list[str], list[tuple[str, int]]]:
    """Returns the registers that some thread reads unwritten, and the findings with their lines."""
    module = parse(kernel(body, ".param .u64 out"))
    launch = {"block": 32, "arguments": [np.zeros(32, np.uint32)]}
    outcome = run(module, "k", **launch)  # type: ignore[arg-type]
    assert outcome.is_clean
    findings = find_significant_reads(module, "k", outcome.uninitialized_reads, **launch).violations
    assert all(each.witnesses and each.severity == "warning" for each in findings)
    return [each.register for each in outcome.uninitialized_reads], [(each.code, each.line) for each in findings]


def line_of(body: str, text: str) -> int:
    lines = kernel(body, ".param .u64 out").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize(
    ("before", "register"),
    [
        ("\nadd.u32 %r0, %r5, 1;\n", "%r5"),
        (f"{FIRST}\n@%p1 mov.u32 %r5, 7;\nadd.u32 %r0, %r5, 1;\n", "%r5"),
        (f"{FIRST}\n@!%p1 bra OVER; mov.u32 %r5, 7;\nOVER:\nadd.u32 %r0, %r5, 1;\n", "%r5"),
        ("mov.u32 %r0, 1;\n@%p9 add.u32 %r0, %r0, 1;\n", "%p9"),
    ],
)
def test_a_read_that_changes_a_result_is_reported_at_its_place(before: str, register: str) -> None:
    body = before + STORE
    assert find_all(body) == ([register], [(ptx6xx.UNINITIALIZED_DATA, line_of(body, "add.u32 %r0"))])


@pytest.mark.parametrize(
    "body",
    [
        f"mov.u32 %r0, 1; and.b32 %r3, %r5, 0; add.u32 %r0, %r0, %r3; {STORE}",
        f"{FIRST} @%p1 mov.u32 %r5, 7; selp.u32 %r0, %r5, 0, %p1; {STORE}",
        f"{FIRST} @%p1 mov.u32 %r5, 7; shfl.sync.idx.b32 %r0, %r5, 0, 31, -1; {STORE}",
        f"mov.u32 %r1, 1; mov.b64 %d2, {{%r1, %r5}}; cvt.u32.u64 %r0, %d2; {STORE}",
    ],
)
def test_a_read_that_changes_nothing_is_not_reported(body: str) -> None:
    registers, findings = find_all(body)
    assert registers == ["%r5"]
    assert not findings


@pytest.mark.parametrize(
    "body",
    [
        f"mov.u32 %r0, 1; {STORE}",
        f"{FIRST} @%p1 mov.u32 %r0, 7; @!%p1 mov.u32 %r0, 8; {STORE}",
        f"{FIRST} @%p1 bra A; mov.u32 %r0, 7; bra B;\nA: mov.u32 %r0, 8;\nB: {STORE}",
        f"mov.u32 %r2, 0;\nL: mov.u32 %r0, %r2; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra L; {STORE}",
    ],
)
def test_a_register_that_every_thread_writes_first_is_not_read_unwritten(body: str) -> None:
    assert find_all(body) == ([], [])
