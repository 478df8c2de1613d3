"""Dependence of a kernel's results on uninitialized memory and registers.

The kernel runs twice with the same seed, and uninitialized memory holds different bits the second time. All differences
between the runs depend on it: an address, a branch, a stored value. Uninitialized values that are read but do not
affect the result are not reported.

Source: PTX ISA, "State Spaces": contents of registers and of shared and local memory are undefined at first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import memory_words
from ptxkit.emulator.core.findings import Violation, Witness
from ptxkit.emulator.core.uninitialized_reads import UninitializedRead
from ptxkit.emulator.driver.runner import RunBudget, RunResult, run
from ptxkit.emulator.engine.cta import PERTURBED_PATTERN
from ptxkit.emulator.races.happens_before_monitor import HappensBeforeMonitor
from ptxkit.emulator.races.shadow_memory import WRITE
from ptxkit.emulator.state.memory import MemorySegment
from ptxkit.emulator.threads.machine_observer import MachineObserver
from ptxkit.emulator.threads.machine_state import MachineState
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.syntax.tree import Module


@dataclass(frozen=True, slots=True)
class UninitializedDependence:
    """The results that depend on uninitialized memory or registers; `incomplete_reason` states why not all of them are
    known. group_steps: the steps of all runs, as in `RunResult`.
    """

    violations: tuple[Violation, ...] = ()
    incomplete_reason: str = ""
    group_steps: int = 0

    def open_questions(self, what: str) -> tuple[str, ...]:
        """The open question about uninitialized `memory` or `registers`, in words, or nothing."""
        if not self.incomplete_reason:
            return ()
        return (f"whether results depend on uninitialized {what} is unknown: {self.incomplete_reason}",)


def find_uninitialized_dependence(module: Module, entry: str, **launch: Any) -> UninitializedDependence:
    """Finds results that depend on uninitialized memory. `launch` has the arguments of `run`, of a launch without
    violations.
    """
    runs = _RunSeries(module, entry, launch)
    violations = tuple(_dependences_on_memory(runs))
    return UninitializedDependence(violations, runs.incomplete_reason, runs.group_steps)


def _dependences_on_memory(runs: _RunSeries) -> Iterable[Violation]:
    first, second, again = _WatchedRun(), _WatchedRun(), _WatchedRun()
    if not runs.run(first).is_clean:
        return ()
    found = runs.run(second, unwritten=PERTURBED_PATTERN)
    if found.findings:
        return map(_branch_violation, found.findings)
    if not found.is_clean:
        return ()
    differs = first.global_bytes != second.global_bytes
    if not differs.any() or not runs.run(again).is_clean:
        return ()
    differs &= first.global_bytes == again.global_bytes  # differences in all runs, such as the time, are excluded
    return _store_violations(first, second, differs)


def find_significant_reads(
    module: Module, entry: str, reads: Sequence[UninitializedRead], **launch: Any
) -> UninitializedDependence:
    """Finds those reads of unwritten registers on which results depend.

    `reads` are `RunResult.uninitialized_reads` of a run of this launch that has no violations; each register is given
    different bits in a separate run. `launch` has the arguments of `run`.
    """
    if not reads:
        return UninitializedDependence()
    runs = _RunSeries(module, entry, launch)
    violations = sorted(_dependences_on_registers(runs, reads), key=lambda each: each.offset)
    return UninitializedDependence(tuple(violations), runs.incomplete_reason, runs.group_steps)


def _dependences_on_registers(runs: _RunSeries, reads: Sequence[UninitializedRead]) -> Iterator[Violation]:
    first, again = _WatchedRun(), _WatchedRun()
    if not all(runs.run(each).is_clean for each in (first, again)):
        return
    same = first.global_bytes == again.global_bytes  # differences in all runs, such as the time, are excluded
    for name, read in {each.register: each for each in reversed(reads)}.items():
        second = _WatchedRun()
        outcome = runs.run(second, perturbed=frozenset({name}))
        if not (outcome.findings or outcome.is_clean):
            continue
        differs = same & (first.global_bytes != second.global_bytes)
        if outcome.findings:
            what = memory_words.FINDING_DEPENDS(message=outcome.findings[0].message)
        elif differs.any():
            what = memory_words.LOCATION_DEPENDS(location=_describe_location(second, int(differs.argmax())))
        else:
            continue
        message = memory_words.UNWRITTEN_REGISTER_READ(name=name, effect=what)
        yield Violation(message, read.line, read.offset, (read.witness,))


class _RunSeries:
    """Runs of one launch, all within the steps of its budget. incomplete_reason: of the first that did not finish."""

    def __init__(self, module: Module, entry: str, launch: Mapping[str, Any]) -> None:
        self._module, self._entry, self._launch = module, entry, launch
        self._budget: RunBudget = launch.get("budget", RunBudget())
        self.group_steps, self.incomplete_reason = 0, ""

    def run(self, watched: _WatchedRun, **more: Any) -> RunResult:
        """Runs the launch with other contents of what no thread wrote."""
        left = replace(self._budget, steps=self._budget.steps - self.group_steps)
        launch = {**self._launch, **more, "budget": left, "observers": watched.observers}
        outcome = run(self._module, self._entry, **launch)
        self.group_steps += outcome.group_steps
        self.incomplete_reason = self.incomplete_reason or outcome.unsupported_reason or outcome.incomplete_reason
        return outcome


class _WatchedRun(MachineObserver):
    """The memory of a run, and the history of its accesses."""

    def __init__(self) -> None:
        self._monitor = HappensBeforeMonitor()
        self.history = self._monitor.history
        self.machine: MachineState | None = None

    def on_launch(self, machine: MachineState) -> None:
        """Stores the launch."""
        self.machine = machine

    @property
    def observers(self) -> tuple[MachineObserver, ...]:
        """The observers of the run."""
        return (self, *self._monitor.observers)

    @property
    def global_memory(self) -> MemorySegment:
        """The global memory of the launch."""
        assert self.machine is not None
        return self.machine.memory.segments["global"]

    @property
    def global_bytes(self) -> Any:
        """The bytes of the global memory."""
        return self.global_memory.buffer.data


def _describe_location(watched: _WatchedRun, place: int) -> str:
    """Describes a byte of global memory, given by its offset."""
    arena = watched.global_memory
    there = arena.allocation_at(arena.start + place)
    return f"byte {arena.start + place - there.start} of {there.name}" if there is not None else "global memory"


def _branch_violation(finding: Violation) -> Violation:
    message = memory_words.UNWRITTEN_DATA_DECIDES(message=finding.message)
    return Violation(message, finding.line, finding.offset, finding.witnesses)


def _store_violations(first: _WatchedRun, second: _WatchedRun, differs: Any) -> list[Violation]:
    """Returns one finding for each instruction that stored different bits."""
    arena = second.global_memory
    shadow = arena.buffer.shadow
    if shadow is None:
        return []
    found: dict[int, Violation] = {}
    for place in numpy.flatnonzero(differs).tolist():
        unit = place // shadow.unit
        site, (agents, _) = int(shadow.sites[WRITE][unit]), shadow.last_accesses(WRITE, numpy.array([unit]))
        if site in found or not agents[0]:
            continue
        access = second.history.site(site)
        code, pc, cta = access.location
        where = _describe_location(second, place)
        thread = second.history.thread_at(access, int(agents[0]))
        old, new = (each.global_bytes[place : place + 1].tobytes().hex() for each in (first, second))
        text, line = code.instructions[pc].opcode, cta.machine.line_of(code.offsets[pc])
        at = arena.start + place
        witness = Witness(text, line, cta.machine.thread_of(thread), cta.ctaid, "global", at, 1, old, new)
        message = memory_words.UNWRITTEN_DATA_STORED(location=where)
        found[site] = Violation(message, line, code.offsets[pc], (witness,))
    return list(found.values())
