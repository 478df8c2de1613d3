"""Explores a kernel: all threads of a CTA, in groups that take one path, in a few scenarios; and what none reached."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from ptxkit.analysis.asynchronous import asynchronous_steps, is_asynchronous
from ptxkit.analysis.budget import MAX_CTAS, MAX_GROUPS, MAX_RANKS, MAX_TURNS, Budget
from ptxkit.analysis.capacity import Capacity
from ptxkit.analysis.certainty import Certainty
from ptxkit.analysis.code import Code
from ptxkit.analysis.exchange import Exchange
from ptxkit.analysis.notices import Notices
from ptxkit.analysis.openings import Openings
from ptxkit.analysis.pointers import pointer_parameters
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.provenance import Provenance
from ptxkit.analysis.reach import Steps, reachable
from ptxkit.analysis.scenario import (
    FEW,
    MAX_LARGE,
    MAX_VAIN,
    MORE_SAMPLES,
    MOST_SIZE,
    SAMPLES,
    Launch,
    Scenario,
    launch_of,
)
from ptxkit.analysis.terms import Term, Terms
from ptxkit.analysis.trace import GroupTrace
from ptxkit.analysis.walker import Walker
from ptxkit.isa.effects import Access, Barrier, Effect, MbarrierInit
from ptxkit.records import dataclass, field


@dataclass(slots=True)
class Exploration:
    """The walks of one scenario. groups: every thread is in one of them, where `is_whole`.

    cluster: those of all CTAs of the cluster, this one among them, by rank; the first two where there are too many.
    """

    scenario: Scenario
    groups: list[GroupTrace] = field(default_factory=list)
    is_whole: bool = True
    cluster: list[Exploration] = field(default_factory=list, repr=False, compare=False)


class Explorer:
    """Walks one kernel. `missed` are the asynchronous or synchronising steps that no walk reached.

    pointers: the parameters that are addresses, by name and offset. budget: what this kernel may use; it says what is
    left of it. failing: scenarios that no launch is, as they use more shared memory than a CTA can have; their walks
    are not kept.
    """

    def __init__(self, program: Program, budget: Budget | None = None) -> None:
        self.program = program
        self.launch: Launch = launch_of(program)
        self.explorations: list[Exploration] = []
        self.failing: list[Scenario] = []
        self._code = code_of(program)
        self.pointers = pointer_parameters(program)
        self._capacity = Capacity(program)
        self._terms = Terms()
        self.budget = budget or Budget().for_kernel()
        self._distrusted = _heard_by_others(program)
        self._asynchronous = asynchronous_steps(program)

    @cached_property
    def certainty(self) -> Certainty:
        """What decides operands and paths."""
        return Certainty(self.program, self.launch)

    @cached_property
    def provenance(self) -> Provenance:
        """In which state spaces addresses lie, over all paths."""
        return Provenance(self.program)

    @cached_property
    def is_asynchronous(self) -> bool:
        """Whether the kernel, or a function that it calls, has asynchronous operations, or what orders them."""
        return is_asynchronous(self.program)

    @property
    def missed(self) -> list[Step]:
        """Steps with asynchronous effects that no walk reached, though some path through the kernel leads to them."""
        if not self._asynchronous:
            return []
        covered = self.covered()
        missed = [step for step in self._asynchronous if step not in covered]
        return [step for step in missed if step in self._reachable] if missed else []

    @cached_property
    def _reachable(self) -> Steps:
        return reachable(self.program)

    def run(self) -> None:
        """Walks the scenarios: each sample, two CTAs of a cluster, then other sides of guesses: those that may lead to
        what was not reached, and those whose both sides deserve a look.
        """
        for sample in SAMPLES:
            walked = self._explore(Scenario(self.launch, sample))
            if not any(exploration.scenario.sampled for exploration in walked):
                for exploration in walked:
                    exploration.scenario.samples = len(SAMPLES)
                break
        if not self.explorations:
            return
        self._try_sizes()
        if self.launch.cluster_size > 1 and all(_is_cut(exploration) for exploration in self.explorations):
            self._explore(Scenario(self.launch, FEW))
        if not self.launch.is_exact and _counts_threads(self.program):
            self._explore(Scenario(self.launch.resized(), SAMPLES[0]))
        turned: set[Term] = set()
        for _ in range(MAX_TURNS):
            missed = self.missed
            turn = self._turn_for(missed, turned) if missed else self._next_turn(turned, ordering=True)
            if turn is None:
                return
            self._explore(turn)

    def _try_sizes(self) -> None:
        """Walks further samples while sizes decide whether what was missed is reached."""
        if self.explorations[0].scenario.samples > 1 or not self.missed:
            return
        self._try(self._large_sizes(self.missed))
        self._try(MORE_SAMPLES)

    def _try(self, sizes: Sequence[int]) -> None:
        missed, vain = self.missed, 0
        for sample in sizes:
            if not missed or vain == MAX_VAIN or not self._openings.hang_on_sizes(missed):
                return
            self._explore(Scenario(self.launch, sample))
            left = self.missed
            vain = vain + 1 if len(left) == len(missed) else 0
            missed = left

    def _large_sizes(self, missed: list[Step]) -> list[int]:
        """Sizes beyond the first samples that the way to what was missed asks for, if not too many."""
        large = [size for size in self._openings.sizes(missed) if max(SAMPLES) < size <= MOST_SIZE]
        return large[:MAX_LARGE]

    @cached_property
    def _openings(self) -> Openings:
        return Openings(self.program, self.launch, self.pointers)

    def _explore(self, scenario: Scenario) -> list[Exploration]:
        """The walks of the CTAs that rules look at; kept where a launch may be like that."""
        cluster = self.walked(scenario).cluster
        if all(self._capacity.holds(each.groups) for each in cluster):
            self.explorations.extend(cluster[:MAX_RANKS])
        else:
            self.failing.append(scenario)
        return cluster[:MAX_RANKS]

    def walked(self, scenario: Scenario, *, outside: bool = False) -> Exploration:
        """The walks of one scenario, and of the other CTAs of its cluster: what one guesses holds for the next.

        outside: with all accesses to global memory.
        """
        size = scenario.launch.cluster_size
        cluster: list[Exploration] = []
        for rank in range(size if size <= MAX_CTAS else MAX_RANKS):
            own = Scenario(scenario.launch, scenario.sample, rank, dict(scenario.decisions)) if rank else scenario
            cluster.append(self._walked(own, self._wide_code if outside else self._code))
            cluster[-1].cluster = cluster
            scenario = own
        return cluster[0]

    @cached_property
    def _wide_code(self) -> Code:
        return code_of(self.program, outside=True)

    def _walked(self, scenario: Scenario, code: Code) -> Exploration:
        """The walks of one CTA."""
        everyone = tuple(range(scenario.launch.threads))
        before = dict(scenario.decisions)
        while True:
            exchange = Exchange(notices=Notices(self._distrusted))
            walker = Walker(code, scenario, everyone, self._terms, exchange, self.pointers)
            exploration, taken = walk_all(walker, self.budget.steps)
            self.budget.steps -= taken
            wrong = exchange.notices.contradicted(exploration.groups, scenario.launch.threads)
            if not wrong:
                return exploration
            self._distrusted |= wrong
            scenario.forget(before)

    def _turn_for(self, missed: list[Step], turned: set[Term]) -> Scenario | None:
        """A guess turned round at a branch that leads to what was missed; any other one where there is none."""
        asked = {step for exploration in self.explorations for step in exploration.scenario.asked.values()}
        branches = self._openings.branches(missed, asked)
        return self._next_turn(turned, branches) or self._next_turn(turned)

    def _next_turn(
        self, turned: set[Term], branches: Collection[Step] = (), *, ordering: bool = False
    ) -> Scenario | None:
        """The first scenario with a guess turned round that was not turned yet; what came before it stays.

        branches: only guesses made there, where some are given. ordering: only those whose both sides deserve a look.
        """
        for exploration in self.explorations:
            kept: dict[Term, bool] = {}
            for condition, side in exploration.scenario.decisions.items():
                made_there = not branches or exploration.scenario.asked.get(condition) in branches
                deserves = not ordering or condition in exploration.scenario.ordering
                deserves = deserves and not self._is_asserted(exploration, condition)
                if condition not in turned and made_there and deserves:
                    turned.add(condition)
                    base = exploration.scenario
                    return Scenario(base.launch, base.sample, 0, {**kept, condition: not side})
                kept[condition] = side
        return None

    def _is_asserted(self, exploration: Exploration, condition: Term) -> bool:
        """Whether the other side of a guess leads to a trap."""
        step = exploration.scenario.asked.get(condition)
        return step is not None and self._code.trap_side(step) is not None

    def covered(self) -> set[Step]:
        """Every step that some walk executed, those of called functions included."""
        return set().union(*(group.covered for e in self.explorations for group in e.groups))


def _heard_by_others(program: Program) -> frozenset[Step]:
    """The loads from shared memory that other CTAs of the cluster may store to: all, where they store at all."""
    if not any(_is_remote_store(effect) for step in program.acting for effect in step.effects):
        return frozenset()
    return frozenset(step for step in program.steps if step.match is not None)


def _is_remote_store(effect: Effect) -> bool:
    return (
        isinstance(effect, Access)
        and effect.kind != "read"
        and effect.space == "shared::cluster"
        and effect.proxy == "generic"
    )


def _is_cut(exploration: Exploration) -> bool:
    """Whether some walk came to no end, though it was sure of its path."""
    return any(group.ended == "budget" and group.guessed is None for group in exploration.groups)


def _counts_threads(program: Program) -> bool:
    """Whether a kernel says how many threads meet somewhere: then it matters how many there are."""
    effects = (effect for step in program.acting for effect in step.effects)
    return any(isinstance(e, MbarrierInit) or (isinstance(e, Barrier) and e.threads is not None) for e in effects)


def walk_all(walker: Walker, budget: int) -> tuple[Exploration, int]:
    """Walks a group and those that part from it; and the steps that took. Past the budget no further group begins."""
    exploration = Exploration(walker.scenario)
    waiting = [walker]
    taken = 0
    while waiting:
        if taken >= budget or len(exploration.groups) >= MAX_GROUPS:
            exploration.is_whole = False
            break
        # The group of the lowest thread comes first: other lanes ask for what lane 0 had.
        walker = waiting.pop(min(range(len(waiting)), key=lambda index: waiting[index].tids[0]))
        before = walker.taken
        exploration.groups.append(walker.run())
        taken += walker.taken - before
        waiting.extend(walker.parted)
    return exploration, taken


def code_of(program: Program, *, whole: bool = False, outside: bool = False) -> Code:
    """A kernel's code, which finds that of the functions that it calls."""
    codes: dict[str, Code] = {}

    def callee(name: str) -> Code | None:
        if name not in codes and name in program.called:
            codes[name] = Code(program.called[name], callee, whole=whole, outside=outside)
        return codes.get(name)

    return Code(program, callee, whole=whole, outside=outside)
