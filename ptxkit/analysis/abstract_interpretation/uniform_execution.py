"""Determines which instructions all threads of a CTA, or of a cluster, execute equally often.

This holds for an instruction if nothing that differs between the threads decides its guard, the branches on which it
is control dependent, or what these were computed from. Loaded data counts as different, arguments of the kernel do not.

Source: PTX ISA, "Special Registers", "Predicated Execution"; Coutinho et al., "Divergence Analysis and Optimizations".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from ptxkit.analysis.abstract_interpretation.returning_calls import ReturningCalls, has_known_paths
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.dataflow.dependence import DependenceSource
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.isa.effects import Access, Barrier, Control, Effect, Value

#: The special registers with one value in all threads of a grid.
_EQUAL_IN_GRID = ("%ntid", "%nctaid", "%nclusterid", "%cluster_nct", "%is_explicit_cluster", "%gridid", "WARP_SZ")
#: The special registers with one value in all threads of a cluster.
_EQUAL_IN_CLUSTER = (*_EQUAL_IN_GRID, "%clusterid")
#: The special registers with one value in all threads of a CTA.
_EQUAL_IN_CTA = (*_EQUAL_IN_CLUSTER, "%ctaid", "%cluster_ctaid", "%cluster_ctarank")


class UniformExecution:
    """The instructions of one kernel that threads execute equally often.

    Nothing is uniform in a function that kernels call, or in a kernel with unknown paths or a call that may exit.
    """

    def __init__(self, program: Program, *, after_exits: bool = False) -> None:
        """Takes the kernel. after_exits: whether only the threads count that have not left it at its beginning."""
        self._program = program
        self._inputs = InputIndependence(program, launch_config_of(program))
        self._sources: dict[Step, frozenset[DependenceSource]] = {}
        self._settled = frozenset(_early_exits(program)).__contains__ if after_exits else None

    def in_cta(self, step: Step) -> bool:
        """Returns whether all threads of a CTA execute a step equally often."""
        return self._is_equal(step, _EQUAL_IN_CTA)

    def in_cluster(self, step: Step) -> bool:
        """Returns whether all threads of a cluster execute a step equally often."""
        return self._is_equal(step, _EQUAL_IN_CLUSTER)

    def in_barrier(self, step: Step, effect: Barrier) -> bool:
        """Returns whether a barrier of a CTA waits for all its threads, which execute it equally often."""
        launch = launch_config_of(self._program)
        is_named = effect.number is None or step.constant_of(effect.number) is not None
        of_all = effect.threads is None or (launch.is_exact and step.constant_of(effect.threads) == launch.threads)
        return (effect.level, effect.action) == ("cta", "sync") and is_named and of_all and self.in_cta(step)

    def in_role(self, step: Step, settled: Callable[[Step], bool], *, in_cluster: bool = False) -> bool:
        """Returns whether all threads of a role execute a step equally often.

        settled: whether the guard of a step has the same value in all threads of the role. in_cluster: whether the role
        has threads of all CTAs of a cluster.
        """
        return self._is_equal(step, _EQUAL_IN_CLUSTER if in_cluster else _EQUAL_IN_CTA, settled)

    def _is_equal(
        self,
        step: Step,
        registers: tuple[str, ...],
        settled: Callable[[Step], bool] | None = None,
    ) -> bool:
        if not self._is_applicable or not self._program.contains(step):
            return False
        sources = self._sources.get(step) if settled is None else None
        if sources is None:
            sources = self._inputs.dependence_sources(step, None, settled or self._settled)
            if settled is None:
                self._sources[step] = sources
        return all(_is_one_of(leaf, registers) for leaf in sources)

    @cached_property
    def _is_applicable(self) -> bool:
        calls = ReturningCalls(self._program)
        returns = all(calls.returns(step) for step in self._program.own_effectful_steps)
        return returns and self._program.is_kernel and has_known_paths(self._program)


def _early_exits(program: Program) -> Iterator[Step]:
    """Yields the branches to an exit, with no other effect between, that no access of shared memory may precede.

    A barrier does not wait for threads that have exited.
    """
    cfg = program.analysis(ControlFlowGraph)
    leaving = {block for block in cfg.exit_blocks if all(map(_only_exits, cfg.steps_of_block(block)))}
    acting = {cfg.block_of(step) for step in program.own_effectful_steps if any(map(_may_order, step.effects))}
    after = cfg.reachable(acting)
    for block, following in enumerate(cfg.successors):
        last = cfg.steps_of_block(block)[-1]
        exits = block in cfg.exit_blocks or any(each in leaving for each in following)
        if exits and last.instruction.guard is not None and block not in after:
            yield last


def _only_exits(step: Step) -> bool:
    return all(isinstance(effect, Value | Control) for effect in step.effects) and step.instruction.guard is None


def _may_order(effect: Effect) -> bool:
    """Returns whether an effect is an access of shared memory, or orders some."""
    is_elsewhere = isinstance(effect, Access) and effect.space.startswith(("param", "global", "const", "local"))
    return not is_elsewhere and not isinstance(effect, Value | Control)


def _is_one_of(leaf: DependenceSource, registers: tuple[str, ...]) -> bool:
    return leaf.kind in ("variable", "parameter") or (leaf.kind == "special" and leaf.name.startswith(registers))
