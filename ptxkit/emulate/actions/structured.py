"""Vectors of which two of each four elements are kept, and back.

Source: PTX ISA, "Data Movement and Conversion Instructions: spcompress", "spdecompress", "tcgen05.ld".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.actions.tensor_memory import tmem_load, tmem_load_extreme
from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import Blocked, Group
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.tensor.structured import compressed, decompressed, elements, registers

_TYPES = {8: ("u8", "s8", "e5m2", "e4m3", "e3m2", "e2m3"), 16: ("f16", "bf16")}
_INDEX = 2
"""Bits of a place in a group, in metadata that a load gives."""


def _spread(group: Group, values: Any) -> list[Any]:
    return [numpy.broadcast_to(each, (group.lanes.count,)) for each in values]


@action
def sparse_compress(*, element: int, index: int) -> Function:
    """Metadata and kept elements. What is kept is said by a descriptor."""

    def compress(group: Group, data: Any, descriptor: Any) -> Any:
        codes = elements(_spread(group, data), element)
        (told,) = _spread(group, (descriptor,))
        kept = numpy.zeros((len(codes), codes.shape[1] // 2), codes.dtype)
        places = numpy.zeros(kept.shape, numpy.int64)
        for one in numpy.unique(told).tolist():
            own = told == one
            number = one >> 2 & 7
            if number >= len(_TYPES[element]):
                message = f"the descriptor 0x{one:08x} names no type of {element} bits"
                raise Fault("PTX206", message, group.lanes.index[own])
            kept[own], places[own] = compressed(
                codes[own], _TYPES[element][number], greatest=not one & 2, magnitude=bool(one & 1)
            )
        return registers(places, index), registers(kept, element)

    return compress


@action
def sparse_decompress(*, element: int, index: int, taken: int, given: int, count: int) -> Function:
    """Dense elements from kept ones and their places."""

    def decompress(group: Group, metadata: Any, data: Any) -> Any:
        places = elements(_spread(group, metadata), index)
        kept = elements(_spread(group, data), element)[:, : taken * count]
        return registers(decompressed(kept, places, taken, given), element)

    return decompress


@action
def tmem_load_sparse(*, shape: str, count: str, operation: str, abs: bool = False) -> Function:  # noqa: A002
    """Metadata and the kept half of what each warp reads of Tensor Memory."""
    load = tmem_load(shape=shape, count=count)

    def read(group: Group, address: Any) -> Any:
        words = load(group, address)
        if isinstance(words, Blocked):
            return words
        return _halved(words, operation, abs)

    return read


@action
def tmem_load_sparse_extreme(
    *,
    shape: str,
    count: str,
    operation: str,
    abs: bool = False,  # noqa: A002
    nan: bool = False,
) -> Function:
    """The same, and the least or greatest of all that each thread reads."""
    load = tmem_load_extreme(shape=shape, count=count, type="f32", operation=operation, abs=abs, nan=nan)

    def read(group: Group, address: Any) -> Any:
        found = load(group, address)
        if isinstance(found, Blocked):
            return found
        words, extreme = found
        return *_halved(words, operation, abs), extreme

    return read


def _halved(words: Any, operation: str, magnitude: bool) -> tuple[Any, Any]:
    codes = numpy.stack(words, axis=-1)
    kept, places = compressed(codes, "f32", greatest=operation == "max", magnitude=magnitude)
    return registers(places, _INDEX), tuple(kept.T)
