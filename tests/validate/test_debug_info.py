"""`.file`, `.loc` and `.section`, as far as an assembler checks them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity
from tests.validate.modules import Pair, accepted_by_ptxas, check, diagnostics, disagreements, in_body, whole


def section(right: str, wrong: str, code: str, words: str, at: str = "", version: str = "9.4") -> Pair:
    text = ".section .debug_info {{ {} }}"
    return Pair(text.format(right), text.format(wrong), code, words, at, version)


FILE = '.file 1 "a.cu"\n'
INLINED = ".loc 1 4 0, function_name L, inlined_at 1 {} 0"

PAIRS = [
    Pair('.file 1 "a"\n.file 2 "a"', '.file 1 "a"\n.file 0x1 "b"', "PTX110", "two files with number 1", "0x1"),
    Pair('.file 1 "a", 5, 6', '.file 1 "a", 5, 6, 7', "PTX107", "a time and a size", "7"),
    Pair('.file WARP_SZ "a"', '.file 99999999999 "a"', "PTX107", "too large a number", "99999999999"),
    Pair('.file 1 "a"', '.file 1 "a', "PTX101", "this string never ends"),
    Pair(".func f();", '.file 1 "a", 5, 6', "PTX801", "needs `.version 3.2`", "5", "3.1", "sm_30"),
    *in_body(
        Pair(
            f".loc 1 3 0\n{INLINED.format(3)}",
            f".loc 1 3 0\n{INLINED.format(2)}",
            "PTX107",
            "`.loc 1 2 0` precedes",
            "inlined_at",
        ),
        Pair(".loc 1 3 0", ".loc 1 3 0, function_name L", "PTX107", "both `function_name`"),
        Pair(".loc 1 WARP_SZ 0", ".loc 1 warps 0", "PTX101", "expected an integer"),
        Pair(".loc 1 0xFFFFFFFF 0", ".loc 1 0x100000000 0", "PTX107", "too large a number", "0x100000000"),
        Pair(".loc 1 3 0xFFFFFFFFFFFFFFFF", ".loc 1 3 0x7FFFFFFFFFFFFFFF", "PTX107", "too large a number"),
        Pair(
            f".loc 1 3 0\n{INLINED.format(3).replace('L', '.debug_str+4')}",
            f".loc 1 3 0\n{INLINED.format(3).replace('L', '.b64')}",
            "PTX107",
            "`.b64` is a PTX keyword",
            ".b64",
        ),
        Pair(
            f".loc 1 3 0\n{INLINED.format(3)}",
            f".loc 1 3 0\n{INLINED.format(3).replace('L', 'inlined_at')}",
            "PTX101",
            "found `inlined_at`",
            "inlined_at",
        ),
        Pair(
            f".loc 1 3 0\n{INLINED.format('0x3')}",
            ".loc 1 3 0\n.loc 1 3 0, inlined_at 1 3 0, function_name L",
            "PTX107",
            "and `inlined_at`",
        ),
    ),
    Pair(
        ".entry k() { .loc 1 3 0 ret; }",
        f".entry k() {{ .loc 1 3 0 {INLINED.format(3)} ret; }}",
        "PTX801",
        "needs `.version 7.0`",
        "inlined_at",
        "6.5",
        "sm_75",
    ),
    section(".b8 255, -128", ".b8 256", "PTX109", "256 does not fit in `.b8`", "256"),
    section(".b16 65535", ".b16 -32769", "PTX109", "does not fit in `.b16`", "32769"),
    section(".b32 4294967296", ".b32 99999999999999999999999", "PTX109", "does not fit"),
    section(".b64 L", ".b8 L", "PTX109", "needs 32 or 64 bits", ".b8"),
    section(".b64 .debug_str", ".b64 .b8", "PTX109", "a PTX keyword"),
    Pair(".section .debug_str { }", ".section .maxntid { }", "PTX107", "not the name of a section", ".maxntid"),
    section(".b32 1", ".u32 1", "PTX108", "use .b8, .b16, .b32 or .b64", ".u32"),
    section("L: .b32 1 M: .b32 L-M", "L: .b32 1 L: .b32 1", "PTX110", "occurs twice in sections", "L"),
    section(".b32 .debug_str+4", ".b32 .debug_str-4", "PTX101", ""),
    Pair(".section .debug_str { }", "@@DWARF .byte 1\n", "PTX801", "`@@DWARF` needs a `.version` before 2.0"),
    section(".b8 1", ".b8 -1", "PTX801", "needs `.version 7.5`", version="7.4"),
    section(".b32 L", ".b32 L-M", "PTX801", "needs `.version 7.5`", version="7.4"),
]


@pytest.mark.parametrize(
    "pair", [pair._replace(target="sm_75") for pair in PAIRS if pair.version > "7"], ids=lambda pair: pair.wrong
)
def test_wrong_debugging_information_is_an_error_and_the_correct_one_is_not(pair: Pair) -> None:
    check(pair)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.version < "7"], ids=lambda pair: pair.wrong)
def test_debugging_information_that_is_too_new_is_an_error(pair: Pair) -> None:
    check(pair)


def test_ptxas_agrees(tmp_path: Path) -> None:
    pairs = [pair._replace(target="sm_75") if pair.version > "7" else pair for pair in PAIRS]
    assert disagreements(pairs, tmp_path) == []


def test_a_number_whose_lower_half_fits_is_a_warning(tmp_path: Path) -> None:
    text = whole(".section .debug_info { .b8 4294967296 }")
    assert [(found.code, found.severity) for found in diagnostics(text)] == [("PTX109", Severity.WARNING)]
    assert accepted_by_ptxas(text, tmp_path, 0)


def test_a_location_in_another_function_can_be_inlined_at() -> None:
    first, second = ".entry k() { .loc 1 3 0 ret; }", f".entry l() {{ {INLINED.format(3)} ret; }}"
    check(Pair(f"{first} {second}", f"{second} {first}", "PTX107", "precedes this one"))
