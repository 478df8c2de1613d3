"""A launch: clusters of CTAs that run until all have exited, or no thread can proceed.

CTAs are created when they are first scheduled. A CTA runs until its threads block or only loop; then others run. Under
a random schedule, several CTAs start together and are switched at random; `AccessScheduler` determines the order of
their accesses to global memory.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.emulator.core.findings import (
    BudgetError,
    ExecutionFault,
    TimeLimitError,
    Violation,
    ViolationReport,
    Witness,
)
from ptxkit.emulator.core.uninitialized_reads import UninitializedReads
from ptxkit.emulator.engine.access_scheduler import AccessScheduler
from ptxkit.emulator.engine.async_engine import AsyncEngine
from ptxkit.emulator.engine.cta import Cta
from ptxkit.emulator.engine.executable import Executable
from ptxkit.emulator.limits import MAX_IDLE_ITERATIONS, MAX_RESIDENT_CTAS, MAX_STEPS_BETWEEN_CLOCK_READS
from ptxkit.emulator.state.memory import UNINIT_PATTERN, ByteBuffer
from ptxkit.emulator.sync.cluster_barrier import ClusterBarrier
from ptxkit.emulator.sync.mbarrier import Mbarrier
from ptxkit.emulator.threads.launch_geometry import Dim3, LaunchGeometry
from ptxkit.emulator.threads.machine_observer import MachineObserver, ObserverList

_CANCEL_REFUSAL_CHANCE = 0.2
"""The probability, under a random schedule, that a request for the work of a cluster is refused."""
_FULL_RESIDENCY_CHANCE = 0.75
"""The probability that this maximum number starts together instead of a smaller random number."""
_RECHECK_CHANCE = 0.25
"""The probability that a CTA whose threads only loop runs once more, to observe changes by others."""


class Cluster:
    """CTAs that can access each other's shared memory.

    Each CTA has `span` bytes of it, at multiples of `stride` in the buffer of the cluster.
    """

    def __init__(self, machine: Machine, id_: Dim3, number: int) -> None:
        launch = machine.launch
        self.id, self.number = id_, number
        self.size = launch.cluster[0] * launch.cluster[1] * launch.cluster[2]
        self.span = machine.program.shared.end
        self.stride = -(-self.span // 128) * 128
        self.shared_buffer = ByteBuffer(
            self.stride * self.size, "shared", unwritten=machine.uninit_pattern or UNINIT_PATTERN
        )
        self.mbarriers: dict[int, Mbarrier] = {}
        self.ctas = [Cta(machine, self, self._ctaid(launch, rank), rank) for rank in range(self.size)]
        self.barrier = ClusterBarrier(self)

    def _ctaid(self, launch: LaunchGeometry, rank: int) -> Dim3:
        x, y, _ = launch.cluster
        inner = rank % x, rank // x % y, rank // (x * y)
        first, second, third = (a * b + c for a, b, c in zip(self.id, launch.cluster, inner, strict=True))
        return first, second, third


class Machine:
    """A running launch. `seed` determines the random decisions of the policy."""

    def __init__(
        self, program: Executable, launch: LaunchGeometry, observers: Sequence[MachineObserver], policy: str, seed: int
    ) -> None:
        self.program, self.launch, self.memory = program, launch, program.memory
        self.observer, self.policy, self.seed = ObserverList(observers), policy, seed
        self.is_random = policy == "random"
        self.uninit_pattern = 0
        """The 16 bits that uninitialized memory and registers hold; 0 selects the usual ones."""
        self.uninitialized_reads = UninitializedReads()
        self.laneless: frozenset[int] = frozenset()
        """The offsets of statements in which an address of Tensor Memory without a lane means the warp's own lanes."""
        self.report = ViolationReport()
        self.output: list[str] = []
        self.steps_left = self._steps_at_look = 1 << 62
        self.thread_steps = 0
        self._clock_readings = 0
        self.used_global = False
        """Whether a step has used global memory since this was last cleared."""
        self.pauses_before_access = False
        """Whether the executing group pauses before accesses to global memory, so that others can go first."""
        self.access_scheduler = AccessScheduler(seed)
        self.progress_count = 0
        """The number of times that groups made progress, other than by an iteration of a loop that changes nothing."""
        self.deadline = float("inf")
        """The processor time of the running thread at which the run ends."""
        self.clusters: list[Cluster] = []
        self.async_engine = AsyncEngine(self)
        self._unstarted_clusters = self._make_clusters()
        self.observer.on_launch(self)

    def read_clock(self) -> int:
        """Returns the number of steps so far. No two reads are equal, although the steps of a time slice are counted at
        its end.
        """
        self._clock_readings += 1
        return self.thread_steps // 32 + self._clock_readings

    def check_time(self) -> None:
        """Checks the time limit at the first call and then every few steps. Raises BudgetError if it is exceeded."""
        if self.steps_left > self._steps_at_look:
            return
        self._steps_at_look = self.steps_left - MAX_STEPS_BETWEEN_CLOCK_READS
        if time.thread_time() > self.deadline:
            raise TimeLimitError("the run has used up its seconds")

    # ------------------------------------------------------------------------------------------------ running

    def run(self) -> None:
        """Runs until the grid has exited. Faults and deadlocks end the run and are reported.

        Raises UnsupportedError and BudgetError.
        """
        # Bit patterns wrap around, and inactive lanes compute meaningless values.
        with numpy.errstate(all="ignore"):
            try:
                self._run()
            except ExecutionFault as fault:
                self.report_fault(fault)

    def _run(self) -> None:
        chance = random.Random(self.seed) if self.is_random else None
        if chance is not None:
            self._start_clusters(chance)
        while True:
            began = self.progress_count
            if chance is not None:
                self._schedule_randomly(chance)
            for cluster in list(self.clusters):
                for cta in cluster.ctas if chance is None else ():
                    cta.run()
                if all(cta.is_over for cta in cluster.ctas):
                    self._retire_cluster(cluster)
            done = self.progress_count != began
            if self.async_engine.progress_background():
                self.progress_count, done = self.progress_count + 1, True
            following = next(self._unstarted_clusters, None)
            if following is not None:
                self.clusters.append(following)
            elif not self.clusters:
                return
            elif not done and not self._may_progress() and not self.async_engine.make_progress():
                self._report_no_progress()
                return

    def _start_clusters(self, chance: random.Random) -> None:
        """Creates the clusters that are resident from the start."""
        x, y, z = self.launch.cluster
        most = max(MAX_RESIDENT_CTAS // (x * y * z), 1)
        count = most if chance.random() < _FULL_RESIDENCY_CHANCE else chance.randint(1, most)
        self.clusters += islice(self._unstarted_clusters, count)

    def _schedule_randomly(self, chance: random.Random) -> None:
        """Runs randomly chosen CTAs until all have exited, block, or only loop."""
        ctas = [cta for cluster in self.clusters for cta in cluster.ctas]
        turns = {cta: cta.run_slices() for cta in ctas}
        resting: set[Cta] = set()
        self.access_scheduler.begin_round()
        while True:
            ready = [cta for cta in ctas if cta.runnable_groups]
            if all(cta in resting for cta in ready):
                continued = self.access_scheduler.select(self.progress_count)
                if not continued:
                    return
                for access in continued:
                    access.cta.continue_group(access.group)
                    resting.discard(access.cta)
                continue
            cta = chance.choices(ready, [len(each.runnable_groups) for each in ready])[0]
            if cta in resting and chance.random() >= _RECHECK_CHANCE:
                continue
            if next(turns[cta], None) is None:
                turns[cta] = cta.run_slices()
                if cta.runnable_groups:
                    resting.add(cta)

    def _may_progress(self) -> bool:
        """Returns whether some thread in a loop may still observe a change by others."""
        groups = [group for cluster in self.clusters for cta in cluster.ctas for group in cta.running_groups]
        return any(
            group.idle_since != self.progress_count or group.idle_iterations < MAX_IDLE_ITERATIONS for group in groups
        )

    def _report_no_progress(self) -> None:
        """Reports that no thread can proceed or change a value that threads in loops wait for; a host or another grid
        may do so.
        """
        for cluster in self.clusters:
            for cta in cluster.ctas:
                for group in cta.running_groups:
                    line = self.line_of(group.activation.function.offsets[group.pc])
                    who = f"thread {group.lanes.index[0]} of CTA {cta.ctaid}"
                    raise BudgetError(f"livelock: {who} polls at line {line}, and no thread changes the awaited value")
        self._report_deadlock()

    def _make_clusters(self) -> Iterator[Cluster]:
        shape = [a // b for a, b in zip(self.launch.grid, self.launch.cluster, strict=True)]
        number = 0
        for z in range(shape[2]):
            for y in range(shape[1]):
                for x in range(shape[0]):
                    yield Cluster(self, (x, y, z), number)
                    number += 1

    def cancel_cluster(self) -> Dim3 | None:
        """Cancels a cluster that has not started, and returns its first CTA. A random schedule may refuse the
        request.
        """
        if self.is_random and self.async_engine.random.random() < _CANCEL_REFUSAL_CHANCE:
            return None
        found = next(self._unstarted_clusters, None)
        if found is None:
            return None
        for cta in found.ctas:
            for code in self.program.decoded_functions:
                code.drop_cta(cta)
        return found.ctas[0].ctaid

    def _retire_cluster(self, cluster: Cluster) -> None:
        self.clusters.remove(cluster)
        self.async_engine.on_cluster_exit(cluster)
        self.observer.on_cluster_exit(cluster)
        for cta in cluster.ctas:
            for code in self.program.decoded_functions:
                code.drop_cta(cta)

    # ---------------------------------------------------------------------------------------------- reporting

    def line_of(self, offset: int) -> int:
        """Returns the line of the PTX at an offset, or 0 if there is no text."""
        source = self.program.module.source
        return 0 if source is None else source.position(offset)[0]

    def thread_of(self, number: int) -> Dim3:
        """Returns the thread's index in its CTA."""
        x, y, _ = self.launch.block
        return number % x, number // x % y, number // (x * y)

    def report_fault(self, fault: ExecutionFault) -> None:
        """Reports a fault whose position and CTA are known."""
        code, pc = fault.location if fault.location is not None else (None, 0)
        offset = code.offsets[pc] if code is not None else 0
        text = code.instructions[pc].opcode if code is not None else ""
        thread = int(fault.index[0]) if fault.index is not None and len(fault.index) else 0
        detail: dict[str, Any] = dict(fault.witness)
        cta = fault.cta
        witness = Witness(
            text, self.line_of(offset), self.thread_of(thread), cta.ctaid if cta is not None else (0, 0, 0), **detail
        )
        self.report.add(Violation(fault.content, witness.line, offset, (witness,)))

    def _report_deadlock(self) -> None:
        """Reports a deadlock, with what each group waits for."""
        for cluster in self.clusters:
            for cta in cluster.ctas:
                for group, on in cta.blocked_groups:
                    offset = group.activation.function.offsets[group.pc]
                    threads = group.lanes.index
                    several = ptx6xx.SEVERAL_THREADS(count=len(threads), first=threads[0])
                    who = several if len(threads) > 1 else ptx6xx.ONE_THREAD(thread=threads[0])
                    awaited = on.describe(group)
                    content = ptx6xx.DEADLOCK(threads=who, cta=cta.ctaid, awaited=awaited).under(awaited.code)
                    text = group.activation.function.instructions[group.pc].opcode
                    witness = Witness(text, self.line_of(offset), self.thread_of(int(threads[0])), cta.ctaid)
                    self.report.add(Violation(content, witness.line, offset, (witness,)))
