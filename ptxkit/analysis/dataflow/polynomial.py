"""Sums of products of unknowns that are readable: `tile + 4*%tid.x - 16`.

An unknown is a text. The value is the sum modulo two to the power of the register's width.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ptxkit.analysis.limits import MAX_FACTORS, MAX_MONOMIALS
from ptxkit.fast_dataclasses import dataclass
from ptxkit.semantics.value_ops import to_signed

Monomial: TypeAlias = tuple[str, ...]
"""The unknowns of a product, in order; the constant term has none."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of monomials.

    monomials: each with its coefficient, which is never 0.
    """

    monomials: tuple[tuple[Monomial, int], ...] = ()

    @classmethod
    def constant(cls, number: int) -> Polynomial:
        return cls.from_monomials([((), number)])

    @classmethod
    def unknown(cls, text: str, count: int = 1) -> Polynomial:
        return cls.from_monomials([((text,), count)])

    @classmethod
    def from_monomials(cls, products: Iterable[tuple[Monomial, int]]) -> Polynomial:
        found: dict[Monomial, int] = {}
        for product, count in products:
            found[product] = found.get(product, 0) + count
        return cls(tuple(sorted((item for item in found.items() if item[1]), key=_sort_key)))

    @property
    def number(self) -> int | None:
        """The constant value; None where the polynomial contains unknowns."""
        if not self.monomials:
            return 0
        return self.monomials[0][1] if len(self.monomials) == 1 and not self.monomials[0][0] else None

    @property
    def is_single(self) -> bool:
        """Whether the polynomial is one unknown, or a number."""
        return self.number is not None or (
            len(self.monomials) == 1 and (len(self.monomials[0][0]), self.monomials[0][1]) == (1, 1)
        )

    def plus(self, other: Polynomial) -> Polynomial:
        return Polynomial.from_monomials([*self.monomials, *other.monomials])

    def times(self, factor: int) -> Polynomial:
        return Polynomial.from_monomials([(product, count * factor) for product, count in self.monomials])

    def multiply(self, other: Polynomial) -> Polynomial | None:
        """Returns the product; None where it is too large to be readable."""
        found = Polynomial.from_monomials(
            [
                (tuple(sorted((*first, *second))), count * times)
                for first, count in self.monomials
                for second, times in other.monomials
            ]
        )
        too_large = len(found.monomials) > MAX_MONOMIALS or any(len(each) > MAX_FACTORS for each, _ in found.monomials)
        return None if too_large else found

    def reduce_modulo(self, width: int) -> Polynomial:
        """Returns the same value in this many bits, with coefficients as the numbers nearest to 0."""
        return Polynomial.from_monomials([(product, to_signed(count, width)) for product, count in self.monomials])

    def coefficient_of(self, unknown: str) -> int | None:
        """Returns the coefficient of an unknown as a single factor.

        The result is 0 where the unknown does not occur, and None where it occurs in a product.
        """
        if any(unknown in product and product != (unknown,) for product, _ in self.monomials):
            return None
        return dict(self.monomials).get((unknown,), 0)

    def without(self, unknown: str) -> Polynomial:
        """Returns the sum without the monomial that consists of this unknown only."""
        return Polynomial(tuple(item for item in self.monomials if item[0] != (unknown,)))

    def mentions(self, unknown: str) -> bool:
        """Returns whether an unknown occurs, even inside another one."""
        return any(unknown in factor for product, _ in self.monomials for factor in product)

    def __str__(self) -> str:
        if not self.monomials:
            return "0"
        text = ""
        for product, count in self.monomials:
            words = "*".join(product)
            size = abs(count)
            shown = str(size) if not words else words if size == 1 else f"{size}*{words}"
            sign = "-" if count < 0 else "+"
            text += f" {sign} {shown}" if text else f"-{shown}" if count < 0 else shown
        return text


def _sort_key(item: tuple[Monomial, int]) -> tuple[object, ...]:
    """Returns the key that sorts names of the program before those of the machine, and the number last."""
    product, count = item
    return not product, bool(product) and not (product[0][0].isalpha() or product[0][0] in "_$["), product, count
