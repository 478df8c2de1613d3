"""A recorder receives the events of a run, does not change it, and keeps events near the selected findings."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.emulator import RunResult, run
from ptxkit.emulator.limits import MAX_EVENTS_AFTER, MAX_EVENTS_BEFORE
from ptxkit.emulator.races.event_recorder import EventRecorder, written_bytes
from ptxkit.emulator.races.happens_before_monitor import HappensBeforeMonitor
from ptxkit.model.trace import StepKind
from tests.emulator.support import kernel

TILE = """ .shared .align 16 .b8 tile[1024];
 mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2;
 xor.b32 %r5, %r2, 128; add.u32 %r5, %r3, %r5;
"""
RACE = """ st.shared.u32 [%r4], %r2; bar.sync 0; st.shared.u32 [%r4], %r1;
 ld.shared.u32 %r6, [%r5]; membar.cta; bar.sync 0;
"""


def record_events(
    body: str, policy: str = "late", parameters: str = "", **launch: object
) -> tuple[RunResult, EventRecorder]:
    """Returns a run, and another one with a recorder for all findings of the first."""
    text = kernel(TILE + body, parameters)
    first = run(text, "k", block=64, policy=policy, **launch)  # type: ignore[arg-type]
    recorder = EventRecorder([(each.code, each.offset) for each in first.findings])
    again = run(
        text, "k", block=64, policy=policy, observers=recorder.around(HappensBeforeMonitor().observers), **launch
    )  # type: ignore[arg-type]
    recorder.capture()
    assert (again.findings, again.steps) == (first.findings, first.steps)
    return first, recorder


@pytest.mark.parametrize("policy", ["late", "random"])
def test_a_recorded_run_has_the_findings_of_the_run(policy: str) -> None:
    outcome, recorder = record_events(RACE, policy)
    assert [each.finding for each in recorder.recordings] == list(outcome.findings)
    assert outcome.findings


def test_the_events_are_in_order_with_their_threads_and_values() -> None:
    _, recorder = record_events(RACE)
    (recording,) = recorder.recordings
    kinds = [each.kind for each in recording.events]
    assert kinds == [
        StepKind.WRITE,
        StepKind.ARRIVE,
        StepKind.JOIN,
        StepKind.WRITE,
        StepKind.READ,
        StepKind.FENCE,
        StepKind.ARRIVE,
        StepKind.JOIN,
    ]
    assert [each.serial for each in recording.events] == list(range(1, 9))
    second, read = recording.events[3], recording.events[4]
    assert recording.trigger is read
    assert second.old.view("u4").ravel().tolist() == [4 * thread for thread in range(64)]
    assert second.new.view("u4").ravel().tolist() == list(range(64))
    assert read.old.view("u4").ravel().tolist() == [thread ^ 32 for thread in range(64)]


def test_nothing_is_recorded_for_findings_that_are_not_selected() -> None:
    recorder = EventRecorder([])
    outcome = run(kernel(TILE + RACE), "k", block=64, observers=recorder.around(HappensBeforeMonitor().observers))
    recorder.capture()
    assert len(outcome.findings) == 1
    assert recorder.recordings == []


def test_a_copy_is_recorded_from_its_issue_to_its_completion() -> None:
    copy = """ ld.param.u64 %d1, [a]; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
 cp.async.ca.shared.global [%r4], [%d1], 4; cp.async.commit_group; ld.shared.u32 %r6, [%r4];
 cp.async.wait_group 0;
"""
    _, recorder = record_events(copy, parameters=".param .u64 a", arguments=[numpy.arange(64, dtype="u4")])
    (recording,) = recorder.recordings
    assert [each.kind for each in recording.events] == [
        StepKind.ISSUE,
        StepKind.COMMIT,
        StepKind.READ,
        StepKind.COMPLETE,
        StepKind.WAIT,
    ]
    issue, *_, complete, _ = recording.events
    assert issue.operation is complete.operation is not None
    assert issue.text == "cp.async.ca.shared.global"


def test_a_long_run_is_kept_near_its_finding_only() -> None:
    turns = MAX_EVENTS_BEFORE + MAX_EVENTS_AFTER
    loop = f""" mov.u32 %r7, 0;
TURN: st.shared.u32 [%r4+512], %r7; bar.sync 0; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, {turns}; @%p1 bra TURN;
 st.shared.u32 [%r4], %r1; ld.shared.u32 %r6, [%r5];
 mov.u32 %r7, 0;
BACK: bar.sync 0; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, {MAX_EVENTS_AFTER}; @%p1 bra BACK;
"""
    _, recorder = record_events(loop)
    (recording,) = recorder.recordings
    assert recording.number == 3 * turns + 2
    assert len(recording.events) <= 3 * MAX_EVENTS_BEFORE + MAX_EVENTS_AFTER
    assert recording.events[-1].serial == recording.number + MAX_EVENTS_AFTER
    assert recording.trigger in recording.events


def test_written_values_are_recorded_as_octets() -> None:
    words = numpy.array([1, 0x0203], "u2")
    assert written_bytes(words, 2, 2).tolist() == [[1, 0], [3, 2]]
    assert written_bytes((words, words), 2, 4).tolist() == [[1, 0, 1, 0], [3, 2, 3, 2]]
    assert written_bytes(numpy.array(7, "u4"), 2, 4).tolist() == [[7, 0, 0, 0]] * 2
    assert written_bytes((words, None), 2, 4) is None
    assert written_bytes(words, 2, 4) is None
