"""Derives the contract of an explored kernel, except for the numbers of threads that only the rules can judge."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.contract.certain_steps import CertainSteps
from ptxkit.analysis.contract.cluster_ranks import find_cluster_ranks
from ptxkit.analysis.contract.declared_limits import find_declared_limits
from ptxkit.analysis.contract.derived_condition import DerivedCondition
from ptxkit.analysis.contract.dynamic_shared import DynamicSharedUse
from ptxkit.analysis.contract.grid_residency import find_grid_residency
from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.contract.parameter_multiples import find_parameter_multiples
from ptxkit.analysis.contract.strongest_conditions import keep_strongest
from ptxkit.analysis.contract.tensor_maps import find_tensor_maps
from ptxkit.analysis.ir.source_lines import SourceLines
from ptxkit.model.launch_contract import LaunchCondition, LaunchContract, rank_of


class ContractDerivation:
    """The conditions of one kernel."""

    def __init__(self, kernel: KernelFacts) -> None:
        self._kernel, self._program = kernel, kernel.program

    @cached_property
    def conditions(self) -> tuple[DerivedCondition, ...]:
        """All conditions, each with the instruction from which it follows, in the order of the text."""
        program = self._program
        linear, certain = LinearParameters(program), CertainSteps(self._kernel)
        return (
            *find_declared_limits(program.function),
            *find_cluster_ranks(program, linear, certain),
            *DynamicSharedUse(program, linear, certain).conditions(),
            *find_parameter_multiples(program, linear, certain),
            *find_tensor_maps(self._kernel, linear, certain),
            *find_grid_residency(program),
        )

    def contract(self, further: Iterable[DerivedCondition] = ()) -> LaunchContract:
        """Returns the contract: of the conditions of each subject, the strongest ones.

        further: conditions that were derived elsewhere.
        """
        kept = keep_strongest((*self.conditions, *further))
        found = sorted(map(self._describe, kept), key=lambda each: (rank_of(each.requirement), each.line))
        return LaunchContract(self._program.function.name, tuple(found))

    def _describe(self, derived: DerivedCondition) -> LaunchCondition:
        source, function = self._program.module.source, self._program.function
        assert source is not None
        start = self._start if derived.step is None else derived.step.start
        place = None if derived.step is None else self._source_lines.location(function, start)
        return LaunchCondition(
            derived.requirement, source.position(start)[0], place, derived.scope, is_declared=derived.is_declared
        )

    @property
    def _start(self) -> int:
        """The offset of the kernel in the text."""
        function = self._program.function
        return next(start for item, start in self._program.module.with_offsets() if item is function)

    @cached_property
    def _source_lines(self) -> SourceLines:
        return SourceLines(self._program.module)
