"""Proves that the accesses of a kernel to shared memory are ordered, for all arguments and data.

Barriers of all threads order them as barrier intervals; where there are mbarriers, or barriers of some threads, the
schedules of the groups of threads are explored (`PhaseOrder`).

The block has the size that the kernel declares. A declared limit stands for each smaller block of one dimension, whose
threads do what the same threads of the largest block do: then the number of threads is an unknown.

Source: PTX ISA, "bar, barrier", "Conflict and Data-races", "Performance-Tuning Directives: .maxntid", ".reqntid".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.abstract_interpretation.returning_calls import is_sole_function
from ptxkit.analysis.abstract_interpretation.uniform_execution import UniformExecution
from ptxkit.analysis.abstract_interpretation.value_graph import ValueNode
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, is_control_transfer
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.dataflow.generic_shared import has_generic_shared_addresses
from ptxkit.analysis.intervals.accessed_bytes import bytes_of
from ptxkit.analysis.intervals.cta_states import CtaStates, TooManyStatesError
from ptxkit.analysis.intervals.interval_accesses import IntervalAccesses, OtherAccesses, StateAccess
from ptxkit.analysis.intervals.interval_conflicts import IntervalConflicts, TooManyAccessesError
from ptxkit.analysis.intervals.thread_values import ThreadValues
from ptxkit.analysis.intervals.unfenced_writes import UnfencedWrites
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.shared_window import SHARED_END
from ptxkit.analysis.ir.step_registers import read_operands
from ptxkit.analysis.limits import MAX_SPLIT_GUARDS
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.isa.effects import Access, Barrier, Effect, MbarrierEffect, MbarrierWait, ProxyFence, TensorMemory
from ptxkit.isa.expressions import roles_in
from ptxkit.syntax.tree import operand_names

if TYPE_CHECKING:
    from ptxkit.analysis.phase_order.access_comparison import AccessComparison
    from ptxkit.analysis.phase_order.phase_order import PhaseOrder

#: The proxy fences of which a pair orders as one.
_ONE_WAY = (("async", "acquire"), ("async", "release"))
AccessPair = tuple[StateAccess, StateAccess]


class IntervalProofs:
    """The order of the accesses of one kernel.

    registers: what registers may hold on any path. is_strict: whether accesses are compared of which no rule demands an
    order, too: stores of one value by several threads, and strong accesses.
    """

    def __init__(
        self,
        program: Program,
        registers: AbstractRegisters,
        execution: UniformExecution,
        *,
        is_strict: bool = False,
    ) -> None:
        self._is_strict = is_strict
        self._program, self._registers, self._execution = program, registers, execution
        self._cfg = program.analysis(ControlFlowGraph)
        self._launch = launch_config_of(program)
        self._shared: dict[tuple[Step, Access], bool] = {}
        self._ranges: dict[tuple[Step, Access], Sequence[tuple[int, int]]] = {}
        self._unfenced: dict[Step, set[Step]] = defaultdict(set)
        self._of_intervals: list[StateAccess] = []

    @cached_property
    def barriers(self) -> Sequence[Step]:
        """The barriers of all threads, which they execute equally often."""
        return [step for step in self._program.effectful_steps if self._is_barrier_of_all(step)]

    @cached_property
    def _pairs(self) -> dict[Step, set[AccessPair]] | None:
        if not self._is_applicable():
            return None
        phases = self._phases
        if phases is not None and phases.compared is not None:
            self._unfenced = phases.compared.unfenced
            return phases.compared.pairs
        return self._find_pairs()

    @cached_property
    def _has_phases(self) -> bool:
        if self._launch.cluster_size > 1:
            return True  # barriers of a CTA do not order what the other CTAs access
        return any(self._orders_by_phases(effect, step) for step in self._ordering_steps for effect in step.effects)

    @cached_property
    def _phases(self) -> PhaseOrder | None:
        """The order by mbarriers and by barriers of some threads, if the kernel has such."""
        return self._schedules if self._has_phases else None

    @cached_property
    def _schedules(self) -> PhaseOrder:
        from ptxkit.analysis.phase_order.phase_order import PhaseOrder  # only few kernels need these modules

        return PhaseOrder(
            self._program,
            self._cfg,
            self._launch,
            self._execution,
            self._wanted_values,
            self._accesses_in,
            self._ranges_of,
        )

    def _accesses_in(
        self, values: ThreadValues, states: CtaStates, others: OtherAccesses | None = None
    ) -> IntervalAccesses:
        return IntervalAccesses(
            self._program, self._cfg, values, states, self._may_be_shared, others, is_strict=self._is_strict
        )

    def accesses_of(self, step: Step) -> Sequence[StateAccess]:
        """Returns the accesses of a step in all states of the threads; none if the states are unknown."""
        return self._accesses_by_step.get(step, ())

    @cached_property
    def _accesses_by_step(self) -> Mapping[Step, Sequence[StateAccess]]:
        found: dict[Step, list[StateAccess]] = defaultdict(list)
        if self._is_applicable():
            every = self._phases.accesses if self._phases is not None else None
            if self._phases is None and self.is_solved:
                every = self._of_intervals
            for each in every or ():
                found[each.step].append(each)
        return found

    @property
    def phase_steps(self) -> tuple[Step, ...]:
        """The waits for mbarriers and the barriers, if the schedules of the threads are what was examined."""
        if self._phases is None or self._phases.reason is not None:
            return ()
        return tuple(s for s in self._ordering_steps if any(map(_waits, s.effects)))

    @cached_property
    def tensor_order(self) -> AccessComparison | None:
        """The accesses to Tensor Memory that are not ordered; None where the threads were not followed to their exits.

        Loads and stores of different warps are taken to access different lanes.
        """
        schedules = self._schedules if self._is_applicable() else None
        return schedules.compared if schedules is not None and not schedules.blocked else None

    @property
    def follows_phases(self) -> bool:
        """Whether all threads were followed to their exits, in all schedules.

        Each use of an mbarrier is then after its initialization and in its phase, and no thread waits without end for
        arrivals. Whether copies transfer as many bytes as a phase waits for is `counts_bytes`.
        """
        phases = self._phases if self._is_applicable() else None
        return phases is not None and phases.reason is None and not phases.blocked

    def counts_bytes(self, step: Step) -> bool:
        """Returns whether the phases of the mbarriers that a step uses wait for as many bytes as copies transfer."""
        return self.follows_phases and self._phases is not None and step in self._phases.counted

    @cached_property
    def _ordering_steps(self) -> Sequence[Step]:
        """The barriers, and the waits for mbarriers."""
        kinds = (Barrier, MbarrierEffect)
        return [s for s in self._program.effectful_steps if any(isinstance(each, kinds) for each in s.effects)]

    def _orders_by_phases(self, effect: Effect, step: Step) -> bool:
        if isinstance(effect, Barrier):
            return effect.order != "relaxed" and step not in self.barriers
        return isinstance(effect, MbarrierEffect)

    @property
    def is_solved(self) -> bool:
        """Whether the accesses of the kernel were compared."""
        return self._pairs is not None

    @property
    def reason(self) -> str:
        """Why no order is proven; empty if accesses were compared, or nothing more precise is known."""
        if not is_sole_function(self._program):
            return "the kernel calls functions"
        phases = self._phases if self._is_applicable() else None
        return (phases.reason or "") if phases is not None else ""

    @property
    def orders_alone(self) -> bool:
        """Whether all that can order accesses of the kernel is examined."""
        effects = [effect for step in self._program.effectful_steps for effect in step.effects]
        if any(isinstance(each, ProxyFence) and (each.proxy, each.direction) in _ONE_WAY for each in effects):
            return False  # a pair of one-way fences is not followed
        if not self._is_applicable() or (not self._launch.is_exact and self._reads_block_size):
            return False  # the addresses of the threads depend on an unknown
        if self._has_phases:
            may_signal = any(effect.order != "weak" for _, effect in self._accesses())  # flags in shared memory
            return not may_signal and self.follows_phases
        if any(isinstance(effect, TensorMemory) for effect in effects):
            return False
        located = ((step, effect) for step, effect in self._accesses() if effect.via == "address")
        if any(effect.size is None and step.box_bytes is None for step, effect in located):
            return False  # a tensor map determines the size
        return self.is_solved

    def all_pairs(self) -> Iterator[Collection[AccessPair]]:
        """Yields the pairs of accesses that are not proven to be ordered or apart, for each first instruction."""
        yield from (self._pairs or {}).values()

    def all_unfenced(self) -> Iterator[tuple[Step, Collection[Step]]]:
        """Yields the instructions that read bytes of writes which are not proven to be fenced, with these writes."""
        if self.is_solved:
            yield from ((step, writes) for step, writes in self._unfenced.items() if writes)

    def unordered_pairs(self, step: Step) -> Collection[AccessPair] | None:
        """Returns the pairs of accesses, the first of them by a step, that are not proven to be ordered or apart.

        The result is None if nothing is proven.
        """
        return None if self._pairs is None else self._pairs.get(step, set())

    def unfenced_writes(self, step: Step) -> Collection[Step] | None:
        """Returns the writes by the generic proxy that are not proven to be fenced before a step reads their bytes.

        The result is None if nothing is proven.
        """
        return None if self._pairs is None else self._unfenced.get(step, set())

    def _is_applicable(self) -> bool:
        launch, program = self._launch, self._program
        is_sized = launch.is_exact or launch.is_limit
        return is_sized and is_sole_function(program) and any(True for _ in self._accesses())

    @cached_property
    def _reads_block_size(self) -> bool:
        names = (name for step in self._program.steps for each in read_operands(step) for name in operand_names(each))
        return any(name.startswith("%ntid") for name in names)

    def _is_barrier_of_all(self, step: Step) -> bool:
        effects = [effect for effect in step.effects if isinstance(effect, Barrier)]
        is_ordering = bool(effects) and all(effect.order == "acq_rel" for effect in effects)
        return is_ordering and all(self._execution.in_barrier(step, effect) for effect in effects)

    def _accesses(self) -> Iterator[tuple[Step, Access]]:
        for step in self._program.effectful_steps:
            for effect in step.effects:
                if isinstance(effect, Access) and self._may_be_shared(step, effect):
                    yield step, effect

    def _may_be_shared(self, step: Step, effect: Access) -> bool:
        """Returns whether an access may be one of shared memory, other than of a tensor map."""
        key = (step, effect)
        found = self._shared.get(key)
        if found is None:
            is_named = effect.space.startswith("shared")
            is_generic = effect.space == "generic" and effect.via != "tensormap" and effect.proxy != "tensormap"
            is_generic = is_generic and has_generic_shared_addresses(self._program)
            found = is_named or (is_generic and bytes_of(self._registers, step, [effect]) != [])
            self._shared[key] = found
        return found

    def _find_pairs(self) -> dict[Step, set[AccessPair]] | None:
        """Returns what is not proven, for each value of the guards of several steps that all threads have in common."""
        values = ThreadValues(self._program, self._cfg, self._launch)
        try:
            found = self._compare(values)
            if found or self._unfenced:
                steps = values.unknown_guards
                guards = [atom for atom in steps if len(steps[atom]) > 1 and atom.is_stable]
                if guards:
                    of_all_sides = found, self._unfenced
                    found, self._unfenced = defaultdict(set), defaultdict(set)
                    guards = guards[:MAX_SPLIT_GUARDS]
                    left = set(_unproven(*of_all_sides))
                    for sides in product((0, 1), repeat=len(guards)):
                        values.assumed = dict(zip(guards, sides, strict=True))
                        for step, pairs in self._compare(values).items():
                            found[step] |= pairs
                        left.difference_update(_unproven(found, self._unfenced))
                        # Under strict, the sides are examined for a proof of everything.
                        if not left or (self._is_strict and (found or self._unfenced)):
                            found, self._unfenced = of_all_sides
                            break
        except (TooManyStatesError, TooManyAccessesError):
            return None
        return found

    def _compare(self, values: ThreadValues) -> dict[Step, set[AccessPair]]:
        wanted = list(self._wanted_values(values))
        states = CtaStates(self._program, self._cfg, values, self._execution, self.barriers, wanted)
        accesses = self._accesses_in(values, states)
        if not values.assumed:
            self._of_intervals = [each for state in states.states for each in accesses.of_state(state)]
        conflicts = IntervalConflicts(states, accesses, self._launch.threads, self._ranges_of)
        everyone = (1 << self._launch.threads) - 1
        writes = UnfencedWrites(states, accesses, everyone, conflicts.may_share_bytes)
        for step, own in writes.pairs.items():
            self._unfenced[step] |= own
        return conflicts.pairs

    def _wanted_values(self, values: ThreadValues, counted: Collection[int] = ()) -> Iterator[tuple[int, ValueNode]]:
        """Yields the values that decide the accesses and the paths, each with its block.

        counted: the indexes of the steps whose guard a number of iterations decides.
        """
        for step, effect in self._accesses():
            operands = [step.operand(effect.address), *(step.operand(role) for role in _size_roles(effect))]
            guards = () if step.index in counted else values.guard_nodes(step)
            for node in (*values.nodes_in(step, operands), *guards):
                yield self._cfg.block_of(step), node
        for step in self._program.own_effectful_steps:
            if step.instruction.guard is not None and is_control_transfer(step) and step.index not in counted:
                for node in values.guard_nodes(step):
                    yield self._cfg.block_of(step), node

    def _ranges_of(self, access: StateAccess) -> Sequence[tuple[int, int]]:
        """Returns the bytes that an access may use; an address is inside one of the variables on which it depends."""
        key = access.step, access.effect
        found = self._ranges.get(key)
        if found is None:
            found = self._ranges[key] = self._find_ranges(access)
        return found

    def _find_ranges(self, access: StateAccess) -> Sequence[tuple[int, int]]:
        found = bytes_of(self._registers, access.step, [access.effect])
        if found is not None:
            return [each.offsets for each in found]
        operand = access.step.operand(access.effect.address)
        sources = self._program.analysis(Dependence).sources_of(access.step, operand)
        names = {leaf.name for leaf in sources if leaf.kind == "variable"}
        variables = [each for each in self._program.variables if each.space == "shared" and each.name in names]
        is_known = bool(variables) and access.effect.via == "address" and access.effect.space.startswith("shared")
        if not is_known or len(variables) < len(names):
            return ((0, SHARED_END),)
        return [(each.address, SHARED_END if each.is_open else each.address + each.size) for each in variables]


def _unproven(
    pairs: Mapping[Step, Collection[AccessPair]], unfenced: Mapping[Step, Collection[Step]]
) -> Iterator[object]:
    """Yields what is not proven, without the states of the threads."""
    for each in pairs.values():
        for first, second in each:
            yield first.step, first.effect, first.group, second.step, second.effect, second.group
    for step, writes in unfenced.items():
        yield from ((step, write) for write in writes)


def _size_roles(effect: Access) -> Iterator[str]:
    if effect.size is not None:
        yield from roles_in(effect.size)


def _waits(effect: Effect) -> bool:
    return isinstance(effect, MbarrierWait) or (isinstance(effect, Barrier) and effect.order != "relaxed")
