"""The proofs about one function of a kernel that rules use as evidence, computed on demand."""

from __future__ import annotations

from functools import cached_property

from ptxkit.analysis.abstract_interpretation.async_group_proofs import AsyncGroupProofs
from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.abstract_interpretation.uniform_execution import UniformExecution
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.registers.async_register_proofs import AsyncRegisterProofs


class FunctionProofs:
    """The proofs about all paths of one function."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._registers: dict[str, AsyncRegisterProofs] = {}

    @cached_property
    def groups(self) -> AsyncGroupProofs:
        """The proofs that operations are committed to groups and waited for."""
        return AsyncGroupProofs(self.program)

    @cached_property
    def values(self) -> AbstractRegisters:
        """What registers may hold."""
        return AbstractRegisters(self.program, ControlFlowGraph(self.program))

    @cached_property
    def execution(self) -> UniformExecution:
        """The instructions that all threads execute equally often."""
        return UniformExecution(self.program)

    def registers(self, group: str) -> AsyncRegisterProofs:
        """Returns the proofs that registers are not used while operations of a group may use them."""
        if group not in self._registers:
            self._registers[group] = AsyncRegisterProofs(self.program, group, self.groups)
        return self._registers[group]
