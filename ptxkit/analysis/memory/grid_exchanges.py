"""Decides which accesses before and after a barrier of the grid exchange data of different CTAs.

All CTAs arrive at the barrier by an atomic on one word, and then poll it. What threads store before it is for what
other CTAs load after it, unless the bytes are of one CTA. Loaded data that the kernel only reads may be any: if they
select the bytes of one access, and the position of the CTA those of the other one, these may be of another CTA.

Source: PTX ISA, "Causality Order".
"""

from __future__ import annotations

from collections.abc import Collection

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.memory.cta_scope_atomics import GridUniformAddresses
from ptxkit.analysis.memory.flag_accesses import global_accesses
from ptxkit.analysis.memory.flag_calls import FlagCalls, StepTest
from ptxkit.analysis.memory.position_guards import PositionGuards
from ptxkit.isa.effects import Access

_CTA_REGISTERS = ("%ctaid", "%clusterid")


class GridExchanges:
    """The accesses around the barriers of the grid in one kernel."""

    def __init__(self, program: Program, guards: PositionGuards, calls: FlagCalls) -> None:
        self._program, self._guards, self._calls = program, guards, calls
        self._words = GridUniformAddresses(program)

    def is_barrier(self, signal: Step, poll: Step) -> bool:
        """Returns whether all CTAs arrive at a word by an update, and the thread that does polls the same word."""
        updates, reads = global_accesses(signal, "update"), global_accesses(poll, "read")
        if not updates or not reads or self._guards.of_cta(signal):
            return False
        uses = (signal, updates[0]), (poll, reads[0])
        words = [self._words.address_of(*use) for use in uses]
        is_same = None not in words and words[0] == words[1]
        is_common = all(self._words.is_same_word_for_all_ctas(*use) for use in uses)
        flow = self._program.analysis(ControlFlowGraph)
        is_followed = flow.post_dominators.dominates(flow.block_of(poll), flow.block_of(signal))
        return is_same and is_common and is_followed and flow.dominates(signal, poll)

    def may_select_other_cta(self, first: Step, second: Step, is_input: StepTest) -> bool:
        """Returns whether some data lead one of two accesses to bytes that the other one accesses in another CTA.

        The position of the CTA decides the address of the other one, and no data do. is_input: returns whether a load
        is of data that the kernel does not write.
        """
        return any(
            self._is_selected_by_input(one, is_input) and self._is_of_cta(two)
            for one, two in ((first, second), (second, first))
        )

    def lacks_order(self, start: Step, end: Step, flag: Step, flags: Collection[Step], is_order: StepTest) -> bool:
        """Returns whether the thread of a flag comes from one step to another one without any step that orders.

        It passes no access of a flag in between; the steps are not on different paths. flags: these accesses.
        """
        edges = self._guards.edges_of(flag)
        after = set(self._calls.steps_after([start], lambda step: step in flags, edges))
        before = {self._program.steps[at] for at in self._calls.steps_before([end], lambda step: step in flags, edges)}
        return end in after and not any(is_order(step) for step in (after & before) - {start, end})

    def _is_selected_by_input(self, step: Step, is_input: StepTest) -> bool:
        """Returns whether words that the kernel only reads decide the address of an access, and no other data."""
        dependence = self._program.analysis(Dependence)
        names = {
            name
            for each in _accesses(step)
            for name in dependence.operand_dependences(step, step.operand(each.address))[0]
        }
        definitions = [
            definition
            for name in dependence.source_registers(names)
            for definition in self._program.definitions.get(name, ())
        ]
        loads = {each for each in definitions if any(_loads(effect) for effect in each.effects)}
        return bool(loads) and all(map(is_input, loads))

    def _is_of_cta(self, step: Step) -> bool:
        dependence = self._program.analysis(Dependence)
        leaves = [dependence.sources_of(step, step.operand(each.address)) for each in _accesses(step)]
        kinds = {leaf.kind for each in leaves for leaf in each}
        names = {leaf.name for each in leaves for leaf in each if leaf.kind == "special"}
        return kinds <= {"parameter", "special", "variable"} and any(name.startswith(_CTA_REGISTERS) for name in names)


def _accesses(step: Step) -> list[Access]:
    return global_accesses(step, "read", "write", "update")


def _loads(effect: object) -> bool:
    return isinstance(effect, Access) and effect.kind != "write" and not effect.space.startswith("param")
