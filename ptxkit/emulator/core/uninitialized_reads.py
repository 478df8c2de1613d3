"""Reads of registers by threads that have not written them, as a run records them."""

from __future__ import annotations

from ptxkit.emulator.core.findings import Witness
from ptxkit.fast_dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class UninitializedRead:
    """The first read of a register by a thread that has not written it.

    `offset` and `line` are the position of the reading instruction.
    """

    register: str
    line: int
    offset: int
    witness: Witness


@dataclass(slots=True)
class UninitializedReads:
    """The reads of one run. The registers that `perturbed` names hold other initial bits than usual."""

    perturbed: frozenset[str] = frozenset()
    reads: dict[tuple[str, int], UninitializedRead] = field(default_factory=dict)
