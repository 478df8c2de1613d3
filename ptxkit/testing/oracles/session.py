"""The state of the oracles of one test: permitted devices, time budget, and the last failure.

The module loads little: the plugin of pytest keeps its state here, also in runs that use nothing of ptxkit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeAlias, TypeVar
from unittest import SkipTest

from ptxkit.fast_dataclasses import dataclass

if TYPE_CHECKING:
    from ptxkit.device import Cubin
    from ptxkit.device_runs.device_launch import DeviceLaunch, DeviceResult

DeviceUse: TypeAlias = Literal["auto", "require", "none"]
"""Whether tests that need a GPU are skipped without one, fail without one, or are always skipped."""

NO_GPU_WANTED = "no GPU is wanted (--ptx-device=none)"

_P = ParamSpec("_P")
_R = TypeVar("_R")


class BudgetSpentError(SkipTest):
    """The oracles of a test have used their budget and found nothing. Hypothesis ends such a test at once."""


class KernelLauncher(Protocol):
    """An object that launches kernels: `DeviceProcess`, or a client of one elsewhere."""

    @property
    def target(self) -> str: ...

    def run(self, cubin: Cubin | None, launches: Sequence[DeviceLaunch]) -> list[DeviceResult]: ...


@dataclass(frozen=True, slots=True)
class OracleFailure:
    """The name of an oracle that failed, its arguments by name, and its exception."""

    oracle: str
    arguments: Mapping[str, Any]
    error: Exception


@dataclass(slots=True)
class OracleSession:
    """The oracles of one test. budget: seconds since the first check. asked: the number of completed checks.

    failure: the last failure of an oracle; after Hypothesis has shrunk the example, that of the smallest one.

    broken: whether an example of the test failed, by an oracle or otherwise. process: the process with the GPU, if it
    is not that of this process. is_cut: whether a run of the machine was ended because the budget was used, so that it
    has no result.
    """

    device: DeviceUse = "auto"
    budget: float | None = None
    started_at: float | None = None
    passed_count: int = 0
    failure: OracleFailure | None = None
    has_failed: bool = False
    process: KernelLauncher | None = None
    is_truncated: bool = False

    def check_budget(self) -> None:
        """Raises BudgetSpentError before a check if the budget is used. Shrinking a failure has no limit."""
        now = time.monotonic()
        if self.started_at is None:
            self.started_at = now
        if self.budget is not None and not self.has_failed and now - self.started_at > self.budget:
            raise self.budget_error()

    def remaining_seconds(self) -> float | None:
        """Returns the seconds that one run of the machine may take, or None without a budget."""
        if self.budget is None or self.started_at is None or self.has_failed:
            return self.budget
        return max(0.0, self.budget - (time.monotonic() - self.started_at))

    def budget_error(self) -> BudgetSpentError:
        """Returns the exception that ends the test."""
        unfinished = ", and one that did not finish" if self.is_truncated else ""
        return BudgetSpentError(
            f"the budget of {self.budget:g} s is used up after {self.passed_count} examples{unfinished}"
        )


_CURRENT_SESSION: ContextVar[OracleSession] = ContextVar("judging", default=OracleSession())  # noqa: B039 (that of a process without pytest)


def current_session() -> OracleSession:
    """Returns the session of the current test."""
    return _CURRENT_SESSION.get()


def begin_session(judging: OracleSession) -> None:
    """Begins another test."""
    _CURRENT_SESSION.set(judging)


def track_oracle(oracle: Callable[_P, _R]) -> Callable[_P, _R]:
    """Wraps an oracle: it observes the budget, and its failures can be saved and replayed."""
    parameters = signature(oracle)

    @wraps(oracle)
    def ask(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        judging = current_session()
        judging.check_budget()
        try:
            answer = oracle(*args, **kwargs)
        except SkipTest:
            raise
        except Exception as error:
            if judging.is_truncated and not judging.has_failed:
                raise judging.budget_error() from error
            judging.has_failed = True
            judging.failure = OracleFailure(oracle.__name__, parameters.bind(*args, **kwargs).arguments, error)
            raise
        judging.passed_count += 1
        return answer

    return ask


def track_failures(test: Callable[_P, _R]) -> Callable[_P, _R]:
    """Wraps the function of a property: if it fails by itself, its failure is shrunk without a limit, too."""
    if hasattr(test, _TRACKED_ATTRIBUTE):
        return test

    @wraps(test)
    def once(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return test(*args, **kwargs)
        except Exception as error:
            is_skipped = isinstance(error, SkipTest) or type(error).__module__.startswith("hypothesis")
            current_session().has_failed |= not is_skipped
            raise

    setattr(once, _TRACKED_ATTRIBUTE, True)
    return once


_TRACKED_ATTRIBUTE = "watched_by_ptxkit"
