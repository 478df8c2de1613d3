"""What nothing depends on: kernels of a few lines, in which a use of other memory makes an instruction needed."""

from __future__ import annotations

import pytest

from ptxkit.analysis.redundancy.needless_sync import find_needless_sync
from ptxkit.syntax.printer import print_instruction
from tests.analysis.support import module_of, program_of

HEAD = """.shared .align 16 .b8 tile[8192];
ld.param.u64 %rd1, [in]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3;
"""
COPY = "cp.async.ca.shared.global [%r2], [%rd1], 16; cp.async.commit_group;"
FIRST = f"{HEAD}{COPY} cp.async.wait_group 0;"
LAST = "cp.async.wait_group 0; ld.shared.u32 %r4, [%r2];"
STORE = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 16; cp.async.bulk.commit_group;"


def needless(body: str, bounds: str = ".reqntid 128, 1, 1") -> dict[str, str]:
    """The needless instructions, with how that is known; of several with the same text, the first one."""
    program = program_of(module_of(body, bounds=bounds, parameters=".param .u64 in"))
    found = {each.step: "in time" if each.in_time else "ordered" for each in find_needless_sync(program, ())}
    named: dict[str, str] = {}
    for step in program.own_effectful_steps:
        named.setdefault(print_instruction(step.instruction), found.get(step, ""))
    return {text: how for text, how in named.items() if how}


@pytest.mark.parametrize(
    ("between", "how"),
    [
        ("", "in time"),
        ("mov.u32 %r5, 0;", "in time"),
        ("ld.global.u32 %r5, [%rd1];", "in time"),
        ("ld.shared.u32 %r5, [%r2+4096];", "ordered"),
        ("bar.sync 0; bar.sync 0;", "ordered"),
        ("fence.acq_rel.gpu;", "ordered"),
        ("ld.shared.u32 %r5, [%r2];", None),
        ("bar.sync 0; ld.shared.u32 %r5, [%r3];", None),
        ("st.global.u32 [%rd1], %r1;", None),
        ("st.u32 [%rd1], %r1;", None),
        ("bar.sync 0; st.global.u32 [%rd1], %r1;", None),
        ("fence.acq_rel.gpu; bar.sync 0; st.global.u32 [%rd1], %r1;", None),
        ("exit;", None),
    ],
)
def test_an_access_before_the_next_wait_makes_a_wait_needed(between: str, how: str | None) -> None:
    assert needless(f"{FIRST} {between} {LAST}").get("cp.async.wait_group 0;") == how


def test_a_bulk_store_may_be_late_for_reads_of_its_source_only() -> None:
    waits = "cp.async.bulk.wait_group.read 0;"
    assert needless(f"{HEAD}{STORE} {waits} ld.shared.u32 %r5, [%r3]; {waits}")[waits] == "in time"
    assert waits not in needless(f"{HEAD}{STORE} {waits} st.shared.u32 [%r3], %r1; {waits}")


def test_the_limit_of_the_work_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    body = f"{FIRST} ld.shared.u32 %r5, [%r2+4096]; {LAST}"
    assert needless(body)["cp.async.wait_group 0;"] == "ordered"
    monkeypatch.setattr("ptxkit.analysis.redundancy.order_without.MAX_DELETION_STEPS", 0)
    assert "cp.async.wait_group 0;" not in needless(body)
