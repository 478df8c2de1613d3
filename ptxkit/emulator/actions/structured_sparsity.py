"""Compression of vectors to two of each four elements, and decompression.

Source: PTX ISA, "Data Movement and Conversion Instructions: spcompress", "spdecompress", "tcgen05.ld".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.emulator.actions.tcgen05_memory import tmem_load, tmem_load_extreme
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.tensor.sparsity_patterns import compress_groups, decompress_groups, pack_elements, unpack_elements
from ptxkit.emulator.threads.thread_groups import BlockSignal, ThreadGroup

_TYPES = {8: ("u8", "s8", "e5m2", "e4m3", "e3m2", "e2m3"), 16: ("f16", "bf16")}
_INDEX_BITS = 2
"""The bits of a position in a group, in the metadata that a load returns."""


def _lane_registers(group: ThreadGroup, values: Any) -> list[Any]:
    return [numpy.broadcast_to(each, (group.lanes.count,)) for each in values]


@effect_semantics
def sparse_compress(*, element: int, index: int) -> Function:
    """Returns the metadata and the kept elements, which a descriptor selects."""

    def compress(group: ThreadGroup, data: Any, descriptor: Any) -> Any:
        codes = unpack_elements(_lane_registers(group, data), element)
        (metadata,) = _lane_registers(group, (descriptor,))
        kept = numpy.zeros((len(codes), codes.shape[1] // 2), codes.dtype)
        places = numpy.zeros(kept.shape, numpy.int64)
        for one in numpy.unique(metadata).tolist():
            own = metadata == one
            number = one >> 2 & 7
            if number >= len(_TYPES[element]):
                message = ptx2xx.INVALID_SPARSITY_DESCRIPTOR(descriptor=one, bits=element)
                raise ExecutionFault(message, group.lanes.index[own])
            kept[own], places[own] = compress_groups(
                codes[own], _TYPES[element][number], greatest=not one & 2, magnitude=bool(one & 1)
            )
        return pack_elements(places, index), pack_elements(kept, element)

    return compress


@effect_semantics
def sparse_decompress(*, element: int, index: int, taken: int, given: int, count: int) -> Function:
    """Returns dense elements from kept ones and their positions."""

    def decompress(group: ThreadGroup, metadata: Any, data: Any) -> Any:
        places = unpack_elements(_lane_registers(group, metadata), index)
        kept = unpack_elements(_lane_registers(group, data), element)[:, : taken * count]
        return pack_elements(decompress_groups(kept, places, taken, given), element)

    return decompress


@effect_semantics
def tmem_load_sparse(*, shape: str, count: str, operation: str, abs: bool = False) -> Function:  # noqa: A002
    """Returns the metadata and the kept half of the elements that each warp reads from Tensor Memory."""
    load = tmem_load(shape=shape, count=count)

    def read(group: ThreadGroup, address: Any) -> Any:
        words = load(group, address)
        if isinstance(words, BlockSignal):
            return words
        return _keep_half(words, operation, abs)

    return read


@effect_semantics
def tmem_load_sparse_extreme(
    *,
    shape: str,
    count: str,
    operation: str,
    abs: bool = False,  # noqa: A002
    nan: bool = False,
) -> Function:
    """Returns the result of `tmem_load_sparse`, and the least or greatest element that each thread reads."""
    load = tmem_load_extreme(shape=shape, count=count, type="f32", operation=operation, abs=abs, nan=nan)

    def read(group: ThreadGroup, address: Any) -> Any:
        found = load(group, address)
        if isinstance(found, BlockSignal):
            return found
        words, extreme = found
        return *_keep_half(words, operation, abs), extreme

    return read


def _keep_half(words: Any, operation: str, magnitude: bool) -> tuple[Any, Any]:
    codes = numpy.stack(words, axis=-1)
    kept, places = compress_groups(codes, "f32", greatest=operation == "max", magnitude=magnitude)
    return pack_elements(places, _INDEX_BITS), tuple(kept.T)
