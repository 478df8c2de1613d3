"""Addresses in operands that take addresses of another kind."""

from __future__ import annotations

from tests.analysis.support import module_of, walk

HEAD = """.shared .align 16 .b8 tile[64]; .local .align 16 .b8 mine[64];
mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; mov.u64 %rd3, mine; cvta.local.u64 %rd4, %rd3; ld.param.u64 %rd5, [in];
cvt.u32.u64 %r2, %rd2; mov.u32 %r1, tile;"""


def wrong_addresses(line: str) -> list[tuple[str, str]]:
    """Returns (kind that the instruction takes, kind of the operand) of each wrong operand."""
    executed = walk(module_of(HEAD + line, parameters=".param .u64 in"))
    return [
        (misuse.expected_space.partition("::")[0], misuse.origin)
        for misuse in executed.trace.wrong_address_kinds.values()
    ]


def test_a_generic_address_in_a_state_space_is_noticed_and_an_offset_is_not() -> None:
    assert wrong_addresses("ld.shared.u32 %r9, [%rd2];") == [("shared", "generic")]
    assert wrong_addresses("ld.shared.u32 %r9, [%rd1];") == []
    assert wrong_addresses("ld.local.u32 %r9, [%rd4];") == [("local", "generic")]
    assert wrong_addresses("ld.local.u32 %r9, [%rd3];") == []


def test_an_offset_in_a_generic_operand_is_noticed_and_a_generic_address_is_not() -> None:
    assert wrong_addresses("ld.u32 %r9, [%rd1];") == [("generic", "shared")]
    assert wrong_addresses("ld.u32 %r9, [%rd3+8];") == [("generic", "local")]
    assert wrong_addresses("ld.u32 %r9, [%rd2]; ld.u32 %r9, [%rd4];") == []


def test_a_generic_address_of_shared_memory_is_not_a_global_address() -> None:
    assert wrong_addresses("st.global.u32 [%rd2], %r1;") == [("global", "generic")]
    assert wrong_addresses("st.global.u32 [%rd5], %r1;") == []


def test_a_truncated_generic_address_is_noticed() -> None:
    assert wrong_addresses("ld.shared.u32 %r9, [%r2];") == [("shared", "generic")]
    assert wrong_addresses("ld.shared.u32 %r9, [%r1];") == []


def test_an_unknown_address_may_be_of_any_kind() -> None:
    assert wrong_addresses("ld.global.u64 %rd6, [%rd5]; ld.u32 %r9, [%rd6]; ld.shared.u32 %r9, [%rd6];") == []


def test_a_name_in_the_operand_itself_is_left_to_the_assembler() -> None:
    assert wrong_addresses("ld.shared.u32 %r9, [tile+4];") == []


def test_one_operand_is_noticed_once_in_a_loop() -> None:
    body = "mov.u32 %r7, 0; more: ld.u32 %r9, [%rd1]; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 5; @%p1 bra more;"
    assert len(wrong_addresses(body)) == 1
