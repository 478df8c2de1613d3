"""The rules compared with the machine: the definition of a disagreement, and cases without one."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.diagnostics import Verdict
from ptxkit.linter import lint
from ptxkit.testing.oracles import rules_vs_emulator
from ptxkit.testing.oracles.rules_vs_emulator import (
    EngineVerdicts,
    assert_verdicts_agree,
    compute_verdicts,
    find_disagreement,
)
from ptxkit.testing.pipelines.pipeline import GeneratedPipeline
from ptxkit.testing.pipelines.plan import PipelinePlan

BULK = GeneratedPipeline(PipelinePlan("sm_90a", "bulk"))
NOTHING: frozenset[str] = frozenset()


def text_of(static: str = "", warned: str = "", open_: str = "", seen: str = "", differs: str = "") -> EngineVerdicts:
    codes = [frozenset(each.split()) for each in (static, warned, seen)]
    return EngineVerdicts(codes[0], codes[1], tuple(filter(None, [open_])), codes[2], output_difference=differs)


def faulty(family: str, plan: PipelinePlan = BULK.plan) -> GeneratedPipeline:
    right = GeneratedPipeline(plan)
    return right.with_fault(next(at for at, each in enumerate(right.sites) if each.fault.family == family))


def test_both_are_silent_on_correct_kernels() -> None:
    found = assert_verdicts_agree(BULK)
    assert (found.rule_errors, found.rule_warnings, found.emulator_codes, found.output_difference) == (
        NOTHING,
        NOTHING,
        NOTHING,
        "",
    )
    assert found.runs == rules_vs_emulator.CORRECT_KERNEL_SCHEDULES


def test_both_find_a_fault_under_its_code() -> None:
    found = assert_verdicts_agree(faulty("delete-init"))
    assert found.rule_errors == found.emulator_codes == {"PTX501"}
    assert found.runs == 1


@pytest.mark.parametrize(
    ("source", "found", "reported"),
    [
        (BULK, text_of(static="PTX401"), "it is right, and the rules report PTX401"),
        (BULK, text_of(warned="PTX502"), "it is right, and the rules report PTX502"),
        (BULK, text_of(seen="PTX302"), "it is right, and the machine finds PTX302"),
        (BULK, text_of(differs="element 3 is 1, not 2"), "element 3 is 1, not 2"),
        (BULK, text_of(open_="PTX503: why"), ""),
        (faulty("delete-init"), text_of(static="PTX501"), "the machine finds nothing"),
        (faulty("delete-init"), text_of(seen="PTX302"), "the machine finds PTX302, none of PTX501"),
        (faulty("delete-init"), text_of(static="PTX302", seen="PTX501"), "the rules report PTX302, none of PTX501"),
        (faulty("delete-init"), text_of(seen="PTX501"), ""),
        (BULK.module(), text_of(static="PTX401"), "the rules report PTX401, the machine shows nothing"),
        (BULK.module(), text_of(seen="PTX401"), "the machine shows PTX401, the rules call it clean"),
        (BULK.module(), text_of(open_="PTX503: why", seen="PTX401"), ""),
        (BULK.module(), text_of(static="PTX401", seen="PTX302"), ""),
    ],
)
def test_a_disagreement_is_reported(source: GeneratedPipeline | str, found: EngineVerdicts, reported: str) -> None:
    assert find_disagreement(source, found) == reported


def test_the_reason_of_the_silence_of_the_rules_is_reported() -> None:
    assert text_of(static="PTX401").silence_reason == ""
    assert text_of(warned="PTX502", seen="PTX502").silence_reason == "warned"
    assert (
        text_of(open_="PTX503: a tensor map decides", seen="PTX503").silence_reason
        == "open: PTX503: a tensor map decides"
    )
    assert text_of(seen="PTX302").silence_reason == "silent"


def test_a_disagreement_fails_with_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_vs_emulator, "lint", lambda _: lint(faulty("delete-init").module()))
    with pytest.raises(AssertionError, match=r"^it is right, and the rules report PTX501\n\.version 8\.7"):
        assert_verdicts_agree(BULK)


def test_a_text_is_checked_with_its_launch() -> None:
    assert compute_verdicts(BULK.module(), BULK.launch, static=Verdict((), ())).emulator_codes == NOTHING
    with pytest.raises(ValueError, match="pass the launch of the kernel"):
        assert_verdicts_agree(BULK.module())


def test_another_launch_than_the_generated_one_can_be_checked() -> None:
    launch = DeviceLaunch("kernel", 2, 32, (np.ones(64, np.uint32), np.zeros(64, np.uint32)))
    assert assert_verdicts_agree(BULK.module(), launch).emulator_codes == NOTHING


@pytest.mark.parametrize(("stages", "cluster", "asks_once"), [(1, 2, True), (2, 2, False), (2, 4, True), (3, 4, False)])
def test_in_a_ring_with_enough_slots_no_wait_is_polled_twice(stages: int, cluster: int, asks_once: bool) -> None:
    """A signal of the CTA before implies that the next one has continued as far: its slot is free when it is polled.

    The rules still report an `mbarrier.try_wait` that is polled once (PTX505), since formally a copy's bytes may be
    complete before the earlier accesses of its thread; the machine has no such order, so it shows no fault.
    """
    ring = GeneratedPipeline(
        PipelinePlan("sm_90a", "dsmem", stages=stages, ahead=stages, rounds=stages + 1, cluster=cluster, grid=cluster)
    )
    waits = [each.fault.family for each in ring.sites].count("delete-mbarrier-wait")
    once = [each.fault.family for each in ring.sites].count("wait-without-loop")
    assert (once == waits) == asks_once


def test_a_wait_that_leaves_a_group_pending_is_not_a_fault_before_there_is_that_number() -> None:
    """`wgmma.wait_group 1` after the first of five products, with two slots, waits for nothing."""
    plan = PipelinePlan("sm_90a", "wgmma", stages=2, ahead=2, rounds=5, warps=4, size=16)
    families = [each.fault.family for each in GeneratedPipeline(plan).sites]
    assert families.count("delete-group-wait") == 4  # three in the iterations, and the last


def test_a_commit_is_not_missed_where_all_copies_are_waited_for() -> None:
    """`cp.async.wait_all` waits for uncommitted copies, too; `cp.async.wait_group 0` does not."""
    families = [
        {each.fault.family for each in GeneratedPipeline(PipelinePlan("sm_90a", counted=counted)).sites}
        for counted in (True, False)
    ]
    assert ["delete-commit" in each for each in families] == [False, True]


def test_a_barrier_of_the_warp_is_not_missed_where_all_consumers_synchronize_after_the_read() -> None:
    plan = PipelinePlan("sm_90a", "bulk", "producer", rounds=2, releases="warp")
    families = {each.fault.family for each in GeneratedPipeline(plan).sites}
    assert "delete-warp-barrier" in families
    staged = PipelinePlan("sm_90a", "bulk", "producer", "bulk", rounds=2, releases="warp")
    assert "delete-warp-barrier" not in {each.fault.family for each in GeneratedPipeline(staged).sites}


def test_the_rules_report_nothing_after_a_wait_that_never_ends() -> None:
    """Without the expect-tx no phase of the slot's mbarrier ends, and the kernel deadlocks: the machine reports that.

    The rules count the expect-tx of the second iteration as that of the first one, because they continue after that
    wait. Found by `scripts/pipelines --seed 2 --broken 700`, when they assumed that it orders accesses (PTX303).
    """
    plan = PipelinePlan(
        "sm_90a",
        "tensor multicast",
        drain="bulk",
        rounds=2,
        size=16,
        cluster=2,
        grid=2,
        unrolled=False,
        shares=True,
        parts=2,
        rank=2,
    )
    wrong = faulty("delete-arrive-expect", plan)
    found = compute_verdicts(wrong)
    assert find_disagreement(wrong, found) == ""
    assert "PTX504" in found.emulator_codes
    assert_verdicts_agree(GeneratedPipeline(plan))
