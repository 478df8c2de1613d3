"""A program compiled for symbolic execution: blocks of steps with the actions of a group of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.ordering_branches import OrderingBranches
from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState

StepAction: TypeAlias = "Callable[[GroupState], int | None]"
"""The action of a group at a step. It returns None, or the index of the step to continue with."""

#: The index that an action returns to end the execution.
END_INDEX = -1
Guard: TypeAlias = tuple[str, bool, bool, bool]
"""The register of a guard; whether the guard is negated; whether the guarded effects order other instructions (a
commit, a wait, a fence, a barrier, an arrival); and whether they change control, so that the threads that execute them
diverge from the others.
"""

CompiledStep: TypeAlias = tuple[Step, Guard | None, tuple[StepAction, ...]]
"""A compiled step: the step, its guard and its actions.

It is a plain tuple because the executor spends most of its time unpacking these.
"""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledBlock:
    """Steps that are executed in sequence: control enters at the first one and leaves at the last one.

    steps: the steps that the executor must process. length: the number of all steps. next_index: the index after the
    last step. covered_steps: the steps that are known to be executed whenever the block is.
    """

    steps: tuple[CompiledStep, ...]
    length: int
    next_index: int
    covered_steps: tuple[Step, ...]


class ExecutableCode(Protocol):
    """A function compiled for symbolic execution (`ptxkit.analysis.symexec.block_compiler.CompiledProgram`)."""

    @property
    def program(self) -> Program: ...
    @property
    def parameters(self) -> frozenset[str]: ...
    @property
    def global_pointers(self) -> frozenset[str]: ...
    @property
    def callee(self) -> Callable[[str], ExecutableCode | None]: ...
    @property
    def is_asynchronous(self) -> bool: ...
    @property
    def sync_free_accesses(self) -> frozenset[Step] | None: ...
    def block(self, index: int) -> CompiledBlock: ...
    @property
    def ordering(self) -> OrderingBranches: ...
    def trap_side(self, step: Step) -> bool | None: ...
