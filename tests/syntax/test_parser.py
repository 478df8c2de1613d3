"""Text to tree: each form of the manual or of a compiler, and its node."""

from __future__ import annotations

import struct

import pytest

from ptxkit.syntax import parse
from ptxkit.syntax.tree import (
    Address,
    Apply,
    Arguments,
    Binary,
    Block,
    Conditional,
    Declaration,
    Declarator,
    Directive,
    Element,
    Float,
    Function,
    Guard,
    Instruction,
    Integer,
    LabelStatement,
    Name,
    Not,
    Operand,
    Pair,
    Prototype,
    Section,
    Unary,
    Vector,
)
from tests.syntax.support import HEADING, instruction, kernel, operand, statement, statements


def names(*texts: str) -> tuple[Name, ...]:
    return tuple(Name(text) for text in texts)


def item(text: str) -> object:
    """Returns the only item after the heading."""
    *_, found = parse(HEADING + text).items
    return found


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("%r1", Name("%r1")),
        ("P1", Name("P1")),
        ("_", Name("_")),
        ("$L__BB0_2", Name("$L__BB0_2")),
        ("%tid.x", Name("%tid.x")),
        ("%tid .x", Name("%tid.x")),
        ("v.b3210", Name("v.b3210")),
        ("WARP_SZ", Name("WARP_SZ")),
        ("42", Integer(42, "42")),
        ("0x1F", Integer(31, "0x1F")),
        ("0X1fU", Integer(31, "0X1fU")),
        ("0b101U", Integer(5, "0b101U")),
        ("0177", Integer(127, "0177")),
        ("0", Integer(0, "0")),
        ("-4", Unary("-", Integer(4, "4"))),
        ("0f3F800000", Float(0x3F800000, 32, "0f3F800000")),
        ("0F40000000", Float(0x40000000, 32, "0F40000000")),
        ("0d3FF0000000000000", Float(0x3FF0000000000000, 64, "0d3FF0000000000000")),
        ("1.5", Float(int.from_bytes(struct.pack(">d", 1.5), "big"), 64, "1.5")),
        (".5", Float(int.from_bytes(struct.pack(">d", 0.5), "big"), 64, ".5")),
        ("2.", Float(int.from_bytes(struct.pack(">d", 2.0), "big"), 64, "2.")),
        ("1e-3", Float(int.from_bytes(struct.pack(">d", 1e-3), "big"), 64, "1e-3")),
        ("!%p1", Not(Name("%p1"))),
        ("%rx|%px", Pair(Name("%rx"), Name("%px"))),
        ("_ | %p", Pair(Name("_"), Name("%p"))),
        ("{%f1, %f2}|%p", Pair(Vector((Name("%f1"), Name("%f2"))), Name("%p"))),
        ("{%r1, _}", Vector(names("%r1", "_"))),
        ("{%r1,%r2,%r3,%r4}", Vector(names("%r1", "%r2", "%r3", "%r4"))),
        ("[%rd1]", Address(Name("%rd1"))),
        ("[ %r98 + 0 ]", Address(Name("%r98"), 0)),
        ("[%rd21+-4]", Address(Name("%rd21"), -4)),
        ("[table+0x10]", Address(Name("table"), 16)),
        ("[table+4*(2+1)]", Address(Name("table"), 12)),
        ("[128]", Address(Integer(128, "128"))),
        ("[0x80+-8]", Address(Integer(128, "0x80"), -8)),
        ("[+8]", Address(Integer(8, "8"))),
        ("[-16]", Address(Integer(-16, "-16"))),
        ("[-(0x10)]", Address(Integer(-16, "-16"))),
        ("[1?2:3, {%r1}]", Address(Integer(2, "2"), 0, (Vector(names("%r1")),))),
        ("[WARP_SZ]", Address(Name("WARP_SZ"))),
        ("[ WARP_SZ + 8 ]", Address(Integer(40, "40"))),
        ("[1.5<2.5]", Address(Integer(1, "1"))),
        ("[table+4-1<<2]", Address(Name("table"), 12)),
        ("[%rd1+0?2:3]", Address(Name("%rd1"), 3)),
        ("3|WARP_SZ", Binary("|", Integer(3, "3"), Name("WARP_SZ"))),
        ("WARP_SZ|WARP_SZ", Binary("|", Name("WARP_SZ"), Name("WARP_SZ"))),
        ("!WARP_SZ", Unary("!", Name("WARP_SZ"))),
        ("[%rd4, {%r1, %r2}]", Address(Name("%rd4"), 0, (Vector(names("%r1", "%r2")),))),
        ("[%rd4+8, {%r1}]", Address(Name("%rd4"), 8, (Vector(names("%r1")),))),
        ("[tex, smp, {%f1, %f2}]", Address(Name("tex"), 0, (Name("smp"), Vector(names("%f1", "%f2"))))),
        ("[%rd1, %r2]", Address(Name("%rd1"), 0, (Name("%r2"),))),
        ("table[3]", Element(Name("table"), Integer(3, "3"))),
        ("table[%r1]", Element(Name("table"), Name("%r1"))),
        ("(a, b)", Arguments(names("a", "b"))),
        ("(a)", Arguments(names("a"))),
        ("()", Arguments(())),
        ("table+8", Binary("+", Name("table"), Integer(8, "8"))),
        ("generic(p)", Apply("generic", Name("p"))),
        ("3|4", Binary("|", Integer(3, "3"), Integer(4, "4"))),
        ("7 % 3", Binary("%", Integer(7, "7"), Integer(3, "3"))),
        ("(.s64) 5", Unary("(.s64)", Integer(5, "5"))),
        ("!5", Unary("!", Integer(5, "5"))),
        ("~5", Unary("~", Integer(5, "5"))),
    ],
)
def test_an_operand_becomes_its_node(text: str, node: Operand) -> None:
    assert operand(text) == node


def test_operators_bind_as_in_c() -> None:
    one, two, three = Integer(1, "1"), Integer(2, "2"), Integer(3, "3")
    assert operand("1+2*3") == Binary("+", one, Binary("*", two, three))
    assert operand("(1+2)*3") == Binary("*", Binary("+", one, two), three)
    assert operand("1-2-3") == Binary("-", Binary("-", one, two), three)
    assert operand("1<<2|3") == Binary("|", Binary("<<", one, two), three)
    assert operand("1&&2==3") == Binary("&&", one, Binary("==", two, three))
    assert operand("1>2?2:3") == Conditional(Binary(">", one, two), two, three)
    assert operand("1?2:3?1:2") == Conditional(one, two, Conditional(three, one, two))


def test_an_instruction_is_guard_opcode_and_operands() -> None:
    assert instruction("ret;") == Instruction("ret")
    assert instruction("@%p1 bra L;") == Instruction("bra", names("L"), Guard("%p1"))
    assert instruction("@ %r60 bra L;") == Instruction("bra", names("L"), Guard("%r60"))
    assert instruction("@!%p1 ret;") == Instruction("ret", (), Guard("%p1", negated=True))
    assert instruction("@ ! %p1 ret ;") == Instruction("ret", (), Guard("%p1", negated=True))
    assert instruction("mbarrier.init.shared::cta.b64 [a], 1;").opcode == "mbarrier.init.shared::cta.b64"
    assert instruction("add .s32 a, b, c;") == Instruction("add.s32", names("a", "b", "c"))
    assert instruction("ld .global .v2 .b32 {a, b}, [c];").opcode == "ld.global.v2.b32"
    assert instruction("mov.u32 a , b ;") == Instruction("mov.u32", names("a", "b"))
    assert instruction("mov.u32\n\ta,\n\tb\n\t;") == Instruction("mov.u32", names("a", "b"))


def test_a_backslash_before_an_opcode_leaves_no_trace() -> None:
    assert instruction("\\ret;") == Instruction("ret")
    assert instruction("@!%p1 \\ // behind a guard\n mov.u32 a, b;") == instruction("@!%p1 mov.u32 a, b;")
    assert statements("\\mov.u32 a, b;\\ret;") == statements("mov.u32 a, b; ret;")


def test_no_blank_is_needed_between_opcode_and_brace() -> None:
    found = instruction("tcgen05.ld.sync.aligned.16x64b.x2.b32{%r1,%r2},[%r58];")
    assert found.opcode == "tcgen05.ld.sync.aligned.16x64b.x2.b32"
    assert found.operands == (Vector(names("%r1", "%r2")), Address(Name("%r58")))


def test_calls_accept_all_forms_of_lists() -> None:
    assert instruction("call f;").operands == names("f")
    assert instruction("call f, (a, 4);").operands == (Name("f"), Arguments((Name("a"), Integer(4, "4"))))
    assert instruction("call.uni (r), f, (a);").operands == (Arguments(names("r")), Name("f"), Arguments(names("a")))
    assert instruction("call (r), %rd1, (a), proto;").operands[-1] == Name("proto")
    assert instruction("call.uni (r), \n\tf, \n\t(\n\ta, \n\tb\n\t);").operands[2] == Arguments(names("a", "b"))


def test_one_line_may_have_several_statements_and_labels() -> None:
    assert statements("L1: L2: add.s32 a, b, c; ret;") == (
        LabelStatement("L1"),
        LabelStatement("L2"),
        Instruction("add.s32", names("a", "b", "c")),
        Instruction("ret"),
    )


def test_blocks_nest_and_may_declare_labels_again() -> None:
    outer, inner = statements("{ L: { L: ret; } }"), statements("L: ret;")
    (block,) = outer
    assert isinstance(block, Block)
    label, nested = block.body.statements
    assert label == LabelStatement("L")
    assert isinstance(nested, Block)
    assert nested.body.statements == inner


def test_a_flattened_body_has_the_statements_of_nested_blocks_in_their_order() -> None:
    body = parse(kernel("L1: { L2: { ret; } L3: } exit;")).function("k").body
    assert body is not None
    flat, starts = zip(*body.flatten_blocks(), strict=True)
    assert flat == statements("L1: L2: ret; L3: exit;")
    assert list(starts) == sorted(starts)


def test_comments_may_be_anywhere() -> None:
    text = "/* a */ add.s32 // b ; {\n a /* ; */ , b, // c\n c /* d\n e */ ; // f"
    assert statement(text) == Instruction("add.s32", names("a", "b", "c"))


def test_equal_statements_are_one_object() -> None:
    first, second = statements("add.s32 a, b, c;\nadd.s32 a, b, c;")
    assert first is second


@pytest.mark.parametrize(
    ("text", "node"),
    [
        (".reg .b32 %r<5>;", Declaration("reg", "b32", (Declarator("%r", 5),))),
        (".reg.b32 x;", Declaration("reg", "b32", (Declarator("x"),))),
        (
            ".reg .pred p, q, %p<3>;",
            Declaration("reg", "pred", (Declarator("p"), Declarator("q"), Declarator("%p", 3))),
        ),
        (".reg .v2 .u32 %r64;", Declaration("reg", "u32", (Declarator("%r64"),), vector="v2")),
        (".local .align 8 .b8 d[32];", Declaration("local", "b8", (Declarator("d", None, (32,)),), alignment=8)),
        (".param .align 8 .b8 py[12];", Declaration("param", "b8", (Declarator("py", None, (12,)),), alignment=8)),
        (".shared .u16 t[3][0x4];", Declaration("shared", "u16", (Declarator("t", None, (3, 4)),))),
    ],
)
def test_a_declaration_in_a_body_becomes_its_node(text: str, node: Declaration) -> None:
    assert statement(text) == node


@pytest.mark.parametrize(
    ("text", "node"),
    [
        (".visible .global .f32 x;", Declaration("global", "f32", (Declarator("x"),), ("visible",))),
        (
            ".extern .shared .align 16 .b8 sm[];",
            Declaration("shared", "b8", (Declarator("sm", None, (None,)),), ("extern",), 16),
        ),
        (".common .global .u64 e;", Declaration("global", "u64", (Declarator("e"),), ("common",))),
        (
            ".global .attribute(.managed, .unified(19, 95)) .f32 f;",
            Declaration("global", "f32", (Declarator("f"),), attributes=(".managed", ".unified(19, 95)")),
        ),
        (".global .texref t;", Declaration("global", "texref", (Declarator("t"),))),
        (".tex .u32 t;", Declaration("tex", "u32", (Declarator("t"),))),
        (
            ".global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest };",
            Declaration(
                "global",
                "samplerref",
                (
                    Declarator(
                        "s",
                        None,
                        (),
                        Vector(
                            (
                                Binary("=", Name("addr_mode_0"), Name("clamp_to_border")),
                                Binary("=", Name("filter_mode"), Name("nearest")),
                            )
                        ),
                    ),
                ),
            ),
        ),
    ],
)
def test_a_variable_of_the_module_becomes_its_node(text: str, node: Declaration) -> None:
    assert item(text) == node


def test_initializers_contain_addresses_masks_and_nested_lists() -> None:
    found = item(".global .u8 a[] = {0xFF00(generic(p)), generic(p)+4, p, -1, {1, 2}, 0xFF(1000 + 546)};")
    assert isinstance(found, Declaration)
    (declarator,) = found.declarators
    assert declarator.dimensions == (None,)
    one, two = Integer(1, "1"), Integer(2, "2")
    assert declarator.initialiser == Vector(
        (
            Apply("0xFF00", Apply("generic", Name("p"))),
            Binary("+", Apply("generic", Name("p")), Integer(4, "4")),
            Name("p"),
            Unary("-", one),
            Vector((one, two)),
            Apply("0xFF", Binary("+", Integer(1000, "1000"), Integer(546, "546"))),
        )
    )


def test_a_long_table_has_the_elements_of_a_short_one() -> None:
    written = [str(number % 251) for number in range(100_000)]
    found = item(f".global .align 4 .b8 t[{len(written)}] = {{{', '.join(written)}}};")
    assert isinstance(found, Declaration)
    initializer = found.declarators[0].initialiser
    assert isinstance(initializer, Vector)
    assert [each.text for each in initializer.elements if isinstance(each, Integer)] == written


def test_a_table_may_not_contain_elements_that_only_an_instruction_may_have() -> None:
    from ptxkit import PTXSyntaxError

    rows = ", ".join(["1"] * 50)
    assert isinstance(item(f".global .u32 t[] = {{{rows}, g}};"), Declaration)
    with pytest.raises(PTXSyntaxError):
        item(f".global .u32 t[] = {{{rows}, [g]}};")


@pytest.mark.parametrize(
    ("text", "pointer", "alignment"),
    [
        (".param .u64 .ptr .global .align 1 a", ("global",), 1),
        (".param .u64 .ptr .align 1 a", (), 1),
        (".param .u64 .ptr.global.align 16 a", ("global",), 16),
        (".param .u64 .ptr .shared a", ("shared",), None),
        (".param.u64 .ptr a", (), None),
        (".param .u64 a", None, None),
    ],
)
def test_a_parameter_may_state_what_it_points_to(
    text: str, pointer: tuple[str, ...] | None, alignment: int | None
) -> None:
    found = item(f".entry k({text}) {{ ret; }}")
    assert isinstance(found, Function)
    (parameter,) = found.parameters
    assert (parameter.pointer, parameter.pointer_alignment) == (pointer, alignment)


def test_functions_have_linkage_results_parameters_and_directives() -> None:
    found = item(
        ".visible .func .attribute(.unified(1, 2)) (.param .b32 r, .reg .u32 q) f (.param .align 8 .b8 a[12])"
        ' .noreturn .abi_preserve 10 .language "ptx", 0x4 { ret; }'
    )
    assert isinstance(found, Function)
    assert (found.kind, found.name, found.linkage) == ("func", "f", ("visible",))
    assert found.attributes == (".unified(1, 2)",)
    assert [each.declarators[0].name for each in found.results] == ["r", "q"]
    assert found.parameters[0].alignment == 8
    assert found.directives == (
        Directive("noreturn"),
        Directive("abi_preserve", ("10",)),
        Directive("language", ('"ptx"', "0x4")),
    )
    assert found.body is not None


@pytest.mark.parametrize(
    "text",
    [
        ".entry k { ret; }",
        ".entry k() { ret; }",
        ".entry k() .maxntid 128, 1, 1 .minnctapersm 2 { ret; }",
        '.entry k() .pragma "nounroll"; { ret; }',
        ".entry k() .reqntid 32 .reqnctapercluster 2, 1, 1 .explicitcluster .blocksareclusters { ret; }",
        ".entry k()\n// why\n.maxnreg 64\n/* so */\n{ ret; }",
    ],
)
def test_headers_of_kernels_accept_their_directives(text: str) -> None:
    found = item(text)
    assert isinstance(found, Function)
    assert found.body is not None
    assert found.body.statements == (Instruction("ret"),)


def test_a_function_without_a_body_is_a_declaration() -> None:
    found = item(".extern .func f;")
    assert found == Function("func", "f", linkage=("extern",))


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ('.file 1 "a b.cu", 123, 4', Directive("file", ("1", '"a b.cu"', "123", "4"))),
        (".alias a, b;", Directive("alias", ("a", "b"))),
        ('.pragma "x;y", "z";', Directive("pragma", ('"x;y"', '"z"'))),
        ("@@DWARF .byte 0x2b, 0x00", Directive("@@DWARF", (".byte", "0x2b,", "0x00"))),
    ],
)
def test_a_directive_of_the_module_keeps_its_words(text: str, node: Directive) -> None:
    assert item(text) == node


@pytest.mark.parametrize(
    ("text", "node"),
    [
        (".loc 1 2 3", Directive("loc", ("1", "2", "3"))),
        (
            ".loc 1 2 3, function_name $L, inlined_at 1 9 3",
            Directive("loc", ("1", "2", "3", "function_name", "$L", "inlined_at", "1", "9", "3")),
        ),
        (
            ".loc 1 2 3, function_name $L + 16,\n inlined_at 1 9 3",
            Directive("loc", ("1", "2", "3", "function_name", "$L+16", "inlined_at", "1", "9", "3")),
        ),
        (".loc_intermediate 2 137 23", Directive("loc_intermediate", ("2", "137", "23"))),
        ('.pragma "used_bytes_mask 0xf0ff";', Directive("pragma", ('"used_bytes_mask 0xf0ff"',))),
        ("T: .branchtargets\n\tL1,\n\tL2;", Directive("branchtargets", ("L1", "L2"), "T")),
        ("T: .branchtargets L < 0x3 >, M;", Directive("branchtargets", ("L<3>", "M"), "T")),
        ("T: .calltargets f;", Directive("calltargets", ("f",), "T")),
    ],
)
def test_a_directive_of_a_body_keeps_its_words(text: str, node: Directive) -> None:
    assert statement(text) == node


def test_prototypes_may_omit_results_and_parameters() -> None:
    full = statement("p : .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;")
    assert isinstance(full, Prototype)
    assert (full.label, len(full.results), len(full.parameters)) == ("p", 1, 1)
    assert full.directives == (Directive("noreturn"),)
    assert statement("p: .callprototype _;") == Prototype("p", (), ())
    assert statement("p: .callprototype ()_ ();") == Prototype("p", (), ())


def test_sections_are_kept_line_by_line() -> None:
    found = item(".section .debug_info\n{\n.b8 1,2 // two\nL1:\n.b32 L1-L2\n.b32 .debug_loc+0x4\n.b64 -1 .b8 7\n}")
    assert found == Section(".debug_info", (".b8 1, 2", "L1:", ".b32 L1-L2", ".b32 .debug_loc+0x4", ".b64 -1", ".b8 7"))


def test_a_brace_in_a_comment_ends_no_section() -> None:
    found = item(".section .debug_info {\n.b8 1 // }\n.b8 2\n}")
    assert found == Section(".debug_info", (".b8 1", ".b8 2"))


def test_source_of_another_language_is_kept_unchanged() -> None:
    text = (
        '.nv_intermediate_source_section {\n.code_block {\n.ir_name: "TileIR"\n.sourceFileName: 1\n'
        '.source_begin\n  f() { } ; // "\n.source_end\n}\n}\n.global .b32 behind;'
    )
    module = parse(HEADING + text)
    section = module.items[3]
    assert isinstance(section, Section)
    assert '  f() { } ; // "' in section.lines
    assert isinstance(module.items[4], Declaration)


@pytest.mark.parametrize("end", ["\0", "\n\0\n", "\0\0\0", "", "\r\n", " // last"])
def test_a_text_may_end_with_a_nul_or_blanks_or_a_comment(end: str) -> None:
    assert parse(kernel("ret;") + end) == parse(kernel("ret;"))


def test_line_ends_of_windows_change_nothing() -> None:
    text = kernel("add.s32 a, b, c; // why\n.loc 1 2 3\nL:\nret;")
    assert parse(text.replace("\n", "\r\n")) == parse(text)


def test_long_lines_and_long_names_are_read() -> None:
    name = "n" * 100_000
    line = "add.s32 a, b, c; " * 30_000
    module = parse(f"{HEADING}.entry {name}() {{ {line} }}")
    body = module.function(name).body
    assert body is not None
    assert len(body.statements) == 30_000


def test_a_module_has_its_heading_and_source() -> None:
    module = parse(f"{HEADING.replace('sm_90a', 'sm_90a, debug')}", "x.ptx")
    assert (module.version, module.targets, module.address_size) == ((9, 4), ("sm_90a", "debug"), 64)
    assert module.source is not None
    assert module.source.path == "x.ptx"
    assert parse(HEADING).source is not None
