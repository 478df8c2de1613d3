"""The functions and actions that `means` lines name, found by their names.

    @pure
    def fadd(*, type: str, rounding: str | None = None, ftz: bool = False) -> Function:
        ...                                  # all decisions that need no values, once for each statement
        return lambda a, b: ...              # arrays in, an array out; a tuple of arrays for several results

The decorated function receives the named arguments of the `means` line, and returns a function of the operands in the
line's order. Operands and results are `Bits`: bit patterns, one element for each thread, in the unsigned type of the
operand's width (`u32`, `f16x2` and `b32` are uint32; predicates are bool; 128 bits are an array of shape (threads, 2)
of uint64, low half first). A constant is passed as a register with equal elements. An omitted operand is None, or is
not passed if none follows; a vector is a tuple. A function never writes to an operand; it may return one.

The first argument of an action is the executing `ThreadGroup`, which has the threads and their memory.

The decorated function raises `UnsupportedError` for unsupported modifiers, with a message that names them; no other
error counts as a rejection.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from numpy.typing import NDArray

Bits: TypeAlias = NDArray[Any]
"""Bit patterns, one element for each thread."""

Function: TypeAlias = Callable[..., Any]
"""A function from operands to a result: `Bits`, or a tuple of them."""

Factory = TypeVar("Factory", bound=Callable[..., Function])

_VALUE_SEMANTICS: dict[str, Callable[..., Function]] = {}
_EFFECT_SEMANTICS: dict[str, Callable[..., Function]] = {}


def value_semantics(maker: Factory) -> Factory:
    """Registers a function of operands' values under its name (without an underscore at the end)."""
    return _register(maker, _VALUE_SEMANTICS)


def effect_semantics(maker: Factory) -> Factory:
    """Registers an action on the machine under its name (without an underscore at the end)."""
    return _register(maker, _EFFECT_SEMANTICS)


def _register(maker: Factory, registry: dict[str, Callable[..., Function]]) -> Factory:
    name = maker.__name__.rstrip("_")
    known = _VALUE_SEMANTICS.get(name) or _EFFECT_SEMANTICS.get(name)
    if known is not None and known.__module__ != maker.__module__:
        raise ValueError(f"{name} is registered twice: in {known.__module__} and in {maker.__module__}")
    registry[name] = maker
    return maker


@cache
def _load() -> None:
    for folder in ("core.functions", "actions"):
        package = import_module(f"ptxkit.emulator.{folder}")
        for found in pkgutil.iter_modules(package.__path__):
            import_module(f"{package.__name__}.{found.name}")


def value_semantics_table() -> Mapping[str, Callable[..., Function]]:
    """Returns the functions of operands' values, by name."""
    _load()
    return MappingProxyType(_VALUE_SEMANTICS)


def effect_semantics_table() -> Mapping[str, Callable[..., Function]]:
    """Returns the actions on the machine, by name."""
    _load()
    return MappingProxyType(_EFFECT_SEMANTICS)
