"""A CTA: its threads in groups, and the order in which the groups go on.

The group at the lowest place goes first (that of the deepest call before all), so that threads which parted meet again
where their ways join; groups at one place become one. A group that turns back again and again lets others pass, so that
threads which wait for others in a loop starve nobody. With a seed, chance decides instead.

Source: PTX ISA, "Independent Thread Scheduling", "Control Flow Instructions".
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.calls import CallSite, enter, leave
from ptxkit.emulate.collectives import Together
from ptxkit.emulate.faults import BudgetError, Fault
from ptxkit.emulate.groups import Activation, Blocked, Enter, Group, Jump, Leave, Pause, Scatter, Signal
from ptxkit.emulate.lanes import Index, Lanes
from ptxkit.emulate.meetings import OneWarp
from ptxkit.emulate.memory import NOTHING, Pool
from ptxkit.emulate.registry import Bits
from ptxkit.emulate.special import current_value, special_value
from ptxkit.emulate.waiting import Waitable
from ptxkit.emulate.widths import WIDE, unsigned

if TYPE_CHECKING:
    from ptxkit.emulate.barriers import NamedBarrier
    from ptxkit.emulate.machine import Cluster, Machine

WARP = 32
_SPINS = 256
"""Times that a group turns back before others go first."""
_TURNS = 4096
"""Steps of groups after which a CTA lets others go on, where its threads only turn back."""
_FIRST_LOOK = 2
"""Turns after which a group is looked at: whether it changes anything by turning."""
_APART = 0.5
"""The chance, where chance decides, that the warps of a CTA never go together."""
OTHER = 0x3C5A
"""A number in most types, and an address in none."""
_MOST_ACCESSES = (1, 1, 1, 8)
"""How many accesses to global memory others may have to wait for, where chance decides."""
_LEAST_LOCAL = 1024
_MOST_LOCAL = 512 << 10
_ENDLESS = 1 << 62
_MOST_STEPS = 1 << 7
"""Steps of a group between looks at the clock."""


class Cta:
    """Some threads of a grid, with shared memory in common. rank: in its cluster; threads: how many."""

    def __init__(self, machine: Machine, cluster: Cluster, ctaid: tuple[int, int, int], rank: int) -> None:
        self.machine, self.cluster, self.ctaid, self.rank = machine, cluster, ctaid, rank
        self.block = machine.launch.block
        self.threads = self.block[0] * self.block[1] * self.block[2]
        self.warps = -(-self.threads // WARP)
        self.shared_start = rank << 24
        self.everyone: Index = numpy.arange(self.threads)
        self._zeros: dict[int, Bits] = {}
        self.local_size = 0
        self.local_pool = Pool(0, "local")
        self.barriers: dict[int, NamedBarrier] = {}
        self.meetings: dict[tuple[object, ...], Any] = {}
        self.alive = numpy.ones(self.threads, bool)
        self.together = Together(self)
        self.refused = numpy.zeros(self.threads, bool)
        """Threads that have seen that a request for another cluster's work was refused."""
        self.complete: dict[str, Any] = {}
        """By kind, below which number the groups of each thread are known to be complete."""
        self.runnable: list[Group] = []
        self.blocked: list[tuple[Group, Waitable]] = []
        self.steps = 0
        root = Activation(machine.program.code(machine.program.entry.name), self)
        self.need_local(root.code.frame.size)
        self.random = random.Random(f"{machine.seed}/{ctaid}") if machine.is_random else None
        self.is_apart = self.random is not None and self.random.random() < _APART
        """Whether each warp goes its own way from the start."""
        self.most_accesses = 1 if self.random is None else self.random.choice(_MOST_ACCESSES)
        """Accesses to global memory after which others go on, at most."""
        for each in numpy.split(self.everyone, range(WARP, self.threads, WARP)) if self.is_apart else [self.everyone]:
            self.runnable.append(Group(self, root, Lanes(each, self.threads)))

    # ------------------------------------------------------------------------------------------- what it has

    def zeros(self, width: int) -> Bits:
        """What a register holds that nobody wrote."""
        found = self._zeros.get(width)
        if found is None:
            shape = (self.threads, 2) if width == WIDE else (self.threads,)
            found = numpy.zeros(shape, unsigned(width))
            if self.machine.unwritten:
                found = self.unwritten(width, self.machine.unwritten)
            self._zeros[width] = found
        return found

    def unwritten(self, width: int, pattern: int = OTHER) -> Bits:
        """A register of other bits, each byte the low one of a pattern."""
        shape = (self.threads, 2) if width == WIDE else (self.threads,)
        found = numpy.zeros(shape, unsigned(width))
        found.view(numpy.uint8).fill(pattern & 0xFF if width > 1 else 1)
        return found

    def special(self, name: str, width: int) -> Bits:
        """A special register that does not change while the CTA runs."""
        return special_value(self, name, width)

    def current(self, name: str, group: Group) -> Bits:
        """A special register as it is now."""
        return current_value(self, name, group)

    def need_local(self, size: int) -> None:
        """Have local memory of so many bytes for each thread."""
        if size <= self.local_size:
            return
        wanted = max(_LEAST_LOCAL, 1 << (size - 1).bit_length())
        if wanted > _MOST_LOCAL:
            raise Fault("stack", f"the stack of a thread needs {size} bytes, and has {_MOST_LOCAL} at most")
        pool = Pool(wanted * self.threads, "local", unwritten=self.machine.unwritten or NOTHING)
        if len(self.local_pool.data):
            old = self.local_pool.data.reshape(self.threads, self.local_size)
            pool.data.reshape(self.threads, wanted)[:, : self.local_size] = old
        self.local_pool, self.local_size = pool, wanted

    def copy_local(self, index: Index, source: Any, target: Any, size: int) -> None:
        """Copy bytes of threads' local memory; addresses are in the space."""
        data = self.local_pool.data
        base = index * self.local_size
        places = numpy.arange(size)
        data[(base + target.view(numpy.int64))[:, None] + places] = data[
            (base + source.view(numpy.int64))[:, None] + places
        ]

    def put_local(self, index: Index, address: Any, value: Bits) -> None:
        """Write a value to threads' local memory."""
        octets = numpy.ascontiguousarray(value).view(numpy.uint8).reshape(len(index), -1)
        places = (index * self.local_size + address.view(numpy.int64))[:, None] + numpy.arange(octets.shape[1])
        self.local_pool.data[places] = octets

    def get_local(self, index: Index, address: Any, size: int) -> Bits:
        """Read a value of `size` bytes from threads' local memory."""
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
        return not self.runnable and not self.blocked

    def run(self) -> None:
        """Go on until all threads have ended, or wait, or turn and change nothing, or others should go on."""
        for _ in self.turns():
            pass

    def turns(self) -> Iterator[bool]:
        """The same in parts, between which other CTAs may go on."""
        limit, left = self.steps + _TURNS, len(self.runnable)
        while self.runnable:
            group, stop = self._next()
            self._execute(group, stop)
            left -= 1
            if left <= 0 and all(each.idle for each in self.runnable):
                break
            if self.steps > limit and all(each.penalty for each in self.runnable):
                break
            yield True

    def _next(self) -> tuple[Group, int]:
        """The group that goes on, taken from the list, and the place where it may meet another."""
        runnable = self.runnable
        is_alone = len(runnable) == 1
        if is_alone and (self.random is None or self.machine.launch.ctas == 1):
            return runnable.pop(), _ENDLESS
        if self.random is not None:
            group = runnable.pop(self.random.randrange(len(runnable)))
            return group, -1
        group = min(runnable, key=_order)
        runnable.remove(group)
        ahead = [e.pc for e in runnable if e.activation is group.activation and e.pc > group.pc]
        return group, min(ahead, default=_ENDLESS)

    def _execute(self, group: Group, stop: int) -> None:
        """Let a group go on until it parts, waits or ends, or comes to `stop` (below 0: after some steps)."""
        machine = self.machine
        machine.check_time()
        if machine.steps_left <= 0:
            raise BudgetError("the run has used up its steps")
        limit = min(machine.steps_left, _MOST_STEPS)
        accesses = _ENDLESS
        if stop < 0:
            assert self.random is not None
            limit, stop = min(limit, self.random.randint(1, 48)), _ENDLESS
            accesses = self.random.randint(1, self.most_accesses)
        try:
            self._go(group, stop, limit, accesses)
        except OneWarp:
            for warp in numpy.unique(group.lanes.index >> 5):
                some = group.lanes.index[group.lanes.index >> 5 == warp]
                self.runnable.append(group.split(Lanes(some, self.threads), group.pc))  # and not as one group again
        except Fault as fault:
            if fault.place is None:
                fault.place, fault.cta = (group.activation.code, group.pc), self
            raise

    def _go(self, group: Group, stop: int, limit: int, accesses: int) -> None:
        """The steps of a group, one after another, and so many of them at most that use global memory."""
        machine = self.machine
        machine.met_global = False
        ops = group.activation.code.ops
        pc, count, steps = group.pc, group.lanes.count, 0
        try:
            while True:
                group.pc = pc
                signal = ops[pc](group)
                steps += 1
                if signal is None:
                    pc += 1
                elif type(signal) is Jump and group.active is None:
                    if signal.target <= pc and self._turned_back(group, signal.target):
                        limit = 0
                    pc = signal.target
                else:
                    group.token = None if not isinstance(signal, Blocked) else group.token
                    self._part(group, signal)
                    return
                group.token = None
                if machine.met_global:
                    machine.met_global = False
                    accesses -= 1
                if pc >= stop or steps >= limit or not accesses:
                    break
        finally:
            self.steps += steps
            machine.steps_left -= steps
            machine.thread_steps += steps * count
        group.pc = pc
        if not group.idle or not group.is_in_turn():
            group.idle = 0
            machine.moment += 1
        self.resume(group)

    def _turned_back(self, group: Group, target: int) -> bool:
        """Count a turn; whether others should go first now: after many, and after one that changed nothing."""
        group.spins += 1
        if group.spins <= _FIRST_LOOK and group.turns_idly(target, self.machine.moment):
            group.spins = _FIRST_LOOK - 1
            group.penalty += 1
            return True
        if group.spins < _SPINS:
            return False
        group.spins = 0
        group.penalty += 1
        return True

    def resume(self, group: Group) -> None:
        """Let a group go on, together with those at the same place."""
        if self.blocked:
            self.blocked = [each for each in self.blocked if each[0] is not group]
        for other in self.runnable:
            if other.pc != group.pc or other.activation is not group.activation or other.token is not group.token:
                continue
            if not self.is_apart or other.lanes.index[0] >> 5 == group.lanes.index[0] >> 5:
                other.lanes = other.lanes.united(group.lanes, self.threads)
                other.penalty = min(other.penalty, group.penalty)
                other.idle, other.turn = 0, None
                return
        self.runnable.append(group)

    # ------------------------------------------------------------------------------------------------ signals

    def _part(self, group: Group, signal: Signal) -> None:
        """Follow a signal, which may be about some of the threads only: the others go on behind."""
        active, group.active = group.active, None
        if active is not None and active.count < group.lanes.count:
            rest = group.split(group.lanes.without(active, self.threads), group.pc + 1)
            group.lanes = active
            self.resume(rest)
            self.machine.moment += 1
        if not isinstance(signal, Jump | Pause):
            self.machine.moment += 1
        match signal:
            case Jump(target):
                if target > group.pc or not self._turned_back(group, target) or not group.idle:
                    self.machine.moment += 1
                group.pc = target
                self.resume(group)
            case Scatter(targets):
                for target in numpy.unique(targets):
                    some = group.lanes.index[targets == target]
                    self.resume(group.split(Lanes(some, self.threads), int(target)))
            case Enter(parts):
                for part in parts:
                    self._enter(group, *part)
            case Leave(ends):
                self._leave(group, ends)
            case Blocked(on, True):
                group.token = on
                self.resume(group)
            case Blocked(on):
                self.blocked.append((group, on))
                on.waiters.append(group)
            case Pause():
                group.pc += 1
                group.penalty += 1
                self.resume(group)

    def _enter(self, group: Group, code: Any, site: CallSite, lanes: Lanes | None = None) -> None:
        called = group if lanes is None else group.split(lanes, group.pc)
        activation = enter(called, code, site)
        inner = Group(self, activation, called.lanes)
        inner.penalty = group.penalty
        activation.site = site
        self.resume(inner)

    def _leave(self, group: Group, ends: bool) -> None:
        caller = group.activation.caller
        if caller is None or ends:
            self._end(group.lanes)
            return
        leave(group, group.activation.site)
        back = Group(self, caller, group.lanes, group.activation.place + 1)
        back.penalty = group.penalty
        self.resume(back)

    def _end(self, lanes: Lanes) -> None:
        """Threads that end count as there at each barrier that waits for all, and at their warps' meetings."""
        self.alive[lanes.index] = False
        if not self.alive.any():
            self.machine.asynchrony.cta_ends(self)
            self.machine.order.cta_ends(self)
        for barrier in list(self.barriers.values()):
            barrier.left()
        for meeting in list(self.meetings.values()):
            meeting.left()
        self.cluster.barrier.open_if_complete()


def _order(group: Group) -> tuple[int, int, int]:
    return group.penalty, -group.activation.depth, group.pc
