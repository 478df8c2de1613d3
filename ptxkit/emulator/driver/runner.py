"""Runs a kernel on the reference machine."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ptxkit.emulator.core.findings import (
    BudgetError,
    InvalidLaunchError,
    StepLimitError,
    TimeLimitError,
    UnsupportedError,
    Violation,
)
from ptxkit.emulator.core.uninitialized_reads import UninitializedRead
from ptxkit.emulator.engine.executable import Executable
from ptxkit.emulator.engine.launch_args import LaunchShape, bind_arguments, make_launch, read_back_arrays
from ptxkit.emulator.engine.machine import Machine
from ptxkit.emulator.limits import MAX_STEPS
from ptxkit.emulator.races.happens_before_monitor import HappensBeforeMonitor
from ptxkit.emulator.threads.launch_geometry import LaunchGeometry
from ptxkit.emulator.threads.machine_observer import MachineObserver
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.gc_control import free_noted_memory
from ptxkit.syntax.tree import Module

POLICIES = ("eager", "late", "torn", "random")
"""The policies for the completion of asynchronous operations; `random` also schedules at random."""


_LIMITS = {StepLimitError: "steps", TimeLimitError: "seconds"}
"""The names of the limits of `RunBudget`, by what exceeding them raises."""


@dataclass(frozen=True, slots=True)
class RunBudget:
    """The limits of a run.

    `steps` are instructions of groups of threads, so that the result is the same on each computer. `seconds` is
    processor time of the thread that runs the machine; None: any.
    """

    steps: int = MAX_STEPS
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    `incomplete_reason` is the reason why the run did not finish although it found no violation, and
    `unsupported_reason` the feature that the machine does not support; each is empty if it does not apply. `outputs`
    has the final contents of the arrays among the arguments, by the index of the argument; a table has a list of them.
    `printed_texts` are the texts of `vprintf`. `steps` counts instructions of threads. `reached_offsets` are the
    offsets of the kernel's instructions that were executed. `uninitialized_reads` are reads of registers by threads
    that had not written them; the result need not depend on them. `unchecked_reasons` are the checks that a limit
    omitted, and why. `group_steps` counts instructions of groups of threads, as `RunBudget.steps` does, and
    `exceeded_limit` is `steps` or `seconds` if the run did not finish because it used these up.
    """

    findings: tuple[Violation, ...] = ()
    incomplete_reason: str = ""
    unsupported_reason: str = ""
    outputs: Mapping[int, Any] = field(default_factory=dict)
    printed_texts: tuple[str, ...] = ()
    steps: int = 0
    reached_offsets: frozenset[int] = frozenset()
    uninitialized_reads: tuple[UninitializedRead, ...] = ()
    unchecked_reasons: tuple[str, ...] = ()
    group_steps: int = 0
    exceeded_limit: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether the run finished without a finding."""
        return not (self.findings or self.incomplete_reason or self.unsupported_reason)


def run(  # noqa: PLR0913 (all but three are keyword-only, with defaults)
    module: Module | str,
    entry: str,
    *,
    grid: LaunchShape = 1,
    block: LaunchShape | None = None,
    cluster: LaunchShape | None = None,
    shared: int = 0,
    arguments: Sequence[Any] = (),
    policy: str = "eager",
    seed: int = 0,
    budget: RunBudget = RunBudget(),  # noqa: B008 (frozen)
    races: bool = True,
    strict: bool = False,
    observers: Sequence[MachineObserver] | None = None,
    unwritten: int = 0,
    perturbed: frozenset[str] = frozenset(),
    laneless: frozenset[int] = frozenset(),
    least_alignment: int | None = None,
) -> RunResult:
    """Runs a kernel.

    `arguments` has one value for each parameter. The argument of a pointer is a numpy array, which becomes a buffer
    with its contents, or a list of arrays or tensor maps, which becomes a table of their addresses. The array itself is
    not changed (see `RunResult.outputs`), and one array given twice is one buffer. The argument of another parameter is
    a `TensorMapArgument`, a Python number, a numpy scalar, or bytes. `shared` is the number of bytes of dynamic shared
    memory, and `seed` determines the random decisions of the policy.

    With `races`, the run also reports unordered accesses, which takes time. With `strict`, it also warns of behavior
    that the text of the ISA does not allow although devices may: missing proxy fences if data was only read before, or
    in the CTA of the operation, and atomics through two proxies. `observers` receive the events of the run instead of
    the observers that these two choose.

    `unwritten` are the 16 bits that uninitialized memory and registers hold; 0 selects the usual ones. `perturbed`
    names registers that hold other initial bits; they are among those of `RunResult.uninitialized_reads`. `laneless`
    has the offsets of loads and stores of Tensor Memory in which an address without a lane means one of the warp's own
    lanes. `least_alignment` is the alignment in bytes of variables in shared memory that declare a smaller one; without
    it, each is aligned as declared and not better, which shows accesses that rely on more.

    Raises InvalidLaunchError (a ValueError) for an invalid launch, and PTXSyntaxError for a text that is not PTX.
    """
    if policy not in POLICIES:
        raise InvalidLaunchError(f"there is no policy {policy!r}; known: {', '.join(POLICIES)}")
    if isinstance(module, str):
        from ptxkit.syntax import parse

        module = parse(module)
    free_noted_memory()  # of earlier runs
    program = Executable(module, entry, shared, least_alignment)
    launch: LaunchGeometry = make_launch(program.entry, grid, block, cluster, shared)
    program.decode_function(entry)  # assigns addresses to the parameters
    buffers = bind_arguments(program, arguments)
    program.memory.materialize()
    if observers is None:
        observers = HappensBeforeMonitor(strict=strict).observers if races else ()
    machine = Machine(program, launch, observers, policy, seed)
    machine.steps_left, machine.uninit_pattern, machine.laneless = budget.steps, unwritten, laneless
    machine.uninitialized_reads.perturbed = perturbed
    if budget.seconds is not None:
        machine.deadline = time.thread_time() + budget.seconds
    undecided = failed = exceeded = ""
    try:
        machine.run()
    except BudgetError as error:
        undecided = str(error)
        exceeded = next((name for kind, name in _LIMITS.items() if isinstance(error, kind)), "")
    except UnsupportedError as error:
        failed = str(error)
    return RunResult(
        tuple(machine.report.findings),
        undecided,
        failed,
        read_back_arrays(program, buffers),
        tuple(machine.output),
        machine.thread_steps,
        frozenset(program.decode_function(entry).reached_offsets),
        tuple(machine.uninitialized_reads.reads.values()),
        tuple(machine.report.unchecked_reasons),
        budget.steps - machine.steps_left,
        exceeded,
    )
