"""Addresses and numbers in operands that do not accept them."""

from __future__ import annotations

import pytest

from ptxkit.analysis.symexec.finding_validity import OperandValidity
from ptxkit.analysis.symexec.trace import OperandViolation, ThreadTrace
from tests.analysis.support import kernel_of, module_of, walk

HEAD = """.shared .align 16 .b8 tile[64]; .shared .align 4 .b8 words[64]; .local .align 8 .b8 mine[64];
mov.u32 %r1, tile; mov.u32 %r2, words; mov.u32 %r3, mine; cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd2, %rd1;
ld.param.u64 %rd5, [in]; ld.param.u32 %r5, [n];"""
PARAMETERS = ".param .u64 in, .param .u32 n"


def misfits(trace: ThreadTrace) -> list[OperandViolation]:
    """Returns all findings except those that `tests.analysis.symexec.test_check_bounds` tests."""
    return [misfit for misfit in trace.operand_violations.values() if misfit.kind != "bounds"]


def violations_of(line: str) -> list[OperandViolation]:
    return misfits(walk(module_of(HEAD + line, parameters=PARAMETERS)).trace)


def alignments(line: str) -> list[tuple[int, int, bool]]:
    """Returns (offset in the variable, required alignment, whether every offset of the variable is misaligned)."""
    return [(each.value, each.required, each.is_certain) for each in violations_of(line) if each.kind == "alignment"]


def numbers(line: str) -> list[tuple[str, int]]:
    """Returns (error, number) of each wrong number."""
    return [(each.kind, each.value) for each in violations_of(line) if each.variable is None]


def test_an_access_needs_a_multiple_of_its_size() -> None:
    assert alignments("ld.shared.u64 %rd9, [%r1+4];") == [(4, 8, True)]
    assert alignments("ld.shared.u64 %rd9, [%r1+8]; ld.shared.u32 %r9, [%r1+4];") == []
    assert alignments("ld.local.u64 %rd9, [%r3+4];") == [(4, 8, True)]
    assert alignments("ld.u64 %rd9, [%rd2+4];") == [(4, 8, True)]


def test_a_declaration_guarantees_its_alignment_only() -> None:
    assert alignments("ld.shared.u64 %rd9, [%r2];") == [(0, 8, False)]
    assert alignments("ld.shared.u64 %rd9, [%r2+2];") == [(2, 8, True)]
    assert alignments("ld.shared.u32 %r9, [%r2];") == []


def test_names_in_the_operand_itself_are_checked_too() -> None:
    assert alignments("ld.shared.u64 %rd9, [words];") == [(0, 8, False)]
    assert alignments("ld.shared.u64 %rd9, [tile];") == []


def test_mbarriers_and_copies_need_the_alignment_of_their_sections() -> None:
    assert alignments("mbarrier.init.shared.b64 [%r1+4], 1;") == [(4, 8, True)]
    assert alignments("cp.async.ca.shared.global [%r1+4], [%rd5], 4;") == []
    assert alignments("cp.async.ca.shared.global [%r1+4], [%rd5], 8;") == [(4, 8, True)]
    assert alignments("cp.async.bulk.global.shared::cta.bulk_group [%rd5], [%r1+8], 16;") == [(8, 16, True)]


def test_two_accesses_by_one_pointer_agree_on_its_alignment() -> None:
    first = "ld.global.u64 %rd9, [%rd5];"
    assert numbers(first + "ld.global.u64 %rd9, [%rd5+4];") == [("apart", 4)]
    assert numbers(first + "ld.global.u32 %r9, [%rd5+4]; ld.global.u64 %rd9, [%rd5+16];") == []
    assert numbers(first + "ld.global.u64 %rd6, [%rd5+8]; ld.global.u64 %rd9, [%rd6+4];") == []


def test_a_distance_of_addresses_after_a_guess_is_not_certain() -> None:
    guess = "ld.global.u32 %r9, [%rd5]; setp.eq.u32 %p1, %r9, 0; @%p1 bra on; mov.u32 %r9, 0; on:"
    apart = "ld.global.u64 %rd9, [%rd5]; ld.global.u64 %rd9, [%rd5+4];"
    assert [each.is_certain for each in violations_of(guess + apart)] == [False]
    assert [each.is_certain for each in violations_of(apart)] == [True]


def test_sizes_are_multiples_and_counts_are_in_range() -> None:
    assert numbers("mov.u32 %r9, 24; cp.async.bulk.prefetch.L2.global [%rd5], %r9;") == [("multiple", 24)]
    assert numbers("mov.u32 %r9, 4194304; cp.async.bulk.prefetch.L2.global [%rd5], %r9;") == []
    assert numbers("mov.u32 %r9, 1048576; mbarrier.init.shared.b64 [%r1], %r9;") == [("range", 1048576)]
    assert numbers("mov.u32 %r9, 1048575; mbarrier.init.shared.b64 [%r1], %r9;") == []
    assert numbers("mov.u32 %r9, 1048576; mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], %r9;") == [
        ("range", 1048576)
    ]


def test_rules_between_operands_hold_for_registers() -> None:
    assert numbers("mov.u32 %r9, 12; cp.async.ca.shared.global [%r1], [%rd5], 8, %r9;") == [("rule", 12)]
    assert numbers("mov.u32 %r9, 8; cp.async.ca.shared.global [%r1], [%rd5], 8, %r9;") == []


def held_value(line: str, bounds: str = "") -> bool | None:
    """Returns whether the only finding holds for every launch."""
    kernel = kernel_of(module_of(HEAD + line, parameters=PARAMETERS, bounds=bounds))
    (found,) = misfits(kernel.scenarios[0].threads[0].trace)
    return OperandValidity(kernel.program, kernel.explorer.launch).is_launch_independent(found)


@pytest.mark.parametrize("bounds", ["", ".reqntid 128"])
def test_a_number_from_the_block_holds_where_directives_fix_it(bounds: str) -> None:
    line = "mov.u32 %r8, %ntid.x; sub.u32 %r9, %r8, 128; mbarrier.init.shared.b64 [%r1], %r9;"
    assert held_value(line, bounds) == bool(bounds)


def test_a_declared_alignment_counts_where_the_kernel_does_not_test_the_address() -> None:
    assert held_value("ld.shared.u64 %rd9, [%r2];")
    assert not held_value("add.u32 %r9, %r2, 7; and.b32 %r9, %r9, -8; ld.shared.u64 %rd9, [%r9];")
    assert not held_value("and.b32 %r9, %r2, 7; setp.ne.u32 %p1, %r9, 0; @%p1 bra on; ld.shared.u64 %rd9, [%r2]; on:")
    assert held_value("shr.u32 %r8, %r2, 4; and.b32 %r9, %r8, 16383; ld.shared.u64 %rd9, [%r2];")


@pytest.mark.parametrize(("rank", "found"), [(1, []), (2, [("rank", 2)])])
def test_an_address_in_a_cta_that_the_cluster_lacks_is_noticed(rank: int, found: list[tuple[str, int]]) -> None:
    line = f"mapa.shared::cluster.u32 %r9, %r1, {rank}; ld.shared::cluster.u32 %r8, [%r9];"
    module = module_of(HEAD + line, parameters=PARAMETERS, bounds=".reqnctapercluster 2")
    assert [(each.kind, each.value) for each in misfits(walk(module).trace)] == found
    assert numbers(line) == [("rank", rank)]  # an open question where no directive declares the size


@pytest.mark.parametrize(("rank", "found"), [(0, []), (1, []), (2, [("rank", 2)])])
def test_a_generic_address_includes_its_cta_as_well(rank: int, found: list[tuple[str, int]]) -> None:
    line = f"mov.u64 %rd8, tile; cvta.shared.u64 %rd8, %rd8; mapa.u64 %rd9, %rd8, {rank}; ld.u32 %r8, [%rd9];"
    module = module_of(HEAD + line, parameters=PARAMETERS, bounds=".reqnctapercluster 2")
    assert [(each.kind, each.value) for each in misfits(walk(module).trace)] == found


def test_a_generic_address_of_the_thread_itself_is_in_no_cta() -> None:
    line = "cvt.u64.u32 %rd8, %r3; cvta.local.u64 %rd8, %rd8; ld.u64 %rd9, [%rd8+8];"
    module = module_of(HEAD + line, parameters=PARAMETERS, bounds=".reqnctapercluster 2")
    assert not misfits(walk(module).trace)


def test_a_symbol_in_global_memory_is_aligned_as_declared() -> None:
    def find_all(line: str) -> list[tuple[int, int, bool]]:
        body = f"mov.u64 %rd7, table; {line}"
        trace = walk(module_of(HEAD + body, parameters=PARAMETERS, before=".global .align 8 .b32 table[8];")).trace
        return [(m.value, m.required, m.is_certain) for m in trace.operand_violations.values() if m.kind == "alignment"]

    assert find_all("ld.global.u64 %rd9, [%rd7+8]; ld.global.u32 %r9, [%rd7+4];") == []
    assert find_all("ld.global.u64 %rd9, [%rd7+4];") == [(4, 8, True)]
    assert find_all("ld.u64 %rd9, [%rd7+12];") == [(12, 8, True)]
    assert find_all("ld.global.v2.u64 {%rd8, %rd9}, [%rd7];") == []  # it may be aligned to 16
