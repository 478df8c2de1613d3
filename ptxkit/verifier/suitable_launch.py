"""Finds the blocks and boxes with which a kernel can be run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from ptxkit.verifier.argument_choice import VerifierRun
from ptxkit.verifier.launch_inference import LaunchPlan
from ptxkit.verifier.tensormap_inference import InferredMaps

_PROBE_SECONDS = 5.0
"""The limit in seconds for a probe of a launch."""


class LaunchProbe(Protocol):
    """The runs of one kernel with a launch."""

    is_crowded: bool

    def is_suitable(self, trial: VerifierRun, seconds: float) -> bool: ...


SessionT = TypeVar("SessionT", bound=LaunchProbe)


def find_suitable(
    candidates: Sequence[tuple[LaunchPlan, InferredMaps]],
    session_of: Callable[[LaunchPlan, InferredMaps], SessionT],
    first_of: Callable[[InferredMaps], VerifierRun],
    end: float,
    *,
    exact: bool,
) -> tuple[SessionT, InferredMaps] | None:
    """Returns the first blocks and boxes that are suitable; None where none are, or the time is used up.

    exact: whether only boxes of one size are suitable.
    """
    crowded: LaunchPlan | None = None
    for plan, maps in candidates:
        if plan is crowded:
            continue
        left = end - time.thread_time()
        if left <= 0:
            return None
        session = session_of(plan, maps)
        if session.is_suitable(first_of(maps), min(_PROBE_SECONDS, left)):
            return session, maps
        if session.is_crowded and exact:
            crowded = plan  # the box is the expected one, so another box is certainly wrong
    return None
