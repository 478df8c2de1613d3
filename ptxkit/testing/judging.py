"""What surrounds the oracles of one test: which devices may be used, how long they may take, what failed last.

It is light to import: the plugin of pytest keeps its state here, in runs too that use nothing of ptxkit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeAlias, TypeVar
from unittest import SkipTest

from ptxkit.records import dataclass

if TYPE_CHECKING:
    from ptxkit.device import Cubin
    from ptxkit.testing.device_process import Answer, DeviceLaunch
    from ptxkit.testing.examples import Example

DeviceUse: TypeAlias = Literal["auto", "require", "none"]
"""Whether tests that need a GPU are skipped where there is none, fail there, or are always skipped."""

NOT_WANTED = "no GPU is wanted (--ptx-device=none)"

_P = ParamSpec("_P")
_R = TypeVar("_R")


class BudgetSpentError(SkipTest):
    """The oracles of a test have had their time, and found nothing: Hypothesis ends such a test at once."""


class Launching(Protocol):
    """Who launches kernels: `DeviceProcess`, or what asks one elsewhere."""

    @property
    def target(self) -> str: ...

    def run(self, cubin: Cubin | None, launches: Sequence[DeviceLaunch]) -> list[Answer]: ...


@dataclass(slots=True)
class Judging:
    """The oracles of one test. budget: seconds from the first question on. asked: questions that were answered.

    failed: the last example that an oracle refused; after Hypothesis has shrunk it, the smallest.

    broken: whether some example of the test failed, by an oracle or otherwise. process: that with the GPU, where it is
    not this process's own. is_cut: a run of the machine was ended since the time was over, and shows nothing.
    """

    device: DeviceUse = "auto"
    budget: float | None = None
    began: float | None = None
    asked: int = 0
    failed: Example | None = None
    broken: bool = False
    process: Launching | None = None
    is_cut: bool = False

    def spend(self) -> None:
        """Before a question: BudgetSpentError where the time is over. A failure is shrunk without a limit."""
        now = time.monotonic()
        if self.began is None:
            self.began = now
        if self.budget is not None and not self.broken and now - self.began > self.budget:
            raise self.spent()

    def left(self) -> float | None:
        """Seconds that one run of the machine may take; None where there is no budget."""
        if self.budget is None or self.began is None or self.broken:
            return self.budget
        return max(0.0, self.budget - (time.monotonic() - self.began))

    def spent(self) -> BudgetSpentError:
        """What ends the test."""
        unfinished = ", and one that did not come to its end" if self.is_cut else ""
        return BudgetSpentError(f"{self.budget:g} s are over after {self.asked} examples{unfinished}")


_CURRENT: ContextVar[Judging] = ContextVar("judging", default=Judging())  # noqa: B039 (that of a process without pytest)


def current() -> Judging:
    """That of the test which runs."""
    return _CURRENT.get()


def begin(judging: Judging) -> None:
    """Another test begins."""
    _CURRENT.set(judging)


def judged(oracle: Callable[_P, _R]) -> Callable[_P, _R]:
    """An oracle that keeps to the budget, and whose failures can be saved and replayed."""
    parameters = signature(oracle)

    @wraps(oracle)
    def ask(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        judging = current()
        judging.spend()
        try:
            answer = oracle(*args, **kwargs)
        except SkipTest:
            raise
        except Exception as error:
            if judging.is_cut and not judging.broken:
                raise judging.spent() from error
            judging.broken = True
            judging.failed = _example(oracle.__name__, parameters.bind(*args, **kwargs).arguments, error)
            raise
        judging.asked += 1
        return answer

    return ask


def watched(test: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function behind a property: where it fails by itself, its failure is shrunk without a limit, too."""
    if hasattr(test, _WATCHED):
        return test

    @wraps(test)
    def once(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return test(*args, **kwargs)
        except Exception as error:
            is_skipped = isinstance(error, SkipTest) or type(error).__module__.startswith("hypothesis")
            current().broken |= not is_skipped
            raise

    setattr(once, _WATCHED, True)
    return once


_WATCHED = "watched_by_ptxkit"


def _example(oracle: str, given: dict[str, Any], error: Exception) -> Example:
    from ptxkit.testing.examples import example_of

    return example_of(oracle, given, error)
