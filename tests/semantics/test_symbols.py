"""The symbol table of a module: the declaration that a name refers to at a place."""

from __future__ import annotations

import pytest

from ptxkit.semantics.symbols import NameScope, scoped_statements
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Declaration, Declarator, Directive, Instruction, LabelStatement, Name


def uses_of(body: str, name: str, before: str = "") -> list[str | int]:
    """Returns for each `mov` of a kernel with a second operand of this name: the type of its declaration, the number of
    the statement in the text for a label, and `""` if there is no declaration."""
    module = parse(f".version 9.0 .target sm_90 .address_size 64\n{before}\n.entry k(.param .u64 p) {{\n{body}\n}}\n")
    outer = NameScope()
    for item, start in module.with_offsets():
        outer.enter(item, start)
    function = module.function("k")
    scope = outer.make_nested()
    scope.enter_parameters(function)
    assert function.body is not None
    statements = list(scoped_statements(function.body, scope))
    starts = [start for _, start, _ in statements]
    found: list[str | int] = []
    for statement, _, here in statements:
        if isinstance(statement, Instruction) and statement.operands[-1] == Name(name):
            named = here.find(name)
            if named is not None and isinstance(named.node, LabelStatement):
                found.append(starts.index(named.start))
            else:
                found.append("" if named is None or not isinstance(named.node, Declaration) else named.node.type)
    return found


@pytest.mark.parametrize(
    ("body", "name", "found"),
    [
        (".reg .b32 a; mov.b32 _, a; { mov.b32 _, a; } mov.b32 _, a;", "a", ["b32", "b32", "b32"]),
        (".reg .b32 a; { .reg .b64 a; mov.b64 _, a; } mov.b32 _, a;", "a", ["b64", "b32"]),
        (".reg .b32 a; { mov.b32 _, a; .reg .b64 a; mov.b64 _, a; } mov.b32 _, a;", "a", ["b32", "b64", "b32"]),
        (
            ".reg .b32 a; { mov.b32 _, a; .reg .b64 a; { mov.b64 _, a; .reg .f32 a; mov.f32 _, a; } mov.b64 _, a; }",
            "a",
            ["b32", "b64", "f32", "b64"],
        ),
        (".reg .b32 r<9>; { mov.b32 _, r2; .reg .b64 r<3>; mov.b64 _, r2; }", "r2", ["b32", "b64"]),
        (".reg .b32 r<9>; { mov.b32 _, r2; .reg .b64 r<3>; mov.b64 _, r5; }", "r5", ["b32"]),
        (".reg .b32 r2; { mov.b32 _, r2; .reg .b64 r<3>; mov.b64 _, r2; }", "r2", ["b32", "b64"]),
        (".reg .b32 r<9>; { mov.b32 _, r2; .reg .b64 r2; mov.b64 _, r2; }", "r2", ["b32", "b64"]),
        ("mov.b64 _, p; { mov.b64 _, p; .reg .b32 p; mov.b32 _, p; }", "p", ["u64", "u64", "b32"]),
        ("mov.b64 _, v; .reg .b32 v; mov.b32 _, v;", "v", ["f32", "b32"]),
        (".reg .b32 a, b; { mov.b32 a, b; .reg .f32 a; .reg .f64 b; mov.f64 _, b; }", "b", ["b32", "f64"]),
        (
            ".reg .b32 a, b; { mov.b32 _, b; .reg .f32 a; mov.b32 _, b; .reg .f64 b; mov.f64 _, b; }",
            "b",
            ["b32", "b32", "f64"],
        ),
        (
            ".reg .b32 a; { mov.b32 _, a; .reg .f32 a; { mov.f32 _, a; } { .reg .f64 a; mov.f64 _, a; } }",
            "a",
            ["b32", "f32", "f64"],
        ),
    ],
)
def test_a_declaration_hides_an_outer_name_from_its_place_on(body: str, name: str, found: list[str]) -> None:
    assert uses_of(body, name, ".global .f32 v;") == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("mov.b32 _, L; L:", [1]),
        ("L: { mov.b32 _, L; L: }", [3]),
        ("{ mov.b32 _, L; } L:", [2]),
        ("{ L: } mov.b32 _, L; L:", [3]),
        (".reg .b32 a; { mov.b32 _, L; .reg .b64 a; L: mov.b32 _, L; }", [4, 4]),
        ("{ L: } mov.b32 _, L;", [""]),
    ],
)
def test_a_label_is_visible_in_its_whole_block(body: str, found: list[str | int]) -> None:
    assert uses_of(body, "L") == found


@pytest.mark.parametrize(
    ("declared", "name", "found"),
    [
        (".reg .b32 %r<5>;", "%r4", "b32"),
        (".reg .b32 %r<5>;", "%r5", ""),
        (".reg .b32 %r<5>;", "%r04", "b32"),
        (".reg .b32 %r<5>;", "%r", ""),
        (".reg .b32 %r1<5>;", "%r12", ""),
        (".reg .b32 %r1<5>; .reg .b64 %r<20>;", "%r12", "b64"),
    ],
)
def test_registers_may_be_declared_by_number(declared: str, name: str, found: str) -> None:
    assert uses_of(f"{declared} mov.b32 _, {name};", name) == [found]


def test_another_spelling_of_a_number_is_the_same_register() -> None:
    scope = NameScope()
    scope.enter(Declaration("reg", "b32", (Declarator("%r", 9), Declarator("%s01"))))
    assert [scope.declared_name(each) for each in ("%r4", "%r04", "%s01", "%q")] == ["%r4", "%r4", "%s01", "%q"]


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        (".extern .global .u32 v;", ".visible .global .u32 v = 7;", 1),
        (".visible .global .u32 v = 7;", ".extern .global .u32 v;", 0),
        (".extern .shared .b8 v[];", ".extern .shared .align 16 .b8 v[];", 1),
        (".global .u32 v = 7;", ".global .u32 v = 8;", 0),
        (".func v;", ".func v { ret; }", 1),
        (".func v { ret; }", ".func v;", 0),
        (".func v;", ".global .u32 v;", 0),
    ],
)
def test_a_definition_takes_precedence_over_a_declaration(first: str, second: str, counts: int) -> None:
    module = parse(f".version 9.0 .target sm_90 .address_size 64\n{first}\n{second}\n")
    items = [item for item in module.items if not isinstance(item, Directive)]
    scope = NameScope()
    clashes = [clash for item in items for clash in scope.enter(item)]
    named = scope.find("v")
    assert named is not None
    assert named.node is items[counts]
    assert [clash.display_name for clash in clashes] == ["v"]
