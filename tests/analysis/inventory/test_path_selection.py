"""The selection between paths into shared memory: trials, their description, and decisions before the launch."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from ptxkit import parse
from ptxkit.analysis.inventory.condition_synthesis import describe_outcome
from ptxkit.analysis.inventory.transfer_rationale import copy_mechanisms
from ptxkit.analysis.inventory.transfer_table import collect_transfers
from ptxkit.analysis.symexec.alignment_trials import SHIFTS, SIZES, USUAL_SIZES, TrialInput, with_shifted_variables
from ptxkit.model.transfer import Transfer, TransferTable, Unit, UnitSelection
from tests.analysis.support import module_of, program_of

MEMCPY = Path(__file__).resolve().parents[3] / "corpus/compilers/nvcc"
GRID = [TrialInput(source, shift, size) for shift in SHIFTS for size in USUAL_SIZES for source in range(16)]
SIZED = [TrialInput(integer_size=size) for size in SIZES]


def selected_paths(test: Callable[[TrialInput], bool], settings: list[TrialInput] = [*GRID, *SIZED]) -> str | None:  # noqa: B006
    return describe_outcome({setting: test(setting) for setting in settings})


@cache
def transfers_of(target: str) -> TransferTable:
    path = MEMCPY / f"memcpy_async.{target}.ptx"
    return collect_transfers(parse(path.read_text("utf-8"), path.name))


def rows(target: str, kernel: str) -> list[Transfer]:
    (found,) = [each for each in transfers_of(target).kernels if each.name == kernel]
    return list(found.transfers)


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (lambda s: s.pointer_offset % 16 == 0 and s.variable_shift % 16 == 0, "both addresses are multiples of 16"),
        (lambda s: (s.pointer_offset - s.variable_shift) % 8 == 0, "the addresses differ by a multiple of 8"),
        (lambda s: (s.pointer_offset ^ s.variable_shift) & 7 == 4, "the addresses differ by a multiple of 4, not of 8"),
        (lambda s: s.pointer_offset % 4 != 0, "the source address is not a multiple of 4"),
        (lambda s: s.integer_size >= 16, "the size is at least 16"),
        (lambda s: s.integer_size % 4 == 0, "the size is a multiple of 4"),
        (lambda s: 0 < s.integer_size < 16, "the size is at least 1 and below 16"),
        (
            lambda s: (s.pointer_offset - s.variable_shift) % 16 == 0 and s.integer_size >= 16,
            "the addresses differ by a multiple of 16 and the size is at least 16",
        ),
        (
            lambda s: s.pointer_offset % 16 != 0 or s.integer_size % 16 != 0,
            "the source address is not a multiple of 16, or the size is not a multiple of 16",
        ),
        (lambda s: hash((s.pointer_offset, s.variable_shift, s.integer_size)) % 3 == 0, None),
        (lambda _: True, None),
        (lambda _: False, None),
    ],
)
def test_the_simplest_condition_that_fits_every_trial_is_reported(
    test: Callable[[TrialInput], bool], words: str | None
) -> None:
    assert selected_paths(test) == words


def test_where_no_variable_can_move_only_the_source_is_described() -> None:
    fixed = [setting for setting in GRID if not setting.variable_shift]
    assert selected_paths(lambda s: s.pointer_offset % 16 == 0, fixed) == "the source address is a multiple of 16"


def test_types_that_promise_alignment_are_allowed_for() -> None:
    ignores_the_lowest_bit = selected_paths(lambda s: (s.pointer_offset ^ s.variable_shift) & 14 == 0)
    assert ignores_the_lowest_bit == "the addresses differ by a multiple of 16 (both being multiples of 2)"


def test_the_space_of_the_source_decides_too() -> None:
    outcome = {setting: not setting.points_to_shared for setting in (*GRID, TrialInput(points_to_shared=True))}
    assert describe_outcome(outcome) == "the source is in global memory"


def test_variables_move_by_offsets_that_their_alignment_allows() -> None:
    declared = ".shared .align 1 .b8 any[8]; .shared .align 4 .b8 words[8]; .shared .align 16 .b8 rows[16]; bar.sync 0;"
    beyond = {
        shift: {
            v.name: v.address % 16 for v in with_shifted_variables(program_of(module_of(declared)), shift).variables
        }
        for shift in (0, 1, 4)
    }
    assert beyond == {
        0: {"any": 0, "words": 0, "rows": 0},
        1: {"any": 1, "words": 0, "rows": 0},
        4: {"any": 4, "words": 4, "rows": 0},
    }


def test_the_table_has_two_paths_into_shared_memory() -> None:
    found = copy_mechanisms()
    assert {unit: (mechanism.opcode, mechanism.sizes, mechanism.step) for unit, mechanism in found.items()} == {
        Unit.LDGSTS: ("cp.async", (4, 8, 16), 1),
        Unit.BULK: ("cp.async.bulk", (), 16),
    }


def test_a_group_copy_of_bytes_tests_the_alignment_of_the_addresses() -> None:
    found = {(row.unit, row.size.number): row.choice for row in rows("sm_90", "group_bytes") if row.unit != Unit.PLAIN}
    assert {key: choice.words if choice else None for key, choice in found.items()} == {
        (Unit.LDGSTS, 4): "when the addresses differ by a multiple of 4, not of 8",
        (Unit.LDGSTS, 8): "when the addresses differ by a multiple of 8, not of 16",
        (Unit.LDGSTS, 16): "when the addresses differ by a multiple of 16 and the size is at least 16",
    }
    halves = [row.choice for row in rows("sm_90", "group_bytes") if row.size.number == 2]
    assert [choice and choice.words for choice in halves] == ["when the addresses differ by a multiple of 2, not of 4"]


def test_an_explicit_test_is_reported_with_its_branch_and_both_paths() -> None:
    fast, slow = rows("sm_90", "tested")
    assert fast.choice is not None
    assert slow.choice is not None
    assert (fast.unit, slow.unit) == (Unit.LDGSTS, Unit.PLAIN)
    assert (
        fast.choice.words
        == "when the source address is a multiple of 16 and the size is at least 1 and a multiple of 16"
    )
    assert slow.choice.words == "when the source address is not a multiple of 16, or the size is not a multiple of 16"
    assert (fast.choice.alternatives, slow.choice.alternatives) == ((slow.line,), (fast.line,))
    text = (MEMCPY / "memcpy_async.sm_90.ptx").read_text("utf-8").splitlines()
    assert all("bra" in text[(choice.branch or 0) - 1] for choice in (fast.choice, slow.choice))
    assert fast.loads == ()
    assert ["ld.global" in text[line - 1] for line in slow.loads] == [True]


@pytest.mark.parametrize(
    ("target", "kernel", "unit", "words"),
    [
        ("sm_75", "one_each", Unit.PLAIN, "sm_75 lacks cp.async: it needs PTX 7.0 and sm_80"),
        ("sm_80", "one_each", Unit.LDGSTS, "sm_80 lacks cp.async.bulk: it needs PTX 8.0 and sm_90"),
        ("sm_90", "one_each", Unit.LDGSTS, "it completes by a group of the thread"),
        ("sm_80", "one_byte_each", Unit.PLAIN, "1 byte at a time: cp.async copies 4, 8, 16"),
        ("sm_90", "barrier_ints", Unit.LDGSTS, "4 bytes at a time: cp.async.bulk needs addresses and sizes that are"),
        ("sm_90", "barrier_aligned", Unit.BULK, "nothing tests for the alignment to 16 bytes"),
        ("sm_80", "barrier_aligned", Unit.LDGSTS, "sm_80 lacks cp.async.bulk"),
    ],
)
def test_a_decision_before_the_kernel_ran_is_reported(target: str, kernel: str, unit: Unit, words: str) -> None:
    for row in rows(target, kernel):
        assert row.unit == unit
        assert isinstance(row.choice, UnitSelection)
        assert row.choice.decided == "compile time"
        assert row.choice.words.startswith(words)


def test_a_kernel_without_tests_of_addresses_is_not_tried() -> None:
    body = (
        ".shared .align 16 .b8 tile[64]; ld.param.u64 %rd1, [p]; mov.u32 %r1, tile;"
        "{guard} cp.async.ca.shared.global [%r1], [%rd1], 4; {guard} cp.async.ca.shared.global [%r1+8], [%rd1], 8;"
    )
    tested = "cvt.u32.u64 %r2, %rd1; and.b32 %r3, %r2, 7; setp.eq.u32 %p1, %r3, 0;"
    (plain,) = collect_transfers(module_of(body.replace("{guard}", ""), parameters=".param .u64 p")).kernels
    guarded = body.replace("{guard}", tested + "@%p1", 1).replace("{guard}", "@!%p1")
    (chosen,) = collect_transfers(module_of(guarded, parameters=".param .u64 p")).kernels
    assert [row.choice.decided for row in plain.transfers if row.choice] == ["compile time"] * 2
    assert [row.choice.words for row in chosen.transfers if row.choice] == [
        "when the source address is a multiple of 8",
        "when the source address is not a multiple of 8",
    ]


SPACES = """
mov.u32 %r1, tile;
ld.global.u64 %rd2, [%rd1];
isspacep.global %p1, %rd2;
@!%p1 bra other;
cp.async.ca.shared.global [%r1], [%rd2], 4;
bra done;
other:
ld.u32 %r2, [%rd2];
st.shared.u32 [%r1], %r2;
done:
"""


def test_a_test_of_the_space_of_a_loaded_address_is_reported_by_its_branch() -> None:
    module = module_of(f".shared .align 4 .b8 tile[64]; ld.param.u64 %rd1, [p]; {SPACES}", parameters=".param .u64 p")
    assert module.source is not None
    (kernel,) = collect_transfers(module).kernels
    branch = next(number for number, line in enumerate(module.source.text.splitlines(), 1) if "@!%p1 bra" in line)
    words = "by a test of the state space of an address"
    assert [row.choice and (row.choice.words, row.choice.branch) for row in kernel.transfers] == [(words, branch)] * 2


def test_unused_functions_are_described_too() -> None:
    registers = ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b8 tile[64];"
    function = f".func f(.param .u64 p) {{ {registers} ld.param.u64 %rd1, [p]; {SPACES} ret; }}"
    _, other = collect_transfers(module_of("ret;", before=function)).kernels
    assert [row.choice and row.choice.decided for row in other.transfers] == ["run time", "run time"]


def test_paths_on_one_side_of_such_a_test_are_not_decided_by_it() -> None:
    both = SPACES.replace("bra done;", "").replace("isspacep.global %p1, %rd2;", "setp.ne.u64 %p1, %rd2, 0;")
    module = module_of(f".shared .align 4 .b8 tile[64]; ld.param.u64 %rd1, [p]; {both}", parameters=".param .u64 p")
    (kernel,) = collect_transfers(module).kernels
    assert {row.choice and row.choice.decided for row in kernel.transfers} == {"compile time"}
