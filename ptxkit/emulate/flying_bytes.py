"""The units of a shadow that an asynchronous operation reads or writes, each with the thread that issued the row."""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.shadow import Shadow
from ptxkit.emulate.transfers import NOWHERE, Transfer


def touched(transfer: Transfer, side: str, rows: Any, threads: Any, shadow: Shadow) -> tuple[Any, Any]:
    """Units and threads of the rows of a transfer, from its `source` or at its `target`."""
    numbers = (transfer.sources if side == "source" else transfer.targets)[rows]
    issuers = numpy.broadcast_to(threads[rows][:, None], numbers.shape)
    there = numbers != NOWHERE
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


def coming(transfer: Transfer, rows: Any, shadow: Shadow) -> Any:
    """What rows of a copy would write now, by units as `touched` has them; None where that is not plain."""
    if transfer.combine is not None or transfer.source is None or transfer.unit < shadow.unit:
        return None
    there = transfer.targets[rows] != NOWHERE
    numbers = transfer.sources[rows][there]
    if (numbers == NOWHERE).any():
        return None
    count = transfer.unit // shadow.unit
    units = numbers if count == 1 else (numbers[:, None] * count + numpy.arange(count)).ravel()
    return transfer.source.view(shadow.unit)[units]
