"""The contents of the picture of a finding: the accesses, the threads, the steps between, pending copies, and the
missing step."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.model.trace import FindingRole, FindingTrace, StepKind
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, verify_source
from ptxkit.verifier.limits import MAX_TRACE_BARS, MAX_TRACE_COLUMNS, MAX_TRACE_STEPS
from tests.verifier.traced import BULK, COPY, HEAD, RACE, TAIL, line_of, pictures


def shown_trace(trace: FindingTrace) -> list[tuple[StepKind, FindingRole]]:
    return [(step.kind, step.role) for step in trace.steps]


@pytest.fixture(scope="module")
def race() -> FindingTrace:
    (found,) = pictures(RACE.replace("BARRIER", ""))
    return found


@pytest.fixture(scope="module")
def copy() -> FindingTrace:
    (found,) = pictures(COPY.replace("WAIT", ""))
    return found


def test_a_race_shows_both_accesses_with_line_bytes_and_values(race: FindingTrace) -> None:
    fault, other = race.accesses
    assert (race.code, race.line) == ("PTX621", line_of(race, "at fault"))
    assert (fault.role, fault.instruction, fault.line) == (
        FindingRole.FAULT,
        "ld.shared.u32",
        line_of(race, "at fault"),
    )
    assert (other.role, other.instruction, other.line) == (
        FindingRole.OTHER,
        "st.shared.u32",
        line_of(race, "the other"),
    )
    assert (fault.thread, other.thread) == ((0, 0, 0), (32, 0, 0))
    assert (fault.start, fault.size) == (other.start, other.size)
    assert (other.old, other.new) == ("00000000", "20000000")
    assert fault.old == "20000000"
    assert "barrier" in race.missing_ordering


def test_threads_with_the_same_steps_share_a_column(race: FindingTrace) -> None:
    assert [(column.label, column.count, column.role) for column in race.columns] == [
        ("thread 0", 1, FindingRole.FAULT),
        ("threads 1-31, 33-127", 126, FindingRole.NONE),
        ("thread 32", 1, FindingRole.OTHER),
    ]


def test_the_steps_of_a_race_are_those_on_its_bytes_and_its_synchronization(race: FindingTrace) -> None:
    assert shown_trace(race) == [
        (StepKind.WRITE, FindingRole.NONE),
        (StepKind.JOIN, FindingRole.NONE),
        (StepKind.WRITE, FindingRole.OTHER),
        (StepKind.READ, FindingRole.FAULT),
        (StepKind.JOIN, FindingRole.NONE),
    ]
    barrier, write, read = race.steps[1:4]
    assert (barrier.instruction, barrier.columns) == ("bar.sync", (0, 1, 2))
    assert (write.columns, write.touching) == ((0, 1, 2), (2,))
    assert (read.columns, read.touching) == ((0, 1, 2), (0,))
    assert write.text == "thread 32 writes tile[32]: 0 becomes 32"
    other = race.accesses[1]
    assert (other.place, other.type, other.old_value, other.new_value) == ("tile[32]", "u32", "0", "32")
    assert race.steps[1].text == "barrier 0 joins 128 threads"
    assert race.bars == ()


def test_a_fixed_race_has_no_picture() -> None:
    assert pictures(RACE.replace("BARRIER", "bar.sync 0;")) == []


def test_a_copy_without_a_wait_is_a_bar_from_issue_to_completion(copy: FindingTrace) -> None:
    assert copy.code == "PTX302"
    kinds = shown_trace(copy)
    assert kinds[0] == (StepKind.ISSUE, FindingRole.OTHER)
    assert kinds.index((StepKind.READ, FindingRole.FAULT)) < kinds.index((StepKind.COMPLETE, FindingRole.NONE))
    (bar,) = copy.bars
    assert (bar.line, bar.role, bar.is_complete) == (line_of(copy, "the other"), FindingRole.OTHER, True)
    assert (bar.first, bar.last) == (0, kinds.index((StepKind.COMPLETE, FindingRole.NONE)))
    assert copy.columns[bar.column].label == "thread 32"


def test_the_copy_is_shown_with_its_bytes_and_the_read_with_its_value(copy: FindingTrace) -> None:
    fault, other = copy.accesses
    assert (other.instruction, other.thread) == ("cp.async.ca.shared.global", (32, 0, 0))
    assert fault.old == other.old != other.new
    assert other.new is not None
    assert other.new_value is not None
    assert copy.steps[0].text == f"the operation begins; it writes {other.new_value} to {other.place}"
    assert "a wait" in copy.missing_ordering


def test_a_copy_with_a_wait_has_no_picture() -> None:
    assert pictures(COPY.replace("WAIT", "cp.async.wait_group 0;")) == []


def test_a_bulk_copy_of_unfenced_bytes_names_the_fence() -> None:
    found = {each.code: each for each in pictures(BULK.replace("FENCE", ""))}["PTX401"]
    assert "fence.proxy.async" in found.missing_ordering
    assert found.severity == "error"  # the rule is certain, even though the arguments were inferred
    assert [each.line for each in found.accesses] == [line_of(found, "at fault"), line_of(found, "the other")]
    assert [(bar.line, bar.role) for bar in found.bars] == [(line_of(found, "at fault"), FindingRole.FAULT)]
    between = [step.kind for step in found.steps if step.role is FindingRole.NONE][:1]
    assert between
    assert pictures(BULK.replace("FENCE", "fence.proxy.async.shared::cta;")) == []


def test_deadlocked_threads_are_shown_where_they_arrived() -> None:
    found, *_ = pictures("\tsetp.lt.u32 %p1, %r1, 32;\n\t@%p1 barrier.sync 1, 64; // at fault")
    assert found.code == "PTX601"
    (here,) = [step for step in found.steps if step.role]
    assert (here.kind, here.role, here.line) == (StepKind.ARRIVE, FindingRole.FAULT, line_of(found, "at fault"))


def test_an_invalid_address_is_shown_as_the_end_of_the_run() -> None:
    (found,) = pictures("\tadd.u32 %r2, %r2, 65536;\n\tbar.sync 0;\n\tst.shared.u32 [%r2], %r1; // at fault")
    assert found.code == "PTX207"
    assert shown_trace(found) == [(StepKind.JOIN, FindingRole.NONE), (StepKind.UPDATE, FindingRole.FAULT)]
    assert found.steps[-1].line == line_of(found, "at fault")


RULES = Path(__file__).parents[2] / "corpus" / "rules"
FIXTURES = (
    "PTX207_bad_table_too_short",
    "PTX302_bad_copy_of_the_other_cta",
    "PTX303_bad_destination_written_in_flight",
    "PTX304_bad_two_sources",
    "PTX401_bad_store_then_bulk_copy",
    "PTX503_bad_half_of_a_multicast",
    "PTX505_bad_tracked_and_counted",
    "PTX603_bad_only_one_thread",
    "PTX605_bad_one_warp_of_four",
)


@pytest.mark.parametrize("name", FIXTURES)
def test_every_finding_is_shown_with_its_step_and_existing_threads(name: str) -> None:
    path = RULES / f"{name}.ptx"
    source = SourceFile(path.name, path.read_text("utf-8"))
    result = verify_source(source, VerifyRequest(schedules=4, trace=True))
    assert result.traces
    for trace in result.traces:
        assert [step.role for step in trace.steps].count(FindingRole.FAULT) == 1
        assert trace.columns
        assert all(each.thread[0] < 1024 and each.thread[1:] == (0, 0) for each in trace.accesses)
        assert all(step.columns for step in trace.steps if step.role)


LONG = """	.shared .align 16 .b8 aside[512];
	mov.u32 %r6, 0;
TURN:
	bar.warp.sync -1;
	add.u32 %r6, %r6, 1;
	setp.lt.u32 %p1, %r6, 50;
	@%p1 bra TURN;
	mov.u32 %r6, aside;
	sub.u32 %r7, %r2, %r3;
	add.u32 %r6, %r6, %r7;
	st.shared.u32 [%r2], %r1;
COPIES
FENCES
	ld.shared.u32 %r5, [%r4];"""


def test_a_long_run_shows_the_nearest_steps_and_states_what_is_omitted() -> None:
    copies = "\tcp.async.ca.shared.global [%r6], [%rd4], 4;\n\tcp.async.wait_all;\n" * (MAX_TRACE_BARS + 2)
    fence = "\tsetp.lt.u32 %p1, %r1, {};\n\t@%p1 membar.cta;"
    fences = "\n".join(fence.format(4 * at) for at in range(1, 2 * MAX_TRACE_COLUMNS))
    (found,) = pictures(LONG.replace("COPIES", copies).replace("FENCES", fences))
    assert len(found.columns) == MAX_TRACE_COLUMNS
    assert len(found.steps) == MAX_TRACE_STEPS
    assert len(found.bars) <= MAX_TRACE_BARS
    printed = "; ".join(found.omissions)
    assert "steps before the first one shown" in printed
    assert "group of threads" in printed
    assert [part for _, part in shown_trace(found) if part] == [FindingRole.OTHER, FindingRole.FAULT]


def test_no_picture_is_made_unless_it_is_requested() -> None:
    source = SourceFile("k.ptx", f"{HEAD}{RACE.replace('BARRIER', '')}{TAIL}")
    result = verify_source(source, VerifyRequest(schedules=1))
    assert [each.code for each in result.diagnostics] == ["PTX621"]
    assert result.traces == ()


@pytest.mark.parametrize("seed", range(4))
def test_a_picture_of_a_random_schedule_shows_both_accesses_too(seed: int) -> None:
    found = pictures(RACE.replace("BARRIER", ""), seed=seed)[0]
    parts = [part for _, part in shown_trace(found) if part]
    assert sorted(parts) == [FindingRole.FAULT, FindingRole.OTHER]
    assert {column.role for column in found.columns} >= {FindingRole.FAULT, FindingRole.OTHER}
