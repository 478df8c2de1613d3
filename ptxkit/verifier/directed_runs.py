"""Runs with inputs that are chosen for a purpose, after those with a few numbers for all integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from ptxkit.analysis.values.scenario import Arguments
from ptxkit.verifier.argument_choice import CONTENTS, SCHEDULES, VerifierRun
from ptxkit.verifier.coverage_choice import ReachingRun, choose_runs
from ptxkit.verifier.integer_guesses import MIXED_INTEGERS, IntegerGuesses, MixedIntegers, PathIntegers
from ptxkit.verifier.limits import MAX_COVERAGE_STEPS, MAX_PROBED_STEPS, MAX_REACHING_RUNS, MAX_VARIED_RUNS
from ptxkit.verifier.run_session import RunSession
from ptxkit.verifier.step_budget import StepBudget

_Inputs: TypeAlias = tuple[IntegerGuesses, int]
"""The choice of numbers, and the number of the first run with every schedule, which determines the contents."""


class DirectedRuns:
    """The further runs of a session.

    runs_of: the runs with some numbers, beginning with that of a number. buffer_bytes: the size of buffers that earlier
    runs needed. progress: is called after each.
    """

    def __init__(
        self,
        session: RunSession,
        runs_of: Callable[[IntegerGuesses, int], Iterator[VerifierRun]],
        buffer_bytes: int,
        budget: StepBudget,
        progress: Callable[[], None],
    ) -> None:
        self._session, self._runs_of, self._buffer_bytes = session, runs_of, buffer_bytes
        self._budget, self._progress = budget, progress
        self._varied: set[Arguments] = set()

    def run_all(self, paths: Sequence[Arguments], asked: frozenset[int], *, differ: bool) -> None:
        """Makes all directed runs: see the other methods. differ: whether several integers may differ."""
        self.run_variations()
        self.run_paths(paths, asked, differ=differ)
        if differ:
            self._run(MixedIntegers(self._buffer_bytes), len(MIXED_INTEGERS))
        self.run_variations()

    def run_paths(self, paths: Sequence[Arguments], asked: frozenset[int], *, differ: bool) -> None:
        """Runs with inputs that lead to instructions which no run has reached, each with every schedule.

        paths: the numbers that may lead there. asked: the offsets of the instructions of open questions.
        """
        missed = asked - self._session.significant_offsets
        tried: list[ReachingRun[_Inputs]] = []
        given = left = self._budget.share(MAX_COVERAGE_STEPS)
        all_inputs = list(self._inputs_to_try(paths, differ=differ)) if missed else []
        for inputs in all_inputs:
            if left <= 0:
                done, wanted = len(tried), len(all_inputs)
                self._session.add_question(self._budget.question_of_inputs(done, wanted, given - left, given))
                break
            trial = next(self._runs_of(*inputs))
            reached, steps = self._session.probe(trial, min(left, self._budget.share(MAX_PROBED_STEPS)))
            tried.append(ReachingRun(inputs, reached, steps))
            left -= steps
            if missed <= reached:
                break
        for chosen in islice(choose_runs(tried, missed), MAX_REACHING_RUNS):
            numbers, first = chosen.inputs
            self._run(numbers, len(SCHEDULES), first)

    def _inputs_to_try(self, paths: Sequence[Arguments], *, differ: bool) -> Iterator[_Inputs]:
        """Yields the inputs of runs without checks of races, those with usual contents of memory first."""
        numbers: list[IntegerGuesses] = [PathIntegers([each], self._buffer_bytes) for each in paths]
        if differ:
            numbers += [MixedIntegers(self._buffer_bytes, at) for at in range(len(MIXED_INTEGERS))]
        yield from ((each, contents * len(SCHEDULES)) for contents in range(len(CONTENTS)) for each in numbers)

    def run_variations(self) -> None:
        """Runs with numbers near those with which runs have shown what may depend on numbers, each once."""
        numbers = [each for each in self._session.variations() if each not in self._varied][:MAX_VARIED_RUNS]
        self._varied.update(numbers)
        self._run(PathIntegers(numbers, self._buffer_bytes), len(numbers))

    def _run(self, numbers: IntegerGuesses, count: int, first: int = 0) -> None:
        self._session.run_further(islice(self._runs_of(numbers, first), count), count, self._progress)
