"""Plans of delays: which sites of a module are delayed in a launch, for which warps, and for how long."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Any

import numpy

from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.stress.delay_instrument import HEADER_ENTRIES, WORDS_PER_ENTRY
from ptxkit.stress.limits import MAX_DELAY_BITS, MIN_DELAY_BITS, PREFETCHED_BYTES

_NO_CLOCK = 32
"""The shift of the clock that leaves nothing of it."""

_NO_CHOICE = 0xFFFFFFFF
"""The mask of the selection that selects no warp, so that none yields, as by a sleep of no time."""

_CLOCK_SHIFTS = (_NO_CLOCK, _NO_CLOCK, 10, 13)
"""The iterations of a loop have equal delays, or other ones after some thousand cycles."""

_CHOICES = (0, 1, 3, 3, 7)
"""Masks of the selection: all warps, half of them, a quarter or an eighth are delayed at a site."""

_POISON_SHARE = 0.5
"""The share of the plans in which shared memory is written over at the exit."""

SCATTERED, BY_WARP, BY_CTA, BY_SITE, FEW_SITES = "scattered", "by warp", "by CTA", "by site", "few sites"
STYLES = (SCATTERED, SCATTERED, BY_WARP, BY_CTA, BY_SITE, FEW_SITES, FEW_SITES)
"""What a delay depends on. Scattered: site, warp and CTA. By warp: some warps are slow at all sites, as a producer or
consumer that gets no issue slots. By CTA: some CTAs are slow. By site: all warps are slow at some sites. Few sites: one
to three sites, and no others.
"""


@dataclass(frozen=True, slots=True)
class SiteDelay:
    """The delay at one site: the words of its entry of the plan (`delay_instrument`)."""

    mask: int
    salt: int
    shift: int
    choice: int


@dataclass(frozen=True, slots=True)
class DelayPlan:
    """The delays of one launch. style: one of `STYLES`. delays: by the number of the site; others are not delayed.

    prefetched: the bytes of each prefetch before a delayed copy of the async proxy, which waits for them; or 0.
    poisons: whether the last thread of a CTA that exits writes over its shared memory.
    """

    style: str
    seed: int
    warp_factor: int
    cta_factor: int
    delays: Mapping[int, SiteDelay]
    prefetched: int = 0
    poisons: bool = False

    @property
    def longest(self) -> int:
        """The longest delay in nanoseconds."""
        return max((each.mask for each in self.delays.values()), default=0)

    def only(self, sites: Collection[int]) -> DelayPlan:
        """Returns the plan without the delays at other sites."""
        return replace(self, delays={number: each for number, each in self.delays.items() if number in sites})

    def words(self, site_count: int, counted_threads: int, launch_sized: int) -> Any:
        """Returns the contents of the module's variable: an array of 32-bit words.

        counted_threads: the threads of a CTA, or 0 if the launch has too many CTAs to count their exits. launch_sized:
        the bytes of launch-sized shared memory.
        """
        table = numpy.zeros((site_count + HEADER_ENTRIES, WORDS_PER_ENTRY), numpy.uint32)
        table[HEADER_ENTRIES:, -1] = _NO_CHOICE
        table[0] = self.seed, self.warp_factor, self.cta_factor, self.prefetched
        table[1, :2] = counted_threads if self.poisons else 0, launch_sized
        for number, each in self.delays.items():
            table[number + HEADER_ENTRIES] = each.mask, each.salt, each.shift, each.choice
        return table.reshape(-1)


def choose_plan(chance: Random, site_count: int, preferred: Sequence[int] = ()) -> DelayPlan:
    """Returns a random plan. preferred: the sites to delay, if not all of them."""
    sites = list(preferred) or list(range(site_count))
    style = chance.choice(STYLES)
    if style == FEW_SITES:
        sites = chance.sample(sites, min(len(sites), chance.randint(1, 3)))
    mask = (1 << chance.randint(MIN_DELAY_BITS, MAX_DELAY_BITS)) - 1
    shift, choice, one_salt = chance.choice(_CLOCK_SHIFTS), chance.choice(_CHOICES), _word(chance)
    has_one_salt = style in (BY_WARP, BY_CTA)
    delays = {
        number: SiteDelay(mask, one_salt if has_one_salt else _word(chance), shift, choice) for number in sorted(sites)
    }
    warp = 0 if style in (BY_CTA, BY_SITE) else _word(chance) | 1
    cta = 0 if style == BY_SITE or (style == BY_WARP and chance.random() < 0.5) else _word(chance) | 1
    prefetched = chance.choice((0, 0, *PREFETCHED_BYTES))
    return DelayPlan(style, _word(chance), warp, cta, delays, prefetched, chance.random() < _POISON_SHARE)


def _word(chance: Random) -> int:
    return chance.getrandbits(32)
