"""A CTA: its threads in groups, and the order in which the groups are scheduled.

The group with the lowest program counter runs first (that of the deepest call before all others), so that diverged
threads reconverge where their paths join; groups at the same position are merged. A group that executes many backward
jumps yields to the others, so that threads which wait in a loop starve none of them. With a seed, the order is random
instead.

Source: PTX ISA, "Independent Thread Scheduling", "Control Flow Instructions".
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics.catalogue import memory_words
from ptxkit.emulator.core.dtypes import WIDE, unsigned_dtype
from ptxkit.emulator.core.findings import ExecutionFault, StepLimitError
from ptxkit.emulator.core.lane_set import LaneSet, ThreadIndex
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.emulator.engine.access_scheduler import PendingAccess
from ptxkit.emulator.engine.calls import enter_call, return_from_call
from ptxkit.emulator.limits import (
    MAX_BACKWARD_JUMPS,
    MAX_CHECKED_JUMPS,
    MAX_LOCAL_BYTES,
    MAX_RANDOM_STEPS,
    MAX_SLICE_STEPS,
    MAX_STEPS_PER_TURN,
)
from ptxkit.emulator.state.memory import UNINIT_PATTERN, ByteBuffer
from ptxkit.emulator.sync.warp_rendezvous import SingleWarpRequired
from ptxkit.emulator.tensor.tensor_memory import CtaTensorMemory
from ptxkit.emulator.threads.paused_access import AccessPause
from ptxkit.emulator.threads.special_registers import changing_special_value, constant_special_value
from ptxkit.emulator.threads.thread_groups import (
    Activation,
    BlockSignal,
    CalledFunction,
    CallSignal,
    IndexedBranch,
    JumpSignal,
    ReturnSignal,
    Signal,
    ThreadGroup,
    YieldSignal,
)
from ptxkit.emulator.threads.waitable import Waitable
from ptxkit.syntax.constants import WARP_SIZE

if TYPE_CHECKING:
    from ptxkit.emulator.engine.machine import Cluster, Machine
    from ptxkit.emulator.sync.named_barrier import NamedBarrier

_SEPARATE_WARPS_CHANCE = 0.5
"""The probability, under a random schedule, that the warps of a CTA always run separately."""
PERTURBED_PATTERN = 0x3C5A
"""A bit pattern that is a number in most types and a valid address in no space."""
_MIN_LOCAL_BYTES = 1024
_UNLIMITED = 1 << 62


class Cta:
    """A CTA of the grid. `rank` is its rank in its cluster, and `threads` the number of its threads."""

    def __init__(self, machine: Machine, cluster: Cluster, ctaid: tuple[int, int, int], rank: int) -> None:
        self.machine, self.cluster, self.ctaid, self.rank = machine, cluster, ctaid, rank
        self.block = machine.launch.block
        self.threads = self.block[0] * self.block[1] * self.block[2]
        self.warps = -(-self.threads // WARP_SIZE)
        self.shared_start = rank << 24
        self.all_threads: ThreadIndex = numpy.arange(self.threads)
        self._initial_registers: dict[int, Bits] = {}
        self.local_size = 0
        self.local_pool = ByteBuffer(0, "local")
        self.tensor_memory = CtaTensorMemory()
        self.barriers: dict[int, NamedBarrier] = {}
        self.rendezvous: dict[tuple[object, ...], Any] = {}
        self.alive = numpy.ones(self.threads, bool)
        self.cancel_refused = numpy.zeros(self.threads, bool)
        """Threads that have observed that a request for another cluster's work was refused."""
        self.completed_groups: dict[str, Any] = {}
        """For each kind, the number below which the groups of each thread are known to be complete."""
        self.runnable_groups: list[ThreadGroup] = []
        self.paused_groups: list[ThreadGroup] = []
        """Those that wait for their turn to access global memory, under a random schedule."""
        self.blocked_groups: list[tuple[ThreadGroup, Waitable]] = []
        self.steps = 0
        root = Activation(machine.program.decode_function(machine.program.entry.name), self)
        self.reserve_local(root.function.frame.size)
        self.random = random.Random(f"{machine.seed}/{ctaid}") if machine.is_random else None
        self.has_separate_warps = self.random is not None and self.random.random() < _SEPARATE_WARPS_CHANCE
        """Whether the warps run separately from the start, and never merge."""
        for each in (
            numpy.split(self.all_threads, range(WARP_SIZE, self.threads, WARP_SIZE))
            if self.has_separate_warps
            else [self.all_threads]
        ):
            self.runnable_groups.append(ThreadGroup(self, root, LaneSet(each, self.threads)))

    # ------------------------------------------------------------------------------------------- state

    def initial_register(self, width: int) -> Bits:
        """Returns the value of a register that was never written."""
        found = self._initial_registers.get(width)
        if found is None:
            shape = (self.threads, 2) if width == WIDE else (self.threads,)
            found = numpy.zeros(shape, unsigned_dtype(width))
            if self.machine.uninit_pattern:
                found = self.filled_register(width, self.machine.uninit_pattern)
            self._initial_registers[width] = found
        return found

    def filled_register(self, width: int, pattern: int = PERTURBED_PATTERN) -> Bits:
        """Returns a register with different bits: each byte is the low byte of a pattern."""
        shape = (self.threads, 2) if width == WIDE else (self.threads,)
        found = numpy.zeros(shape, unsigned_dtype(width))
        found.view(numpy.uint8).fill(pattern & 0xFF if width > 1 else 1)
        return found

    def constant_special(self, name: str, width: int) -> Bits:
        """Returns the value of a special register that does not change while the CTA runs."""
        return constant_special_value(self, name, width)

    def changing_special(self, name: str, group: ThreadGroup) -> Bits:
        """Returns the present value of a special register."""
        return changing_special_value(self, name, group)

    def reserve_local(self, size: int) -> None:
        """Reserves local memory of `size` bytes for each thread."""
        if size <= self.local_size:
            return
        wanted = max(_MIN_LOCAL_BYTES, 1 << (size - 1).bit_length())
        if wanted > MAX_LOCAL_BYTES:
            raise ExecutionFault(memory_words.STACK_TOO_SMALL(size=size, limit=MAX_LOCAL_BYTES))
        pool = ByteBuffer(wanted * self.threads, "local", unwritten=self.machine.uninit_pattern or UNINIT_PATTERN)
        if len(self.local_pool.data):
            old = self.local_pool.data.reshape(self.threads, self.local_size)
            pool.data.reshape(self.threads, wanted)[:, : self.local_size] = old
        self.local_pool, self.local_size = pool, wanted

    def copy_local(self, index: ThreadIndex, source: Any, target: Any, size: int) -> None:
        """Copies bytes of threads' local memory; addresses are in the space."""
        data = self.local_pool.data
        base = index * self.local_size
        places = numpy.arange(size)
        data[(base + target.view(numpy.int64))[:, None] + places] = data[
            (base + source.view(numpy.int64))[:, None] + places
        ]

    def store_local(self, index: ThreadIndex, address: Any, value: Bits) -> None:
        """Writes a value to threads' local memory."""
        octets = numpy.ascontiguousarray(value).view(numpy.uint8).reshape(len(index), -1)
        places = (index * self.local_size + address.view(numpy.int64))[:, None] + numpy.arange(octets.shape[1])
        self.local_pool.data[places] = octets

    def load_local(self, index: ThreadIndex, address: Any, size: int) -> Bits:
        """Reads a value of `size` bytes from threads' local memory."""
        places = (index * self.local_size + address.view(numpy.int64))[:, None] + numpy.arange(size)
        octets = numpy.ascontiguousarray(self.local_pool.data[places])
        if size == WIDE // 8:
            return octets.view(numpy.uint64)
        found: Bits = octets.view(f"u{size}").reshape(len(index))
        return found

    # ------------------------------------------------------------------------------------------------ running

    @property
    def is_over(self) -> bool:
        """Whether all threads have ended."""
        return not self.runnable_groups and not self.blocked_groups and not self.paused_groups

    @property
    def running_groups(self) -> list[ThreadGroup]:
        """The groups that no object blocks."""
        return self.runnable_groups + self.paused_groups

    def run(self) -> None:
        """Runs until all threads have exited, or block, or loop without a change of state, or others should run."""
        for _ in self.run_slices():
            pass

    def run_slices(self) -> Iterator[bool]:
        """Runs as `run` does, in time slices between which other CTAs may run."""
        limit, left = self.steps + MAX_SLICE_STEPS, len(self.runnable_groups)
        while self.runnable_groups:
            group, stop = self._select_group()
            self._execute(group, stop)
            left -= 1
            if left <= 0 and all(each.idle_iterations for each in self.runnable_groups):
                break
            if self.steps > limit and all(each.yield_count for each in self.runnable_groups):
                break
            yield True

    def _select_group(self) -> tuple[ThreadGroup, int]:
        """Removes the next group to run from the list. Returns it and the position where it may merge with another."""
        runnable = self.runnable_groups
        is_only_runnable = len(runnable) == 1 and not self.paused_groups
        if is_only_runnable and (self.random is None or self.machine.launch.cta_count == 1):
            return runnable.pop(), _UNLIMITED
        if self.random is not None:
            group = runnable.pop(self.random.randrange(len(runnable)))
            return group, -1
        group = min(runnable, key=_scheduling_key)
        runnable.remove(group)
        ahead = [e.pc for e in runnable if e.activation is group.activation and e.pc > group.pc]
        return group, min(ahead, default=_UNLIMITED)

    def _execute(self, group: ThreadGroup, stop: int) -> None:
        """Runs a group until it diverges, blocks or exits, or reaches `stop` (below 0: after some steps)."""
        machine = self.machine
        machine.check_time()
        if machine.steps_left <= 0:
            raise StepLimitError("the run has used up its steps")
        limit = min(machine.steps_left, MAX_STEPS_PER_TURN)
        machine.pauses_before_access = stop < 0
        if stop < 0:
            assert self.random is not None
            limit, stop = min(limit, self.random.randint(1, MAX_RANDOM_STEPS)), _UNLIMITED
        try:
            self._run_steps(group, stop, limit)
        except AccessPause as access:
            self._pause(group, access)
        except SingleWarpRequired:
            for warp in numpy.unique(group.lanes.index >> 5):
                some = group.lanes.index[group.lanes.index >> 5 == warp]
                self.runnable_groups.append(
                    group.split(LaneSet(some, self.threads), group.pc)
                )  # so that they are not merged into one group again
        except ExecutionFault as fault:
            if fault.location is None:
                fault.location, fault.cta = (group.activation.function, group.pc), self
            raise

    def _run_steps(self, group: ThreadGroup, stop: int, limit: int) -> None:
        """Executes at most `limit` steps of a group, up to the position `stop`. Raises AccessPause."""
        machine = self.machine
        machine.used_global = False
        ops = group.activation.function.steps
        pc, count, steps = group.pc, group.lanes.count, 0
        try:
            while True:
                group.pc = pc
                signal = ops[pc](group)
                steps += 1
                if signal is None:
                    pc += 1
                elif type(signal) is JumpSignal and group.active_lanes is None:
                    if signal.target <= pc and self._count_backward_jump(group, signal.target):
                        limit = 0
                    pc = signal.target
                else:
                    group.wait_token = None if not isinstance(signal, BlockSignal) else group.wait_token
                    self._apply_signal(group, signal)
                    return
                group.wait_token = None
                if machine.used_global:
                    machine.used_global = False
                    if machine.pauses_before_access and not group.may_access:
                        break
                    group.may_access = False
                if pc >= stop or steps >= limit:
                    break
        finally:
            self.steps += steps
            machine.steps_left -= steps
            machine.thread_steps += steps * count
        group.pc = pc
        self._count_progress(group)
        self.resume(group)

    def _count_progress(self, group: ThreadGroup) -> None:
        """Counts the end of a turn as progress, unless the group is in a loop that changes nothing."""
        if not group.idle_iterations or not group.is_in_last_loop():
            group.idle_iterations = 0
            self.machine.progress_count += 1

    def _pause(self, group: ThreadGroup, access: AccessPause) -> None:
        """Lets a group wait for its turn to access global memory, merged with those at the same position."""
        self._count_progress(group)
        other = self._mergeable_group(group, self.paused_groups)
        if other is not None:
            self._merge(group, other)
            return
        self.paused_groups.append(group)
        is_futile = group.idle_iterations > 0
        self.machine.access_scheduler.add(PendingAccess(group, self, access.place, access.writes, is_futile))

    def continue_group(self, group: ThreadGroup) -> None:
        """Lets a group that has paused perform its access."""
        group.may_access = True
        self.paused_groups.remove(group)
        self.runnable_groups.append(group)

    def _count_backward_jump(self, group: ThreadGroup, target: int) -> bool:
        """Counts a backward jump. Returns whether the group should yield: after many, or after one without any
        change.
        """
        group.backward_jumps += 1
        if group.backward_jumps <= MAX_CHECKED_JUMPS and group.is_idle_iteration(target, self.machine.progress_count):
            group.backward_jumps = MAX_CHECKED_JUMPS - 1
            group.yield_count += 1
            return True
        if group.backward_jumps < MAX_BACKWARD_JUMPS:
            return False
        group.backward_jumps = 0
        group.yield_count += 1
        return True

    def resume(self, group: ThreadGroup) -> None:
        """Makes a group runnable, merged with those at the same position."""
        if self.blocked_groups:
            self.blocked_groups = [each for each in self.blocked_groups if each[0] is not group]
        other = self._mergeable_group(group, self.runnable_groups)
        if other is not None:
            self._merge(group, other)
        else:
            self.runnable_groups.append(group)

    def _mergeable_group(self, group: ThreadGroup, others: list[ThreadGroup]) -> ThreadGroup | None:
        """Returns a group at the same position that a group may be merged with."""
        for other in others:
            if (
                other.pc != group.pc
                or other.activation is not group.activation
                or other.wait_token is not group.wait_token
                or other.may_access is not group.may_access
            ):
                continue
            if not self.has_separate_warps or other.lanes.index[0] >> 5 == group.lanes.index[0] >> 5:
                return other
        return None

    def _merge(self, group: ThreadGroup, other: ThreadGroup) -> None:
        """Adds the threads of a group to another one."""
        other.lanes = other.lanes.union(group.lanes, self.threads)
        other.yield_count = min(other.yield_count, group.yield_count)
        other.idle_iterations, other.last_iteration = 0, None

    # ------------------------------------------------------------------------------------------------ signals

    def _apply_signal(self, group: ThreadGroup, signal: Signal) -> None:
        """Applies a signal, which may concern some of the threads only; the others continue at the next instruction."""
        active, group.active_lanes = group.active_lanes, None
        if active is not None and active.count < group.lanes.count:
            rest = group.split(group.lanes.difference(active, self.threads), group.pc + 1)
            group.lanes = active
            self.resume(rest)
            self.machine.progress_count += 1
        if not isinstance(signal, JumpSignal | YieldSignal):
            self.machine.progress_count += 1
        match signal:
            case JumpSignal(target):
                if target > group.pc or not self._count_backward_jump(group, target) or not group.idle_iterations:
                    self.machine.progress_count += 1
                group.pc = target
                self.resume(group)
            case IndexedBranch(targets):
                for target in numpy.unique(targets):
                    some = group.lanes.index[targets == target]
                    self.resume(group.split(LaneSet(some, self.threads), int(target)))
            case CallSignal(callees):
                for callee in callees:
                    self._enter_call(group, callee)
            case ReturnSignal(ends):
                self._return_from_call(group, ends)
            case BlockSignal(on, True):
                group.wait_token = on
                self.resume(group)
            case BlockSignal(on):
                self.blocked_groups.append((group, on))
                on.waiters.append(group)
            case YieldSignal():
                group.pc += 1
                group.yield_count += 1
                self.resume(group)

    def _enter_call(self, group: ThreadGroup, callee: CalledFunction) -> None:
        called = group if callee.lanes is None else group.split(callee.lanes, group.pc)
        activation = enter_call(called, callee.function, callee.call_site)
        inner = ThreadGroup(self, activation, called.lanes)
        inner.yield_count = group.yield_count
        activation.call_site = callee.call_site
        self.resume(inner)

    def _return_from_call(self, group: ThreadGroup, ends: bool) -> None:
        caller = group.activation.caller
        if caller is None or ends:
            self._exit_threads(group.lanes)
            return
        return_from_call(group, group.activation.call_site)
        back = ThreadGroup(self, caller, group.lanes, group.activation.call_pc + 1)
        back.yield_count = group.yield_count
        self.resume(back)

    def _exit_threads(self, lanes: LaneSet) -> None:
        """Counts exited threads as arrived at each barrier for all threads, and at the rendezvous of their warps."""
        self.alive[lanes.index] = False
        if not self.alive.any():
            self.machine.async_engine.on_cta_exit(self)
            self.machine.observer.on_cta_exit(self)
        exited = lanes.thread_set()
        for barrier in list(self.barriers.values()):
            barrier.on_threads_exit(exited)
        for meeting in list(self.rendezvous.values()):
            meeting.on_threads_exit(exited)
        self.cluster.barrier.on_threads_exit(self, exited)


def _scheduling_key(group: ThreadGroup) -> tuple[int, int, int]:
    return group.yield_count, -group.activation.depth, group.pc
