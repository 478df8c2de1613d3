"""Functions as lists of instructions: their steps, and the targets of labels and lists of labels."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ptxkit.elf import ElfFile
from ptxkit.semantics.linear_code import LinearCode, linearize
from ptxkit.semantics.symbols import NameScope
from ptxkit.syntax import parse
from ptxkit.testing.oracles.ptxas import installed_ptxas

HEADING = ".version 8.0\n.target sm_80\n.address_size 64\n"


def module_with(body: str) -> str:
    return f"{HEADING}.visible .entry k(.param .u64 out) {{ .reg .b32 %r<9>; .reg .b64 %rd<9>; {body} }}"


def code_of(body: str) -> LinearCode[NameScope]:
    found = parse(module_with(body)).function("k").body
    assert found is not None
    return linearize(found, NameScope())


def test_only_an_instruction_is_a_step() -> None:
    body = '.pragma "nounroll"; on: .shared .b32 s; .loc 1 2 3 mov.u32 %r1, 1; { } '
    body += "{{ mov.u32 %r2, 2; }} t: .branchtargets on; ret;"
    code = code_of(body)
    assert [each.instruction.name for each in code.steps] == ["mov", "mov", "ret"]
    assert [each.index for each in code.steps] == [0, 1, 2]
    assert [code.scopes.index(each.scope) for each in code.steps] == [0, 3, 0]
    assert [module_with(body)[each.start :].split()[0] for each in code.steps] == ["mov.u32", "mov.u32", "ret;"]


def test_a_function_without_instructions_has_no_steps_and_keeps_its_labels() -> None:
    code = code_of("{ on: } off:")
    assert code.steps == ()
    assert [each.label_indices for each in code.scopes] == [{"off": 0}, {"on": 0}]
    assert code.label_names == {0: "on"}


def test_variables_are_in_the_order_of_the_text_and_have_their_block() -> None:
    code = code_of("{ .reg .b32 %r1; .shared .b32 a; } .local .b32 b, c; { { .shared .b32 a; } }")
    assert [(each.declarators[0].name, code.scopes.index(scope)) for each, scope in code.variables] == [
        ("a", 1),
        ("b", 0),
        ("a", 3),
    ]


def test_blocks_have_the_blocks_around_them() -> None:
    scopes = code_of("{ { mov.u32 %r1, 1; } } { mov.u32 %r2, 1; }").scopes
    assert [scopes.index(each.outer) if each.outer is not None else None for each in scopes] == [None, 0, 1, 0]


def test_a_declaration_that_hides_an_outer_name_begins_a_part_of_its_block() -> None:
    code = code_of("{ mov.u32 %r1, 1; .reg .b32 %r1; mov.u32 %r1, 2; .reg .b32 x; bra on; on: } mov.u32 %r1, 3;")
    assert [code.scopes.index(each.scope.block) for each in code.steps] == [1, 1, 1, 0]
    assert [each.scope is each.scope.block for each in code.steps] == [True, False, False, True]
    assert code.steps[2].targets == (3,)


@pytest.mark.parametrize(
    ("body", "targets"),
    [
        ("on: bra on;", (0,)),
        ("bra on; ret; on:", (2,)),
        ("bra off; on:", ()),
        ("{ bra on; } on: { on: }", (1,)),
        ("{ on: } bra on; on:", (1,)),
        ("on: { bra on; ret; on: }", (2,)),
        ("{ on: { bra on; } } ret; on:", (0,)),
        ("mov.u32 %r1, 1;", ()),
        ("ret;", ()),
        ("t: .branchtargets a, b, a; brx.idx %r1, t; a: ret; b:", (1, 2, 1)),
        ("t: .branchtargets a, c; brx.idx %r1, t; a:", ()),
        ("{ t: .branchtargets a; } brx.idx %r1, t; a:", ()),
        ("t: .calltargets a; brx.idx %r1, t; a:", ()),
        ("t: .branchtargets a, b; { brx.idx %r1, t; a: ret; } a: ret; b:", (2, 3)),
        ("{ t: .branchtargets a, b; brx.idx %r1, t; a: ret; } a: ret; b:", (1, 3)),
    ],
)
def test_a_branch_goes_to_the_labels_that_it_names(body: str, targets: tuple[int, ...]) -> None:
    branches = [each for each in code_of(body).steps if each.instruction.name in ("bra", "brx")]
    [step] = branches or code_of(body).steps
    assert step.targets == targets


def test_for_ptxas_a_list_has_the_labels_of_its_own_block(tmp_path: Path) -> None:
    start = "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;"
    inside, first, second = (f"st.volatile.global.u32 [%rd1], {number}; ret;" for number in (1, 2, 3))
    outer = f"{start} t: .branchtargets a, b; {{ brx.idx %r1, t; label: {inside} }} a: {first} b: {second}"
    inner = f"{start} {{ t: .branchtargets a, b; brx.idx %r1, t; label: {inside} }} a: {first} b: {second}"
    named_a, named_c = (
        [machine_code(body.replace("label", name), tmp_path) for body in (outer, inner)] for name in "ac"
    )
    assert named_a[0] == named_c[0] == named_c[1] != named_a[1]


def machine_code(body: str, folder: Path) -> dict[str, bytes]:
    """Returns the sections that ptxas writes for a kernel's code, with the tables of its branches."""
    (folder / "k.ptx").write_text(module_with(body))
    command = [installed_ptxas()[0].path, "-arch=sm_80", folder / "k.ptx", "-o", folder / "k.cubin"]
    subprocess.run(command, check=True, capture_output=True)
    made = ElfFile((folder / "k.cubin").read_bytes())
    return {each.name: made.contents(each) for each in made.sections() if each.name in (".text.k", ".nv.constant2.k")}
