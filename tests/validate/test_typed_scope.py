"""The declarations that names resolve to, including nested blocks and numbered registers."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.semantics.symbols import FUNCTION, KERNEL_PARAMETER, LABEL, scoped_statements
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Block
from ptxkit.validate.typed_scope import SPECIAL, UNKNOWN, TypedScope
from tests.validate.modules import Pair, check, disagreements, in_body

TEXT = """\
.version 9.0 .target sm_90 .address_size 64
.shared .b8 tile[64];
.func (.reg .b32 out) helper(.reg .f32 in) { ret; }
.entry k(.param .u64 p) {
  .reg .b32 %r<4>; .reg .v2 .u32 %v; .reg .pred done;
top:
  { .reg .f64 %r1; .reg .b16 h; ret; }
}
"""


def scopes_of(name: str) -> list[TypedScope]:
    """Returns the scope of a function of the text above, and those of its nested blocks."""
    module = parse(TEXT)
    outer = TypedScope()
    for item in module.items:
        outer.enter(item)
    function = module.function(name)
    scope = outer.make_nested()
    scope.enter_parameters(function)
    assert function.body is not None
    return [scope, *(each for node, _, each in scoped_statements(function.body, scope) if isinstance(node, Block))]


@pytest.fixture
def kernel() -> list[TypedScope]:
    return scopes_of("k")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("%r0", "b32"),
        ("%r3", "b32"),
        ("%r4", UNKNOWN),
        ("%r01", "b32"),
        ("%v", "v2.u32"),
        ("%v.x", "u32"),
        ("%r1.h0", "b32"),
        ("%r1.b3210", "b32"),
        ("%r1.x", UNKNOWN),
        ("done", "pred"),
        ("tile", "&shared"),
        ("p", KERNEL_PARAMETER),
        ("top", LABEL),
        ("helper", FUNCTION),
        ("%tid.x", SPECIAL),
        ("%tid.q", UNKNOWN),
        ("WARP_SZ", SPECIAL),
        ("h", UNKNOWN),
    ],
)
def test_a_name_in_a_kernel_is_resolved(kernel: list[TypedScope], name: str, found: str) -> None:
    assert kernel[0].type_of(name) == found


@pytest.mark.parametrize(("name", "found"), [("%r1", "f64"), ("%r2", "b32"), ("h", "b16"), ("tile", "&shared")])
def test_an_inner_block_hides_outer_names(kernel: list[TypedScope], name: str, found: str) -> None:
    assert kernel[1].type_of(name) == found


def test_parameters_of_a_function_are_registers() -> None:
    [scope] = scopes_of("helper")
    assert (scope.type_of("in"), scope.type_of("out")) == ("f32", "b32")


DECLARED_BEFORE_USE = [
    Pair(".reg .b32 a; mov.b32 a, 1;", "mov.b32 a, 1; .reg .b32 a;", "PTX106", "`a` is not declared"),
    Pair(".reg .b32 a; { mov.b32 a, 1; }", "{ .reg .b32 a; } mov.b32 a, 1;", "PTX106", "`a` is not declared"),
    Pair(
        ".reg .b32 a; { mov.b32 a, 1; .reg .b64 a; mov.b64 a, 1; }",
        ".reg .b32 a; { mov.b64 a, 1; .reg .b64 a; }",
        "PTX104",
        "must be a .b64 register, and is .b32",
    ),
    Pair(".reg .b32 a<13>; mov.b32 a12, 1;", ".reg .b32 a1<3>; mov.b32 a12, 1;", "PTX106", "`a12` is not declared"),
    Pair(".reg .b32 a<13>; mov.b32 a012, 1;", ".reg .b32 a<13>; mov.b32 a013, 1;", "PTX106", "declares `a0` to `a12`"),
    Pair("L: { bra L; L: }", ".reg .b32 L; { bra L; L: }", "PTX203", "must be a label"),
    Pair(".reg .b32 a<3>; mov.b32 a0, a2;", ".reg .b32 a<3>; mov.b32 a0, a3;", "PTX106", "declares `a0` to `a2`"),
    Pair(
        ".reg .v2 .u32 %tid; mov.u32 %tid.x, 1; { .reg .u32 %ntid; } mov.u32 %tid.y, %ntid.y;",
        ".reg .u32 %tid; .reg .u32 a; mov.u32 a, %tid.x;",
        "PTX106",
        "`%tid` is a .u32 register, which has no such element",
    ),
    Pair(
        ".reg .u32 %tid<4>, a; mov.u32 a, %tid.x;",
        "%tid: .reg .u32 a; mov.u32 a, %tid.x;",
        "PTX106",
        "`%tid` is a label, which has no such element",
    ),
    Pair(
        ".reg .u32 %laneid, a; mov.u32 a, %laneid;",
        ".shared .u32 %tid; .reg .u32 a; mov.u32 a, %tid.z;",
        "PTX106",
        "`%tid` is a .shared variable, which has no such element",
    ),
    Pair(".reg .b32 total; mov.b32 total, 1;", ".reg .b32 total; mov.b32 totl, 1;", "PTX106", "did you mean `total`"),
]


@pytest.mark.parametrize("pair", in_body(*DECLARED_BEFORE_USE), ids=lambda pair: pair.wrong)
def test_a_name_is_visible_from_its_declaration_on(pair: Pair) -> None:
    check(pair)


def test_ptxas_agrees(tmp_path: Path) -> None:
    assert disagreements(in_body(*DECLARED_BEFORE_USE), tmp_path) == []
