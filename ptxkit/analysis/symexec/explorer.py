"""Explores a kernel in a few scenarios: executes all threads of a CTA, in groups that take one path."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from copy import copy
from functools import cached_property

from ptxkit.analysis.abstract_interpretation.size_classes import untried_sizes
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.dataflow.input_loads import input_loads
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.dataflow.unreached_conditions import UnreachedConditions
from ptxkit.analysis.ir.async_steps import async_steps_of, has_async_steps, names_thread_counts
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import (
    MAX_ANALYZED_CTAS,
    MAX_DECISION_FLIPS,
    MAX_IDLE_SAMPLES,
    MAX_INPUT_TRIALS,
    MAX_LARGE_SAMPLES,
    MAX_MIXED_SAMPLES,
    MAX_ORDERING_FLIPS,
    MAX_SAMPLE,
    MAX_SIMULATED_CTAS,
    MAX_SIZE_CLASSES,
)
from ptxkit.analysis.symexec.block_compiler import CompiledProgram, compile_program
from ptxkit.analysis.symexec.earlier_executions import EarlierExecutions
from ptxkit.analysis.symexec.exploration import Exploration, execute_all
from ptxkit.analysis.symexec.group_state import GroupState
from ptxkit.analysis.symexec.lane_exchange import LaneExchange
from ptxkit.analysis.symexec.ordering_branches import OrderingBranches
from ptxkit.analysis.symexec.ring_sizes import further_ring_size
from ptxkit.analysis.symexec.shared_broadcast import SharedBroadcasts, loads_from_remote_stores
from ptxkit.analysis.symexec.shared_capacity import SharedCapacity
from ptxkit.analysis.symexec.unreached_accesses import UnreachedCode, unreached_shared_accesses
from ptxkit.analysis.symexec.unrepeated_loops import steps_of_unrepeated_loops
from ptxkit.analysis.values.input_data import InputData
from ptxkit.analysis.values.scenario import (
    FEW_TILES,
    INPUT_SCALES,
    MORE_SAMPLES,
    ODD_TILES,
    POSITIONS,
    SAMPLES,
    SMALL_SIZE,
    Arguments,
    LaunchConfig,
    Scenario,
    launch_config_of,
)
from ptxkit.analysis.values.symbolic_values import SymbolicValue, SymbolicValueTable
from ptxkit.analysis.values.undefined_values import depend_on_division_by_zero


class Explorer:
    """Explores one kernel. `missed` holds the asynchronous or synchronizing steps that no execution reached.

    pointers: the parameters that are addresses, by name and offset. budget: the remaining budget of this kernel.
    infeasible_scenarios: scenarios that cannot be a valid launch, since they use more shared memory than a CTA can
    have; their executions are not kept. given: the explorer of the kernel in another launch; arguments and positions
    with which no execution there reached anything new are not tried again, and what it has executed is not repeated.
    """

    def __init__(self, program: Program, budget: AnalysisBudget | None = None, given: Explorer | None = None) -> None:
        self.program = program
        self.launch: LaunchConfig = launch_config_of(program)
        self.explorations: list[Exploration] = []
        self.infeasible_scenarios: list[Scenario] = []
        self._compiled = compile_program(program)
        self.pointers = pointer_parameters(program)
        self._outside: dict[Hashable, Exploration] = {}
        self._earlier, self._earlier_outside = map(
            EarlierExecutions, ((), ()) if given is None else (given.explorations, given._outside.values())
        )
        self._capacity = SharedCapacity(program)
        self.symbolic_values: SymbolicValueTable = (
            SymbolicValueTable() if given is None else given.symbolic_values.copy()
        )
        self.budget = budget or AnalysisBudget.of_module(program.effort).for_kernel()
        self._excluded_loads = loads_from_remote_stores(program)
        self._async_steps = async_steps_of(program)
        self._cut_short: dict[int, bool] = {}  # for each sample of all parameters, whether an execution was cut short
        self._idle: set[Arguments] = set() if given is None else set(given._idle)
        if given is not None:
            self._cut_short.update((each, cut) for each, cut in given._cut_short.items() if (each, ()) in self._idle)

    @cached_property
    def input_independence(self) -> InputIndependence:
        """The analysis of which inputs decide operands and paths."""
        return InputIndependence(self.program, self.launch)

    @cached_property
    def is_asynchronous(self) -> bool:
        """Whether the kernel or a function that it calls has asynchronous operations, or orders them."""
        return has_async_steps(self.program)

    @property
    def unreached_steps(self) -> list[Step]:
        """The reachable steps with asynchronous effects that no execution reached."""
        if not self._async_steps:
            return []
        covered = self.covered_steps()
        return self.unreached_code.possible_steps([step for step in self._async_steps if step not in covered])

    @property
    def unrepeated_steps(self) -> list[Step]:
        """The asynchronous steps in loops that executions entered and did not repeat."""
        if not self._async_steps:
            return []
        proving = [each for each in self.explorations if not each.scenario.repeats_loops]
        groups = [group for exploration in proving for group in exploration.groups]
        return steps_of_unrepeated_loops(self.input_independence, groups, (each.last_visits for each in proving))

    @cached_property
    def unreached_code(self) -> UnreachedCode:
        """The analysis of what some launch may reach."""
        return UnreachedCode(self)

    def run(self) -> None:
        """Executes the scenarios: each sample, two CTAs of a cluster, then flipped guesses.

        The flipped guesses are those that may lead to unreached steps, and those both of whose sides should be
        explored.
        """
        for sample in SAMPLES:
            explored = self._explore(Scenario(self.launch, sample))
            if not any(exploration.scenario.reads_sample for exploration in explored):
                for exploration in explored:
                    exploration.scenario.sample_count = len(SAMPLES)
                break
        if not self.explorations:
            return
        self._explore_sizes()
        self._explore_few_tiles()
        self._explore_largest_size()
        self._explore_mixed_sizes()
        self._explore_positions()
        self._explore_other_slot()
        if self.launch.cluster_size > 1 and all(each.is_truncated for each in self.explorations):
            self._explore(Scenario(self.launch, SMALL_SIZE))
        if not self.launch.is_exact and names_thread_counts(self.program):
            self._explore(Scenario(self.launch.with_other_size(), SAMPLES[0]))
        turned: set[SymbolicValue] = set()
        for _ in range(MAX_DECISION_FLIPS):
            missed = self.unreached_steps or unreached_shared_accesses(self)
            turn = self._flip_toward(missed, turned) if missed else None
            if turn is None:
                break
            self._explore(turn)
        self._explore_other_orders()

    def with_input_data(self) -> Iterator[Explorer]:
        """Yields the executions of the kernel with some choices of the data that the host prepares.

        The first ones are of the first CTA. For another CTA, the data lead to the sides that were guessed for it.
        Executions in which no such data decide a branch are left out.
        """
        loads = self.program.analysis(input_loads)
        elsewhere = [each.scenario for each in self.explorations if each.scenario.is_elsewhere]
        for given in (Scenario(self.launch, SAMPLES[0]), *elsewhere[:1]) if loads else ():
            other = copy(self)
            other.explorations = []
            for scale in INPUT_SCALES:
                data = InputData(self.symbolic_values, loads, scale, given.sides_of_branches)
                other._explore(Scenario(given.launch, given.sample, overrides=given.overrides, data=data))
                if not data.has_decided:
                    break
            else:
                yield other

    def _explore_other_orders(self) -> None:
        """Executes scenarios that take other sides of guesses that decide an order.

        One leaves out all order that several guesses may leave out, and one stays in loops that guesses may end. Others
        take the other side at one branch each.
        """
        flips: dict[Step, Scenario] = {}
        ordered: set[Step] = set()
        for base in [each.scenario for each in self.explorations]:
            for condition in base.flippable_conditions:
                step, side = base.branch_of_condition.get(condition), base.decisions.get(condition)
                if step is None or side is None or self._is_asserted(base, condition):
                    continue
                if step not in flips:
                    others = base.decisions | {condition: not side}
                    flips[step] = base.with_decisions(others, is_flipped=True)
                if self._ordering_of(step).may_omit_more(step, side):
                    ordered.add(step)
        if len(ordered) > 1 or any(len(step.targets) > 1 for step in ordered):
            self._explore(self._flipped_scenario(omits_order=True))
        if any(self._ordering_of(step).staying_side(step) is not None for step in self._guessed_steps()):
            self._explore(self._flipped_scenario(repeats_loops=True))
        self._explore_chosen_inputs()
        for step in sorted(flips, key=ordered.__contains__)[:MAX_ORDERING_FLIPS]:
            self._explore(flips[step])

    def _explore_chosen_inputs(self) -> None:
        """Executes arguments, and CTAs, for which branches over fences, waits and barriers take a new side.

        These are the numbers with which the branches compare an input. Other executions are dropped.
        """
        trials, ordering = 0, self.program.analysis(OrderingBranches)
        first = self.explorations[0].scenario
        for step in ordering.guarded_steps:
            guard, less, known = step.instruction.guard, ordering.omitting_side(step), len(self.explorations)
            if guard is None or less is None or self._sides_of(step) != {less == guard.negated}:
                continue
            for chosen in self.unreached_conditions.deciding_inputs(step, registers=first.launch.cluster_size == 1):
                if trials == MAX_INPUT_TRIALS:
                    return
                trials += 1
                self._explore(Scenario(first.launch, first.sample, is_flipped=True, overrides=chosen))
                if len(self._sides_of(step)) > 1:
                    break
                del self.explorations[known:]

    def _sides_of(self, step: Step) -> set[bool]:
        """Returns whether executions executed a guarded step that decides an order, and whether they did not."""
        groups = [group for each in self.explorations for group in each.groups]
        return {side for side in (False, True) if any((step, side) in group.order_sides for group in groups)}

    def _flipped_scenario(self, *, omits_order: bool = False, repeats_loops: bool = False) -> Scenario:
        """Returns the first scenario with other sides of guesses."""
        first = self.explorations[0].scenario
        return Scenario(
            first.launch, first.sample, is_flipped=True, omits_order=omits_order, repeats_loops=repeats_loops
        )

    def _guessed_steps(self) -> set[Step]:
        """Returns the steps at which some execution has guessed."""
        return {step for each in self.explorations for step in each.scenario.branch_of_condition.values()}

    def _ordering_of(self, step: Step) -> OrderingBranches:
        return self.program.function_of(step).analysis(OrderingBranches)

    @property
    def _missed_steps(self) -> list[Step]:
        """The asynchronous steps that no execution reached, or those of loops that none repeated.

        Without such steps, these are the accesses to shared memory that no execution reached.
        """
        return self.unreached_steps or self.unrepeated_steps or unreached_shared_accesses(self)

    @property
    def _all_missed_steps(self) -> tuple[list[Step], list[Step], list[Step]]:
        return self.unreached_steps, self.unrepeated_steps, unreached_shared_accesses(self)

    def _explore_sizes(self) -> None:
        """Executes further samples while sizes decide whether the missed steps are reached."""
        if self.explorations[0].scenario.sample_count > 1 or not self._missed_steps:
            return
        self._explore_samples(self._large_sizes(self._missed_steps))
        self._explore_size_classes()
        self._explore_samples(MORE_SAMPLES)

    def _explore_size_classes(self) -> None:
        """Executes sizes for which the branches before missed steps decide in other ways than before."""
        for _ in range(MAX_SIZE_CLASSES):
            missed = self._missed_steps
            if not missed or not self.unreached_conditions.depends_on_sizes(missed):
                return
            done = {*self._idle, *(each.scenario.arguments for each in self.explorations)}
            tried = sorted(sample for sample, overrides in done if not overrides)
            branches = self.unreached_conditions.deciding_steps(missed)
            sizes = untried_sizes(self.program, self.launch, branches, self.pointers, tried)
            if not sizes:
                return
            self._reaches_missed(Scenario(self.launch, sizes[0]))

    def _explore_few_tiles(self) -> None:
        """Executes a few tiles where sizes decide what is missed, and an execution of many tiles was cut short."""
        missed = self._missed_steps
        if missed and self._cut_short.get(ODD_TILES) and self.unreached_conditions.depends_on_sizes(missed):
            self._reaches_missed(Scenario(self.launch, FEW_TILES))

    def _explore_largest_size(self) -> None:
        """Executes the largest sample where a size decides whether steps are reached or repeated, and none did so yet.

        A kernel may require multiples of large tiles, by an assertion or as a divisor, or repeat a loop for large
        problems only.
        """
        largest, missed = Scenario(self.launch, max(MORE_SAMPLES)), self._missed_steps
        if largest.sample in self._cut_short:
            return
        conditions = (condition for each in self.explorations for condition in each.scenario.decisions)
        if depend_on_division_by_zero(self.symbolic_values, conditions):
            self._explore(largest)
        elif missed and self.unreached_conditions.depends_on_sizes(missed):
            self._reaches_missed(largest)

    def _explore_positions(self) -> None:
        """Executes CTAs elsewhere in the grid while their place decides whether missed steps are reached."""
        for number, length, sample in POSITIONS if self.launch.cluster_size == 1 else ():
            missed = self._missed_steps
            if not missed or not self.unreached_conditions.depends_on_position(missed):
                return
            values = {"%ctaid": number, "%nctaid": length}
            place = tuple(((f"{name}.{axis}", 0), value) for name, value in values.items() for axis in "xyz")
            self._reaches_missed(Scenario(self.launch, sample, overrides=place))

    def _explore_other_slot(self) -> None:
        """Executes a size with which a ring ends in another slot of its buffers, or uses all of them."""
        first = self.explorations[0]
        if first.scenario.sample_count == 1 and not first.is_truncated:
            size = further_ring_size(first.groups, first.scenario.sample, max(MORE_SAMPLES))
            if size is not None and size not in self._cut_short:
                self._explore(Scenario(self.launch, size))

    def _explore_mixed_sizes(self) -> None:
        """Executes samples in which the parameters that decide a branch before missed steps have another value.

        A kernel may require whole tiles in some dimensions, and have code for the remainder in another one.
        """
        tried: set[Hashable] = set()
        for _ in range(MAX_MIXED_SAMPLES):
            found = next((each for each in self._mixed_scenarios() if each.arguments not in tried), None)
            if found is None:
                return
            tried.add(found.arguments)
            self._reaches_missed(found)

    def _mixed_scenarios(self) -> Iterator[Scenario]:
        """Yields scenarios that lead to the last branches before missed steps, and may take another side there.

        The other sizes are those of whole tiles or, where executions of whole tiles are cut short, any that lead there.
        """
        conditions, missed = self.unreached_conditions, self._missed_steps
        is_cut = any(each.is_truncated for each in self.explorations)
        for branch in conditions.deciding_branches(missed, self.covered_steps().difference(missed)):
            sizes = conditions.sizes_deciding(branch)
            reaching = [each.scenario for each in self.explorations if sizes and each.covers(branch)]
            whole = [each for each in reaching if each.has_whole_tiles] or (reaching if is_cut else [])
            if whole and (ODD_TILES, ()) not in [each.arguments for each in reaching]:
                yield Scenario(self.launch, whole[0].sample, overrides=tuple((at, ODD_TILES) for at in sorted(sizes)))

    def _explore_samples(self, sizes: Sequence[int]) -> None:
        idle_trials = 0
        for sample in sizes:
            missed = self._missed_steps
            if not missed or idle_trials == MAX_IDLE_SAMPLES or not self.unreached_conditions.depends_on_sizes(missed):
                return
            idle_trials = 0 if self._reaches_missed(Scenario(self.launch, sample)) else idle_trials + 1

    def _reaches_missed(self, scenario: Scenario) -> bool:
        """Executes a scenario, and returns whether it reaches or repeats missed steps. Otherwise it is not kept."""
        if scenario.arguments in self._idle:
            return False
        missed, known = self._all_missed_steps, len(self.explorations)
        self._explore(scenario)
        if self._all_missed_steps != missed:
            return True
        del self.explorations[known:]
        if self.budget.steps > 0:
            self._idle.add(scenario.arguments)
        return False

    def _large_sizes(self, missed: list[Step]) -> list[int]:
        """Returns sizes larger than the first samples, with which conditions on the path to missed steps compare.

        The result is empty if there are too many.
        """
        sizes = self.unreached_conditions.compared_sizes(missed)
        return [size for size in sizes if max(SAMPLES) < size <= MAX_SAMPLE][:MAX_LARGE_SAMPLES]

    @cached_property
    def unreached_conditions(self) -> UnreachedConditions:
        """The conditions of the steps that no execution has reached."""
        return UnreachedConditions(self.program, self.launch, self.pointers)

    def _explore(self, scenario: Scenario) -> list[Exploration]:
        """Returns the explorations of the CTAs that rules inspect.

        They are kept if some valid launch may behave in this manner. Nothing is executed if no steps remain.
        """
        if self.budget.steps <= 0:
            return []
        cluster = self.execute(scenario).cluster
        if not scenario.overrides:
            self._cut_short[scenario.sample] = any(each.is_truncated for each in cluster[:MAX_ANALYZED_CTAS])
        if all(self._capacity.fits(each.groups) for each in cluster):
            self.explorations.extend(cluster[:MAX_ANALYZED_CTAS])
        else:
            self.infeasible_scenarios.append(scenario)
        return cluster[:MAX_ANALYZED_CTAS]

    def execute_outside(self, given: Scenario, rank: int, cluster_index: int) -> Exploration:
        """Executes a scenario in a CTA of the grid, with all accesses to global memory recorded; once for all users."""
        scenario = given.of_rank(rank)
        scenario.cluster_index, scenario.sample_count = cluster_index, given.sample_count
        key = scenario.conditions
        if key not in self._outside:
            self._outside[key] = self.execute(scenario, outside=True)
        return self._outside[key]

    def execute(self, scenario: Scenario, *, outside: bool = False) -> Exploration:
        """Executes one scenario, and the other CTAs of its cluster. Guesses made for one CTA hold for the next ones.

        outside: whether all accesses to global memory are recorded. What was executed before counts as executed again,
        so that the budget does not depend on it.
        """
        earlier = (self._earlier_outside if outside else self._earlier).repeat(scenario)
        if earlier is not None and earlier.steps <= self.budget.steps:
            self.budget.steps -= earlier.steps
            return earlier
        size, conditions, left = scenario.launch.cluster_size, scenario.conditions, self.budget.steps
        cluster: list[Exploration] = []
        for rank in range(size if size <= MAX_SIMULATED_CTAS else MAX_ANALYZED_CTAS):
            scenario = scenario.of_rank(rank) if rank else scenario
            code = self._compiled_with_global_accesses if outside else self._compiled
            cluster.append(self._execute_cta(scenario, code))
            cluster[-1].cluster = cluster
        cluster[0].conditions, cluster[0].steps = conditions, left - self.budget.steps
        return cluster[0]

    @cached_property
    def _compiled_with_global_accesses(self) -> CompiledProgram:
        return compile_program(self.program, outside=True)

    def _execute_cta(self, scenario: Scenario, code: CompiledProgram) -> Exploration:
        all_threads = tuple(range(scenario.launch.threads))
        before, excluded = dict(scenario.decisions), self._excluded_loads
        while True:
            exchange = LaneExchange(broadcasts=SharedBroadcasts(excluded))
            group = GroupState(code, scenario, all_threads, self.symbolic_values, exchange, self.pointers)
            exploration, taken = execute_all(group, self.budget.steps)
            self.budget.steps -= taken
            wrong = exchange.broadcasts.invalidated_loads(exploration.groups, scenario.launch.threads)
            if not wrong:
                return exploration
            excluded = {**excluded, **wrong}
            if all(group.end_reason == "exit" for group in exploration.groups):
                self._excluded_loads = excluded  # in the other scenarios, too
            scenario.reset_decisions(before)

    def _flip_toward(self, missed: list[Step], turned: set[SymbolicValue]) -> Scenario | None:
        """Returns the scenario with one guess flipped, preferably at a branch that leads to missed steps."""
        branches = self.unreached_conditions.deciding_branches(missed, self._guessed_steps())
        return self._next_flip(turned, branches) or self._next_flip(turned)

    def _next_flip(self, turned: set[SymbolicValue], branches: Collection[Step] = ()) -> Scenario | None:
        """Returns the first scenario with a guess flipped that was not flipped before.

        The decisions before it are kept.

        branches: if not empty, only guesses made at these steps are flipped.
        """
        for exploration in self.explorations:
            kept: dict[SymbolicValue, bool] = {}
            for condition, side in exploration.scenario.decisions.items():
                made_there = not branches or exploration.scenario.branch_of_condition.get(condition) in branches
                if condition not in turned and made_there and not self._is_asserted(exploration.scenario, condition):
                    turned.add(condition)
                    return exploration.scenario.with_decisions({**kept, condition: not side})
                kept[condition] = side
        return None

    def _is_asserted(self, scenario: Scenario, condition: SymbolicValue) -> bool:
        """Returns whether the other side of a guess leads to a trap."""
        step = scenario.branch_of_condition.get(condition)
        return step is not None and self._compiled.trap_side(step) is not None

    def covered_steps(self) -> set[Step]:
        """Returns every step that some execution reached, including those of called functions."""
        return set().union(*(group.covered_steps for e in self.explorations for group in e.groups))
