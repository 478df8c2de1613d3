"""Expected and copied bytes of each phase, by both conventions."""

from __future__ import annotations

from ptxkit.analysis.mbarrier.tx_count import (
    PhaseTx,
    TxLedger,
    build_tx_ledgers,
    find_inconsistent_phase,
    find_outliers,
)
from ptxkit.fast_dataclasses import replace
from ptxkit.syntax.tree import Instruction, Module
from tests.analysis.support import module_of, walk

HEAD = """.shared .align 128 .b8 tile[8192]; .shared .align 8 .b64 bars[2]; mov.u32 %r2, tile; mov.u32 %r5, bars;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [map];"""
FILL = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], {}, [%r5{}];"
BOX = "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [{}, {{%r1}}], [%r5];"
ARRIVE = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5{}], {};"


def fill(size: int, offset: int = 0) -> str:
    return FILL.format(size, f"+{offset}")


def arrive(size: int, offset: int = 0) -> str:
    return ARRIVE.format(f"+{offset}", size)


def ledgers(body: str) -> list[TxLedger]:
    """Returns the ledgers of thread 0, by mbarrier."""
    executed = walk(module_of(HEAD + body, parameters=".param .u64 in, .param .u64 map"))
    found = build_tx_ledgers(executed.trace)
    return [found[address] for address in sorted(found)]


def sums_of(module: Module) -> list[tuple[int | None, int | None]]:
    """Returns (expected, started) of each phase of the only mbarrier, whose copies follow their arrival."""
    found = build_tx_ledgers(walk(module).trace)
    (ledger,) = found.values()
    return [(round_.expected_bytes, round_.copied_bytes) for round_ in ledger.split_phases(copies_follow=True)]


def sums(body: str, copies_follow: bool) -> list[tuple[int | None, int | None]]:
    """Returns (expected, started) of each phase of the only mbarrier."""
    (ledger,) = ledgers(body)
    return [(round_.expected_bytes, round_.copied_bytes) for round_ in ledger.split_phases(copies_follow)]


def test_copies_that_follow_their_arrival_belong_to_its_phase() -> None:
    body = arrive(64) + fill(48) + fill(16) + arrive(32) + fill(32)
    assert sums(body, copies_follow=True) == [(64, 64), (32, 32)]


def test_copies_that_come_before_their_arrival_belong_to_its_phase() -> None:
    body = fill(64) + arrive(64) + fill(32) + arrive(32)
    assert sums(body, copies_follow=False) == [(64, 64), (32, 32)]


def test_the_convention_decides_which_phases_are_balanced() -> None:
    body = fill(64) + arrive(64) + fill(32) + arrive(32)
    assert sums(body, copies_follow=True) != sums(body, copies_follow=False)


def test_an_expect_tx_in_parts_is_added() -> None:
    body = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 48;" + arrive(16) + fill(64)
    assert sums(body, copies_follow=True) == [(64, 64)]


def test_mbarriers_have_separate_ledgers() -> None:
    first, second = ledgers(arrive(64) + arrive(32, 8) + fill(32, 8) + fill(64))
    assert [round_.is_balanced for round_ in first.split_phases(True) + second.split_phases(True)] == [True, True]


def test_an_mbarrier_with_arrivals_only_has_no_ledger() -> None:
    assert ledgers("mbarrier.arrive.shared::cta.b64 %rd3, [%r5];") == []
    assert len(ledgers(arrive(16))) == 1


def test_boxes_of_unknown_size_are_counted() -> None:
    (ledger,) = ledgers(arrive(4096) + BOX.format("%rd2") + BOX.format("%rd2"))
    (round_,) = ledger.split_phases(True)
    assert [count for _, count in round_.box_counts] == [2]
    assert (round_.copied_bytes, round_.is_balanced) == (None, None)
    assert round_.smallest_unit is not None
    assert round_.smallest_unit[1] == 2048


def test_a_box_that_nothing_expects_is_unbalanced_whatever_its_size() -> None:
    (ledger,) = ledgers("mbarrier.arrive.shared::cta.b64 %rd3, [%r5];" + BOX.format("%rd2"))
    assert [round_.is_balanced for round_ in ledger.split_phases(True)] == [False]


def test_boxes_of_two_maps_are_distinguished() -> None:
    (ledger,) = ledgers(arrive(4096) + BOX.format("%rd2") + BOX.format("%rd1"))
    (round_,) = ledger.split_phases(True)
    assert [count for _, count in round_.box_counts] == [1, 1]


def test_the_phase_that_expects_other_bytes_for_the_same_box_is_inconsistent() -> None:
    box = BOX.format("%rd2")
    most, odd = arrive(2048) + box, arrive(1024) + box
    ((round_, usual),) = find_outliers(ledgers(most + most + odd), copies_follow=True)
    assert (round_.expected_bytes, usual) == (1024, 2048)
    assert list(find_outliers(ledgers(most + most + most), copies_follow=True)) == []


def test_of_two_different_phases_neither_is_known_to_be_inconsistent() -> None:
    box = BOX.format("%rd2")
    assert list(find_outliers(ledgers(arrive(2048) + box + arrive(1024) + box), copies_follow=True)) == []


def test_twice_the_boxes_may_be_twice_the_bytes() -> None:
    box = BOX.format("%rd2")
    body = arrive(2048) + box + arrive(2048) + box + arrive(4096) + box + box
    assert list(find_outliers(ledgers(body), copies_follow=True)) == []


SECOND = BOX.replace("[%r5]", "[%r5+8]")


def odds(body: str) -> tuple[int | None, int | None] | None:
    """Returns the expected and required bytes of an mbarrier that is inconsistent with another, over the whole
    execution."""
    found = find_inconsistent_phase(PhaseTx(tuple(ledger.entries)) for ledger in ledgers(body))
    return None if found is None else (found[0].expected_bytes, found[1])


def test_in_a_whole_kernel_one_box_has_one_size() -> None:
    one, other = BOX.format("%rd2"), SECOND.format("%rd2")
    assert odds(arrive(2048) + one + arrive(2048) + one + arrive(1024, 8) + other) == (1024, 2048)
    assert odds(arrive(2048) + one + arrive(2048) + one + arrive(2048, 8) + other) is None


def test_boxes_of_two_maps_are_distinguished_by_more_than_one_sum() -> None:
    copies, others = BOX.format("%rd2") + BOX.format("%rd1"), SECOND.format("%rd2") + SECOND.format("%rd1")
    assert odds(arrive(3072) + copies + arrive(5120, 8) + others + SECOND.format("%rd1")) is None
    # Then the boxes of one map would be empty.
    assert odds(arrive(3072) + copies + arrive(3072, 8) + others + SECOND.format("%rd1")) == (3072, None)
    assert odds(arrive(3072) + copies + arrive(2048, 8) + SECOND.format("%rd1")) is None
    assert odds(arrive(3072) + copies + arrive(4096, 8) + SECOND.format("%rd1")) == (4096, None)


def test_known_sizes_are_subtracted_first() -> None:
    one, other = BOX.format("%rd2"), SECOND.format("%rd2")
    assert odds(arrive(2112) + one + fill(64) + arrive(2048, 8) + other) is None
    assert odds(arrive(2048) + one + fill(64) + arrive(2048, 8) + other) is not None


def test_an_incomplete_execution_keeps_its_whole_phases_only() -> None:
    body = f"more: {arrive(64)} {fill(64)} bra.uni more;"
    (ledger,) = ledgers(body)
    assert not ledger.is_complete
    assert all(round_.is_balanced for round_ in ledger.split_phases(True))
    assert len(ledger.split_phases(True)) > 10


def test_bytes_expected_after_an_arrival_add_to_a_phase_that_waits_for_others() -> None:
    expect = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 16;"
    (ledger,) = ledgers(arrive(48) + expect + fill(64) + arrive(32) + fill(32))
    assert ledger.has_separate_expects
    assert [(r.expected_bytes, r.copied_bytes) for r in ledger.split_balanced_phases() or []] == [(64, 64), (32, 32)]
    (ledger,) = ledgers(arrive(64) + fill(64))
    assert not ledger.has_separate_expects


def test_bytes_expected_after_the_last_arrival_belong_to_another_phase() -> None:
    expect = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 64;"
    (ledger,) = ledgers("mbarrier.arrive.shared::cta.b64 _, [%r5];" + expect + fill(64))
    assert ledger.split_balanced_phases() is None


def test_the_author_of_the_module_may_state_the_bytes_of_a_box() -> None:
    module = module_of(HEAD + arrive(96) + BOX.format("%rd2") * 2, parameters=".param .u64 in, .param .u64 map")
    assert sums_of(module) == [(96, None)]
    (function,) = module.functions()
    assert function.body is not None
    copies = [
        start
        for statement, start in function.body.with_offsets()
        if isinstance(statement, Instruction) and ".tensor." in statement.opcode
    ]
    assert sums_of(replace(module, boxes=dict.fromkeys(copies, 48))) == [(96, 96)]
    assert sums_of(replace(module, boxes={copies[0]: 48})) == [(96, None)]
