"""Finds the lines at which a CTA waits for other CTAs of its grid: these must be resident at the same time.

A loop that only reads a word of global memory until it has another value waits for another thread that writes it. Where
the kernel itself writes memory of the same pointer with an atomic operation or a release, it waits for other CTAs of
the grid.

Source: PTX ISA, "Release and Acquire Patterns", "atom", "red".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.contract.derived_condition import DerivedCondition
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.memory.polled_flags import is_polling_read
from ptxkit.isa.effects import Access, Effect
from ptxkit.model.launch_contract import ConditionScope, Residency
from ptxkit.semantics.ordering import RELEASE_ORDERS

#: The special registers in which the driver passes the workspace of a cooperative launch.
_DRIVER_REGISTERS = "%envreg"


def find_grid_residency(program: Program) -> Iterator[DerivedCondition]:
    """Yields a condition for each such loop."""
    reads = [step for step in program.own_effectful_steps if any(map(_is_global_read, step.effects))]
    signals = [step for step in program.own_effectful_steps if any(map(_is_signal, step.effects))]
    if not reads or not signals:
        return
    flow, dependence = program.analysis(ControlFlowGraph), program.analysis(Dependence)
    written = {name for step in signals for name in _pointers_of(step, dependence)}
    for step in reads:
        if written & _pointers_of(step, dependence) and is_polling_read(step, flow, dependence):
            yield DerivedCondition(Residency(), step, ConditionScope.LINE)


def _is_global_read(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.kind == "read" and effect.space in ("global", "generic")


def _is_signal(effect: Effect) -> bool:
    if not isinstance(effect, Access) or effect.space not in ("global", "generic"):
        return False
    return effect.kind == "update" or (effect.kind == "write" and effect.order in RELEASE_ORDERS)


def _pointers_of(step: Step, dependence: Dependence) -> set[tuple[str, str]]:
    """Returns the inputs from which the addresses of a step are computed, other than the position of the thread."""
    roles = [effect.address for effect in step.effects if isinstance(effect, Access)]
    leaves = {leaf for role in roles for leaf in dependence.sources_of(step, step.operand(role))}
    return {
        (leaf.kind, leaf.name)
        for leaf in leaves
        if leaf.kind in ("parameter", "variable") or leaf.name.startswith(_DRIVER_REGISTERS)
    }
