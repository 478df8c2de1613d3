"""Decides whether all initializations of mbarriers are known: up to the last barrier before which threads have any."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.analysis.symexec.trace import GroupTrace, UnknownCall
from ptxkit.isa.effects import Barrier, Effect, MbarrierInit


def are_initializations_known(groups: Sequence[GroupTrace]) -> bool:
    """Returns whether nothing unknown is executed before the barrier after which no thread initializes an mbarrier."""
    barriers = max((_count_cta_barriers(group, _last_init_position(group)) for group in groups), default=0)
    for group in groups:
        if group.first_guess is not None and _count_cta_barriers(group, group.first_guess) <= barriers:
            return False
        if group.end_reason == "budget" and _count_cta_barriers(group, len(group.events)) <= barriers:
            return False
    return True


def _last_init_position(group: GroupTrace) -> int:
    inits = [
        at for at, e in enumerate(group.events) if not isinstance(e, UnknownCall) and isinstance(e.effect, MbarrierInit)
    ]
    return max(inits, default=0)


def _count_cta_barriers(group: GroupTrace, until: int) -> int:
    """Counts the CTA barriers that a group executes before a position."""
    return sum(not isinstance(e, UnknownCall) and _is_cta_wide_barrier(e.effect) for e in group.events[:until])


def _is_cta_wide_barrier(effect: Effect) -> bool:
    """Returns whether an effect is a barrier of the whole CTA or cluster."""
    return isinstance(effect, Barrier) and effect.level != "warp" and effect.action != "arrive" and not effect.threads
