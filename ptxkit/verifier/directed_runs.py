"""Runs with numbers that are chosen for a purpose, after those with a few numbers for all integers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from ptxkit.analysis.values.scenario import Arguments
from ptxkit.verifier.argument_choice import SCHEDULES, VerifierRun
from ptxkit.verifier.integer_guesses import MIXED_INTEGERS, IntegerGuesses, MixedIntegers, PathIntegers
from ptxkit.verifier.limits import MAX_PATH_RUNS, MAX_VARIED_RUNS
from ptxkit.verifier.run_session import RunSession


class DirectedRuns:
    """The further runs of a session.

    runs_of: the runs with some numbers. buffer_bytes: the size of buffers that earlier runs needed. progress: is called
    after each.
    """

    def __init__(
        self,
        session: RunSession,
        runs_of: Callable[[IntegerGuesses], Iterator[VerifierRun]],
        buffer_bytes: int,
        progress: Callable[[], None],
    ) -> None:
        self._session, self._runs_of, self._buffer_bytes = session, runs_of, buffer_bytes
        self._progress = progress
        self._varied: set[Arguments] = set()

    def run_all(self, paths: Sequence[Arguments], asked: frozenset[int], *, differ: bool) -> None:
        """Makes all directed runs: see the other methods. differ: whether several integers may differ."""
        self.run_variations()
        self.run_paths(paths, asked)
        if differ:
            self.run_mixed()
        self.run_variations()

    def run_paths(self, paths: Sequence[Arguments], asked: frozenset[int]) -> None:
        """Runs with the numbers with which the rules have followed paths, each with every schedule.

        asked: the offsets of the instructions of open questions, with which the runs end when all were executed.
        """
        count = min(len(paths) * len(SCHEDULES), MAX_PATH_RUNS)
        self._run(PathIntegers(paths, self._buffer_bytes), count, asked)

    def run_mixed(self) -> None:
        """Runs with numbers that differ from one integer to the next."""
        self._run(MixedIntegers(self._buffer_bytes), len(MIXED_INTEGERS))

    def run_variations(self) -> None:
        """Runs with numbers near those with which runs have shown what may depend on numbers, each once."""
        numbers = [each for each in self._session.variations() if each not in self._varied][:MAX_VARIED_RUNS]
        self._varied.update(numbers)
        self._run(PathIntegers(numbers, self._buffer_bytes), len(numbers))

    def _run(self, numbers: IntegerGuesses, count: int, asked: frozenset[int] | None = None) -> None:
        self._session.run_further(islice(self._runs_of(numbers), count), count, self._progress, asked)
