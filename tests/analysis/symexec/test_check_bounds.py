"""Accesses beyond the bounds of their variable, as an execution detects them."""

from __future__ import annotations

from ptxkit.analysis.symexec.check_bounds import bounded_spaces
from ptxkit.analysis.symexec.trace import OperandViolation
from tests.analysis.support import module_of, program_of, walk

HEAD = """.shared .align 16 .b8 tile[64]; .local .align 8 .b8 mine[16];
mov.u32 %r1, tile; cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd2, %rd1; mov.u32 %r2, %tid.x;"""


def violations_of(line: str, tid: int = 0, bounds: str = ".reqntid 32", before: str = "") -> list[tuple[int, int]]:
    """Returns (start, bytes) of each access beyond a variable's end; -1 where nothing is declared."""
    trace = walk(module_of(HEAD + line, bounds=bounds, before=before), tid).trace
    found = [misfit for misfit in trace.operand_violations.values() if misfit.kind == "bounds"]
    return [(_place(misfit), misfit.required) for misfit in found]


def _place(misfit: OperandViolation) -> int:
    return misfit.value if misfit.variable is not None else -1


def test_the_last_byte_counts() -> None:
    assert violations_of("ld.shared.u64 %rd9, [%r1+56];") == []
    assert violations_of("ld.shared.u64 %rd9, [%r1+60];") == [(60, 8)]
    assert violations_of("ld.u64 %rd9, [%rd2+60];") == [(60, 8)]
    assert violations_of("st.local.u64 [mine+8], %rd1;") == []
    assert violations_of("st.local.u64 [mine+12], %rd1;") == [(12, 8)]


def test_nothing_is_declared_before_and_after_all_variables() -> None:
    assert violations_of("ld.shared.u32 %r9, [%r1+-4];") == [(-1, 4)]
    assert violations_of("ld.shared.u32 %r9, [%r1+64];") == [(-1, 4)]


def test_the_bytes_of_a_copy_may_be_in_a_register() -> None:
    copy = "cp.async.bulk.global.shared::cta.bulk_group [%rd5], [%r1], %r3;"
    assert violations_of("mov.u32 %r3, 64;" + copy) == []
    assert violations_of("mov.u32 %r3, 80;" + copy) == [(0, 80)]


def test_a_symbol_ends_where_its_declaration_states() -> None:
    table = ".const .b32 table[4]; .global .b32 words[4];"
    assert violations_of("ld.const.u32 %r9, [table+12];", before=table) == []
    assert violations_of("ld.const.u32 %r9, [table+16];", before=table) == [(16, 4)]
    assert violations_of("mov.u64 %rd5, words; ld.global.u32 %r9, [%rd5+16];", before=table) == [(16, 4)]


def test_threads_that_only_some_launches_have_are_checked() -> None:
    line = "mad.lo.u32 %r3, %r2, 4, %r1; ld.shared.u64 %rd9, [%r3];"
    assert violations_of(line, tid=15) == [(60, 8)]
    assert violations_of(line, tid=15, bounds="") == [(60, 8)]
    assert violations_of(line, tid=0, bounds="") == []


def test_variables_have_an_end_where_the_launch_sizes_memory() -> None:
    def spaces(before: str) -> frozenset[str]:
        return bounded_spaces(program_of(module_of(HEAD, before=before)))

    assert spaces("") == {"shared", "local"}
    assert spaces(".extern .shared .b8 more[];") == {"shared", "local"}
    assert spaces(".extern .shared .b8 more[16];") == {"shared", "local"}
    assert spaces(".global .b8 words[4]; .const .b8 table[4];") == {"shared", "local", "global", "const"}
    assert spaces(".weak .global .b8 words[4]; .extern .const .b8 table[4];") == {"shared", "local"}
