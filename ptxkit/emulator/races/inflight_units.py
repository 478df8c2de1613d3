"""The units of a shadow that an asynchronous operation reads or writes, each with the thread that issued the row."""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator.races.shadow_memory import ShadowMemory
from ptxkit.emulator.state.byte_transfers import NO_OFFSET, ByteTransfer


def touched_units(transfer: ByteTransfer, side: str, rows: Any, threads: Any, shadow: ShadowMemory) -> tuple[Any, Any]:
    """Returns the units and threads of the rows of a transfer, from its `source` or at its `target`."""
    numbers = (transfer.sources if side == "source" else transfer.targets)[rows]
    issuers = numpy.broadcast_to(threads[rows][:, None], numbers.shape)
    there = numbers != NO_OFFSET
    numbers, issuers = numbers[there], issuers[there]
    if not len(numbers):
        return numbers, issuers
    if transfer.unit < shadow.unit:
        if (issuers == issuers[0]).all():
            units = numpy.unique(numbers * transfer.unit // shadow.unit)
            return units, numpy.full(len(units), issuers[0])
        shadow.refine()
    count = transfer.unit // shadow.unit
    if count == 1:
        return numbers, issuers
    units = (numbers[:, None] * count + numpy.arange(count)).ravel()
    return units, numpy.repeat(issuers, count)


def incoming_values(transfer: ByteTransfer, rows: Any, shadow: ShadowMemory) -> Any:
    """Returns the values that rows of a copy would write at this time, by units as in `touched_units`, or None if
    unknown.
    """
    if transfer.combine is not None or transfer.source is None or transfer.unit < shadow.unit:
        return None
    there = transfer.targets[rows] != NO_OFFSET
    numbers = transfer.sources[rows][there]
    if (numbers == NO_OFFSET).any():
        return None
    count = transfer.unit // shadow.unit
    units = numbers if count == 1 else (numbers[:, None] * count + numpy.arange(count)).ravel()
    return transfer.source.view(shadow.unit)[units]
