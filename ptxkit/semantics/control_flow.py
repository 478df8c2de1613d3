"""Determines where control continues after a step of the linear form.

Source: PTX ISA, "Control Flow Instructions", "Predicated Execution".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ptxkit.isa.effects import Control, Effect
from ptxkit.semantics.linear_code import LinearStep


def successors_of(step: LinearStep[Any], effects: Iterable[Effect]) -> tuple[int, ...]:
    """Returns the indices at which control may continue, that of the next step first.

    The number of steps represents the end of the function. A call is assumed to return. An unguarded return, exit or
    trap has no successor. effects: the effects of the instruction.
    """
    is_transfer = any(isinstance(effect, Control) and effect.kind != "call" for effect in effects)
    following = () if is_transfer and step.instruction.guard is None else (step.index + 1,)
    return (*following, *step.targets) if is_transfer else following
