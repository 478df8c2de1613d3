"""The engines that evaluate value operations agree with the shared table of integer operations.

All operations are checked, with all widths, types and modes that occur in the forms of the instruction table.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod
from random import Random
from typing import Any, TypeAlias

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.analysis.dataflow.polynomial import Polynomial
from ptxkit.analysis.dataflow.symbolic_expr_ops import SymbolicExpr, apply_operation
from ptxkit.analysis.ir.shared_window import CTA_BITS, EVEN_CTA
from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable, Value
from ptxkit.analysis.values.value_ops_vectorized import VECTORIZED_OPS, vectorized_op
from ptxkit.emulator.core.address_windows import AddressWindow, AddressWindows
from ptxkit.emulator.core.dtypes import unsigned_dtype
from ptxkit.emulator.core.value_ops import ExpressionCompiler
from ptxkit.isa import effects, table
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import Form
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, bit_mask
from ptxkit.testing.generators.form_variants import matches_of
from tests.analysis.support import operations

thoroughly = settings(max_examples=25, deadline=None)
edges = st.sampled_from([0, 1, 5, 31, 32, 64, 255, 256, 0x7FFF, 1 << 31, bit_mask(32), 1 << 63, bit_mask(64)])
numbers = st.one_of(edges, st.integers(0, bit_mask(64)), st.integers(0, 70))
rows = st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=4, max_size=4)
LOP3_TABLES = (0x00, 0x1B, 0x3C, 0x80, 0x96, 0xCA, 0xE8, 0xFF)
"""Returns the operands of the instruction, without modifiers."""

Words: TypeAlias = tuple[Any, ...]


def calls_in(expression: Expression) -> Iterator[CallExpr]:
    if isinstance(expression, CallExpr):
        yield expression
        for each in expression.arguments:
            yield from calls_in(each)


def computes_integers(form: Form) -> bool:
    values = [dict(effect.arguments)["value"] for effect in form.effects if effect.name == "value"]
    values += [value for _, value in form.lets]
    return any(call.function in INTEGER_OPERATIONS for value in values for call in calls_in(value))


@cache
def words_of_operations() -> dict[str, list[Words]]:
    """Returns by operation the widths, types and modes that forms fix."""
    found: dict[str, set[Words]] = {name: set() for name in INTEGER_OPERATIONS}
    forms = [form for name in table().names for form in table().forms(name) if computes_integers(form)]
    matches = [match for form in forms for match in matches_of(form, Random(0))]
    values = [each.value for match in matches for each in match.effects if isinstance(each, effects.Value)]
    for call in {call for value in values for call in calls_in(value) if call.function in INTEGER_OPERATIONS}:
        fixed = [call.arguments[at] for at in INTEGER_OPERATIONS[call.function].static]
        choices = [each.value if isinstance(each, ConstantExpr) else None for each in fixed]
        varies = any(isinstance(each, OperandRole) for each in fixed)
        found[call.function] |= {(each,) for each in LOP3_TABLES} if varies else {tuple(choices)}
    return {name: sorted(words, key=str) for name, words in found.items()}


def cases(name: str) -> list[Words]:
    """Returns the words with which an operation is one of integers.

    (The emulator represents 128 bits as two columns.)
    """
    operation = INTEGER_OPERATIONS[name]
    found = [
        words
        for words in words_of_operations()[name]
        if compute_line(name, words, (1, 1, 1, 1)) is not None and max(operation.operand_widths(words)) <= 64
    ]
    assert found, f"no form of the table has {name}"
    return found


def arguments(name: str, words: Words, operands: tuple[Any, ...]) -> list[Any]:
    """Returns a call's arguments in the order of the notation."""
    operation = INTEGER_OPERATIONS[name]
    fixed, rest = iter(words), iter(operands)
    count = len(words) + len(operation.operand_widths(words))
    return [next(fixed) if at in operation.static else next(rest) for at in range(count)]


def compute_line(name: str, words: Words, operands: tuple[Any, ...]) -> int | None:
    return INTEGER_OPERATIONS[name].compute(*arguments(name, words, operands))


def is_mask_of_even_ctas(name: str, operands: tuple[Any, ...]) -> bool:
    """Returns whether an `and` maps an address to a CTA, which the analyzer models."""
    masks = [each & bit_mask(32) for each in operands if isinstance(each, int)]
    return name == "and" and any(mask >> CTA_BITS == EVEN_CTA for mask in masks)


@pytest.mark.parametrize("name", INTEGER_OPERATIONS)
@thoroughly
@given(rows)
def test_results_have_the_width_of_the_table(name: str, rows: list[tuple[int, ...]]) -> None:
    for words in cases(name):
        operation = INTEGER_OPERATIONS[name]
        widths, result = operation.operand_widths(words), operation.result_width(words)
        for row in rows:
            found = compute_line(name, words, row)
            assert found is None or 0 <= found <= bit_mask(result), (words, row)
            cut = tuple(value & bit_mask(width) for value, width in zip(row, widths, strict=False))
            assert compute_line(name, words, cut) == found, (words, row)


@pytest.mark.parametrize("name", INTEGER_OPERATIONS)
@thoroughly
@given(rows)
def test_the_emulator_computes_the_same_for_arrays(name: str, rows: list[tuple[int, ...]]) -> None:
    windows = AddressWindows(*(AddressWindow(0, 0) for _ in range(5)))
    for words in cases(name):
        operation = INTEGER_OPERATIONS[name]
        widths, result = operation.operand_widths(words), operation.result_width(words)
        roles = tuple(OperandRole(letter) for letter in "abcd"[: len(widths)])
        given = arguments(name, words, roles)
        call = CallExpr(name, tuple(each if each in roles else ConstantExpr(each) for each in given))
        names = [role.name for role in roles]
        compiler = ExpressionCompiler(windows, dict(zip(names, widths, strict=True)), {})
        compiler.roles = names
        function = compiler.compile(call, result)
        assert function is not None, words
        columns = [
            numpy.array([row[at] & bit_mask(width) for row in rows], numpy.uint64).astype(unsigned_dtype(width))
            for at, width in enumerate(widths)
        ]
        found = [int(each) for each in function(*columns)]
        # A division by zero gives all ones on hardware, where the manual leaves it open.
        expected = [compute_line(name, words, row) for row in rows]
        assert found == [bit_mask(result) if each is None else each for each in expected], words


@pytest.mark.parametrize("name", INTEGER_OPERATIONS)
@thoroughly
@given(rows)
def test_the_analyzer_computes_the_same_for_numbers_and_for_lanes(name: str, rows: list[tuple[int, ...]]) -> None:
    ops = operations()
    for words in cases(name):
        count = len(INTEGER_OPERATIONS[name].operand_widths(words))
        given = [row[:count] for row in rows]
        if any(is_mask_of_even_ctas(name, row) for row in given):
            continue
        expected = [compute_line(name, words, row) for row in given]
        found = [ops.compute(name, *arguments(name, words, row)) for row in given]
        assert [None if isinstance(each, SymbolicValue) else each for each in found] == expected, words
        if name in VECTORIZED_OPS:
            lanes = vectorized_op(name)(*words, *[[row[at] for row in given] for at in range(count)])
            assert (lanes is None and None in expected) or lanes == expected, words
            uniform = vectorized_op(name)(*words, [row[0] for row in given], *given[0][1:])
            wanted = [compute_line(name, words, (row[0], *given[0][1:])) for row in given]
            assert (uniform is None and None in wanted) or uniform == wanted, words


def value_with(numbers: dict[SymbolicValue, int], terms: SymbolicValueTable, value: Value) -> int | None:
    """Returns the value of a symbolic value for these values of its unknowns."""
    if not isinstance(value, SymbolicValue):
        return value
    base = value.with_offset(0)
    if base in numbers:
        return numbers[base] + value.offset
    key = terms.key_of(base)
    assert isinstance(key, tuple)
    if key[0] == "add" and len(key) == 3:
        found = sum(numbers[each] for identity in key[1:] for each in numbers if each.identity == identity)
    else:
        parts = [value_with(numbers, terms, each) if isinstance(each, SymbolicValue) else each for each in key[1:]]
        found = INTEGER_OPERATIONS[key[0]].compute(*parts)
        if found is None:
            return None
    return found + value.offset


small = st.integers(0, 100)


@pytest.mark.parametrize("name", INTEGER_OPERATIONS)
@thoroughly
@given(small, small, st.lists(st.one_of(numbers, st.tuples(st.booleans(), st.integers(0, 20))), min_size=4, max_size=4))
def test_rules_for_unknowns_hold_for_every_value_of_them(
    name: str, x: int, y: int, chosen: list[int | tuple[bool, int]]
) -> None:
    """The unknowns are small: a conversion keeps its term, as the analyzer does for addresses and counters."""
    terms = SymbolicValueTable()
    ops, unknowns = operations(terms), (terms.intern("x"), terms.intern("y"))
    known = dict(zip(unknowns, (x, y), strict=True))
    given = [each if isinstance(each, int) else unknowns[each[0]].plus(each[1]) for each in chosen]
    for words in cases(name):
        operation = INTEGER_OPERATIONS[name]
        operands = tuple(given[: len(operation.operand_widths(words))])
        if is_mask_of_even_ctas(name, operands):
            continue
        expected = compute_line(name, words, tuple(value_with(known, terms, each) for each in operands))
        found = value_with(known, terms, ops.compute(name, *arguments(name, words, operands)))
        if expected is None:
            assert found is None, words
        else:
            assert found is not None, words
            assert found & bit_mask(operation.result_width(words)) == expected, words


@pytest.mark.parametrize("name", INTEGER_OPERATIONS)
@thoroughly
@given(small, small, st.lists(st.one_of(numbers, st.booleans()), min_size=4, max_size=4))
def test_sums_shown_in_the_editor_have_the_same_value(name: str, x: int, y: int, chosen: list[int | bool]) -> None:
    known = {"x": x, "y": y}
    sums = [Polynomial.unknown("xy"[each]) if isinstance(each, bool) else Polynomial.constant(each) for each in chosen]
    operands = [known["xy"[each]] if isinstance(each, bool) else each for each in chosen]
    for words in cases(name):
        operation = INTEGER_OPERATIONS[name]
        count = len(operation.operand_widths(words))
        found = apply_operation(name, words, [SymbolicExpr(each) for each in sums[:count]])
        if found is None or found.condition_text:
            continue
        monomials = found.sum.monomials
        if not {factor for product, _ in monomials for factor in product} <= known.keys():
            continue  # an unknown that names the operation
        total = sum(count * prod(known[factor] for factor in product) for product, count in monomials)
        assert total & bit_mask(operation.result_width(words)) == compute_line(name, words, tuple(operands)), words
