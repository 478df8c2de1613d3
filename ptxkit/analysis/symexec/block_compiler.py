"""Compiles a program for symbolic execution, block by block, on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from ptxkit.analysis.dataflow.slicing import ProgramSlice, compute_slice
from ptxkit.analysis.ir.async_steps import has_async_steps
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_BLOCK_STEPS
from ptxkit.analysis.symexec.check_bounds import bounded_spaces
from ptxkit.analysis.symexec.compiled_code import CompiledBlock, CompiledStep, Guard, StepAction
from ptxkit.analysis.symexec.convergence_compiler import is_collective_instruction
from ptxkit.analysis.symexec.ordering_branches import OrderingBranches
from ptxkit.analysis.symexec.step_compiler import compile_step, compile_value_step
from ptxkit.analysis.symexec.sync_free import sync_free_accesses
from ptxkit.fast_dataclasses import replace
from ptxkit.isa import effects as fx
from ptxkit.isa.forms import Match

#: The qualifiers that follow `.ptr` of a parameter that points to global memory.
_GLOBAL_POINTER = ("global",)
#: All kinds of accesses.
_EVERY_KIND = frozenset(("read", "write", "update"))


class CompiledProgram:
    """A program compiled for symbolic execution, which all threads and scenarios share.

    callee: returns the code of a function by its name. whole: whether steps on which no effect depends are also
    compiled, so that the execution leaves every register as the thread would. outside: whether accesses to global
    memory are recorded even if the program has nothing that is usually checked there; then operands are not checked,
    because the execution without these accesses has checked them.
    """

    def __init__(
        self,
        program: Program,
        callee: Callable[[str], CompiledProgram | None],
        *,
        whole: bool = False,
        outside: bool = False,
    ) -> None:
        self.program = program
        self.callee = callee
        given = [(each, d.name) for each in program.function.parameters for d in each.declarators]
        self.parameters = frozenset(name for _, name in given)
        #: The parameters declared to point to global memory: such an address is the same in generic and global form.
        self.global_pointers = frozenset(name for each, name in given if each.pointer == _GLOBAL_POINTER)
        self._compiles_all_values = whole
        self._records_global_accesses = outside
        self._blocks: dict[int, CompiledBlock] = {}
        self._computes_only_values: dict[int, bool] = {}
        self._trap_sides: dict[Step, bool | None] = {}

    def block(self, index: int) -> CompiledBlock:
        """Returns the block that starts at a step.

        Blocks are compiled on first use, because most of a large kernel is never executed.
        """
        found = self._blocks.get(index)
        if found is None:
            found = self._blocks[index] = self._compile_block(index)
        return found

    def trap_side(self, step: Step) -> bool | None:
        """Returns the predicate value for which a branch leads directly to a trap; None where no side does, or both do.

        The program asserts the other side: no launch that is meant to succeed takes the branch to the trap.
        """
        if step not in self._trap_sides:
            guard, targets = step.instruction.guard, step.targets
            there = targets[0] if guard is not None and len(targets) == 1 else None
            traps = there is not None and self._leads_to_trap(there)
            is_asserted = guard is not None and there is not None and traps != self._leads_to_trap(step.index + 1)
            self._trap_sides[step] = (traps != guard.negated) if guard is not None and is_asserted else None
        return self._trap_sides[step]

    def _leads_to_trap(self, index: int) -> bool:
        """Returns whether the steps from an index on lead to a trap and have no other effect."""
        leaving = next(
            (step for step in self.program.steps[index : index + MAX_BLOCK_STEPS] if _transfers_control(step)), None
        )
        return leaving is not None and leaving.instruction.guard is None and _is_trap(leaving)

    @cached_property
    def sync_free_accesses(self) -> frozenset[Step] | None:
        """All accesses, if the program does not synchronize; see `ptxkit.analysis.symexec.sync_free`."""
        return None if self._records_global_accesses or self._compiles_all_values else sync_free_accesses(self.program)

    @cached_property
    def is_asynchronous(self) -> bool:
        """Whether the program has asynchronous operations or orders them.

        The buffers of such a program form rings of stages, which wrap around only after many iterations.
        """
        return has_async_steps(self.program)

    @cached_property
    def _slice(self) -> ProgramSlice | None:
        if self._compiles_all_values:
            return None
        found = compute_slice(self.program)
        return replace(found, global_access_kinds=_EVERY_KIND) if self._records_global_accesses else found

    @property
    def ordering(self) -> OrderingBranches:
        """The branches that decide whether something orders accesses."""
        return self.program.analysis(OrderingBranches)

    @cached_property
    def _bounded_spaces(self) -> frozenset[str] | None:
        return None if self._records_global_accesses else bounded_spaces(self.program)

    def _compile_block(self, first: int) -> CompiledBlock:
        steps: list[CompiledStep] = []
        covered: list[Step] = []
        index = first
        for step in self.program.steps[first : first + MAX_BLOCK_STEPS]:
            if index in self.program.code.label_names and index > first:
                break
            index += 1
            actions = tuple(self._compile_step(step))
            if actions:
                steps.append((step, self._guard(step), actions))
            if step.instruction.guard is None or not actions:
                covered.append(step)
            if _transfers_control(step):
                break
        return CompiledBlock(tuple(steps), index - first, index, tuple(covered))

    def _guard(self, step: Step) -> Guard | None:
        guard = step.instruction.guard
        if guard is None:
            return None
        orders = step in self.ordering.ordering_steps or step in self.ordering.steps
        return step.scope.register_name(guard.predicate), guard.negated, orders, _transfers_control(step)

    def _compile_step(self, step: Step) -> list[StepAction]:
        if self._slice is not None and step in self._slice.ineffective_branches:
            return []
        key = id(step.match)
        plain = self._computes_only_values.get(key)
        if plain is None:
            plain = self._computes_only_values[key] = step.match is not None and _only_computes_values(step.match)
        return compile_value_step(step, self._slice) if plain else compile_step(step, self._slice, self._bounded_spaces)


def _transfers_control(step: Step) -> bool:
    return step.match is not None and any(isinstance(effect, fx.Control) for effect in step.match.effects)


def _is_trap(step: Step) -> bool:
    return any(isinstance(effect, fx.Control) and effect.kind == "trap" for effect in step.effects)


def _only_computes_values(match: Match) -> bool:
    """Returns whether an instruction only computes values from registers and constants, so that it needs no check."""
    only_values = all(isinstance(effect, fx.Value) for effect in match.effects)
    simple = all(form.kind != "address" and form.object is None for form in match.operands)
    return only_values and simple and not match.needs and not is_collective_instruction(match)


def compile_program(program: Program, *, whole: bool = False, outside: bool = False) -> CompiledProgram:
    """Returns the code of a kernel, with access to the code of the functions that it calls."""
    codes: dict[str, CompiledProgram] = {}

    def callee(name: str) -> CompiledProgram | None:
        if name not in codes and name in program.callees:
            codes[name] = CompiledProgram(program.callees[name], callee, whole=whole, outside=outside)
        return codes.get(name)

    return CompiledProgram(program, callee, whole=whole, outside=outside)
