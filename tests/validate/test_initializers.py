"""Initial values: number, nesting, type, and the symbols whose addresses they contain."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validate.modules import Pair, check, disagreements, errors, in_body, whole

NAMES = ".global .b32 y; .const .b32 c; .shared .b32 s; .func f() { ret; } .entry g() { ret; } "


def value(right: str, wrong: str, words: str, at: str = "", code: str = "PTX109", **module: str) -> Pair:
    """Two declarations in .global space, after those of `y`, `c`, `s`, `f` and `g`."""
    return Pair(f"{NAMES}.global {right};", f"{NAMES}.global {wrong};", code, words, at, **module)


COUNTS = [
    value(".b32 x[2] = {5}", ".b32 x[2] = {5, 6, 7}", "has 3 initial values for 2 elements", "x"),
    value(".b32 x[2] = {}", ".b32 x[2] = 5", "must be in braces"),
    value(".b32 x = 5", ".b32 x = {5}", "its value must not have braces"),
    value(".v2 .b32 x = {5, 6}", ".v2 .b32 x = {5}", "must be 2 constants in braces"),
    value(".v2 .b32 x[2] = {{5, 6}}", ".v2 .b32 x[2] = {5, 6}", "must be 2 constants in braces"),
    value(".b32 x[2][2] = {{5}, {6, 7}}", ".b32 x[2][2] = {5, 6}", "must be in braces"),
    value(".b32 x[2][2] = {{5, 6}}", ".b32 x[2][2] = {{5, 6, 7}}", "has 3 initial values for 2"),
    value(".b32 x[2] = {5, 6}", ".b32 x[2] = {{5}, {6}}", "nest deeper"),
]

TYPES = [
    value(".u8 x = -300", ".u32 x = 1.5", "cannot be initialized with a floating-point number"),
    value(".b32 x = 0f3F800000", ".u32 x = 0f3F800000", "it takes an integer or an address"),
    value(".f32 x = 1.0", ".f32 x = 1", "it takes a floating-point number"),
    value(".f64 x = 0f3F800000", ".f64 x = 0", "cannot be initialized with an integer"),
    value(".b16 x = 1", ".f16 x = 1.0", "it takes no initial value"),
    value(".f32 x[2] = {1.0, 2.0}", ".f32 x[2] = {1.0, 2}", "cannot be initialized with an integer"),
    value(".b32 x = 1.0 > 0.5", ".b32 x = 1.0 + 1", "nor mix types"),
    value(".b32 x = 4/2", ".b32 x = 1/0", "do not divide by zero"),
    value(".f32 x = -1.0", ".f32 x = -0f3F800000", "not an initial value"),
    value(".b32 x = WARP_SZ", ".b32 x = WARPS", "cannot be initialized with an address"),
]

ADDRESSES = [
    value(".u64 x = y", ".b64 x = y", "a .b64 variable such as `x` cannot be initialized with an address"),
    value(".u32 x = y+4", ".u32 x = y-4", "write a constant, a symbol, `symbol+4`"),
    value(".u64 x = y+4+4", ".u64 x = 4+y", "not an initial value"),
    value(".u64 x = generic(y)+4", ".u64 x = generic(y+4)", "not an initial value"),
    value(".u64 x = c", ".u64 x = s", "the address of `s` is not a constant", "s"),
    value(".u64 x = f", ".u64 x = f+4", "its address takes no offset", "f"),
    value(".u64 x = g", ".u64 x = generic(g)", "its address takes no offset", "g"),
    value(".u64 x = y", ".u64 x = z", "`z` is not declared above this line", "z"),
    value(".u64 x[2] = {f, 0}", ".s64 x[2] = {f, 0}", "it takes an integer"),
    value(".u64 x = y", ".u64 x = y*2", "not an initial value"),
    value(".u64 x = y", ".u64 x = yy", "did you mean `y`?", "yy"),
    value(".u8 x = 0xFF00(generic(y)+4)", ".u8 x = 0xFF01(y)", "0xFF00, and so on", "0xFF01"),
    value(".u8 x = 0xFF(f)", ".u16 x = 0xFF(f)", "cannot be initialized with eight bits of an address"),
    value(".b8 x = 0xFF(5)", ".b8 x = 0xFF(y)", "cannot be initialized with eight bits"),
    value(".u64 x = x", ".u64 x = 0xFF(y)+4", "not an initial value"),
]

GATES = [
    Pair(
        f"{NAMES}.global .u64 x = y;",
        f"{NAMES}.global .u64 x = 0xFF(y);",
        "PTX801",
        "a mask in an initializer needs `.version 7.1`",
        "0xFF",
        "7.0",
        "sm_75",
    ),
    Pair(
        ".func f(); .global .u64 x = f;",
        ".entry f(); .global .u64 x = f;",
        "PTX801",
        "a kernel as an initial value needs `.version 3.1`",
        "f",
        "3.0",
        "sm_30",
    ),
]

SPACES = [
    Pair(".const .b32 x = 5;", ".shared .b32 x = 5;", "PTX109", "in .shared space", "x"),
    Pair(".weak .global .b32 x = 5;", ".extern .global .b32 x = 5;", "PTX109", "belongs to its definition", "x"),
    *in_body(
        Pair(".const .b32 x = 5;", ".reg .b32 x = 5;", "PTX109", "store the value in the code", "x"),
        Pair(".global .b32 x = 5;", ".local .b32 x = 5;", "PTX109", "in .local space", "x"),
    ),
]

FIELDS = [
    value(".texref x = {width = 4, filter_mode = linear}", ".texref x = {widht = 4}", "`width`?", "widht"),
    value(".texref x = {addr_mode_0 = wrap}", ".texref x = {addr_mode_0 = wrapp}", "`wrap`?", "wrapp"),
    value(".texref x[2] = {{width = 4}}", ".texref x = {4}", "has no name"),
    value(".texref x = {}", ".texref x = 4", "named fields in braces"),
    value(".surfref x = {width = 4}", ".surfref x = {filter_mode = 1}", "has no field `filter_mode`"),
]

PAIRS = [*COUNTS, *TYPES, *ADDRESSES, *GATES, *SPACES, *FIELDS]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong.removeprefix(NAMES))
def test_a_wrong_initial_value_is_an_error_and_the_correct_one_is_not(pair: Pair) -> None:
    check(pair)


def test_ptxas_agrees(tmp_path: Path) -> None:
    assert disagreements(PAIRS, tmp_path) == []


def test_a_table_with_one_wrong_value_among_many_is_found() -> None:
    values = ", ".join(["1"] * 5000)
    assert errors(whole(f".global .b8 x[5001] = {{{values}, 2}};")) == []
    (found,) = errors(whole(f".global .u8 x[5001] = {{{values}, 2.5}};"))
    assert found.code == "PTX109"
