"""An unknown number that all threads share, identified by how it was computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias
from weakref import WeakValueDictionary

from ptxkit.fast_dataclasses import dataclass

Numbers: TypeAlias = "int | tuple[int, ...]"


class Atom:
    """An unknown that all threads share, identified by how it was computed: equal ones are the same object.

    is_stable: whether it is the same number after a barrier, where the values at merges are replaced.
    """

    __slots__ = ("__weakref__", "is_stable", "key")

    def __init__(self, key: Sequence[object]) -> None:
        self.key = key
        self.is_stable = key[0] not in ("merge", "large") and all(map(_is_stable, key))


def _is_stable(part: object) -> bool:
    if isinstance(part, UniformTerm):
        return part.atom.is_stable
    return not isinstance(part, Atom) or part.is_stable


_ATOMS: WeakValueDictionary[Sequence[object], Atom] = WeakValueDictionary()


def atom(*key: object) -> Atom:
    """Returns the unknown that is computed in some way."""
    found = _ATOMS.get(key)
    if found is None:
        found = _ATOMS[key] = Atom(key)
    return found


@dataclass(frozen=True, slots=True)
class UniformTerm:
    """An unknown that is equal in all threads of the CTA, plus a known offset, modulo the width.

    multiple: a number of which the unknown is a multiple.
    """

    atom: Atom
    offset: Numbers = 0
    multiple: int = 1
