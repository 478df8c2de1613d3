"""Determines whether threads that race for some bytes all store the same value there.

According to the memory model, this is a race whatever the values are. A thread that reads the bytes after its own store
nevertheless reads what it stored, in whichever order the stores take effect.

Source: PTX ISA, "Conflict and Data-races".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.access_instances import AccessInstance
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.dataflow.dependence import DependenceSource
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import GroupEvent, UnknownCall
from ptxkit.isa.effects import Access
from ptxkit.syntax.tree import Operand

#: The special registers that have one value for all threads of a CTA.
_CTA_UNIFORM_REGISTERS = (
    "%ctaid",
    "%nctaid",
    "%ntid",
    "%gridid",
    "%cluster",
    "%nclusterid",
    "%is_explicit_cluster",
    "WARP_SZ",
)
#: The kinds of sources that have one value for all threads of a CTA, whatever their name.
_CTA_UNIFORM_KINDS = ("parameter", "variable")


def may_store_different_values(conflict: Race, certainty: InputIndependence) -> bool:
    """Returns whether two instructions that race may store different values to the same bytes."""
    stores = [each.event for each in (conflict.write, conflict.read)]
    values = {tuple(_stored_operands(each.step, each.effect)) for each in stores if isinstance(each.effect, Access)}
    step = stores[0].step
    is_constant = certainty.program.contains(step) and not any(
        leaves
        for value in values
        for operand in value
        for leaves in certainty.dependence.operand_dependences(step, operand)
    )
    return len(values) > 1 or not is_constant


def stores_equal_values(facts: ScenarioFacts, conflict: Race, certainty: InputIndependence) -> bool:
    """Returns whether each thread executes the write of a conflict once and stores the same value as all others.

    In addition, the reading thread must execute the write before it reads these bytes.
    """
    step, effect = conflict.write.event.step, conflict.write.event.effect
    if not isinstance(effect, Access) or effect.kind != "write" or effect.completion is not None:
        return False
    if not certainty.program.contains(step) or any(visit for visit in _execution_numbers(facts, step)):
        return False
    leaves = {
        leaf for operand in _stored_operands(step, effect) for leaf in certainty.dependence_sources(step, operand)
    }
    return all(map(is_uniform_in_cta, leaves)) and _stored_before_read(conflict.read, conflict.write)


def is_uniform_in_cta(source: DependenceSource) -> bool:
    """Returns whether a source has one value for all threads of a CTA."""
    return source.kind in _CTA_UNIFORM_KINDS or source.name.startswith(_CTA_UNIFORM_REGISTERS)


def _execution_numbers(facts: ScenarioFacts, step: Step) -> Iterator[int]:
    """Yields, for each execution of a step by a thread, the number of its earlier executions."""
    for group in facts.groups:
        for event in group.events:
            if not isinstance(event, UnknownCall) and event.step is step:
                yield event.visit


def _stored_operands(step: Step, effect: Access) -> list[Operand]:
    """Returns the operands of a store except its address."""
    match = step.match
    address = match.roles.get(effect.address) if match is not None else None
    return [operand for at, operand in enumerate(step.instruction.operands) if at != address]


def _stored_before_read(reader: AccessInstance, write: AccessInstance) -> bool:
    """Returns whether the reading thread has executed the same store, to the same bytes, before it reads them."""
    for event in reader.path.group.events[: reader.position]:
        if not isinstance(event, UnknownCall) and event.step is write.event.step and isinstance(event.effect, Access):
            own = event.for_thread(reader.lane_index) if isinstance(event, GroupEvent) else event
            if own is not None and own.range == write.event.range:
                return True
    return False
