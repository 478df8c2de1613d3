"""The accesses to Tensor Memory, as accesses to the memory of a CTA beyond its shared memory.

Addresses are not compared, since an allocation returns them: a multiplication accesses all lanes of all columns, and a
load or store those 32 lanes of all columns that its warp may access (PTX707). Allocation and deallocation write all.

Source: PTX ISA, "Tensor Memory Addressing", "Access restrictions", "Memory Consistency Model for 5th generation of
TensorCore operations".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptxkit.analysis.abstract_interpretation.awaited_loads import find_awaited_loads
from ptxkit.analysis.intervals.cta_states import IntervalState
from ptxkit.analysis.intervals.interval_accesses import StateAccess
from ptxkit.analysis.intervals.thread_values import ThreadValues
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.shared_window import SHARED_END
from ptxkit.analysis.values.uniform_terms import Numbers
from ptxkit.isa.effects import Access, CtaGroup, TensorMemory
from ptxkit.syntax.constants import WARP_SIZE

_SPACE = "tensor"
#: The parts of Tensor Memory that the warps of a warpgroup access.
_PARTS = 4
#: The completion mechanism of multiplications and copies, which are pipelined with each other.
_PIPELINED = "tcgen05"


class TensorAccesses:
    """The accesses to Tensor Memory in the states of one kernel. ordering: its steps that order something."""

    def __init__(self, program: Program, values: ThreadValues, ordering: Collection[Step]) -> None:
        self._values = values
        self._effects = {step: effect for step in program.own_effectful_steps if (effect := _effect_of(step))}
        self._awaited = find_awaited_loads(program, ordering) if self._effects else frozenset()

    def of_step(self, state: IntervalState, step: Step) -> Iterator[StateAccess]:
        """Yields the accesses of a step in a state: one for each CTA whose Tensor Memory it accesses."""
        effect = self._effects.get(step)
        if effect is None:
            return
        cluster = self._values.cluster
        threads = self._values.members(step, state.values)[0] & state.threads
        group = None if step in self._awaited else effect.completion
        lows: Numbers = SHARED_END
        size = _PARTS
        if effect.completion not in (None, _PIPELINED):
            warps = (thread % cluster.of_cta // WARP_SIZE for thread in range(cluster.count))
            lows, size = tuple(SHARED_END + warp % _PARTS for warp in warps), 1
        for target, own in self._targets(step, threads).items():
            yield StateAccess(step, effect, cluster.places(lows, target), None, size, own, group, target=target)

    def _targets(self, step: Step, threads: int) -> dict[int | None, int]:
        """Returns the threads by the CTA whose Tensor Memory they access in a step; by None if that is their own."""
        cluster = self._values.cluster
        is_paired = any(isinstance(each, CtaGroup) and each.ctas > 1 for each in step.effects)
        is_paired = is_paired and self._effects[step].completion is not None  # each CTA allocates its own memory
        if not threads or cluster.ctas == 1 or not is_paired:
            return {None: threads} if threads else {}
        found: dict[int | None, int] = {}
        for rank in cluster.ranks_of(threads):
            for target in (rank & ~1, rank | 1):
                found[target] = found.get(target, 0) | threads & cluster.mask(rank)
        return found


def _effect_of(step: Step) -> Access | None:
    """Returns the access of a step to Tensor Memory, the one that writes if there are several; None without any."""
    found: Access | None = None
    for effect in step.effects:
        if isinstance(effect, Access) and effect.space == _SPACE and (found is None or effect.kind != "read"):
            found = effect
        if isinstance(effect, TensorMemory) and effect.address is not None:
            found = Access("write", _SPACE, effect.address)
    return found


def is_of_tensor_memory(access: StateAccess) -> bool:
    return access.effect.space == _SPACE


def is_warp_collective(access: StateAccess) -> bool:
    """Returns whether all lanes of a warp execute an access to Tensor Memory together, in the order of the program."""
    return is_of_tensor_memory(access) and not is_pipelined(access)


def is_pipelined(access: StateAccess) -> bool:
    """Returns whether an access is one of those that are pipelined with each other."""
    return is_of_tensor_memory(access) and access.effect.completion == _PIPELINED
