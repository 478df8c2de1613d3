"""Finds the polls by which CTAs wait for each other at a counter, as a barrier of the grid does.

All CTAs arrive at such a counter by an atomic, and then poll it until it has a value that does not depend on the CTA.
Where two CTAs have arrived equally often, what lets one of them continue may let the other one continue, too, before
anything that either of them does afterwards: it need not have observed a later arrival.

Source: PTX ISA, "Causality Order", "Release and Acquire Patterns".
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.dataflow.condition_inputs import ConditionInputs, InputSet
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers, is_result_used
from ptxkit.analysis.memory.cta_scope_atomics import GridUniformAddresses
from ptxkit.analysis.memory.flag_accesses import find_global_accesses, global_accesses
from ptxkit.analysis.values.scenario import ParameterKey
from ptxkit.semantics.ordering import ACQUIRE_ORDERS, fence_level

#: The special registers that distinguish the CTAs of a grid.
_CTA_REGISTERS = ("%ctaid", "%clusterid", "%cluster_cta", "%smid", "%globaltimer", "%clock")


class GridBarriers:
    """The polls of one kernel. polls: the instructions that poll words of global memory."""

    def __init__(self, program: Program, independence: InputIndependence, polls: Collection[Step]) -> None:
        self._program, self._flow, self.polls = program, program.analysis(ControlFlowGraph), polls
        atomics = [step for step in program.analysis(find_global_accesses) if global_accesses(step, "update")]
        self._inputs = ConditionInputs(program, independence, {*polls, *atomics})
        self._words = GridUniformAddresses(program)
        fences = (
            fence_level(effect, restricted=True, orders=ACQUIRE_ORDERS)
            for step in program.own_effectful_steps
            for effect in step.effects
        )
        self._has_fence = any(level is not None for level in fences)
        self._known: dict[Step, InputSet] = {}

    def waits_equally(self, poll: Step, steps: Collection[Step]) -> bool:
        """Returns whether CTAs that have arrived equally often at a word wait for the same values of it.

        Only arguments, positions in the CTA and the word decide the end of the loop. steps: those that access the word.
        """
        if poll not in self._known:
            found = self._known[poll] = InputSet()
            loop = self._flow.loop_of(poll)
            for node, _ in self._flow.loops.exit_edges(loop) if loop is not None else ():
                found.add(self._inputs.inputs_of(self._flow.steps_of_block(node)[-1], None))
        inputs = self._known[poll]
        is_uniform = not any(name.startswith(_CTA_REGISTERS) for name in inputs.special_registers)
        return is_uniform and not inputs.is_data and inputs.atomics <= {*steps}

    @cached_property
    def acquiring_steps(self) -> dict[Step, bool]:
        """The reads by which some CTA may acquire, and whether all CTAs read the same word."""
        return {
            step: self._words.is_same_word_for_all_ctas(step, read)
            for step in self._program.analysis(find_global_accesses)
            for read in global_accesses(step, "read", "update")
            if read.order != "weak"
            and is_result_used(self._program, step)
            and (self._has_fence or read.order in ACQUIRE_ORDERS)
        }

    def round_counts(self) -> frozenset[ParameterKey]:
        """Returns the integer arguments that decide how often a loop around one that polls is repeated."""
        pointers, dependence = pointer_parameters(self._program), self._program.analysis(Dependence)
        own = [self._flow.loop_of(poll) for poll in self.polls]
        around = [
            loop for loop in self._flow.loops.loops if any(loop is each.outer for each in own if each is not None)
        ]
        ends = [self._flow.steps_of_block(node)[-1] for loop in around for node, _ in self._flow.loops.exit_edges(loop)]
        registers = dependence.source_registers(name for end in ends for name in guard_registers(end))
        leaves = {leaf for register in registers for leaf in dependence.direct_dependences(register)[1]}
        return frozenset(
            (leaf.name, leaf.offset)
            for leaf in leaves
            if leaf.kind == "parameter" and not any(map(leaf.covers, pointers))
        )
