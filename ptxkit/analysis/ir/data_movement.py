"""The source and destination of a data transfer, derived from the effects of its instruction without an execution.

A transfer is an instruction that writes memory later (or prefetches it), and takes its bytes from one source: memory,
registers, or the hardware. An instruction that combines several sources (a matrix product) is not a transfer.
"""

from __future__ import annotations

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, AsyncRegisters, Prefetch
from ptxkit.isa.expressions import Expression
from ptxkit.isa.forms import Match
from ptxkit.model.transfer import Unit

#: The completion mechanisms of the tensor core.
TENSOR_CORE = ("tcgen05", "tcgen05.ld", "tcgen05.st")
#: The completion mechanisms of matrix multiplications.
PRODUCTS = ("wgmma", "tcgen05")


@dataclass(frozen=True, slots=True)
class DataMovement:
    """The source and destination of a transfer.

    source, destination: state spaces, `registers`, `L2`, `multimem` or `response`. tracked_access: the access whose
    address determines the variable, and whose trace events determine completion. size: the number of bytes written.
    read_size: the number of bytes read.
    """

    operation: str
    source: str
    destination: str
    unit: Unit
    tracked_access: Access | None
    size: Expression | None
    read_size: Expression | None = None
    unless: str | None = None
    completion: str = "nothing"


def data_movement_of(step: Step) -> DataMovement | None:
    """Returns the data movement of an asynchronous transfer; None for any other instruction."""
    match = step.match
    if match is None:
        return None
    prefetches = [effect for effect in match.effects if isinstance(effect, Prefetch)]
    if prefetches:
        return _prefetch_movement(prefetches[0])
    later = [effect for effect in match.effects if isinstance(effect, Access) and effect.completion is not None]
    moved = [access for access in later if access.proxy != "tensormap"]
    reads = [access for access in moved if access.kind == "read"]
    writes = [access for access in moved if access.kind != "read"]
    registers = [effect for effect in match.effects if isinstance(effect, AsyncRegisters)]
    if registers and all(effect.group in TENSOR_CORE for effect in registers) and len(moved) == 1:
        return _tensor_memory_movement(moved[0])
    if registers or len(writes) != 1 or len(reads) > 1:
        return None
    return _copy_movement(match, reads[0] if reads else None, writes[0], later)


def async_product_of(step: Step) -> DataMovement | None:
    """Returns the data movement, from shared memory to the accumulators, of an asynchronous multiplication."""
    match = step.match
    if match is None:
        return None
    later = [effect for effect in match.effects if isinstance(effect, Access) and effect.completion in PRODUCTS]
    near = next((access for access in later if is_modeled(access)), None)
    if near is None or data_movement_of(step) is not None:
        return None
    sums = next((access.space for access in later if access.kind != "read"), "registers")
    completion = near.completion or ""
    return DataMovement("product", near.space, sums, Unit.TENSOR_CORE, near, None, completion=completion)


def _prefetch_movement(effect: Prefetch) -> DataMovement:
    unit = Unit.TENSOR if effect.via == "tensormap" else Unit.BULK
    return DataMovement("prefetch", effect.space, effect.level, unit, None, effect.size)


def _tensor_memory_movement(access: Access) -> DataMovement:
    """Returns a transfer between Tensor Memory and the registers of a warp."""
    into = access.kind == "read"
    source, destination = (access.space, "registers") if into else ("registers", access.space)
    return DataMovement("copy", source, destination, Unit.TENSOR_CORE, None, None, completion=access.completion or "")


def _copy_movement(match: Match, read: Access | None, write: Access, later: list[Access]) -> DataMovement:
    operation = "copy" if write.kind == "write" else "reduction"
    if read is not None:
        source = read.space
    elif any(operand.kind != "address" for operand in match.operands):
        source = "registers"
    elif write.kind == "update":
        source, operation = write.space, "copy"
    else:
        source, operation = "response", "response"
    destination = "multimem" if write.via == "multimem" else write.space
    near = next((access for access in (write, read) if access is not None and is_modeled(access)), None)
    size = write.size if write.size is not None else read.size if read is not None else None
    return DataMovement(
        operation,
        source,
        destination,
        _unit(read, write, later),
        near,
        size,
        read.size if read is not None else None,
        (read.unless if read is not None else None),
        write.completion or "nothing",
    )


def _unit(read: Access | None, write: Access, later: list[Access]) -> Unit:
    if write.completion in TENSOR_CORE:
        return Unit.TENSOR_CORE
    if any(access.via == "tensormap" for access in later):
        return Unit.TENSOR
    if write.proxy == "async":
        return Unit.BULK if read is not None else Unit.SCHEDULER
    return Unit.LDGSTS if read is not None else Unit.REMOTE


def is_modeled(access: Access) -> bool:
    """Returns whether executions record an access: one to shared memory, by an address or a descriptor."""
    return access.via in ("address", "descriptor") and access.space.startswith(("shared", "generic"))
