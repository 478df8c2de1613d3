"""Numbers for values in all threads, so that a table with such values in its keys hashes one integer for each of them.

Source: Cocke and Schwartz, "Programming Languages and Their Compilers" (value numbering).
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.analysis.values.cta_values import CtaValue


class ValueNumbers:
    """The numbers of the values of one kernel: equal values have the same one.

    An integer that all threads have is its own number; every other value has a negative number.
    """

    def __init__(self) -> None:
        self._shared: dict[CtaValue, CtaValue] = {}
        self._by_identity: dict[int, int] = {}

    def shared(self, value: CtaValue) -> CtaValue:
        """Returns the object that stands for all values that equal this one; its number is found without hashing it."""
        if value is None or isinstance(value, int):
            return value
        found = self._shared.setdefault(value, value)
        self._by_identity.setdefault(id(found), -1 - len(self._by_identity))
        return found

    def of(self, values: Iterable[CtaValue]) -> list[int | None]:
        """Returns the number of each value; None for an unknown one."""
        known = self._by_identity
        found: list[int | None] = []
        for value in values:
            if value is None or isinstance(value, int):
                found.append(value)
                continue
            number = known.get(id(value))
            found.append(known[id(self.shared(value))] if number is None else number)
        return found
