"""Run a kernel on the reference machine."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ptxkit.emulator.core.findings import BudgetError, InvalidLaunchError, UnsupportedError, Violation
from ptxkit.emulator.engine.executable import Executable
from ptxkit.emulator.engine.launch_args import LaunchShape, bind_arguments, make_launch, read_back_arrays
from ptxkit.emulator.engine.machine import LaunchGeometry, Machine
from ptxkit.emulator.races.happens_before_monitor import HappensBeforeMonitor
from ptxkit.emulator.races.memory_observer import MemoryObserver
from ptxkit.emulator.races.uninitialized_registers import UninitializedRead
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.syntax.tree import Module

POLICIES = ("eager", "late", "torn", "random")
"""When asynchronous operations take effect, and whether the schedule is random (`random`)."""


@dataclass(frozen=True, slots=True)
class RunBudget:
    """The limits of a run. steps: instructions of groups of threads; seconds: processor time of the
    thread that runs it, which a busy machine does not shorten.
    """

    steps: int = 20_000_000
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    findings: the violations. undecided: why the run did not finish, without a finding; empty where it did.
    failed: what the machine does not support, by name; empty where it supports all. outputs: the arrays among the
    arguments as the kernel left them, by the argument's number; of a table a list of them. printed: the texts of
    `vprintf`. steps: thread-instructions. reached: where in the text those instructions of the kernel stand that were
    executed. unwritten: reads of registers by threads that had not written them, which may not matter.
    """

    findings: tuple[Violation, ...] = ()
    incomplete_reason: str = ""
    unsupported_reason: str = ""
    outputs: Mapping[int, Any] = field(default_factory=dict)
    printed_texts: tuple[str, ...] = ()
    steps: int = 0
    reached_offsets: frozenset[int] = frozenset()
    uninitialized_reads: tuple[UninitializedRead, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Return whether the run finished without a finding."""
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
    order: MemoryObserver | None = None,
    unwritten: int = 0,
    perturbed: frozenset[str] = frozenset(),
    laneless: frozenset[int] = frozenset(),
) -> RunResult:
    """Run a kernel. shared: bytes of dynamic shared memory. seed: of the random decisions of the policy.

    arguments: one for each parameter. A numpy array for a pointer (a buffer with these contents; the array itself is
    not changed, see `Outcome.outputs`; the same array twice is one buffer), a `TensorMap`, a list of arrays or maps for
    a pointer to a table of these, a Python number, a numpy scalar, or bytes.
    races: watch for accesses that nothing orders, too; that costs time. order: what hears of accesses and of what
    orders them instead, such as a `Recorder`. strict: warn of what the text of the ISA does not allow and machines may
    let be: proxy fences for what is only read before, and in the CTA of the operation; atomics through two proxies.
    unwritten: 16 bits that stand in memory and registers that nobody wrote; 0 for the usual ones. perturbed: names of
    registers that hold other bits at first, of those that `Outcome.unwritten` may tell of.
    laneless: the loads and stores of Tensor Memory, by where their statements start, in which an address without a lane
    is taken for one of the warp's own lanes.

    Raises LaunchError (a ValueError) where the launch cannot be made so, and PTXSyntaxError for a text that is no PTX.
    """
    if policy not in POLICIES:
        raise InvalidLaunchError(f"there is no policy {policy!r}; known: {', '.join(POLICIES)}")
    if isinstance(module, str):
        from ptxkit.syntax import parse

        module = parse(module)
    program = Executable(module, entry, shared)
    launch: LaunchGeometry = make_launch(program.entry, grid, block, cluster, shared)
    program.decode_function(entry)  # places the parameters
    buffers = bind_arguments(program, arguments)
    program.memory.materialize()
    machine = Machine(
        program, launch, order or (HappensBeforeMonitor(strict=strict) if races else MemoryObserver()), policy, seed
    )
    machine.steps_left, machine.uninit_pattern, machine.laneless = budget.steps, unwritten, laneless
    machine.uninitialized_reads.perturbed = perturbed
    machine.deadline = time.thread_time() + budget.seconds
    undecided = failed = ""
    try:
        machine.run()
    except BudgetError as error:
        undecided = str(error)
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
    )
