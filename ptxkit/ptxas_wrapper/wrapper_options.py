"""The options of `ptxkit-ptxas`, which are environment variables, because its command line is that of ptxas."""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.fast_dataclasses import dataclass
from ptxkit.ptxas_wrapper.limits import DEFAULT_CHECK_SECONDS, MAX_CHECK_SECONDS
from ptxkit.refusal import RefusedError

CONFIG = "PTXKIT_PTXAS_CONFIG"
FAIL_ON = "PTXKIT_PTXAS_FAIL_ON"
REPORT = "PTXKIT_PTXAS_REPORT"
SARIF = "PTXKIT_PTXAS_SARIF"
TIMEOUT = "PTXKIT_PTXAS_TIMEOUT"

SEVERITIES = ("error", "warning")
"""The severities on which a build can fail: the given one, and those before it."""


class WrapperOptionError(RefusedError):
    """A variable of the environment has a value that it cannot have."""


@dataclass(frozen=True, slots=True)
class WrapperOptions:
    """config: a settings file that replaces those of the working directory. fail_on: the severities with which ptxas is
    not run. report: the file to which findings are appended; None for standard error. sarif: the folder for SARIF
    files. seconds: the processor time for one input.
    """

    config: str | None = None
    fail_on: tuple[str, ...] = ()
    report: str | None = None
    sarif: str | None = None
    seconds: float = DEFAULT_CHECK_SECONDS


def read_options(environment: Mapping[str, str]) -> WrapperOptions:
    """Returns the options that the environment gives. Raises WrapperOptionError."""
    return WrapperOptions(
        environment.get(CONFIG) or None,
        _fail_on(environment.get(FAIL_ON, "")),
        environment.get(REPORT) or None,
        environment.get(SARIF) or None,
        _seconds(environment.get(TIMEOUT, "")),
    )


def _fail_on(value: str) -> tuple[str, ...]:
    if value in ("", "never"):
        return ()
    if value not in SEVERITIES:
        raise WrapperOptionError(f"`{FAIL_ON}={value}` is no severity", "write `error`, `warning` or `never`")
    return SEVERITIES[: SEVERITIES.index(value) + 1]


def _seconds(value: str) -> float:
    if not value:
        return DEFAULT_CHECK_SECONDS
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MAX_CHECK_SECONDS:
        raise WrapperOptionError(f"`{TIMEOUT}={value}` is no number of seconds", "write a number such as `10`")
    return seconds
