"""Finds evidence in a kernel's code for the launches that it supports: reads of its CTA index, or communication.

A kernel that assigns numbers by atomics, or polls a word of global memory, shares its work with other CTAs. A kernel
that reads `%ctaid` usually does so, along the axes that it reads.
"""

from __future__ import annotations

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.dataflow.thread_numbering import count_block_axes
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import names_in
from ptxkit.analysis.ir.step_registers import read_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.memory.polled_flags import is_polling_read, is_strong_global_read
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Barrier, Effect, MbarrierInit, Value
from ptxkit.isa.expressions import CallExpr
from ptxkit.semantics.symbols import defined_functions

_AXES = ("x", "y", "z")
_CTA_ID_REGISTERS = ("%ctaid", "%clusterid")
_CLUSTER_REGISTERS = ("%cluster_", "%is_explicit_cluster")
_REMOTE_ADDRESS_OPERATIONS = ("map_rank", "rank_of")
_GLOBAL_SPACES = ("global", "generic")


@dataclass(frozen=True, slots=True)
class LaunchEvidence:
    """The evidence in a kernel's code.

    axes: the axes of the grid, 0 to 2, along which the kernel reads the position of its CTA. shares_global_memory:
    whether it assigns numbers by atomics on global memory, or polls a word there. has_cta_barriers: whether it has
    barriers for the warps of a CTA. uses_clusters: whether it has instructions for the CTAs of a cluster. thread_axes:
    the number of axes of a CTA along which it reads the position of a thread.
    """

    axes: tuple[int, ...] = ()
    shares_global_memory: bool = False
    has_cta_barriers: bool = False
    uses_clusters: bool = False
    thread_axes: int = 1

    @property
    def has_several_ctas(self) -> bool:
        """Whether the kernel supports grids of several CTAs."""
        return self.shares_global_memory or bool(self.axes)

    def distinguishes_ctas(self, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        """Returns whether the kernel distinguishes two CTAs of a grid, given their positions."""
        differing = {axis for axis, (a, b) in enumerate(zip(first, second, strict=True)) if a != b}
        return self.shares_global_memory or differing <= set(self.axes)


def find_launch_evidence(program: Program) -> LaunchEvidence:
    """Returns the evidence in a kernel and in the functions that it calls."""
    names = _names_in(program)
    axes = tuple(
        number for number, axis in enumerate(_AXES) if any(f"{place}.{axis}" in names for place in _CTA_ID_REGISTERS)
    )
    meets = any(_is_for_warps(effect) for step in program.effectful_steps for effect in step.effects)
    clusters = any(name.startswith(_CLUSTER_REGISTERS) for name in names) or any(
        _is_for_clusters(effect) for code in program.functions for step in code.steps for effect in step.effects
    )
    return LaunchEvidence(
        axes, any(map(_shares_global_memory, program.functions)), meets, clusters, program.analysis(count_block_axes)
    )


def _is_for_warps(effect: Effect) -> bool:
    """Returns whether an instruction is for CTAs of several warps; one warp would synchronize more cheaply."""
    return isinstance(effect, MbarrierInit) or (isinstance(effect, Barrier) and effect.level != "warp")


def _is_for_clusters(effect: Effect) -> bool:
    """Returns whether an instruction is for several CTAs of a cluster: a barrier, a multicast, or a remote address."""
    if isinstance(effect, Barrier):
        return effect.level == "cluster"
    if isinstance(effect, Access):
        return effect.multicast is not None
    return (
        isinstance(effect, Value)
        and isinstance(effect.value, CallExpr)
        and effect.value.function in _REMOTE_ADDRESS_OPERATIONS
    )


def _names_in(program: Program) -> set[str]:
    functions = defined_functions(program.module)
    names = Worklist([program.function.name])
    for name in names:
        body = functions[name].body if name in functions else None
        names.add(names_in(body) if body is not None else ())
    return names.seen


def _shares_global_memory(program: Program) -> bool:
    """Returns whether one function uses global memory as CTAs do that communicate."""
    reads = [step for step in program.own_effectful_steps if any(_reads_global(effect) for effect in step.effects)]
    if not reads:
        return False
    flow, dependence = program.analysis(ControlFlowGraph), program.analysis(Dependence)
    return any(
        (_is_ticket_atomic(step, program) or is_polling_read(step, flow, dependence)) and _is_global(step, dependence)
        for step in reads
    )


def _reads_global(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.kind != "write" and effect.space in _GLOBAL_SPACES


def _is_global(step: Step, dependence: Dependence) -> bool:
    """Returns whether an instruction accesses no variable of the kernel by a generic address."""
    if step.match is None:
        return False
    for effect in step.effects:
        if isinstance(effect, Access) and effect.space == "generic":
            leaves = dependence.sources_of(step, step.operand(effect.address))
            return all(leaf.kind != "variable" for leaf in leaves)
    return True


def _is_ticket_atomic(step: Step, program: Program) -> bool:
    """Returns whether an atomic returns a number that the kernel uses, such as the number of the next piece of work."""
    if not any(
        isinstance(effect, Access) and effect.kind == "update" and is_strong_global_read(effect)
        for effect in step.effects
    ):
        return False
    given = set(step.result_registers())
    others = (each for each in program.steps if each is not step)
    return any(not given.isdisjoint(read_registers(each)) for each in others)
