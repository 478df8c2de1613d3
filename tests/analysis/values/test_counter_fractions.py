"""Quotients of counters of unknown size, against the arithmetic of numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptxkit.analysis.values.counter_fractions import divisor_of, reciprocal
from ptxkit.analysis.values.cta_values import CtaValue, apply, large_term
from ptxkit.analysis.values.uniform_terms import Atom, UniformTerm
from ptxkit.semantics.value_ops import bit_mask, interpret

MODULUS = 30
LEAST = 60
RECIPROCALS = {3: (0xAAAAAAAB, 33), 5: (0xCCCCCCCD, 34), 6: (0xAAAAAAAB, 34), 10: (0xCCCCCCCD, 35)}
"""By divisor, the factor with which compilers multiply, and the shift of the product."""


def number_of(value: CtaValue, counter: int, width: int) -> int | None:
    """Returns a value for some value of the counter; None if it is another unknown."""
    if not isinstance(value, UniformTerm):
        assert value is None or isinstance(value, int)
        return value
    assert isinstance(value.offset, int)
    unknown, part = value.atom, (1, 1)
    if unknown.key[0] == "fraction":
        inner, *given = unknown.key[1:]
        assert isinstance(inner, Atom)
        unknown, part = inner, (int(str(given[0])), int(str(given[1])))
    if unknown.key[0] != "large":
        return None
    whole, rest = divmod(counter * part[0], part[1])
    assert not rest
    return (whole + value.offset) & bit_mask(width)


@given(
    st.integers(LEAST // MODULUS, 10_000),
    st.integers(-LEAST, 400),
    st.sampled_from(sorted(RECIPROCALS)),
    st.sampled_from(("mul_hi", "mul_wide", "div", "rem")),
)
def test_a_counter_is_divided(multiple: int, offset: int, divisor: int, operation: str) -> None:
    factor, shift = RECIPROCALS[divisor]
    term: CtaValue = apply("add", (32, large_term(0, LEAST, MODULUS, "counter"), offset & bit_mask(32)))
    width = 32
    if operation == "mul_hi":
        found = apply("shr", (32, False, apply("mul_hi", (32, False, term, factor)), shift - 32))
    elif operation == "mul_wide":
        found = apply("shr", (64, False, apply("mul_wide", (32, False, term, factor)), shift))
        width = 64
    else:
        found = apply(operation, (32, False, term, divisor))
    number = multiple * MODULUS + offset
    expected = number % divisor if operation == "rem" else number // divisor
    assert number_of(found, multiple * MODULUS, width) == expected
    if operation == "mul_wide":
        assert number_of(apply("convert", ("u64", "u32", found)), multiple * MODULUS, 32) == expected


@given(st.integers(-400, -LEAST - 1))
def test_the_result_is_unknown_where_the_number_may_be_negative(offset: int) -> None:
    term = apply("add", (32, large_term(0, LEAST, MODULUS, "counter"), offset & bit_mask(32)))
    found = apply("div", (32, False, term, 3))
    assert number_of(found, LEAST, 32) is None


def test_a_reciprocal_is_recognized_by_its_error() -> None:
    for divisor, (factor, shift) in RECIPROCALS.items():
        found = reciprocal(factor, 32)
        assert found is not None
        assert found / (1 << (shift - 32)) == 1 / type(found)(divisor)
        assert divisor_of(interpret(factor, 32, True) & bit_mask(64), is_reciprocal=True) in (3, 5)
    assert reciprocal(0x12345678, 32) is None
