"""Values in their type."""

from __future__ import annotations

import re

import pytest

from ptxkit.emulator import run
from ptxkit.emulator.state.memory_layout import element_text
from ptxkit.semantics.object_names import type_of
from ptxkit.source import SourceFile
from ptxkit.verifier.argument_choice import VerifierRun
from ptxkit.verifier.launch_inference import LaunchPlan
from ptxkit.verifier.trace_places import format_value
from ptxkit.verifier.violation_diagnostics import make_diagnostic


@pytest.mark.parametrize(
    ("digits", "type_", "words"),
    [
        ("0000003f", "f32", "0.5"),
        ("003c", "f16", "1"),
        ("803f", "bf16", "1"),
        ("fdffffff", "s32", "-3"),
        ("fdffffff", "u32", "4294967293"),
        ("0003", "b16", "0x0300"),
        ("01000000020000000300000004000000..", "u32", "1, 2, 3, 4, \u2026"),
        ("0102", "u32", "bytes 0102"),
        ("0102", None, "bytes 0102"),
        (None, "u32", None),
    ],
)
def test_bytes_are_shown_in_their_type(digits: str | None, type_: str | None, words: str | None) -> None:
    assert format_value(digits, type_) == words


def test_the_type_is_the_last_one_of_the_opcode() -> None:
    assert type_of("ld.shared.v2.f32") == "f32"
    assert type_of("cvt.rn.f16.f32") == "f32"
    assert type_of("cp.async.ca.shared.global") is None


def test_a_location_is_a_variable_with_an_index() -> None:
    assert element_text("_ZZ5scaleE4tile", 128, 4096, 4) == "tile[32]"
    assert element_text("tile", 6, 4096, 4) == "tile + 6 bytes"
    assert element_text("full", 0, 8, 8) == "full"


RACE = """.version 8.0
.target sm_90
.address_size 64
.file 1 "k.cu"
.visible .entry k() .reqntid 64
{
	.reg .b32 %r<6>;
	.shared .align 4 .b8 _ZZ1kE4tile[256];
	.loc 1 3 1
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, _ZZ1kE4tile;
	shl.b32 %r3, %r1, 2;
	xor.b32 %r4, %r3, 128;
	add.u32 %r3, %r3, %r2;
	add.u32 %r4, %r4, %r2;
	.loc 1 4 1
	st.shared.u32 [%r3], %r1;
	.loc 1 5 1
	ld.shared.u32 %r5, [%r4];
	ret;
}
"""


def test_a_race_names_the_element_and_the_line_of_the_program() -> None:
    finding = run(RACE, "k").findings[0]
    own, other = finding.witnesses
    assert own.place == other.place
    assert re.fullmatch(r"tile\[\d+\]", own.place)
    assert f", {own.place} (shared bytes 0x" in str(own)
    assert finding.message == finding.content.at_lines(own.line, other.line)
    assert finding.content.at_lines(5, 4).endswith(" at line 4: nothing orders the two")
    plan = LaunchPlan((1, 1, 1), (64, 1, 1), (1, 1, 1), 0, is_specified=True)
    shown = make_diagnostic(finding, SourceFile("k.ptx", RACE), "k", plan, VerifierRun((), (), "eager", 0))
    assert shown.texts is not None
    assert shown.texts.message == finding.content.with_open_lines()
    assert [each.message for each in shown.labels] == [str(other)]
