"""Values in their type."""

from __future__ import annotations

import pytest

from ptxkit.emulator.state.memory_layout import element_text
from ptxkit.verifier.trace_places import format_value, type_of


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


def test_a_place_is_a_variable_with_an_index() -> None:
    assert element_text("_ZZ5scaleE4tile", 128, 4096, 4) == "tile[32]"
    assert element_text("tile", 6, 4096, 4) == "tile + 6 bytes"
    assert element_text("full", 0, 8, 8) == "full"
