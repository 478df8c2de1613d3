"""Symbolically executes a program for a group of threads that take one path, block by block, within its budget.

`ptxkit.analysis.symexec.group_state` holds the state of the group; `block_compiler` compiles the blocks.
"""

from __future__ import annotations

from ptxkit.analysis.limits import MAX_STEPS, MAX_SYMBOLIC_VALUES, MIN_STALLED_STEPS, STALLED_ITERATIONS, STALLED_STEPS
from ptxkit.analysis.symexec.compiled_code import END_INDEX, CompiledBlock
from ptxkit.analysis.symexec.group_state import GroupState
from ptxkit.analysis.symexec.loop_progress import LoopProgress
from ptxkit.analysis.symexec.trace import GroupTrace
from ptxkit.analysis.symexec.trace_prefix import build_full_trace


class LockstepExecutor:
    """Executes a group of threads until the end of the kernel or of the budget."""

    def __init__(self, state: GroupState) -> None:
        self.state, program = state, state.code.program
        self._max_steps, self._max_values = program.scale_limit(MAX_STEPS), program.scale_limit(MAX_SYMBOLIC_VALUES)
        self._loop_progress: LoopProgress | None = None

    def run(self) -> GroupTrace:
        """Executes until the end of the kernel or of the budget."""
        state = self.state
        index = state.start_index
        while index != END_INDEX:
            if index >= len(state.code.program.steps):
                index = state.return_or_exit()
                continue
            block = state.code.block(index)
            if not self._begin_block(block):
                state.trace.end_reason = "budget"
                break
            index = self._execute(block)
        if state.trace_prefix is not None:
            state.trace.events, state.trace.first_guess = build_full_trace(
                state.trace_prefix, state.trace.events, state.trace.first_guess
            )
        return state.trace

    def _begin_block(self, block: CompiledBlock) -> bool:
        """Returns whether the budget permits a block. If it does, the block counts as executed."""
        state = self.state
        visit = state.visit = state.block_visits.get(block, 0)
        state.block_visits[block] = visit + 1
        if not visit:
            state.trace.covered_steps.update(block.covered_steps)
            state.last_progress = state.executed_steps
        elif self._is_stalled(block):
            return False
        state.executed_steps += block.length
        return state.executed_steps <= self._max_steps and state.symbolic_values.created_count <= self._max_values

    def _is_stalled(self, block: CompiledBlock) -> bool:
        """Returns whether execution should stop.

        It should stop if the loops have covered nothing new for too many steps, or cannot cover anything new.
        """
        state = self.state
        since, covered = state.executed_steps - state.last_progress, state.trace.covered_steps
        if since <= MIN_STALLED_STEPS:
            return False
        longest = state.code.program.scale_limit(max(STALLED_STEPS, STALLED_ITERATIONS * len(covered)))
        return (
            since > longest
            or self._has_covered_all(since)
            or self._exceeds_budget(block, state.last_progress + longest)
        )

    def _has_covered_all(self, since: int) -> bool:
        """Returns whether all steps about which the execution can report anything have been executed."""
        state = self.state
        accesses, covered = state.code.sync_free_accesses, state.trace.covered_steps
        if accesses is None or state.frames or since <= STALLED_ITERATIONS * len(covered):
            return False
        return covered.issuperset(accesses)

    def _exceeds_budget(self, block: CompiledBlock, until: int) -> bool:
        """Returns whether execution is in loops that it cannot leave within the budget."""
        state = self.state
        if state.frames:
            self._loop_progress = None
            return False
        if self._loop_progress is None or self._loop_progress.last_progress != state.last_progress:
            self._loop_progress = LoopProgress(state, state.last_progress)
        self._loop_progress.enter_block(state, block)
        return self._loop_progress.exceeds_budget(state, min(until, self._max_steps))

    def _execute(self, block: CompiledBlock) -> int:
        """Executes a block and returns the index of the next step, or END_INDEX."""
        state = self.state
        index = block.next_index
        covered = state.trace.covered_steps
        for step, guard, actions in block.steps:
            state.step = step
            if guard is not None:
                executes = state.evaluate_guard(*guard)
                if guard[2]:
                    _note_order(state, executes)
                if not executes:
                    continue
                if step not in covered:
                    covered.add(step)
                    state.last_progress = state.executed_steps
            for action in actions:
                target = action(state)
                if target is not None:
                    index = target
            state.active = None
            if index == END_INDEX:
                break
        return index


def _note_order(state: GroupState, executes: bool) -> None:
    """Records whether threads execute the current step, which decides an order. An input may be chosen for that."""
    is_whole = executes and state.active is None
    state.trace.order_sides.update((state.step, side) for side in (executes, is_whole))
    if state.scenario.is_input_trial:
        state.note_guess()
