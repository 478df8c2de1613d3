"""Evaluates the operands of steps in all threads of a CTA at once.

Source: PTX ISA, "Special Registers", "shfl.sync".
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.values.cta_values import CtaValue, apply, per_thread
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.special_registers import SpecialRegisters
from ptxkit.analysis.values.symbolic_values import LaneValues
from ptxkit.analysis.values.value_reader import Reader, ValueReader
from ptxkit.isa.expressions import CallExpr
from ptxkit.semantics.value_ops import bit_mask

#: The special registers that the position of a thread determines, and the number of threads of a warp.
_POSITION = ("%tid", "%laneid", "%lanemask", "WARP_SZ")


class CtaOperands(ValueReader[CtaValue]):
    """The operands of the steps of one function as far as constants and the positions of threads determine them.

    launch: the size of the CTA. tids: the threads of which a value has the numbers. sizes: the beginnings of the names
    of the registers with the size of a CTA that are known.
    """

    def __init__(self, launch: LaunchConfig, tids: Sequence[int], sizes: tuple[str, ...]) -> None:
        self.tids = tuple(tids)
        self._determined = (*_POSITION, *sizes)
        self._special = SpecialRegisters(launch, 0, self.tids)

    def constant(self, number: int) -> CtaValue:
        return number & bit_mask(64)

    def unknown(self) -> CtaValue:
        return None

    def apply(self, name: str, arguments: Sequence[object]) -> CtaValue:
        return apply(name, arguments)

    def special(self, name: str) -> CtaValue:
        held = self._special.get(name) if name.startswith(self._determined) else None
        if isinstance(held, LaneValues):
            return per_thread([each if isinstance(each, int) else None for each in held.values])
        return held if isinstance(held, int) else None

    def vector(self, value: CtaValue) -> tuple[int, ...] | None:
        """Returns the number of each thread; None if they are not all known."""
        if isinstance(value, int):
            return (value,) * len(self.tids)
        return value if isinstance(value, tuple) else None

    def call(self, step: Step, call: CallExpr, read: Reader[CtaValue]) -> CtaValue:
        is_unknown = call.function in UNKNOWN_OPERATIONS or call.function in _OF_CLUSTER
        return None if is_unknown else super().call(step, call, read)


#: The operations whose result is unknown, or differs between threads in a way that nothing determines.
UNKNOWN_OPERATIONS = frozenset(("unknown", "float", "elected", "ballot", "redux", "is_canceled", "is_space"))
#: The operations on addresses in the shared memory of a cluster.
_OF_CLUSTER = ("map_rank", "rank_of")
