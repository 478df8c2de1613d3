"""One pass of a radix sort: sorts keys by one digit, stably. Each key is read once and written once.

Algorithm ("Onesweep"). The place of a key in the target is a sum: the number of keys with smaller digits, which
`radix_histogram` has counted for all passes at once, and of the keys with the same digit in the tiles before, in the
warps before, in the rows of the warp before, and in the lanes before.

1. A CTA takes a tile, and each warp loads rows of 32 keys.
2. Row by row, `match.any` gives each lane the mask of the lanes with its digit. The mask's bits below the lane, and
   the warp's counter of the digit, are the keys before it in the warp. Then one lane for each digit adds the row's.
3. A thread for each digit adds the counters of the warps, and publishes the number of keys in the tile. It looks back:
   at all tiles before in its group of tiles, and at the groups before, until one has published the number of all keys
   up to it. See `look_back` for the words, and `prefix_sum` for the groups.
4. Meanwhile, the keys are put in the order of their digits in shared memory, so that threads with consecutive numbers
   store keys with the same digit to consecutive places.

    digits in the tile     3 1 3 1 2 1
    in shared memory       1 1 1 2 3 3                keys with the same digit stay in their order
    offsets[digit]         start of the digit + its keys in the tiles before - its place in shared memory

The rules that make the kernel correct: the lanes of a warp have read the counters for a row before one of them writes,
and it has written before they read again (`bar.warp.sync`, twice). Barriers of the CTA separate the writes of some
threads from the reads of others. Each of them is needed (PTX621 without it).

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: match.sync, bar.warp.sync"; A. Adinets and
D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs".
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ptxkit.build import Global, Kernel, Register, u32, u64
from ptxkit.build.warp_exchange import FULL_MASK
from ptxkit.kernels.limits import WARP_SIZE
from ptxkit.kernels.look_back import STATE_BIT, PublishedStates, take_tile
from ptxkit.kernels.radix_config import (
    DIGIT_BITS,
    DIGITS,
    RadixConfig,
    decode_key,
    digit_of,
    encode_key,
    key_type,
    sum_threads_before,
)

_LAST_NUMBER = 0xFFFFFFFF
"""The number of places beyond the end of the array, which is after all keys of the tile."""


def radix_pass(config: RadixConfig | None = None, *, debug: bool = False) -> Kernel:
    """Returns a kernel that sorts `count` keys by their digit from the bit `shift` on. Keys with the same digit keep
    their order. count is below 2**32 - config.tile.

    Parameters: source, target: arrays of `config.element`; starts: the u32 array that `radix_starts` computes; ticket,
    tiles, groups: u64 arrays as from `radix_pass_state`, which belong to the kernel and are used by one launch at a
    time; shift: u32, 0, 8, 16 or 24; count: u32. Block: config.threads; grid: `radix_pass_ctas(config, count)`.
    """
    config = config or RadixConfig()
    config.check()
    scalar: Any = key_type(config.element)
    k = Kernel("radix_pass", threads=config.threads, min_ctas=config.min_ctas, debug=debug)
    source = k.param(Global[scalar], "source").cast(u32)
    target = k.param(Global[scalar], "target").cast(u32)
    starts = k.param(Global[u32], "starts")
    ticket = k.param(Global[u64], "ticket")
    tiles, groups = k.param(Global[u64], "tiles"), k.param(Global[u64], "groups")
    shift, count = k.param(u32, "shift"), k.param(u32, "count")
    thread, has_digit = k.tid.x, k.tid.x < DIGITS

    # 1. Take a tile.
    taken = k.shared(u32, 2, align=8, name="taken")
    with k.thread_is(0):
        taken.store(take_tile(k, ticket))
    part = _KeyTile(k, config, shift)
    k.cta_sync()
    number, launch = taken.load(2)
    begin = number * config.tile
    room = k.min(count - begin, config.tile)

    # 2. Load the keys, and count those before each in the warp.
    part.load(source[begin], room)
    k.cta_sync()

    # 3. Count those in the warps before, for each digit, and publish the tile's.
    look = _LookBack(k, config, (tiles, groups), number, launch)
    of_digit = k.variable(u32, 0)
    with k.if_(has_digit):
        part.add_warps(of_digit)
        look.publish_tile(of_digit)
    before = sum_threads_before(k, config.warps, of_digit, name="sums")

    # 4. Put the keys in the order of their digits, and look back.
    part.exchange(before, has_digit)
    offsets = k.shared(u32, DIGITS, name="offsets")
    with k.if_(has_digit):
        start = starts[shift * (DIGITS // DIGIT_BITS) + thread].load()
        in_tiles = look.sum_before(of_digit)
        offsets[thread].store(start + in_tiles - before)
    k.cta_sync()

    # 5. Store them.
    for first in range(0, config.tile, config.threads):
        index = thread + first
        key = part.exchanged[index].load()
        place = offsets[digit_of(key, shift)].load() + index
        k.st(target[place], decode_key(config.element, key), guard=index < room)
    return k


def radix_pass_ctas(config: RadixConfig, count: int) -> int:
    """Returns the number of CTAs for `count` keys, at least one."""
    return max(-(-count // config.tile), 1)


def radix_pass_state(config: RadixConfig, count: int) -> tuple[np.ndarray[Any, Any], ...]:
    """Returns `ticket`, `tiles` and `groups` before the first launch for up to `count` keys, in host memory."""
    ctas = radix_pass_ctas(config, count)
    return tuple(np.zeros(size, np.uint64) for size in (1, DIGITS * ctas, DIGITS * -(-ctas // config.group)))


class _KeyTile:
    """The keys of a tile. A thread has one of each row of its warp, and each warp has a counter for each digit."""

    def __init__(self, k: Kernel, config: RadixConfig, shift: Register[u32]) -> None:
        """Sets the counters to zero."""
        self._k, self._config, self._shift = k, config, shift
        self._counters = k.shared(u32, config.warps * DIGITS, name="counters")
        self._places = k.shared(u32, DIGITS, name="places")
        self.exchanged = k.dynamic_shared(u32, config.tile, align=16)
        self._own = self._counters[k.warp * DIGITS]
        for start in range(0, DIGITS, WARP_SIZE):
            self._own[k.laneid][start].store(0)
        self._keys: list[Register[u32]] = []
        self._ranks: list[Register[u32]] = []

    def load(self, source: Global[u32], room: Register[u32]) -> None:
        """Loads the keys, of which the tile has `room`, and counts those with the same digit before in the warp."""
        k, rows = self._k, range(0, self._config.items * WARP_SIZE, WARP_SIZE)
        first = k.warp * (WARP_SIZE * self._config.items) + k.laneid
        exist = [first + row < room for row in rows]
        loaded = [k.variable(u32, 0) for _ in rows]
        for row, key, exists in zip(rows, loaded, exist, strict=True):
            k.ld(source[first][row], into=key, guard=exists)
        for key, exists in zip(loaded, exist, strict=True):
            number = k.where(exists, encode_key(self._config.element, key), _LAST_NUMBER)
            self._ranks.append(self._count_row(number))
            self._keys.append(number)

    def _count_row(self, key: Register[u32]) -> Register[u32]:
        """Returns the number of keys with the same digit before the lane's, and adds the row to the counters."""
        k, digit = self._k, digit_of(key, self._shift)
        same = k.match_any(digit)
        below: Register[u32] = k.popc_b32(same & k.special("%lanemask_lt"))
        if self._ranks:
            k.bar_warp_sync(FULL_MASK)
        before = self._own[digit].load()
        k.bar_warp_sync(FULL_MASK)
        with k.if_(below == 0):
            self._own[digit].store(before + k.popc_b32(same))
        return before + below

    def add_warps(self, total: Any) -> None:
        """Replaces the counters of the thread's digit by the sums of those before, and adds all to the variable."""
        for warp in range(self._config.warps):
            counter = self._counters[self._k.tid.x][warp * DIGITS]
            of_warp = counter.load()
            counter.store(total)
            total += of_warp

    def exchange(self, before: Register[u32], has_digit: Any) -> None:
        """Stores the keys in the order of their digits in `exchanged`. `before` is the number of keys with digits
        smaller than the thread's.
        """
        k = self._k
        with k.if_(has_digit):
            self._places[k.tid.x].store(before)
        k.cta_sync()
        for key, rank in zip(self._keys, self._ranks, strict=True):
            digit = digit_of(key, self._shift)
            self.exchanged[self._places[digit].load() + self._own[digit].load() + rank].store(key)


class _LookBack:
    """The keys with the thread's digit in the tiles up to tile `number`, and in the groups of tiles up to its group."""

    def __init__(
        self, k: Kernel, config: RadixConfig, words: Sequence[Global[u64]], number: Register[u32], launch: Register[u32]
    ) -> None:
        self._k, self._size = k, config.group
        self._states = PublishedStates(k, launch)
        self._number, self._place, self._group = number, number % config.group, number // config.group
        self._tiles, self._groups = (each[k.tid.x] for each in words)

    def publish_tile(self, value: Register[u32]) -> None:
        """Publishes the number of keys in the tile."""
        self._states.publish(self._tiles[self._number * DIGITS], value, self._states.sum)

    def _publish_group(self, value: Register[u32], state: Register[u32]) -> None:
        """Publishes the number of keys in the group, or up to it. Only the last tile of the group does."""
        with self._k.if_(self._place == self._size - 1):
            self._states.publish(self._groups[self._group * DIGITS], value, state)

    def sum_before(self, of_digit: Register[u32]) -> Register[u32]:
        """Returns the number of keys in all tiles before. `of_digit` is that in the tile.

        The sum of the first group is its prefix, so that no tile looks further back.
        """
        in_group, states = self._sum_tiles(), self._states
        state = self._k.where(self._group == 0, states.prefix, states.sum)
        self._publish_group(in_group + of_digit, state)
        before = self._sum_groups() + in_group
        self._publish_group(before + of_digit, states.prefix)
        return before

    def _sum_tiles(self) -> Register[u32]:
        """Returns the number of keys in the tiles before in the group, which are all loaded at once."""
        k, known = self._k, self._states.sum
        words = [k.variable(u64, known.convert(u64) << STATE_BIT) for _ in range(self._size - 1)]
        with k.loop() as poll:
            for distance, word in enumerate(words, 1):
                place = self._tiles[(self._number - distance) * DIGITS]
                k.ld_relaxed_gpu(place, into=word, guard=self._place >= distance)
            are_known = [(word >> STATE_BIT).convert(u32) == known for word in words]
            poll.break_(reduce(operator.and_, are_known))
        total = k.variable(u32, 0)
        for word in words:
            total += word.convert(u32)
        return total

    def _sum_groups(self) -> Register[u32]:
        """Returns the number of keys in all groups before, from the nearest one back to one with a prefix."""
        k, states = self._k, self._states
        total, group = k.variable(u32, 0), k.variable(u32, self._group)
        value = k.variable(u32, 0)
        with k.if_(group > 0), k.loop() as poll:
            state = states.read(self._groups[(group - 1) * DIGITS], value)
            is_prefix = state == states.prefix
            is_known = is_prefix | (state == states.sum)
            total += k.where(is_known, value, 0)
            poll.break_(is_prefix)
            group -= k.where(is_known, 1, 0, u32)
        return total
