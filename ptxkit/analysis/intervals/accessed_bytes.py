"""Which bytes of shared memory an instruction may access, on any path, for every thread and all data.

Source: PTX ISA, "State Spaces: Shared State Space", "Addresses as Operands".
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.analysis.abstract_interpretation.abstract_values import GENERIC, Alternative, Base
from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.shared_window import SHARED_END
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Effect
from ptxkit.isa.expressions import Expression, OperandRole

_DYNAMIC = "dynamic"
"""The name of the shared memory that the launch sizes: all variables of open length begin at its start."""


@dataclass(frozen=True, slots=True)
class AccessedBytes:
    """Bytes of one variable in shared memory.

    variable: identifies it. start: its address. low, high: the first byte and the end, relative to it; `high` is None
    where that is the end of the variable.
    """

    variable: object
    start: int
    low: int
    high: int | None

    def overlap(self, other: AccessedBytes) -> bool:
        """Returns whether these bytes and others have one in common."""
        if self.variable != other.variable:
            return False
        return (other.high is None or self.low < other.high) and (self.high is None or other.low < self.high)

    @property
    def offsets(self) -> tuple[int, int]:
        """The offsets in shared memory, as an interval without its end."""
        return self.start + self.low, SHARED_END if self.high is None else self.start + self.high


def largest_size(values: AbstractRegisters, step: Step, size: Expression | None) -> int | None:
    """Returns the largest number of bytes of an access; None if it is unknown."""
    constant = step.constant_of(size)
    if constant is not None or not isinstance(size, OperandRole):
        return constant
    value = values.value_at(step, step.operand(size.name))
    return value[0].offset.unsigned[1] if len(value) == 1 and value[0].base is None else None


def is_certain(each: Alternative) -> bool:
    """Returns whether an address certainly is its base plus an integer: any other address may contribute to it.

    An address inside its variable is one of it, whatever contributes to it.
    """
    if not each.is_opaque:
        return True
    low, high = each.known_offsets
    variable = each.base.variable if each.base is not None else None
    return variable is not None and variable.fixed_size is not None and 0 <= low <= high <= variable.fixed_size


def bytes_of(values: AbstractRegisters, step: Step, effects: Iterable[Effect]) -> list[AccessedBytes] | None:
    """Returns the bytes of shared memory that some accesses of a step may use; None if they are unknown.

    An access of unknown size ends with its variable, because each access is inside one (PTX207).
    """
    found: list[AccessedBytes] = []
    for effect in effects:
        if not isinstance(effect, Access) or effect.via != "address":
            return None
        touched = bytes_at(values, step, effect.address, largest_size(values, step, effect.size))
        if touched is None:
            return None
        found.extend(touched)
    return found


def bytes_at(values: AbstractRegisters, step: Step, role: str, size: int | None) -> list[AccessedBytes] | None:
    """Returns the bytes of shared memory at the address in an operand of a step; None if they are unknown.

    size: their number; None if it is unknown.
    """
    operand = step.operand(role)
    parts = [_bytes_at(each, size) for each in values.value_at(step, operand)] if operand is not None else [None]
    known = [each for each in parts if each is not None]
    return [each for part in known for each in part] if len(known) == len(parts) else None


def _bytes_at(each: Alternative, size: int | None) -> list[AccessedBytes] | None:
    base = each.base
    if base is None or not is_certain(each) or base.kind == "converted":
        return None
    if base.kind == "argument":
        # The host cannot pass an address of shared memory as a generic or global one.
        return [] if each.window in ("", GENERIC, "global") else None
    variable = base.variable
    if variable is None or base.space != "shared":
        return [] if variable is not None else None
    low, high = each.known_offsets
    extent = variable.fixed_size
    end = None if size is None else high + size
    if low < 0 or (extent is not None and (high if end is None else end) > extent):
        return None
    return [AccessedBytes(variable_key(base), variable.address, low, end if end is not None else extent)]


def variable_key(base: Base) -> object:
    """Returns what two bases share if their addresses are of the same variable, or of dynamic shared memory."""
    return _DYNAMIC if base.variable is not None and base.variable.is_open else base
