"""The traces of groups before they split."""

from __future__ import annotations

import pytest

from ptxkit.analysis.symexec.trace import GroupEvent
from tests.analysis.support import explorer_of, module_of, walk

#: In each iteration one thread leaves.
BODY = """
    .shared .b32 tile[64];
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2; mov.u32 %r5, 0;
    loop: st.shared.b32 [%r4], %r5; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.b32 [%r4+128], %r5;
    setp.eq.u32 %p2, %r5, %r1; @%p2 bra done; add.u32 %r5, %r5, 1; bra loop;
    done:
"""
BOUNDS = ".reqntid 16"


def test_threads_that_split_one_by_one_have_the_traces_of_single_executions() -> None:
    module = module_of(BODY, bounds=BOUNDS)
    groups = explorer_of(module).explorations[0].groups
    assert [group.tids for group in groups] == [(tid,) for tid in range(16)]
    for tid, group in enumerate(groups):
        reported = [(event.step.start, event.visit, event.address) for event in group.for_thread(tid).events]  # type: ignore[union-attr]
        alone = [(event.step.start, event.visit, event.address) for event in walk(module, tid).events()]
        assert reported == alone


def test_events_are_yielded_once_for_each_group(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    among = GroupEvent.subset
    monkeypatch.setattr(GroupEvent, "subset", lambda event, indices: asked.append(1) or among(event, indices))
    groups = explorer_of(module_of(BODY, bounds=BOUNDS)).explorations[0].groups
    assert len(asked) <= sum(len(group.events) for group in groups) + 16


def test_a_guess_before_a_split_remains_in_place() -> None:
    body = (
        "mov.u32 %r1, %tid.x; ld.global.b32 %r2, [%rd1]; bar.sync 0; setp.eq.u32 %p1, %r2, 7; @%p1 bra on;"
        "bar.sync 1; on: setp.eq.u32 %p2, %r1, 0; bar.sync 2; @%p2 bra out; bar.sync 3; out: bar.sync 4;"
    )
    groups = explorer_of(module_of(body, bounds=BOUNDS)).explorations[0].groups
    assert [(group.tids[0], group.first_guess) for group in groups] == [(0, 1), (1, 1)]
