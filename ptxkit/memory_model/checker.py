"""The verdict on a litmus test: whether its final state is allowed, and whether an execution has a data race."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.memory_model.axioms import ISA, Axiom, is_consistent, violated_axioms
from ptxkit.memory_model.conditions import holds
from ptxkit.memory_model.executions import Candidate, CandidateEnumerator
from ptxkit.memory_model.litmus_test import LitmusTest
from ptxkit.memory_model.ptx_header import OK, SILENT
from ptxkit.memory_model.relations import Relation
from ptxkit.memory_model.traces import Ending, Trace, blocked_prefixes, enumerate_traces


class Answer(Enum):
    """The model's answer about the final state in question, or about races."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    RACY = "racy"
    RACE_FREE = "race-free"
    UNDEFINED = "undefined"
    """Some execution has undefined behavior."""


@dataclass(frozen=True, slots=True)
class DataRace:
    """Two accesses of an execution that race, by number."""

    candidate: Candidate
    first: int
    second: int


@dataclass(slots=True)
class LitmusVerdict:
    """The verdict on a test.

    answer: about the state of `exists` and `~exists`, about a state without the condition of `forall`, or about races.
    does_hold: whether the test's own statement holds. witness: an execution with the state, or the one that the fewest
    axioms forbid; None if no candidate has it. axioms: those that forbid it, with the pairs of events. race: one of a
    consistent execution. undefined: why the behavior is not defined. ends: whether some execution ends.
    is_bounded: whether a loop may have turns that were not considered.
    """

    test: LitmusTest
    policy: str
    answer: Answer = Answer.FORBIDDEN
    does_hold: bool = False
    witness: Candidate | None = None
    axioms: Sequence[tuple[Axiom, Relation]] = ()
    race: DataRace | None = None
    undefined: str = ""
    ends: bool = False
    is_bounded: bool = False

    @property
    def is_as_expected(self) -> bool:
        """Whether the answer is that of the verdict which the test states; without one, whether its statement holds."""
        if not self.test.expected:
            return self.does_hold
        return self.does_hold == (self.test.expected == OK or (self.test.expected == SILENT and self.policy == ISA))


def check(test: LitmusTest, policy: str = ISA) -> LitmusVerdict:
    """Returns the verdict on a test. Raises LitmusError, also TooManyExecutionsError."""
    return _Checker(test, policy).run()


class _Checker:
    def __init__(self, test: LitmusTest, policy: str) -> None:
        self.test, self.verdict = test, LitmusVerdict(test, policy)
        self.enumerator = CandidateEnumerator(test, policy)
        self.names = [each.name for each in test.threads]

    def run(self) -> LitmusVerdict:
        traces = enumerate_traces(self.test)
        verdict = self.verdict
        verdict.is_bounded = traces.is_bounded
        finished = [[each for each in several if each.ending is Ending.FINISHED] for several in traces.traces]
        combinations = list(self.enumerator.combinations(finished))
        for combination in combinations:
            for candidate in self._candidates(combination):
                if is_consistent(candidate.execution):
                    self._note(candidate)
        if verdict.witness is None and self.test.condition is not None:
            self._explain(combinations)
        self._answer()
        return verdict

    def _candidates(self, traces: tuple[Trace, ...], *, is_forced: bool = True) -> Iterator[Candidate]:
        """Yields the candidates in which all threads end."""
        for candidate in self.enumerator.of_combination(traces, is_forced=is_forced):
            if candidate.rendezvous.undefined:
                self.verdict.undefined = candidate.rendezvous.undefined
            elif not candidate.rendezvous.blocked:
                yield candidate

    def _note(self, candidate: Candidate) -> None:
        """Records what a consistent execution shows."""
        verdict = self.verdict
        verdict.ends = True
        if verdict.race is None:
            for one, other in candidate.execution.races.pairs():
                verdict.race = DataRace(candidate, one, other)
                break
        if verdict.witness is None and self._has_state(candidate):
            verdict.witness = candidate

    def _has_state(self, candidate: Candidate) -> bool:
        """Returns whether the state in question is a final one."""
        condition = self.test.condition
        if condition is None:
            return False
        wanted = self.test.quantifier != "forall"
        registers = candidate.registers(self.names)
        return any(holds(condition, {**memory, **registers}) == wanted for memory in candidate.final_values())

    def _explain(self, combinations: Sequence[tuple[Trace, ...]]) -> None:
        """Finds the candidate with the state that breaks the fewest axioms."""
        verdict = self.verdict
        for is_forced in (True, False):
            for combination in combinations:
                for candidate in self._candidates(combination, is_forced=is_forced):
                    if not self._has_state(candidate):
                        continue
                    broken = violated_axioms(candidate.execution)
                    if broken and (not verdict.axioms or len(broken) < len(verdict.axioms)):
                        verdict.axioms, verdict.witness = broken, candidate
                    if len(broken) == 1:
                        return
            if verdict.axioms:
                return

    def _answer(self) -> None:
        verdict, quantifier = self.verdict, self.test.quantifier
        if verdict.undefined:
            verdict.answer = Answer.UNDEFINED
        elif quantifier == "race":
            verdict.answer = Answer.RACE_FREE if verdict.race is None else Answer.RACY
            verdict.does_hold = verdict.race is None
        else:
            is_allowed = verdict.witness is not None and not verdict.axioms
            verdict.answer = Answer.ALLOWED if is_allowed else Answer.FORBIDDEN
            verdict.does_hold = is_allowed == (quantifier == "exists")


def find_endless_execution(test: LitmusTest, policy: str = ISA) -> Candidate | None:
    """Returns an execution that never ends, although each write is visible at last; None if each execution ends.

    Threads that do not end wait at barriers, or in loops that only read; there is no later write in
    coherence order than those that these read last. Raises LitmusError, also TooManyExecutionsError.
    """
    enumerator = CandidateEnumerator(test, policy)
    threads = enumerate_traces(test).traces
    extended = [
        [
            *(each for each in several if each.ending in (Ending.FINISHED, Ending.SPINNING)),
            *dict.fromkeys(part for each in several for part in blocked_prefixes(each)),
        ]
        for several in threads
    ]
    for combination in enumerator.combinations(extended):
        if all(each.ending is Ending.FINISHED for each in combination):
            continue
        for candidate in enumerator.of_combination(combination):
            if _is_endless(candidate) and is_consistent(candidate.execution):
                return candidate
    return None


def _is_endless(candidate: Candidate) -> bool:
    skeleton = candidate.skeleton
    stuck = set()
    for start, trace in zip(skeleton.starts, candidate.traces, strict=True):
        if trace.ending is Ending.BLOCKED:
            stuck.add(start + len(trace.events) - 1)
        for each in trace.repeated:
            read = start + each
            if skeleton.reads >> read & 1 and candidate.execution.from_reads.rows[read]:
                return False
    return candidate.rendezvous.blocked == stuck


@dataclass(slots=True)
class Outcomes:
    """All outcomes of a test. states: the allowed final states, each with its registers and locations by name.
    race_free: those of executions without a data race. sequential: those of sequentially consistent executions.
    has_race: whether an execution has a data race.
    """

    states: set[frozenset[tuple[str, int]]] = field(default_factory=set)
    race_free: set[frozenset[tuple[str, int]]] = field(default_factory=set)
    sequential: set[frozenset[tuple[str, int]]] = field(default_factory=set)
    has_race: bool = False


def enumerate_outcomes(test: LitmusTest, policy: str = ISA) -> Outcomes:
    """Returns all outcomes of a test. Raises LitmusError, also TooManyExecutionsError."""
    outcomes, enumerator = Outcomes(), CandidateEnumerator(test, policy)
    names = [each.name for each in test.threads]
    traces = enumerate_traces(test).traces
    finished = [[each for each in several if each.ending is Ending.FINISHED] for several in traces]
    for combination in enumerator.combinations(finished):
        for candidate in enumerator.of_combination(combination):
            if candidate.rendezvous.blocked or not is_consistent(candidate.execution):
                continue
            registers, races = candidate.registers(names), bool(candidate.execution.races)
            states = [frozenset({**registers, **memory}.items()) for memory in candidate.final_values()]
            outcomes.has_race = outcomes.has_race or races
            outcomes.states.update(states)
            outcomes.race_free.update(() if races else states)
            outcomes.sequential.update(
                frozenset({**registers, **memory}.items()) for memory in candidate.sequential_memories()
            )
    return outcomes
