"""Functions as lists of steps: the resolution of names, and the layout of variables."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.ir.program import ModuleContext, Program, flatten
from ptxkit.analysis.ir.shared_window import SHARED_END
from ptxkit.isa.effects import Access
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.syntax import parse
from tests.analysis.support import module_of, program_of, walk


def variable(program: Program, name: str) -> DeclaredVariable:
    found = program.scope.variable(name)
    assert found is not None, name
    return found


def test_a_register_of_a_nested_block_hides_the_outer_one_of_that_name() -> None:
    executed = walk(module_of("mov.u32 %r9, 1; { .reg .b32 %r9; mov.u32 %r9, 2; mov.u32 %r8, %r9; }"))
    assert (executed["%r9"], executed["%r8"]) == (1, 2)


def test_a_block_without_its_own_declaration_writes_the_outer_register() -> None:
    executed = walk(module_of("mov.u32 %r9, 1; { mov.u32 %r9, 2; }"))
    assert executed["%r9"] == 2


def test_a_family_of_registers_hides_only_its_own_numbers() -> None:
    executed = walk(module_of("mov.u32 %r1, 1; mov.u32 %r9, 1; { .reg .b32 %r<4>; mov.u32 %r1, 2; mov.u32 %r9, 2; }"))
    assert (executed["%r1"], executed["%r9"]) == (1, 2)


def test_two_blocks_may_have_a_label_of_one_name() -> None:
    block = "{ setp.eq.u32 %p1, %r1, 0; @%p1 bra out; mov.u32 %r9, 7; out: add.u32 %r8, %r8, 1; }"
    executed = walk(module_of(f"mov.u32 %r1, 0; mov.u32 %r8, 0; {block} {block}"))
    assert (executed["%r8"], executed["%r9"]) == (2, None)


def test_a_branch_finds_the_label_of_its_own_block_before_an_outer_one() -> None:
    body = (
        "{ bra.uni out; mov.u32 %r9, 1; out: mov.u32 %r8, 1; } bra.uni end; out: mov.u32 %r9, 2; end: nanosleep.u32 0;"
    )
    executed = walk(module_of(body))
    assert (executed["%r8"], executed["%r9"]) == (1, None)


def test_a_branch_leaves_its_block_for_a_label_outside() -> None:
    executed = walk(module_of("{ bra.uni out; mov.u32 %r9, 1; } mov.u32 %r9, 2; out: mov.u32 %r8, 1;"))
    assert (executed["%r8"], executed["%r9"]) == (1, None)


def test_a_register_that_a_block_declares_in_its_middle_hides_the_outer_one_from_there_on() -> None:
    body = "mov.u32 %r9, 1; { mov.u32 %r8, %r9; .reg .b32 %r9; mov.u32 %r9, 2; mov.u32 %r7, %r9; } mov.u32 %r6, %r9;"
    executed = walk(module_of(body))
    assert [executed[name] for name in ("%r9", "%r8", "%r7", "%r6")] == [1, 1, 2, 1]


def test_leading_zeros_in_its_number_do_not_change_a_register() -> None:
    executed = walk(module_of("mov.u32 %r04, 7; mov.u32 %r5, %r004;"))
    assert (executed["%r4"], executed["%r5"]) == (7, 7)


def test_vectors_of_two_blocks_have_separate_components() -> None:
    program = program_of(module_of("{ .reg .v2 .u32 v; mov.u32 v.x, 1; } { .reg .v2 .u32 v; mov.u32 v.x, 2; }"))
    assert len({step.scope.register_name("v.x") for step in program.steps[:2]}) == 2


def test_a_definition_determines_the_layout_rather_than_its_extern_declaration() -> None:
    open_one, whole = ".extern .shared .b8 tile[];", ".visible .shared .b8 tile[64];"
    for before in (f"{open_one} {whole}", f"{whole} {open_one}"):
        program = program_of(module_of("mov.u32 %r1, tile;", before=before))
        assert [(each.name, each.fixed_size) for each in program.variables] == [("tile", 64)]


def test_variables_keep_their_alignment_and_do_not_overlap() -> None:
    declared = ".shared .align 4 .b8 a[6]; .shared .align 128 .b8 b[256]; .shared .b64 c; .shared .v4 .f32 d[2];"
    program = program_of(module_of(declared))
    a, b, c, d = (variable(program, name) for name in "abcd")
    assert [variable.size for variable in (a, b, c, d)] == [6, 256, 8, 32]
    assert b.address % 128 == c.address % 8 == d.address % 16 == 0
    ends = sorted((variable.address, variable.address + variable.size) for variable in (a, b, c, d))
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))


def test_launch_sized_arrays_share_the_address_after_all_the_others() -> None:
    program = program_of(
        module_of(".shared .b8 mine[100];", before=".extern .shared .align 16 .b8 one[]; .extern .shared .b8 two[];")
    )
    mine, one, two = (variable(program, name) for name in ("mine", "one", "two"))
    assert one.is_open
    assert one.address == two.address >= mine.address + 100


def test_an_address_is_traced_back_to_the_variable_that_it_contains() -> None:
    program = program_of(module_of(".shared .align 16 .b8 a[32]; .shared .align 16 .b8 b[32];"))
    a, b = variable(program, "a"), variable(program, "b")
    assert program.variable_at(a.address + 31) == a
    assert program.variable_at(b.address) == b
    assert program.variable_at(b.address + 32) is None


def test_an_instruction_without_a_form_is_a_step_without_a_match() -> None:
    steps = program_of(module_of("mov.u32 %r1, 0; frobnicate.u32 %r1, %r2;")).steps
    assert [step.match is None for step in steps] == [False, True, False]


def test_a_declared_function_has_no_steps_and_one_with_a_body_has() -> None:
    text = ".version 9.0 .target sm_90 .address_size 64\n.extern .func there;\n.func here { ret; }"
    module = parse(text)
    assert len(flatten(module, module.function("here")).steps) == 1
    with pytest.raises(ValueError, match="there"):
        flatten(module, module.function("there"))


@pytest.mark.parametrize(
    ("declared", "element", "bytes_"),
    [
        (".shared .b32 a[8];", "a[0]", 0),
        (".shared .b32 a[8];", "a[3]", 12),
        (".shared .b32 a[8];", "a[WARP_SZ-31]", 4),
        (".shared .b32 a[8];", "a[%r1]", 20),
        (".shared .b32 a[8];", "a[%r1+1]", 24),
        (".shared .b8 a[8];", "a[3]", 3),
        (".shared .b64 a[8];", "a[%r1]", 40),
        (".shared .b32 a[4][4];", "a[1]", 4),
        (".shared .v2 .b32 a[4];", "a[1]", 4),
    ],
)
def test_an_index_counts_scalars(declared: str, element: str, bytes_: int) -> None:
    executed = walk(
        module_of(f"{declared} mov.u32 %r1, 5; mov.u32 %r2, a; mov.u32 %r3, {element}; ld.shared.b32 %r4, {element};")
    )
    start = executed["%r2"]
    assert isinstance(start, int)
    assert executed["%r3"] == start + bytes_
    (read,) = executed.events(Access)
    assert read.address == start + bytes_


def test_an_element_of_a_launch_sized_array_is_after_its_start() -> None:
    executed = walk(module_of("mov.u32 %r2, a; st.shared.b16 a[3], 1;", before=".extern .shared .align 16 .b16 a[];"))
    (write,) = executed.events(Access)
    assert isinstance(write.address, int)
    assert write.address - 6 == executed["%r2"]


def test_an_element_of_a_parameter_is_at_its_offset() -> None:
    module = module_of("ld.param.u64 %rd1, p[1]; ld.global.b32 %r1, [%rd1];", parameters=".param .u64 p[2]")
    assert pointer_parameters(program_of(module)) == {("p", 8)}


def test_the_layout_of_functions_does_not_depend_on_their_number() -> None:
    module = parse(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .b8 one[40]; .extern .shared .b8 rest[];\n"
        ".global .b32 far; .shared .align 64 .b8 two[8];\n"
        ".visible .entry k() { .shared .b32 own; ret; }\n.visible .entry m() { .shared .b64 other[4]; ret; }\n"
    )
    outside = ModuleContext(module)
    together = [flatten(module, module.function(name), outside) for name in ("k", "m")]
    alone = [flatten(module, module.function(name)) for name in ("k", "m")]
    assert [each.variables for each in together] == [each.variables for each in alone]
    for program in together:
        assert {v.name for v in program.variables} >= {"one", "two", "rest"}
        assert program.scope.variable("far") is not None
        for variable in program.variables:
            assert program.variable_at(variable.address) in (variable, program.scope.variable(variable.name))
    assert together[0].scope.outer is not together[1].scope.outer
    assert together[0].variable_at(1023) is None


def test_of_launch_sized_arrays_at_one_address_the_first_counts() -> None:
    program = program_of(module_of("", before=".extern .shared .b8 first[]; .extern .shared .align 16 .b8 second[];"))
    first, second = (program.scope.variable(name) for name in ("first", "second"))
    assert first is not None
    assert second is not None
    assert first.address == second.address
    assert program.variable_at(first.address + 5000) == first


def test_a_kernel_of_an_oversized_module_contains_only_the_variables_that_it_mentions() -> None:
    many = "".join(f".shared .align 16 .b8 tile{n}[40000];\n" for n in range(40))
    text = ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .b8 rest[];\n"
    mention = ".visible .entry k() { .reg .b32 %r<3>; mov.u32 %r1, tile39; ld.shared.u32 %r2, [tile37+4]; ret; }\n"
    program = flatten(parse(text + many + mention), parse(text + many + mention).function("k"))
    assert [v.name for v in program.variables if v.space == "shared"] == ["tile37", "tile39", "rest"]
    assert all(v.address < SHARED_END for v in program.variables if v.space == "shared")
    few = text + many.replace("40000", "400") + mention
    assert len(flatten(parse(few), parse(few).function("k")).variables) == 41


def test_a_callee_finds_the_variables_at_the_addresses_of_the_kernel() -> None:
    many = "".join(f".shared .align 16 .b8 tile{n}[40000];\n" for n in range(40))
    module = parse(
        f".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .b8 rest[];\n{many}"
        ".func g() { .reg .b32 %r<3>; mov.u32 %r1, tile36; mov.u32 %r2, tile39; ret; }\n"
        ".func f() { .local .b8 own[8]; .shared .b8 mine[8]; call g; ret; }\n"
        ".func h() { .reg .b32 %r<3>; mov.u32 %r1, tile3; ret; }\n"
        ".visible .entry k() { .reg .b32 %r<3>; .local .b8 own[8]; mov.u32 %r1, tile39; call f; ret; }\n"
    )
    program = flatten(module, module.function("k"), calls=True)
    assert sorted(program.callees) == ["f", "g"]
    assert [v.name for v in program.variables if v.space == "shared"] == ["tile36", "tile39", "mine", "rest"]
    assert not program.exceeds_shared_limit
    assert all(each.variables == program.variables for each in program.callees.values())
    variables = [program.scope.variable("own"), program.callees["f"].scope.variable("own")]
    assert all(variables)
    assert len({each.address for each in variables if each is not None}) == 2
    places = {each.scope.variable("tile39") for each in (program, *program.callees.values())}
    assert len(places) == 1


def test_a_kernel_that_mentions_more_than_a_cta_can_have_is_oversized() -> None:
    many = "".join(f".shared .align 16 .b8 tile{n}[100000]; mov.u32 %r1, tile{n};\n" for n in range(3))
    assert program_of(module_of(many)).exceeds_shared_limit
    assert not program_of(module_of(many.replace("100000", "10000"))).exceeds_shared_limit


def test_the_acting_steps_are_those_that_do_more_than_compute() -> None:
    body = "mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; add.u32 %r2, %r1, 1; ld.global.u32 %r3, [%rd1]; bar.sync 0;"
    program = program_of(module_of(body + "add.strange %r1, %r2; mul.lo.u32 %r1, %r2, %r3;"))
    assert [step.instruction.name for step in program.own_effectful_steps] == ["st", "ld", "bar", "add", "ret"]


def test_an_oversized_module_has_a_layout_for_each_function_and_the_remaining_variables() -> None:
    shared = "".join(f".shared .align 16 .b8 tile{number}[100000];" for number in range(4))
    before = f".global .u32 flag; {shared} .extern .shared .align 16 .b8 rest[]; .const .u32 table[4];"
    program = program_of(module_of("mov.u32 %r1, tile2; mov.u32 %r2, rest;", before=before))
    assert [each.name for each in program.variables] == ["tile2", "rest"]
    outermost = program.scope.outer
    assert outermost is not None
    assert set(outermost.variables) == {"flag", "tile2", "rest", "table"}


def test_a_call_of_an_alias_leads_to_its_function() -> None:
    before = ".func f(); .func g() { .shared .b32 mine; ret; } .alias f, g;"
    program = program_of(module_of("call f; call g;", before=before))
    assert sorted(program.callees) == ["f", "g"]
    assert program.callees["f"] is program.callees["g"]
    assert [each.name for each in program.variables] == ["mine"]
    assert program_of(module_of("call f;", before=before.replace(".alias f, g;", ""))).callees == {}


def test_the_effects_of_a_kernel_include_those_of_the_functions_that_it_calls() -> None:
    before = ".func inner() { membar.gl; ret; } .func outer() { call inner; ret; }"
    program = program_of(module_of("bar.sync 0; call outer;", before=before))
    assert [each.function.name for each in program.functions] == ["k", "outer", "inner"]
    names = [step.instruction.name for step in program.effectful_steps]
    assert [*names] == ["bar", "call", "ret", "call", "ret", "membar", "ret"]
    assert all(each.effectful_steps == program.effectful_steps for each in program.functions)
    (fence,) = (step for step in program.effectful_steps if step.instruction.name == "membar")
    assert program.function_of(fence).function.name == "inner"
    assert not program.contains(fence)


@pytest.mark.parametrize(
    ("before", "take"),
    [
        (".global .u64 table[1] = {inner};", "ld.global.u64 %rd1, [table];"),
        ("", "mov.u64 %rd1, inner;"),
    ],
)
def test_an_indirect_call_may_reach_each_function_whose_address_is_taken(before: str, take: str) -> None:
    functions = ".func inner() { membar.gl; ret; } .func other() { ret; } .entry unrelated() { call other; ret; }"
    call = f"none: .callprototype _ (); {take} call %rd1, (), none;"
    program = program_of(module_of(call, before=f"{functions} {before}"))
    assert [*program.callees] == ["inner"]
    assert not program_of(module_of(take, before=f"{functions} {before}")).callees
