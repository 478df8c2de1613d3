"""Checks of names, element types, alignments and shapes, which all declarations share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, get_args

from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.kernel_model.scalar_types import Scalar, pred
from ptxkit.limits import MAX_CTA_THREADS

_IDENTIFIER = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+")


def check_identifier(name: str, what: str) -> str:
    """Returns the name. Raises `BuildValueError` if it is not an identifier of PTX."""
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
        raise BuildValueError(f"{what} needs a PTX identifier for its name, not {name!r}")
    return name


def check_element(scalar: object) -> None:
    """Raises `BuildTypeError` if memory cannot hold elements of that type."""
    if not (isinstance(scalar, type) and issubclass(scalar, Scalar)) or scalar is pred:
        raise BuildTypeError(f"elements have a type that memory holds, such as f32, not {scalar!r}")


def resolve_alignment(align: int | None, element: type[Scalar]) -> int:
    """Returns the requested alignment in bytes, or that of the element if none is requested."""
    if align is None:
        return element.size()
    if not isinstance(align, int) or align <= 0 or align & (align - 1):
        raise BuildValueError(f"an alignment is a power of two, not {align!r}")
    return max(align, element.size())


def check_count(value: object, most: int, name: str) -> int:
    """Returns a number from 1 to `most`. Raises `BuildValueError` for others."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise BuildValueError(f"`{name}` is a number from 1 to {most}, not {value!r}")
    return value


def cta_shape(threads: int | Iterable[int] | None) -> tuple[int, int, int] | None:
    """Returns the three extents of a CTA. Raises `BuildValueError` if it has more than `MAX_CTA_THREADS` threads."""
    return shape_of(threads, MAX_CTA_THREADS, "a CTA", "threads")


def shape_of(extents: int | Iterable[int] | None, most: int, what: str, parts: str) -> tuple[int, int, int] | None:
    """Returns one to three extents as three, the missing ones being 1, or None if none are given."""
    if extents is None:
        return None
    given = (extents,) if isinstance(extents, int) else tuple(extents)
    if not 1 <= len(given) <= 3 or any(not isinstance(extent, int) or extent < 1 for extent in given):
        raise BuildValueError(f"{what} has one to three extents of at least 1, not {extents!r}")
    x, y, z = (*given, 1, 1)[:3]
    if x * y * z > most:
        raise BuildValueError(f"{what} has at most {most} {parts}, not {x * y * z}")
    return x, y, z


def element_of(form: Any) -> type[Scalar]:
    """Returns the element type of an address type such as `Global[f32]`."""
    arguments = get_args(form)
    if len(arguments) != 1 or not isinstance(arguments[0], type) or not issubclass(arguments[0], Scalar):
        raise BuildTypeError(f"an address type names its elements, like Global[f32], not {form!r}")
    return arguments[0]
