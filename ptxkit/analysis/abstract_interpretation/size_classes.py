"""Chooses sizes of a problem for which branches of a kernel decide differently.

A kernel reaches the code for the remainder of an unrolled loop only for some sizes. The guards of the branches before
this code are evaluated for many sizes at once; one size represents all for which they have the same values.

Source: PTX ISA, "Kernel Function Parameters".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from ptxkit.analysis.abstract_interpretation.graph_operands import GraphOperands
from ptxkit.analysis.abstract_interpretation.value_graph import ValueGraph
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.values.cta_values import CtaValue, per_thread
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.value_reader import Reader, loaded_argument
from ptxkit.isa.expressions import CallExpr
from ptxkit.semantics.value_ops import bit_mask

#: The sizes of tiles whose multiples are examined, the most usual ones first.
_TILES = (32, 64, 16, 128, 256, 1)
#: The numbers of tiles: those with which a loop fills a ring of stages come first.
_COUNTS = (9, 11, 10, 13, 15, 12, 7, 5, 6, 3, 4, 2, 1, 8, 16, 17)
CANDIDATE_SIZES = tuple(dict.fromkeys(tile * count for tile in _TILES for count in _COUNTS))
"""The sizes that are examined, those that are preferred first."""


def untried_sizes(
    program: Program,
    launch: LaunchConfig,
    branches: Iterable[Step],
    pointers: Collection[tuple[str, int]],
    tried: Sequence[int],
) -> list[int]:
    """Returns sizes for which the branches decide in other ways than for those that were tried, usual ways first.

    branches: those that decide whether code is executed. pointers: the parameters, by name and offset, that are no
    sizes. All other integer parameters have the same size.
    """
    sizes = tuple(dict.fromkeys((*tried, *CANDIDATE_SIZES)))
    operands = _SizeOperands(program, launch, pointers, sizes)
    columns = [found for step in branches if (found := operands.guard(step)) is not None and len(set(found)) > 1]
    by_outcome: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for size, *outcome in zip(sizes, *columns, strict=True):
        by_outcome[tuple(outcome)].append(size)
    untried = [own for own in by_outcome.values() if not any(size in tried for size in own)]
    return [own[0] for own in sorted(untried, key=len, reverse=True)]


class _SizeOperands(GraphOperands):
    """The registers of a kernel for several sizes; a position is a size."""

    def __init__(
        self, program: Program, launch: LaunchConfig, pointers: Collection[tuple[str, int]], sizes: tuple[int, ...]
    ) -> None:
        graph = ValueGraph(program, program.analysis(ControlFlowGraph))
        super().__init__(graph, launch, (0,) * len(sizes), ("%ntid",) if launch.is_exact else ())
        self._pointers, self._sizes = pointers, sizes

    def guard(self, step: Step) -> tuple[int, ...] | None:
        """Returns the predicate of a guarded step for each size; None if it is not known for all of them."""
        guard = step.instruction.guard
        return None if guard is None else self.predicate(step, guard.predicate)

    def load(self, step: Step, call: CallExpr, place: int, read: Reader[CtaValue]) -> CtaValue:
        """Returns an argument of the kernel; None for an address and for anything else that is loaded."""
        argument = loaded_argument(step, call, place)
        if argument is None or argument[:2] in self._pointers:
            return super().load(step, call, place, read)
        return per_thread([size & bit_mask(argument[2]) for size in self._sizes])
