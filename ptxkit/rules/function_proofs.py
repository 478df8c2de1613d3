"""The proofs about one function of a kernel that rules use as evidence, computed on demand."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar, cast

from ptxkit.analysis.abstract_interpretation.async_group_proofs import AsyncGroupProofs
from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.abstract_interpretation.role_execution import RoleExecution
from ptxkit.analysis.abstract_interpretation.thread_roles import ThreadRoles
from ptxkit.analysis.abstract_interpretation.uniform_execution import UniformExecution
from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.phase_order.interval_proofs import IntervalProofs
from ptxkit.analysis.phase_order.shared_order import shared_order
from ptxkit.analysis.registers.async_register_proofs import AsyncRegisterProofs

Found = TypeVar("Found")


class FunctionProofs:
    """The proofs about all paths of one function."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._registers: dict[str, AsyncRegisterProofs] = {}
        self._made: dict[object, object] = {}

    @cached_property
    def groups(self) -> AsyncGroupProofs:
        """The proofs that operations are committed to groups and waited for."""
        return self.program.analysis(AsyncGroupProofs)

    @cached_property
    def values(self) -> AbstractRegisters:
        """What registers may hold."""
        return self.program.analysis(AbstractRegisters)

    @cached_property
    def execution(self) -> UniformExecution:
        """The instructions that all threads execute equally often."""
        return UniformExecution(self.program)

    @cached_property
    def roles(self) -> ThreadRoles:
        """The threads that may execute each instruction."""
        return ThreadRoles(self.program)

    @cached_property
    def role_execution(self) -> RoleExecution:
        """The instructions that all threads of a role execute equally often."""
        return RoleExecution(self.roles, self.execution)

    def once(self, make: Callable[[FunctionProofs], Found]) -> Found:
        """Returns what a function determines from these proofs; it is computed once."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("Found", self._made[make])

    @cached_property
    def intervals(self) -> IntervalProofs:
        """The order of accesses to shared memory, in blocks of each size of one row if the kernel declares no size."""
        return self.program.analysis(shared_order)

    def registers(self, group: str) -> AsyncRegisterProofs:
        """Returns the proofs that registers are not used while operations of a group may use them."""
        if group not in self._registers:
            self._registers[group] = AsyncRegisterProofs(self.program, group, self.groups)
        return self._registers[group]
