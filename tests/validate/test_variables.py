"""Variables, registers, parameters: the valid types, shapes, alignments and names of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validate.modules import Pair, check, disagreements, errors, in_body, whole


def wrong(right: str, wrong: str, words: str, at: str = "", code: str = "PTX108", target: str = "sm_90a") -> Pair:
    return Pair(right, wrong, code, words, at, target=target)


def kernel(right: str, wrong: str, words: str, at: str = "", code: str = "PTX108", **module: str) -> Pair:
    """Returns a kernel with these parameters."""
    return Pair(f".entry k({right}) {{ ret; }}", f".entry k({wrong}) {{ ret; }}", code, words, at, **module)


def function(right: str, wrong: str, words: str, at: str = "", code: str = "PTX108", **module: str) -> Pair:
    """Returns a device function with these parameters."""
    return Pair(f".func f({right}) {{ ret; }}", f".func f({wrong}) {{ ret; }}", code, words, at, **module)


SPACES = [
    wrong(".shared .b32 x;", ".reg .b32 x;", "cannot be declared outside of functions", ".reg"),
    wrong(".const .b32 x;", ".local .b32 x;", "there it is .const or .global or .shared", ".local"),
    wrong(".global .b32 x;", ".param .b32 x;", "cannot be declared outside of functions", ".param"),
    *in_body(wrong(".local .b32 x;", ".tex .u64 x;", "in the body of a function", ".tex")),
    kernel(".param .b32 a", ".reg .b32 a", "as the parameter of a kernel", ".reg"),
    function(".reg .b32 a", ".shared .b32 a", "there it is .reg or .param", ".shared"),
]

TYPES = [
    wrong(".global .b32 x;", ".global .b33 x;", "did you mean `.b32`", ".b33"),
    wrong(".global .b16 x;", ".global .bf16 x;", "an instruction type", ".bf16"),
    wrong(".global .f16x2 x;", ".global .e4m3x2 x;", "an instruction type", ".e4m3x2"),
    wrong(".global .b8 x;", ".global .pred x;", "it can be in .reg space", "x"),
    *in_body(
        wrong(".reg .pred p<4>;", ".reg .pred p[4];", "write `p<4>`", "p"),
        wrong(".reg .v2 .b32 x;", ".reg .v2 .pred x;", "no .v2 vectors of .pred", ".v2"),
        wrong(".reg .v4 .b32 x;", ".reg .v8 .b32 x;", "vectors are .v2 or .v4", ".v8"),
        wrong(".reg .v2 .f64 x;", ".reg .v4 .f64 x;", "a vector has at most 128 bits", ".v4"),
        wrong(".reg .b128 x;", ".reg .v2 .b128 x;", "at most 128 bits", ".v2"),
        wrong(".param .v2 .b32 x[2];", ".param .v2 .b32 x;", "cannot be in .param space", "x"),
        wrong(".shared .u64 x;", ".global .texref x;", "cannot be in the body of a function", "x"),
    ),
    wrong(".global .texref x;", ".shared .texref x;", "it can be in .global or .param space"),
    wrong(".global .texref x;", ".global .samplerref x;", "`texmode_independent`", ".samplerref"),
    kernel(".param .f16 x", ".param .f16x2 x", "cannot be in .param space", "x"),
    kernel(".param .v2 .b32 x[2]", ".param .v2 .b32 x", "cannot be in .param space", "x"),
    function(".param .u64 x", ".param .texref x", "cannot be as the parameter of a function"),
    wrong(".global .v2 .b32 x;", ".global .b32 .v2 x;", "one type", code="PTX101"),
    wrong(".global .align 8 .b32 x;", ".global .b32 .align 8 x;", "precede the type", code="PTX101"),
]

ALIGNMENTS = [
    wrong(".global .align 4 .b32 x;", ".global .align 3 .b32 x;", "a power of two, and 3 is not", ".align"),
    wrong(".global .align 2147483648 .b8 x;", ".global .align 4294967296 .b8 x;", "a power of two"),
    wrong(".global .align 1 .b32 x;", ".global .align 0 .b32 x;", "a power of two, and 0"),
    kernel(".param .align 256 .b8 a[256]", ".param .align 24 .b8 a[256]", "a power of two"),
    kernel(".param .u64 .ptr .align 16 a", ".param .u64 .ptr .align 12 a", "a power of two"),
    function(".param .align 128 .b8 a[128]", ".param .align 256 .b8 a[128]", "at most 128 bytes"),
]

ARRAYS = [
    wrong(".extern .shared .b8 x[];", ".shared .b8 x[];", "or `.extern`", "x"),
    wrong(".global .b8 x[1];", ".global .b8 x[0];", "has no length", "x"),
    wrong(".global .b8 x[] = {1};", ".global .b8 x[];", "has no length"),
    wrong(".global .b8 x[] = {1};", ".global .b8 x[] = {};", "has no length"),
    wrong(".extern .global .b8 x[][4];", ".extern .global .b8 x[4][];", "the first length of `x`"),
    wrong(".global .b8 x[WARP_SZ];", ".global .b8 x[WARPS];", "expected `]` or an integer", code="PTX101"),
    wrong(".global .b8 x[4];", ".global .b8 x[2+2];", "expected `]`", code="PTX101"),
    kernel(".param .b8 a[4]", ".param .b8 a[]", "`a` needs a length", "a"),
    function(".param .b8 a[]", ".param .b8 a[], .param .b32 b", "only the last parameter", "a"),
    Pair(".func (.param .b8 r[4]) f();", ".func (.param .b8 r[]) f();", "PTX108", "`r` needs a length"),
]

FUNCTIONS = [
    Pair(
        ".func (.reg .b32 r, .reg .b32 s) f();",
        ".func (.param .b32 r, .param .b32 s) f();",
        "PTX108",
        "returns them in registers",
        "r",
    ),
    kernel(".param .b8 a[32764]", ".param .b8 a[32765]", "32765 bytes; the limit is 32764", "k"),
    kernel(".param .b8 a[4], .param .b64 b", ".param .b8 a[32757], .param .b64 b", "take 32768 bytes"),
    kernel(".param .b8 a[4352]", ".param .b8 a[4353]", "needs `.version 8.1`", code="PTX801", version="8.0"),
    kernel(".param .b32 a", ".param .b32 a<4>", "expected", code="PTX101"),
    kernel(".param .b32 a", ".param .b32 a = 4", "cannot have an initial value", "a"),
]

NAMES = [
    wrong(".global .b32 x_y;", ".global .b32 x.y;", "a name cannot contain a dot", "x.y"),
    wrong(".global .b32 _x;", ".global .b32 _;", "`_` is the sink", "_"),
    wrong(".global .b32 %x;", ".global .b32 %tid;", "a special register", "%tid"),
    *in_body(
        wrong(".reg .b32 %tid;", ".reg .b32 WARP_SZ;", "found `WARP_SZ`", "WARP_SZ", code="PTX101"),
        wrong("inlined: ret;", "inlined_at: ret;", "no name for a label", code="PTX101"),
        wrong("L_1: ret;", "L.1: ret;", "has no dot", code="PTX101"),
    ),
    kernel(".param .b32 _", ".param .b32 a.b", "a name cannot contain a dot"),
    function(".param .b32 a", ".param .b32 _", "`_` is the sink"),
    Pair(".entry add() { ret; }", ".entry _() { ret; }", "PTX101", "`_` is no name"),
]

PAIRS = [*SPACES, *TYPES, *ALIGNMENTS, *ARRAYS, *FUNCTIONS, *NAMES]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong)
def test_a_wrong_declaration_is_an_error_and_the_correct_one_is_not(pair: Pair) -> None:
    check(pair)


def test_ptxas_agrees(tmp_path: Path) -> None:
    assert disagreements(PAIRS, tmp_path) == []


def test_registers_may_be_outside_of_functions_before_ptx_3() -> None:
    assert errors(whole(".reg .b32 x;", "2.3", "sm_20")) == []
    assert [found.code for found in errors(whole(".reg .b32 x;", "3.0", "sm_20"))] == ["PTX108"]
