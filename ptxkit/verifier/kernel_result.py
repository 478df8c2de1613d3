"""The results of the runs of one kernel, before they are joined with those of the rules."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ptxkit.diagnostics import Diagnostic, Undecided
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.results import KernelRun

if TYPE_CHECKING:
    from ptxkit.model.trace import FindingTrace


@dataclass(slots=True)
class KernelResult:
    """The results of the runs of one kernel.

    executions: by the offset of an instruction of the kernel, in how many runs with valid arguments it was executed.
    places: the offsets of all instructions of the kernel.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    undecided: list[Undecided] = field(default_factory=list)
    run: KernelRun | None = None
    traces: list[FindingTrace] = field(default_factory=list)
    executions: Counter[int] = field(default_factory=Counter)
    places: frozenset[int] = frozenset()
