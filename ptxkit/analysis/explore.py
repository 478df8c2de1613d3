"""Explores a kernel: representative threads, a few scenarios, and what none of them reached."""

from __future__ import annotations

from ptxkit.analysis.actions import Code
from ptxkit.analysis.budget import MAX_TURNS, Budget
from ptxkit.analysis.neighbours import neighbours
from ptxkit.analysis.pointers import pointer_parameters
from ptxkit.analysis.program import Program, Step, flatten
from ptxkit.analysis.scenario import MORE_SAMPLES, SAMPLES, Launch, Scenario, launch_of, representatives
from ptxkit.analysis.terms import Term, Terms
from ptxkit.analysis.trace import Trace
from ptxkit.analysis.walker import Walker, Warp
from ptxkit.isa.effects import Access, CommitGroup, Control, Effect, MemoryFence, Value, WaitGroup
from ptxkit.records import dataclass, field
from ptxkit.syntax.tree import Module


@dataclass(frozen=True, slots=True)
class Exploration:
    """The traces of one scenario, by linear thread number, and what the lanes of each warp had for one another."""

    scenario: Scenario
    traces: dict[int, Trace] = field(default_factory=dict)
    warps: dict[int, Warp] = field(default_factory=dict)


class Explorer:
    """Walks one kernel. `missed` are the asynchronous or synchronising steps that no walk reached.

    budget: what this kernel may use; it says what is left of it.
    """

    def __init__(self, module: Module, program: Program, codes: dict[str, Code], budget: Budget | None = None) -> None:
        self.program = program
        self.launch: Launch = launch_of(program)
        self.explorations: list[Exploration] = []
        self._code = Code(program, lambda name: code_of(module, name, codes))
        self._pointers = pointer_parameters(program)
        self._terms = Terms()
        self.budget = budget or Budget().for_kernel()
        self._asynchronous = set(asynchronous_steps(program))

    @property
    def missed(self) -> list[Step]:
        """Steps with asynchronous effects that no walk reached."""
        covered = self.covered()
        return [step for step in self.program.steps if step in self._asynchronous and step not in covered]

    def run(self) -> None:
        """Walks the scenarios: each sample, two CTAs of a cluster, then other sides of guesses: those that may lead to
        what was not reached, and those whose both sides deserve a look.

        A kernel that does nothing asynchronous is walked by two threads, for its address spaces.
        """
        ranks = (0, 1) if self.launch.cluster_size > 1 else (0,)
        for sample in SAMPLES:
            for rank in ranks:
                self._explore(Scenario(self.launch, sample, rank))
            if not any(exploration.scenario.sampled for exploration in self.explorations):
                for exploration in self.explorations:
                    exploration.scenario.samples = len(SAMPLES)
                break
        for sample in MORE_SAMPLES if self.explorations[0].scenario.samples == 1 else ():
            missed = len(self.missed)
            if not missed:
                break
            self._explore(Scenario(self.launch, sample))
            if len(self.missed) == missed:
                break
        turned: set[Term] = set()
        for _ in range(MAX_TURNS):
            turn = self._next_turn(turned) if self.missed else self._next_turn(turned, ordering=True)
            if turn is None:
                return
            self._explore(turn)

    def walk(self, exploration: Exploration, tid: int, barriers: int | None = None) -> Trace | None:
        """The trace of one more thread of an exploration; whole, or past so many `barriers` of the CTA.

        None where the budget for such walks is used up.
        """
        if self.budget.asked_steps <= 0:
            return None
        walker = self._walker(exploration, tid, barriers)
        trace = walker.run()
        self.budget.asked_steps -= walker.taken
        return trace

    def _walker(self, exploration: Exploration, tid: int, barriers: int | None = None) -> Walker:
        warp = exploration.warps.setdefault(tid // 32, Warp())
        return Walker(self._code, exploration.scenario, tid, self._terms, warp, self._pointers, barriers)

    def _explore(self, scenario: Scenario) -> None:
        exploration = Exploration(scenario)
        traces = exploration.traces
        for group in representatives(self.launch):
            if traces and not self._misses(traces):
                break
            for tid in group:
                if self.budget.steps <= 0:
                    break
                walker = self._walker(exploration, tid)
                traces[tid] = walker.run()
                self.budget.steps -= walker.taken
        for tid in neighbours(traces, self.launch.threads):
            walked = self.walk(exploration, tid)
            if walked is not None:
                traces[tid] = walked
        self.explorations.append(exploration)

    def _misses(self, traces: dict[int, Trace]) -> bool:
        covered = self.covered().union(*(trace.covered for trace in traces.values()))
        return not self._asynchronous <= covered

    def _next_turn(self, turned: set[Term], *, ordering: bool = False) -> Scenario | None:
        """The first scenario with a guess turned round that was not turned yet; what came before it stays.

        ordering: only guesses whose both sides deserve a look.
        """
        for exploration in self.explorations:
            kept: dict[Term, bool] = {}
            for condition, side in exploration.scenario.decisions.items():
                if condition not in turned and (not ordering or condition in exploration.scenario.ordering):
                    turned.add(condition)
                    base = exploration.scenario
                    return Scenario(base.launch, base.sample, base.rank, {**kept, condition: not side})
                kept[condition] = side
        return None

    def covered(self) -> set[Step]:
        """Every step that some walk executed, those of called functions included."""
        return set().union(*(trace.covered for e in self.explorations for trace in e.traces.values()))


def code_of(module: Module, name: str, codes: dict[str, Code]) -> Code | None:
    """The code of a function of this module; None where it has no body here."""
    if name not in codes:
        try:
            function = module.function(name)
        except KeyError:
            return None
        if function.body is None:
            return None
        codes[name] = Code(flatten(module, function), lambda other: code_of(module, other, codes))
    return codes[name]


def asynchronous_steps(program: Program) -> list[Step]:
    """The instructions that are asynchronous, or that asynchronous ones are ordered by."""
    return [s for s in program.steps if s.match is not None and any(_is_asynchronous(e) for e in s.match.effects)]


def _is_asynchronous(effect: Effect) -> bool:
    if isinstance(effect, Access):
        return effect.completion is not None or effect.proxy != "generic"
    if isinstance(effect, Value | Control | MemoryFence):
        return False
    return isinstance(effect, CommitGroup | WaitGroup) or type(effect).__name__.startswith("Mbarrier")
