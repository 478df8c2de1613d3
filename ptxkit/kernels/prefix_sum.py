"""Prefix sums of an array in one launch, with bitwise reproducible results.

Algorithm. A CTA computes the sums of one tile, and needs the sum of all tiles before it. It publishes the sum of its
own tile as soon as it is known, and looks back at what the others have published ("decoupled look-back"). So the array
is read once and written once, and the tiles are processed in parallel.

    tiles     | 0 | 1 | ... | 31 | 32 | ... | 63 | 64 | ...       each publishes its sum
    groups    |      group 0     |     group 1   | group 2        the last tile of a group publishes the group's sum,
                                                                  and then the sum of all groups so far, its prefix

The sum before a tile has two parts, which two warps look for at the same time, each lane at one word:

* the tiles before it in its group. Warp 0 polls until all of them have published;
* the groups before. Warp 1 polls until the group before has published its prefix. In the last tile of a group, which
  is to publish the next prefix, it polls the last 32 groups, until one has published its prefix, and all after it their
  sums. So a prefix does not wait for the prefix before it.

`look_back` explains the words, and how CTAs take tiles, so that none waits for one that does not run.

Tiles are copied to shared memory, since their number there limits the speed: a tile waits for others most of the time.

Order of the sums. Floating-point sums depend on the order of their terms, which here is the same in each run, even
though the CTAs run in different orders. A thread has vectors x of four elements, and a warp `vectors` rows of 128
elements. With E, the sum of the groups before; T, of the tiles of the group before; W, of the warps before; R, of the
rows before; L, of the lanes before, the inclusive sum for x[i] is

    ((E + T) + W) + ((R + L) + (x[0] + ... + x[i]))

E, W, R and the sum of a vector are added from left to right; T by a butterfly and L by doubling distances. A prefix of
a group is E plus the group's sum, so E does not depend on which prefix is found.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk", "Parallel Synchronization and Communication
Instructions: vote.sync"; D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back".
"""

from __future__ import annotations

import itertools
import math
import operator
from contextlib import AbstractContextManager
from typing import Any, Literal, TypeAlias

import numpy as np

from ptxkit.build import BuildValueError, Global, Kernel, Register, Shared, f32, s32, u32, u64
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernels.limits import WARP_SIZE
from ptxkit.kernels.look_back import PublishedStates, take_tile

VECTOR = 4
"""The elements of one load of 16 bytes."""
ROW = WARP_SIZE * VECTOR
"""The consecutive elements that a warp loads at once."""
MIN_THREADS = 2 * WARP_SIZE
"""The least number of threads: two warps look back."""

ElementName: TypeAlias = Literal["f32", "s32"]
Value: TypeAlias = Register[Any]

_ELEMENTS: dict[str, type[f32 | s32]] = {"f32": f32, "s32": s32}


@dataclass(frozen=True, slots=True)
class PrefixSumConfig:
    """A variant of the kernel.

    `element` is `f32` or `s32`, whose sums wrap around. With `exclusive`, the sum for an element is that of the
    elements before it. A thread has `vectors` vectors of 16 bytes, and `group` tiles are a group; the look-back covers
    as many groups. ptxas limits the registers so that `min_ctas` CTAs fit on a multiprocessor. Without `relay`, all
    tiles of a group look back as the last one does. `pause` is the time between two polls, in nanoseconds.
    """

    element: ElementName = "f32"
    exclusive: bool = False
    threads: int = 128
    vectors: int = 16
    group: int = WARP_SIZE
    min_ctas: int | None = 6
    relay: bool = True
    pause: int = 100

    @property
    def tile(self) -> int:
        """The elements of a CTA."""
        return self.threads * self.vectors * VECTOR

    def check(self) -> None:
        """Raises `BuildValueError` if there is no such kernel."""
        if self.element not in _ELEMENTS:
            raise BuildValueError(f"element is {' or '.join(_ELEMENTS)}, not {self.element!r}")
        if self.threads < MIN_THREADS or self.threads % WARP_SIZE:
            raise BuildValueError(f"a tile has at least {MIN_THREADS} threads, in whole warps, not {self.threads}")
        if self.vectors < 1:
            raise BuildValueError(f"a thread has at least one vector, not {self.vectors}")
        if not 0 < self.group <= WARP_SIZE or self.group & (self.group - 1):
            raise BuildValueError(f"a group has 1, 2, 4, 8, 16 or 32 tiles, one for each lane, not {self.group}")


def prefix_sum(config: PrefixSumConfig | None = None, *, debug: bool = False) -> Kernel:
    """Returns a kernel that computes `target[i] = source[0] + ... + source[i]` for i < count, or without the last term.

    The order of floating-point sums is in the module's docstring; the error grows with the logarithm of the elements of
    a tile, and with the number of groups.

    Parameters: source, target: arrays of `config.element`, aligned to 16 bytes; ticket: u64 array of one element;
    tiles, groups: u64 arrays, of at least as many elements as there are CTAs, and groups of CTAs. The last three are
    zero before the first launch, belong to the kernel afterwards, and are used by one launch at a time. count: u64.
    Block: config.threads; grid: `prefix_sum_ctas(config, count)`.
    """
    config = config or PrefixSumConfig()
    config.check()
    scalar: Any = _ELEMENTS[config.element]
    k = Kernel("prefix_sum", threads=config.threads, min_ctas=config.min_ctas, debug=debug)
    source = k.param(Global[scalar], "source", align=16)
    target = k.param(Global[scalar], "target", align=16)
    ticket = k.param(Global[u64], "ticket")
    tiles, groups = k.param(Global[u64], "tiles"), k.param(Global[u64], "groups")
    count = k.param(u64, "count")

    # 1. Take a tile, and start to copy it.
    part = _TilePart(k, config, scalar)
    taken = k.shared(u32, 2, align=8, name="taken")
    with k.thread_is(0):
        number, launch = take_tile(k, ticket)
        taken.store([number, launch])
        begin = number.convert(u64) * config.tile
        part.start_copy(source[begin], count - begin)
    k.cta_sync()
    number, launch = taken.load(2)

    # 2. Compute the sums within each warp.
    begin = number.convert(u64) * config.tile
    left = count - begin
    part.finish_copy(source[begin], left)
    sum_of_warp = part.scan_rows()

    # 3. Compute the sum before each warp, and that of the tile.
    before_warp, sum_of_tile = part.scan_warps(sum_of_warp)

    # 4. Look back. The last tile of a group publishes the prefix of the group.
    look = _LookBack(k, config, scalar, number, launch)
    found = k.shared(scalar, 2, align=8, name="found")
    with k.if_(k.warp == 0):
        in_group = look.sum_tiles(tiles, groups, sum_of_tile)
        with k.if_(k.laneid == 0):
            found[0].store(in_group)
    with k.if_(k.warp == 1):
        before_group = look.sum_groups(groups)
        with k.if_(k.laneid == 0):
            found[1].store(before_group)
    k.cta_sync()
    in_group, before_group = found.load(2)
    with k.if_(look.is_last & (k.tid.x == 0)):
        look.publish_prefix(groups, before_group + (in_group + sum_of_tile))

    # 5. Add what is before, and store.
    part.store(target[begin], left, (before_group + in_group) + before_warp)
    return k


def prefix_sum_ctas(config: PrefixSumConfig, count: int) -> int:
    """Returns the number of CTAs for `count` elements, at least one."""
    return max(-(-count // config.tile), 1)


def prefix_sum_state(config: PrefixSumConfig, count: int) -> tuple[np.ndarray[Any, Any], ...]:
    """Returns `ticket`, `tiles` and `groups` before the first launch for up to `count` elements, in host memory."""
    ctas = prefix_sum_ctas(config, count)
    return tuple(np.zeros(size, np.uint64) for size in (1, ctas, -(-ctas // config.group)))


class _TilePart:
    """A tile in shared memory. A thread has one vector of each row of its warp."""

    def __init__(self, k: Kernel, config: PrefixSumConfig, scalar: type[Any]) -> None:
        self._k, self._config, self._scalar = k, config, scalar
        self._tile = k.dynamic_shared(scalar, config.tile, align=128)
        self._there = k.mbarrier("there")
        self._first = k.warp * (config.vectors * ROW) + k.laneid * VECTOR
        self._rows = range(0, config.vectors * ROW, ROW)

    def start_copy(self, source: Global[Any], left: Register[u64]) -> None:
        """Starts to copy the tile, if all of it is in the array. One thread executes it."""
        self._there.init(1)
        with self._k.if_(left >= self._config.tile):
            size = self._config.tile * self._scalar.size()
            self._there.arrive_expect_tx(size)
            self._k.cp_async_bulk(self._tile, source, size, self._there)

    def finish_copy(self, source: Global[Any], left: Register[u64]) -> None:
        """Waits for the tile. If only `left` of its elements are in the array, threads copy theirs, and add zeros."""
        k = self._k
        with k.if_(left >= self._config.tile):
            self._there.wait(0)
        with k.else_(), self._each_row() as first:
            values = [k.variable(self._scalar, 0) for _ in range(VECTOR)]
            for index, value in enumerate(values):
                k.ld(source[first][index], into=value, guard=first + index < left.convert(u32))
            self._tile[first].store(values)

    def scan_rows(self) -> Value:
        """Replaces each element by the sum up to it within the warp, and returns the sum of the warp."""
        k, mine = self._k, self._tile[self._first]
        whole: Value | None = None
        for row in self._rows:
            sums = list(itertools.accumulate(mine[row].load(VECTOR), operator.add))
            inclusive = k.warp_scan("add", sums[-1])
            before = k.where(k.laneid == 0, 0, k.shuffle_up(inclusive, 1))
            start = before if whole is None else whole + before
            added = [start + each for each in sums]
            mine[row].store([start, *added[:-1]] if self._config.exclusive else added)
            last = k.shuffle_idx(inclusive, WARP_SIZE - 1)
            whole = last if whole is None else whole + last
        assert whole is not None
        return whole

    def scan_warps(self, sum_of_warp: Value) -> tuple[Value, Value]:
        """Returns the sum of the warps before the thread's, and the sum of the tile."""
        k, warps = self._k, self._config.threads // WARP_SIZE
        sums = k.shared(self._scalar, warps, align=16, name="sums")
        with k.if_(k.laneid == 0):
            sums[k.warp].store(sum_of_warp)
        k.cta_sync()
        size = math.gcd(warps, VECTOR)
        of_warps = [each for start in range(0, warps, size) for each in sums[start].load(size)]
        totals = list(itertools.accumulate(of_warps, operator.add))
        before = k.where(k.warp == 0, 0, totals[0])
        for number, total in enumerate(totals[1:-1], 1):
            before = k.where(k.warp > number, total, before)
        return before, totals[-1]

    def store(self, target: Global[Any], left: Register[u64], start: Value) -> None:
        """Adds `start` to the elements, and stores those that are in the array."""
        k = self._k
        with k.if_(left >= self._config.tile):
            for row in self._rows:
                target[self._first][row].store(self._load_sums(self._tile[self._first][row], start))
        with k.else_(), self._each_row() as first:
            for index, total in enumerate(self._load_sums(self._tile[first], start)):
                k.st(target[first][index], total, guard=first + index < left.convert(u32))

    def _each_row(self) -> AbstractContextManager[Register[u32]]:
        """Repeats a block for the index of the thread's vector in each row."""
        return self._k.for_range(self._first, self._first + self._config.vectors * ROW, ROW, unroll=False)

    def _load_sums(self, vector: Shared[Any], start: Value) -> list[Value]:
        return [start + each for each in vector.load(VECTOR)]


class _LookBack:
    """The words of the tiles before the CTA's tile, `number`, in its group, and of the groups before."""

    def __init__(
        self, k: Kernel, config: PrefixSumConfig, scalar: type[Any], number: Register[u32], launch: Register[u32]
    ) -> None:
        self._k, self._scalar, self._size, self._number = k, scalar, config.group, number
        self._relay, self._pause_time = config.relay, config.pause
        self._place, self._group = number % config.group, number // config.group
        self._states = PublishedStates(k, launch)
        self.is_last = self._place == config.group - 1

    def sum_tiles(self, tiles: Global[u64], groups: Global[u64], sum_of_tile: Value) -> Value:
        """Publishes the sum of the tile, and returns that of the tiles before it in its group. The last one publishes
        the sum of the group. A whole warp executes it.
        """
        k, states = self._k, self._states
        with k.if_(k.laneid == 0):
            states.publish(tiles[self._number], sum_of_tile, states.sum)
        is_before = k.laneid < self._place
        word = tiles[self._number - self._place + k.min(k.laneid, self._place)]
        value = k.variable(self._scalar, 0)
        with k.loop() as poll:
            state = states.read(word, value)
            poll.break_(k.all((state == states.sum) | ~is_before))
            self._pause()
        found = k.warp_reduce("add", k.where(is_before, value, 0))
        with k.if_(self.is_last & (k.laneid == 0)):
            states.publish(groups[self._group], found + sum_of_tile, states.sum)
        return found

    def sum_groups(self, groups: Global[u64]) -> Value:
        """Returns the sum of all groups before that of the tile. A whole warp executes it.

        Lanes read the words of consecutive groups. One that has published its prefix is enough if all after it have
        published their sums: then the mask of the lanes with a prefix is greater than that of the lanes with neither.
        """
        k, states = self._k, self._states
        start, value, prefixes = k.variable(self._scalar, 0), k.variable(self._scalar, 0), k.variable(u32, 0)
        with k.if_(self._group > 0):
            length = k.min(self._group, self._size)
            if self._relay:
                length = k.where(self.is_last, length, 1)
            is_before = k.laneid < length
            word = groups[self._group - length + k.min(k.laneid, length - 1)]
            with k.loop() as poll:
                state = states.read(word, value)
                prefixes.set(k.ballot((state == states.prefix) & is_before))
                missing = k.ballot((state != states.prefix) & (state != states.sum) & is_before)
                poll.break_(prefixes > missing)
                self._pause()
            is_added = is_before & (k.laneid >= k.bfind_u32(prefixes))
            value.set(k.where(is_added, value, 0))
            for lane in range(self._size):
                start += k.shuffle_idx(value, lane)
        return start

    def publish_prefix(self, groups: Global[u64], value: Value) -> None:
        """Publishes the sum of all groups up to that of the tile, which is the last one of its group."""
        self._states.publish(groups[self._group], value, self._states.prefix)

    def _pause(self) -> None:
        if self._pause_time:
            self._k.nanosleep(self._pause_time)
