"""Sums of products of unknowns, for people to read: `tile + 4*%tid.x - 16`.

An unknown is a text. What is written is the value modulo two to the width of the register that holds it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ptxkit.analysis.terms import signed
from ptxkit.records import dataclass

Product: TypeAlias = tuple[str, ...]
"""Unknowns that are multiplied, in order; none for a number alone."""

MAX_PRODUCTS, MAX_FACTORS = 8, 4
"""Larger sums tell a reader nothing."""


@dataclass(frozen=True, slots=True)
class Sum:
    """products: with how often each is taken, never 0."""

    products: tuple[tuple[Product, int], ...] = ()

    @classmethod
    def constant(cls, number: int) -> Sum:
        return cls.of([((), number)])

    @classmethod
    def unknown(cls, text: str, count: int = 1) -> Sum:
        return cls.of([((text,), count)])

    @classmethod
    def of(cls, products: Iterable[tuple[Product, int]]) -> Sum:
        found: dict[Product, int] = {}
        for product, count in products:
            found[product] = found.get(product, 0) + count
        return cls(tuple(sorted((item for item in found.items() if item[1]), key=_order)))

    @property
    def number(self) -> int | None:
        """The number that it is; None where there are unknowns in it."""
        if not self.products:
            return 0
        return self.products[0][1] if len(self.products) == 1 and not self.products[0][0] else None

    @property
    def is_single(self) -> bool:
        """Whether it is one unknown, or a number."""
        return self.number is not None or (
            len(self.products) == 1 and (len(self.products[0][0]), self.products[0][1]) == (1, 1)
        )

    def plus(self, other: Sum) -> Sum:
        return Sum.of([*self.products, *other.products])

    def times(self, factor: int) -> Sum:
        return Sum.of([(product, count * factor) for product, count in self.products])

    def product(self, other: Sum) -> Sum | None:
        """The product; None where it is too large to be read."""
        found = Sum.of(
            [
                (tuple(sorted((*first, *second))), count * times)
                for first, count in self.products
                for second, times in other.products
            ]
        )
        too_large = len(found.products) > MAX_PRODUCTS or any(len(each) > MAX_FACTORS for each, _ in found.products)
        return None if too_large else found

    def within(self, width: int) -> Sum:
        """The same value in so many bits: factors as the numbers nearest to 0."""
        return Sum.of([(product, signed(count, width)) for product, count in self.products])

    def count_of(self, unknown: str) -> int | None:
        """How often an unknown is taken, where it stands alone; 0 where it does not occur, None where in a product."""
        if any(unknown in product and product != (unknown,) for product, _ in self.products):
            return None
        return dict(self.products).get((unknown,), 0)

    def without(self, unknown: str) -> Sum:
        """The sum without an unknown that stands alone."""
        return Sum(tuple(item for item in self.products if item[0] != (unknown,)))

    def mentions(self, unknown: str) -> bool:
        """Whether an unknown occurs, be it inside of another one."""
        return any(unknown in factor for product, _ in self.products for factor in product)

    def __str__(self) -> str:
        if not self.products:
            return "0"
        text = ""
        for product, count in self.products:
            words = "*".join(product)
            size = abs(count)
            shown = str(size) if not words else words if size == 1 else f"{size}*{words}"
            sign = "-" if count < 0 else "+"
            text += f" {sign} {shown}" if text else f"-{shown}" if count < 0 else shown
        return text


def _order(item: tuple[Product, int]) -> tuple[object, ...]:
    """Names of the program before those of the machine, the number last."""
    product, count = item
    return not product, bool(product) and not (product[0][0].isalpha() or product[0][0] in "_$["), product, count
