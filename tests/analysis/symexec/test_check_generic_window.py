"""Generic addresses and the windows that their instruction accepts."""

from __future__ import annotations

from ptxkit.analysis.symexec.check_generic_window import allowed_spaces
from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.syntax.tree import Address, Instruction, Integer, Name
from tests.analysis.support import compute_line, module_of, walk

HEAD = """.shared .align 16 .b8 tile[64]; .local .align 8 .b8 mine[16]; mov.u64 %rd1, tile; mov.u64 %rd2, mine;
cvta.shared.u64 %rd3, %rd1; cvta.local.u64 %rd4, %rd2; ld.param.u64 %rd5, [in]; cvta.to.global.u64 %rd6, %rd5;"""


def violations_of(line: str, before: str = "", kind: str = "window") -> list[tuple[str, str]]:
    """Returns (opcode, window of its address) of each access through an address that is not accepted."""
    trace = walk(module_of(HEAD + line, parameters=".param .u64 in", before=before)).trace
    found = [misfit for misfit in trace.operand_violations.values() if misfit.kind == kind]
    return [(misfit.step.instruction.opcode, misfit.rule) for misfit in found]


def test_a_form_names_the_spaces_that_it_accepts() -> None:
    match = table().match(Instruction("atom.add.u32", (Name("%r1"), Address(Name("%rd1"), 0), Integer(1, "1"))))
    assert isinstance(match, Match)
    assert allowed_spaces(match.form)["a"] == {"global", "shared"}


def test_a_generic_address_is_in_one_of_them() -> None:
    assert violations_of("atom.add.u32 %r9, [%rd3], 1; atom.add.u32 %r9, [%rd6], 1;") == []
    assert violations_of("atom.add.u32 %r9, [%rd4], 1;") == [("atom.add.u32", "in .local")]


def test_plain_accesses_accept_any_window() -> None:
    assert violations_of("ld.u32 %r9, [%rd3]; ld.u32 %r9, [%rd4]; ld.u32 %r9, [%rd6];") == []


def test_a_conversion_of_an_address_in_another_window_is_noticed_where_it_is_used() -> None:
    use = "ld.shared.u32 %r9, [%rd9+4];"
    assert violations_of(f"cvta.to.shared.u64 %rd9, %rd3; {use}") == []
    assert violations_of(f"cvta.to.shared.u64 %rd9, %rd4; {use}") == [("ld.shared.u32", "in .local")]
    assert violations_of(f"cvta.to.shared.u64 %rd9, %rd6; {use}") == [("ld.shared.u32", "in .global")]
    assert violations_of(f"cvta.to.shared.u64 %rd9, %rd1; {use}") == [("ld.shared.u32", "an offset in .shared")]
    assert violations_of(f"cvta.to.shared.u64 %rd9, %rd5; {use}") == []
    assert violations_of("cvta.to.shared.u64 %rd9, %rd4;") == []


def test_a_conversion_to_a_generic_address_accepts_only_addresses_in_its_space() -> None:
    use = "ld.u32 %r9, [%rd9+4];"
    assert violations_of(f"cvta.shared.u64 %rd9, %rd1; {use}") == []
    assert violations_of(f"cvta.shared.u64 %rd9, %rd3; {use}", kind="source") == [("ld.u32", "generic")]
    assert violations_of(f"cvta.local.u64 %rd9, %rd1; {use}", kind="source") == [("ld.u32", "in .shared")]
    assert violations_of(f"cvta.shared.u64 %rd9, %rd6; {use}", kind="source") == [("ld.u32", "in .global")]
    assert violations_of(f"cvta.global.u64 %rd9, %rd3; {use}", kind="source") == [("ld.u32", "in .shared")]
    assert violations_of(f"cvta.shared.u64 %rd9, %rd5; {use}", kind="source") == []
    assert violations_of("cvta.shared.u64 %rd9, %rd3;", kind="source") == []


def test_constants_have_a_separate_window() -> None:
    table_of_four = ".const .b32 table[4];"
    given = "mov.u64 %rd7, table; cvta.const.u64 %rd8, %rd7;"
    assert violations_of(f"{given} ld.u32 %r9, [%rd8];", before=table_of_four) == []
    assert violations_of(f"{given} red.add.u32 [%rd8], 1;", before=table_of_four) == [("red.add.u32", "in .const")]


def test_a_conversion_in_its_window_returns_the_offset() -> None:
    generic = compute_line("cvta.shared.u64 %rd9, %rd1;", rd1=2048)
    assert generic is not None
    assert compute_line("cvta.to.shared.u64 %rd9, %rd1;", rd1=generic) == 2048
