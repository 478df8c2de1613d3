"""The diagnostics of `validate` for instructions: each with the line that has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.syntax import parse
from ptxkit.validate import validate

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = sorted((ROOT / "corpus").rglob("*.ptx"))
REGISTERS = " ".join(
    f".reg .{kind} %{name}<9>;"
    for name, kind in {"h": "b16", "r": "b32", "u": "u32", "rd": "b64", "f": "f32", "fd": "f64", "p": "pred"}.items()
)


def module(line: str, version: str = "9.4", target: str = "sm_90a") -> str:
    head = f".version {version}\n.target {target}\n.address_size 64\n.shared .align 16 .b8 tile[64];\n"
    return f"{head}.entry k(.param .u64 q) {{\n{REGISTERS}\n{line}\nret;\n}}\n"


def findings(line: str, version: str = "9.4", target: str = "sm_90a") -> tuple[Diagnostic, ...]:
    return validate(parse(module(line, version, target), "k.ptx")).diagnostics


RIGHT_AND_WRONG = [
    ("ld.global.u32 %r1, [%rd1];", "ld.globl.u32 %r1, [%rd1];", "PTX103", "did you mean `.global`"),
    ("cvt.rn.f32.s32 %f1, %r1;", "cvt.rm.s32.s32 %r2, %r1;", "PTX103", "cvt"),
    ("add.s32 %r1, %r2, %r3;", "add.s32 %r1, %r2;", "PTX104", "takes 3 operands, and has 2"),
    ("add.s32 %r1, %r2, 7;", "add.s32 %r1, %r2, [%rd1];", "PTX104", "operand 3"),
    ("add.s32 %r1, %r2, %r3;", "add.s32 %r1, %r2, %rd3;", "PTX104", "must be a .s32 register, and is .b64"),
    ("add.f32 %f1, %f2, %r3;", "add.f32 %f1, %f2, %u3;", "PTX104", "must be a .f32 register, and is .u32"),
    ("setp.eq.s32 %p1, %r1, 0;", "setp.eq.s32 %r1, %r1, 0;", "PTX104", "must be a .pred register"),
    ("ld.u8 %r1, [%rd1];", "ld.u64 %r1, [%rd1];", "PTX104", "must be a .u64 register, and is .b32"),
    ("st.shared.u32 [tile], %r1;", "st.shared.u32 [%f1], %r1;", "PTX104", "is an address"),
    ("mov.u64 %rd1, tile;", "add.u64 %rd1, tile, %rd2;", "PTX104", "names an address"),
    ("mov.b64 %rd1, {%r1, %r2};", "mov.b64 %rd1, {%r1, %h2};", "PTX104", "must be a .b32 register"),
    ("add.s32 %r1, %r2, %r3;", "add.s32 %r1, %r2, %r99;", "PTX106", "`%r99` is not declared"),
    ("ld.shared.u32 %r1, [tile+4];", "ld.shared.u32 %r1, [tail+4];", "PTX106", "`tail` is not declared"),
    ("mov.b64 {%r1, _}, %rd1;", "mov.b64 {%r1, %q}, %rd1;", "PTX106", "`%q` is not declared"),
    ("mov.u32 %r1, %ntid.y;", "mov.u32 %r1, %ntids.y;", "PTX106", "`%ntids.y` is not declared"),
    ("@%p1 bra out; out:", "@%p1 bra away; out:", "PTX106", "`away` is not declared"),
    ("@!%p1 exit;", "@!%p99 exit;", "PTX106", "the guard `%p99` is not declared"),
    ("@%p1 exit;", "@%r1 exit;", "PTX104", "the guard `%r1` is not a predicate"),
    ("add.f32 %f1, %f2, 1.0;", "add.f32 %f1, %f2, 1;", "PTX104", "is an integer"),
    ("st.b32 [%rd1], 0f3F800000;", "st.u32 [%rd1], 0f3F800000;", "PTX104", "is a floating-point one"),
    ("mov.b64 %rd1, 0;", "mov.b64 %r1, 0;", "PTX104", "operand 1"),
    ("bar.sync 15;", "bar.sync 16;", "PTX105", "from 0 to 15, and is 16"),
    ("bar.sync ((15));", "bar.sync (-(1));", "PTX105", "from 0 to 15, and is -1"),
    ("bar.sync 0, 64;", "bar.sync 0, 65;", "PTX105", "steps of 32, and is 65"),
    (
        "cp.async.ca.shared.global [%r1], [%rd1], 8;",
        "cp.async.ca.shared.global [%r1], [%rd1], 6;",
        "PTX105",
        "one of 4, 8, 16",
    ),
    (
        "cp.async.ca.shared.global [%r1], [%rd1], 8, 4;",
        "cp.async.ca.shared.global [%r1], [%rd1], 8, 12;",
        "PTX105",
        "z <= n",
    ),
    (
        "cp.async.ca.shared.global [%r1], [%rd1], 8, %r2;",
        "cp.async.ca.shared.global [%r1], [%rd1], 8, %rd2;",
        "PTX104",
        "operand 4",
    ),
]


@pytest.mark.parametrize(("right", "wrong", "code", "words"), RIGHT_AND_WRONG)
def test_a_wrong_line_is_an_error_and_the_correct_one_is_not(right: str, wrong: str, code: str, words: str) -> None:
    assert findings(right) == ()
    (found,) = findings(wrong)
    assert (found.code, found.severity) == (code, Severity.ERROR)
    assert words in found.message
    assert found.source.position(found.span.start)[0] == 7


def test_a_predicate_may_replace_a_size() -> None:
    assert findings("cp.async.ca.shared.global [%r1], [%rd1], 8, %p1;") == ()


def test_the_operand_is_marked() -> None:
    (found,) = findings("add.s32 %r1, %r2, %rd3;")
    assert found.source.text[found.span.start : found.span.end] == "%rd3"


@pytest.mark.parametrize(
    ("line", "version", "target", "needed"),
    [
        ("mbarrier.try_wait.shared.b64 %p1, [%r1], %rd1;", "7.8", "sm_80", "`.target sm_90` or later"),
        ("fence.proxy.async;", "7.8", "sm_90", "`.version 8.0`"),
        ("wgmma.fence.sync.aligned;", "8.0", "sm_90", "`.target sm_90a`"),
        ("st.shared::cluster.u32 [%r1], %r2;", "7.0", "sm_80", "`.version 7.8` and `.target sm_90` or later"),
        ("redux.sync.add.s32 %r1, %r2, -1;", "7.0", "sm_75", "`.target sm_80` or later"),
        ("mov.u32 %r1, %cluster_ctarank;", "8.0", "sm_80", "`.target sm_90` or later"),
    ],
)
def test_a_closed_gate_names_the_requirement(line: str, version: str, target: str, needed: str) -> None:
    assert findings(line) == ()
    (found,) = findings(line, version, target)
    assert (found.code, found.severity) == ("PTX801", Severity.ERROR)
    assert f"needs {needed}" in found.message


def test_an_undeclared_name_is_reported_once_a_statement() -> None:
    printed = [each.message for each in findings("add.s32 %r1, %x, %x; add.s32 %r1, %x, %y;") if each.code == "PTX106"]
    assert printed == ["`%x` is not declared", "`%x` is not declared", "`%y` is not declared"]


def test_an_unknown_opcode_is_one_error_with_its_count() -> None:
    (found,) = findings("frob.u32 %r1;\nfrob.s32 %r2;")
    assert (found.code, found.severity) == ("PTX102", Severity.ERROR)
    assert found.properties["count"] == 2


def test_a_newer_version_than_the_table_has_is_not_an_error() -> None:
    _, found = findings("ld.global.lukewarm.u32 %r1, [%rd1];", version="9.9")
    assert (found.code, found.severity) == ("PTX103", Severity.WARNING)


def test_a_wrong_type_in_a_known_form_is_wrong_in_every_version() -> None:
    newer, found = findings("add.s32 %r1, %r2, %rd3;", version="9.9")
    assert newer.code == "PTX803"
    assert (found.code, found.severity) == ("PTX104", Severity.ERROR)


def test_an_order_that_only_ptxas_accepts_is_a_warning() -> None:
    (found,) = findings("redux.add.sync.s32 %r1, %r2, -1;")
    assert (found.code, found.severity) == ("PTX103", Severity.WARNING)
    assert found.help == "write `redux.sync.add.s32`"


def test_a_built_module_is_checked_without_locations() -> None:
    from dataclasses import replace

    built = replace(parse(module("bar.sync 16;")), source=None, starts=())
    (found,) = validate(built).diagnostics
    assert found.code == "PTX105"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_programs_that_ptxas_accepts_have_no_error(path: Path) -> None:
    verdict = validate(parse(path.read_text(encoding="utf-8"), str(path)))
    found = {each.code for each in verdict.diagnostics if each.severity is not Severity.NOTE}
    assert found == ({"PTX802"} if path.name == "ptx100.sm_103a.ptx" else set())


TOLERATED = [
    ("add.s32 %r1, %r2, k;", "add.s32 %r1, k, k2;", "PTX104"),
    ("st.global.u32 [%rd1], k;", "ld.global.u32 k, [%rd1];", "PTX104"),
    ("and.pred %p1, %p2, %h2x;", "setp.eq.u32 %h2x, %r1, 3;", "PTX104"),
    ("lop3.b32 %r1, %r2, %r3, %r4, 256;", "bfe.u32 %r1, %r2, 256, 1;", "PTX105"),
]


@pytest.mark.parametrize(("tolerated", "refused", "code"), TOLERATED)
def test_a_tolerated_construct_of_any_form_is_a_warning_with_its_reason(
    tolerated: str, refused: str, code: str
) -> None:
    head = ".reg .f16x2 %h2x;\n"
    (found,) = findings(head + tolerated)
    assert (found.code, found.severity) == (code, Severity.WARNING)
    assert "; tolerated: " in found.message
    assert any(each.severity is Severity.ERROR for each in findings(head + refused))


def test_a_modifier_that_assemblers_ignore_is_a_warning_where_the_instruction_has_no_such_modifier() -> None:
    (found,) = findings("add.acc::f16.s32 %r1, %r2, %r3;")
    assert (found.code, found.severity) == ("PTX103", Severity.WARNING)
    assert found.help == "write `add.s32`"
    (found,) = findings("testp.finite.normal.f32 %p1, %f1;")
    assert (found.code, found.severity) == ("PTX103", Severity.ERROR)
