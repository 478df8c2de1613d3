"""The accesses to shared memory that nothing orders, in a kernel whose threads have roles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ptxkit.analysis.abstract_interpretation.uniform_execution import UniformExecution
from ptxkit.analysis.abstract_interpretation.value_graph import ValueNode
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, is_control_transfer
from ptxkit.analysis.intervals.cta_states import CtaStates, IntervalState, TooManyStatesError
from ptxkit.analysis.intervals.interval_accesses import IntervalAccesses, OtherAccesses, StateAccess
from ptxkit.analysis.intervals.thread_values import ThreadValues
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_INTERVAL_UNITS, MAX_TRACKED_PREDICATES
from ptxkit.analysis.phase_order.access_comparison import AccessComparison
from ptxkit.analysis.phase_order.comparisons import compared_term, leaves_of
from ptxkit.analysis.phase_order.iteration_counts import LoopExit
from ptxkit.analysis.phase_order.loop_exits import loop_exits
from ptxkit.analysis.phase_order.order_state import SharedBranch
from ptxkit.analysis.phase_order.overlaps import Overlaps
from ptxkit.analysis.phase_order.schedule import PhaseSchedule
from ptxkit.analysis.phase_order.segments import Segments, UnknownOrderError
from ptxkit.analysis.phase_order.tensor_accesses import TensorAccesses
from ptxkit.analysis.phase_order.thread_states import Side, ThreadStates, ordering_steps, wait_results
from ptxkit.analysis.phase_order.uniform_branches import deciding_blocks, uniform_branches
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.uniform_terms import Atom, UniformTerm
from ptxkit.fast_dataclasses import fields
from ptxkit.isa.effects import Effect
from ptxkit.isa.expressions import Expression, roles_in
from ptxkit.syntax.tree import Operand

#: The lane that `elect.sync` elects: another one than that which code selects by its number, so that the order of the
#: instructions of one thread does not count where it depends on the choice.
_ELECTED_LANE = 1
_Wanted = Callable[[ThreadValues, Collection[int]], Iterator[tuple[int, ValueNode]]]


class PhaseOrder:
    """The accesses of one kernel that nothing is proven to order.

    wanted: the values that decide the accesses and the paths, other than guards of some steps. accesses_in: the
    accesses to shared memory in some states, with others. ranges_of: the bytes that an access may use. compared: the
    accesses that are not ordered; None if nothing is known, for a `reason`. blocked: the steps at which threads may
    wait without end. counted: those that use only mbarriers whose phases wait for as many bytes as copies transfer.
    accesses: those of all states; None if these are unknown.
    """

    def __init__(
        self,
        program: Program,
        cfg: ControlFlowGraph,
        launch: LaunchConfig,
        execution: UniformExecution,
        wanted: _Wanted,
        accesses_in: Callable[[ThreadValues, CtaStates, OtherAccesses], IntervalAccesses],
        ranges_of: Callable[[StateAccess], Sequence[tuple[int, int]]],
    ) -> None:
        self.compared: AccessComparison | None = None
        self.reason: str | None = None
        self.blocked: set[Step] = set()
        self.counted: set[Step] = set()
        self.accesses: Sequence[StateAccess] | None = None
        if launch.cluster_size == 1 and _multicasts(program):
            self.reason = "other CTAs of the cluster may access the shared memory"
            return
        values = ThreadValues(program, cfg, launch, elected=_ELECTED_LANE, ctas=launch.cluster_size)
        values.give(wait_results(program, values))
        ordering = ordering_steps(program)
        guarded = [step for step in ordering if step.instruction.guard is not None]
        ends = (cfg.steps_of_block(block)[-1] for block in range(len(cfg.block_starts)))
        branches = [step for step in ends if step.instruction.guard is not None and is_control_transfer(step)]
        exits = loop_exits(program, cfg, values, [*guarded, *branches])
        counted = {index for index, each in exits.items() if each.is_of_all}
        operands = [*wanted(values, counted), *_ordering_values(program, cfg, values, counted)]
        try:
            states = ThreadStates(program, cfg, values, execution, operands, counted)
            tensor = TensorAccesses(program, values, ordering)
            accesses = accesses_in(values, states, tensor.of_step)
            deciding = deciding_blocks(cfg, ordering)
            tracked = _predicates_to_track(states, exits, cfg, deciding)
            shared: dict[int, SharedBranch] = {
                **uniform_branches(
                    cfg, execution, deciding, _position_guards(states, values), in_cluster=launch.cluster_size > 1
                ),
                **exits,
            }
            segments = Segments(states, accesses, tracked, shared)
            self.accesses = [each for state in states.states for each in _all_accesses(accesses, state)]
            overlaps = Overlaps(values.cluster, ranges_of, self.accesses, program.scale_limit(MAX_INTERVAL_UNITS))
            schedule = PhaseSchedule(values, states, accesses, segments, overlaps, program)
        except UnknownOrderError as error:
            self.reason = str(error)
            return
        except TooManyStatesError:
            self.reason = "the threads may be in too many states"
            return
        self.blocked, self.counted = schedule.blocked, schedule.counted
        self.compared = schedule.compared


def _multicasts(program: Program) -> bool:
    """Returns whether an instruction may write to the shared memory of several CTAs."""
    effects = (effect for step in program.effectful_steps for effect in step.effects)
    return any(getattr(effect, "multicast", None) is not None for effect in effects)


def _all_accesses(accesses: IntervalAccesses, state: IntervalState) -> Iterator[StateAccess]:
    yield from accesses.of_state(state)
    yield from accesses.of_barrier(state)


def _ordering_values(
    program: Program, cfg: ControlFlowGraph, values: ThreadValues, counted: Collection[int]
) -> Iterator[tuple[int, ValueNode]]:
    """Yields the values that decide what ordering steps do, each with its block.

    counted: the indexes of the steps whose guard a number of iterations decides.
    """
    for step in ordering_steps(program):
        guards = () if step.index in counted else values.guard_nodes(step)
        operands = (values.nodes_in(step, _operands_of(step, effect)) for effect in step.effects)
        for node in (*guards, *(each for nodes in operands for each in nodes)):
            yield cfg.block_of(step), node


def _operands_of(step: Step, effect: Effect) -> Iterator[Operand | None]:
    for each in fields(effect):
        held = getattr(effect, each.name)
        if each.name in ("barrier", "phase", "multicast") and held is not None:
            yield step.operand(held)
        elif isinstance(held, Expression) and each.name in ("count", "number", "threads"):
            yield from (step.operand(role) for role in roles_in(held))


def _position_guards(states: ThreadStates, values: ThreadValues) -> Callable[[Step], bool]:
    """Returns whether the position of a thread decides the guard of a branch: it is the same in all states."""
    found: dict[int, set[object]] = defaultdict(set)
    for state in states.states:
        if state.barrier is None and state.end > state.first:
            step = states.step_before(state.end)
            found[step.index].add(values.guard(step, state.values))
    known = {index for index, held in found.items() if len(held) == 1 and isinstance(next(iter(held)), int | tuple)}
    return lambda step: step.index in known


def _can_be_assumed(side: Side) -> bool:
    return side.is_uniform and side.atom.is_stable


def _predicates_to_track(
    states: ThreadStates, exits: Mapping[int, LoopExit], cfg: ControlFlowGraph, deciding: Collection[int]
) -> dict[tuple[Atom, int], set[int]]:
    """Returns the unknown predicates that stay the same, each with the blocks that test it.

    Those count that several steps test, or that decide whether groups execute ordering steps. deciding: the blocks at
    whose end that is decided.
    """
    tests: dict[tuple[Atom, int], set[int]] = defaultdict(set)
    for state in states.states:
        for choice in state.choices.values():
            if isinstance(choice, Side) and _can_be_assumed(choice) and state.end - 1 not in exits:
                tests[choice.atom, choice.offset].add(state.end)
        guard = state.barrier.instruction.guard if state.barrier is not None else None
        if guard is not None and state.barrier is not None and state.barrier.index not in exits:
            side = states.side_of(state.barrier, state.values)
            if _can_be_assumed(side):
                tests[side.atom, side.offset].add(state.end + 1)
    related: dict[object, int] = defaultdict(int)
    for (atom, _), ends in tests.items():
        related[compared_term(atom)] += len(ends)
    found = {key: {cfg.block_at(end - 1) for end in ends} for key, ends in tests.items()}
    several = [key for key in found if related[compared_term(key[0])] > 1]
    sole = [key for key in found if key not in several and not found[key].isdisjoint(deciding)]
    found = {key: found[key] for key in [*several, *sole][:MAX_TRACKED_PREDICATES]}
    for (atom, _), blocks in found.items():
        term = compared_term(atom)
        for index, leaving in exits.items():
            base = term[0].atom if isinstance(term, tuple) else atom
            counted = (each for each in leaving.numbers if isinstance(each, UniformTerm))
            if any(base in leaves_of(each) for each in counted):
                blocks.add(cfg.block_at(index))  # the number of iterations depends on it
    return found
