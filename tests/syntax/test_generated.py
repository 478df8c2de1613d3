"""Trees made by Hypothesis: printed and parsed, they come back; formatted, they stay."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptxkit.source import SourceFile
from ptxkit.syntax import format_source, parse, print_module
from ptxkit.syntax.constants import parse_bits_float, parse_decimal_float, parse_integer
from ptxkit.syntax.tree import (
    Address,
    Apply,
    Arguments,
    Binary,
    Block,
    Body,
    Conditional,
    Declaration,
    Declarator,
    Directive,
    Element,
    Function,
    Guard,
    Instruction,
    LabelStatement,
    Module,
    Name,
    Not,
    Operand,
    Pair,
    Statement,
    Unary,
    Vector,
)
from tests.syntax.support import HEADING, all_starts, plainly

_OPERATORS = (
    "+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&", "||",
)  # fmt: skip
_first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_rest = _first + "0123456789_$"
words = st.one_of(
    st.builds(lambda first, rest: first + rest, st.sampled_from(_first), st.text(_rest, max_size=6)),
    st.builds(lambda first, rest: first + rest, st.sampled_from("%$_"), st.text(_rest, min_size=1, max_size=6)),
)
texts = st.one_of(words, words.map(lambda word: f"{word}.x"), st.just("_"))
names = texts.map(Name)
numbers = st.one_of(
    st.integers(0, 2**64 - 1).map(str),
    st.integers(0, 2**64 - 1).map(hex),
    st.integers(0, 2**32 - 1).map(lambda value: f"{value}U"),
).map(lambda text: parse_integer(text if text == "0" or text.lstrip("0") == text or "x" in text else "1"))
floats = st.one_of(
    st.integers(0, 2**32 - 1).map(lambda value: parse_bits_float(f"0f{value:08X}")),
    st.integers(0, 2**64 - 1).map(lambda value: parse_bits_float(f"0d{value:016X}")),
    st.floats(0, 1e30).map(lambda value: parse_decimal_float(f"{value:.6e}")),
)
constants: st.SearchStrategy[Operand] = st.recursive(
    st.one_of(numbers, floats),
    lambda inner: st.one_of(
        st.builds(Unary, st.sampled_from(["-", "+", "~", "!", "(.s64)", "(.u64)"]), inner),
        st.builds(
            Binary,
            st.sampled_from(
                ["+", "-", "*", "/", "%", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|", "&&", "||"]
            ),
            inner,
            inner,
        ),
        st.builds(Conditional, inner, inner, inner),
    ),
    max_leaves=6,
)
registers = names.filter(lambda name: not name.is_sink)
places = st.one_of(registers, numbers)
addresses = st.builds(Address, places, st.integers(-(2**31), 2**31))
simple = st.one_of(names, constants, addresses, st.builds(Not, names), st.builds(Pair, names, names))
operands: st.SearchStrategy[Operand] = st.one_of(
    simple,
    st.lists(simple, min_size=1, max_size=4).map(tuple).map(Vector),
    st.lists(names, max_size=3).map(tuple).map(Arguments),
    st.builds(Element, names, st.one_of(words.map(Name), numbers)),
    st.builds(Apply, words, names),
    st.builds(
        Address,
        registers,
        st.integers(0, 64),
        st.lists(st.lists(names, min_size=1, max_size=3).map(tuple).map(Vector), min_size=1, max_size=2).map(tuple),
    ),
)
opcodes = st.builds(
    lambda name, modifiers: ".".join((name, *modifiers)),
    st.sampled_from(["add", "ld", "mov", "cp", "ret"]),
    st.lists(st.sampled_from(["s32", "global", "shared::cta", "v2", "16x64b", "L2::128B", "param"]), max_size=3),
)
instructions = st.builds(
    Instruction,
    opcodes,
    st.lists(operands, max_size=4).map(tuple),
    st.one_of(st.none(), st.builds(Guard, words, st.booleans())),
)
declarations = st.builds(
    Declaration,
    st.sampled_from(["reg", "local", "shared", "param"]),
    st.sampled_from(["b32", "u64", "pred", "f16x2"]),
    st.lists(
        st.one_of(
            st.builds(Declarator, words),
            st.builds(Declarator, words, st.integers(0, 99)),
            st.builds(Declarator, words, st.none(), st.lists(st.integers(0, 99), min_size=1, max_size=2).map(tuple)),
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
    alignment=st.sampled_from([None, 4, 128]),
    vector=st.sampled_from([None, "v2", "v4"]),
)
directives = st.one_of(
    st.tuples(*[st.integers(1, 999).map(str)] * 3).map(lambda words: Directive("loc", words)),
    st.lists(words | words.map("{}<2>".format), min_size=1, max_size=3).map(
        lambda names: Directive("branchtargets", tuple(names), "T")
    ),
    st.just(Directive("pragma", ('"nounroll"',))),
)
statements: st.SearchStrategy[Statement] = st.recursive(
    st.one_of(instructions, words.map(LabelStatement), declarations, directives),
    lambda inner: st.lists(inner, max_size=3).map(lambda held: Block(Body(tuple(held)))),
    max_leaves=5,
)
_heading = parse(HEADING).items
modules = st.lists(statements, max_size=6).map(
    lambda held: Module((*_heading, Function("entry", "k", body=Body(tuple(held)))))
)
_quick = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(modules)
@_quick
def test_a_made_module_printed_and_parsed_is_itself(module: Module) -> None:
    text = print_module(module)
    parsed = parse(text)
    assert parsed == module
    assert print_module(parsed) == text


@given(modules)
@_quick
def test_a_made_module_is_parsed_as_lark_parses_it(module: Module) -> None:
    text = print_module(module)
    fast, plain = parse(text), plainly(text)
    assert plain is not None
    assert fast == plain
    assert all_starts(fast) == all_starts(plain)


@given(modules, st.randoms(use_true_random=False))
@_quick
def test_formatting_takes_back_what_blanks_and_comments_do(module: Module, random: object) -> None:
    from random import Random

    assert isinstance(random, Random)
    gaps = [" ", "\n", "\t", " /* c */ ", " // c\n", "\r\n"]
    lines = [line + random.choice(gaps) + "\n" for line in print_module(module).splitlines()]
    text = "".join(lines)
    result = format_source(SourceFile("k.ptx", text))
    assert parse(result) == module
    assert format_source(SourceFile("k.ptx", result)) == result
    assert result.count("c */") + result.count("// c") == text.count("c */") + text.count("// c")
