"""The nouns that messages use for asynchronous operations: a wgmma is not a copy."""

from __future__ import annotations

from ptxkit.analysis.ir.data_movement import async_product_of, data_movement_of
from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx3xx

_NOUNS = {"copy": ptx3xx.COPY, "reduction": ptx3xx.REDUCTION, "product": ptx3xx.MULTIPLICATION}


def operation_noun(step: Step) -> Message:
    """The noun for an asynchronous instruction by its effects: copy, load, store, reduction, multiplication."""
    movement = data_movement_of(step) or async_product_of(step)
    if movement is None:
        return ptx3xx.OPERATION()
    if movement.operation == "copy" and "registers" in (movement.source, movement.destination):
        return ptx3xx.STORE() if movement.source == "registers" else ptx3xx.LOAD()
    return _NOUNS.get(movement.operation, ptx3xx.OPERATION)()
