"""Proves that mbarriers are initialized once, and before all uses, on all paths and by all threads.

One thread initializes an mbarrier. Another thread uses it later if a barrier of all threads is between the two: the
thread that initializes has executed the initialization whenever it comes to the barrier, never comes to it again after
that, and each path to the use passes the barrier.

Source: PTX ISA, "mbarrier.init", "mbarrier.inval", "Lifecycle of the mbarrier object", "bar, barrier",
"barrier.cluster", "membar / fence" (`fence.mbarrier_init`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.returning_calls import is_sole_function
from ptxkit.analysis.abstract_interpretation.thread_roles import Roles
from ptxkit.analysis.intervals.accessed_bytes import is_certain, variable_key
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_MBARRIER_ADDRESSES
from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.isa.effects import Barrier, Effect, MbarrierInit, MbarrierInvalidate, MemoryFence
from ptxkit.rules.execution_proofs import cluster_barriers, needs_of_row, whole_barriers
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import STEP_LINES, Evidence, LaunchNeeds
from ptxkit.rules.obligation_sites import Site, subject_of
from ptxkit.rules.phase_proofs import prove_phases
from ptxkit.semantics.ordering import CTA_LEVEL, RELEASE_ORDERS, fence_level

_Place: TypeAlias = tuple[object, int]
"""A variable, and the offset of an mbarrier in it."""
_BYTES = 8
"""The size of an mbarrier."""


def prove_initialized(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX501 that each mbarrier which an instruction may use was initialized before."""
    return _prove_by_paths(proofs, site) or prove_phases(proofs, site)


def _prove_by_paths(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves that an initialization is on each path to a use, by the roles of the threads."""
    if not is_sole_function(proofs.program):
        return None
    order = proofs.once(InitOrder)
    found = order.places_of(site.step, site.subject)
    if found is None:
        return None
    places, is_remote = found
    effects = [each for each in site.step.effects if subject_of(each) == site.subject]
    is_remote = is_remote or any(getattr(each, "multicast", None) is not None for each in effects)
    steps: dict[Step, None] = {}
    least = 1
    for place in places:
        init = order.initialization_before(place, site.step, is_remote=is_remote)
        if init is None or not order.is_valid_at(place, site.step):
            return None
        steps[init] = None
        least = max(least, proofs.roles.least_block(proofs.roles.executing(init)) or 1)
    evidence = Evidence(
        "initialized", obligation_words.INITIALIZED(lines=STEP_LINES), tuple(sorted(steps, key=lambda s: s.index))
    )
    return needs_of_row(proofs, least) or evidence


def prove_initialized_once(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX502 that one thread initializes an mbarrier, and never again before it is invalidated."""
    if not is_sole_function(proofs.program):
        return None
    order = proofs.once(InitOrder)
    if not order.is_initialized_once(site.step):
        return None
    return needs_of_row(proofs) or Evidence("initialized", obligation_words.INITIALIZED_ONCE(), (site.step,))


class InitOrder:
    """The initializations of the mbarriers of one kernel that calls nothing, and what is ordered after them."""

    def __init__(self, proofs: FunctionProofs) -> None:
        self._proofs, self._roles = proofs, proofs.roles

    @cached_property
    def _inits(self) -> list[tuple[Step, _Place | None, Roles]]:
        """Each initialization with its mbarrier, None where it is not exactly one, and the threads that execute it."""
        return list(self._with_places(MbarrierInit))

    @cached_property
    def _ends(self) -> list[tuple[Step, _Place | None, Roles]]:
        return list(self._with_places(MbarrierInvalidate))

    def _with_places(self, kind: type[Effect]) -> Iterator[tuple[Step, _Place | None, Roles]]:
        for step in self._proofs.program.effectful_steps:
            for effect in step.effects:
                if isinstance(effect, kind):
                    found = self.places_of(step, subject_of(effect))
                    is_one = found is not None and len(found[0]) == 1 and not found[1]
                    yield step, found[0][0] if is_one and found else None, self._roles.executing(step)

    def places_of(self, step: Step, role: str) -> tuple[list[_Place], bool] | None:
        """Returns all mbarriers that an operand may be, and whether they may be in another CTA; None if unknown."""
        operand = step.operand(role)
        value = self._proofs.values.value_at(step, operand) if operand is not None else ()
        places: list[_Place] = []
        for each in value:
            base = each.base
            if base is None or base.variable is None or base.space != "shared" or not is_certain(each):
                return None
            if each.known_offsets[0] < 0 or each.offset.count > MAX_MBARRIER_ADDRESSES:
                return None
            places.extend((variable_key(base), offset) for offset in each.offset.members())
        return (places, any(each.is_remote for each in value)) if places else None

    def initialization_before(self, place: _Place, use: Step, *, is_remote: bool) -> Step | None:
        """Returns an initialization of an mbarrier that is ordered before each execution of a use."""
        users = self._roles.executing(use)
        for step, own, roles in self._inits:
            least = self._roles.least_block(roles)
            if own != place or not self._roles.is_one_thread(roles) or least is None:
                continue
            is_same_thread = not is_remote and self._roles.is_one_thread(roles | users)
            if is_same_thread and not self._roles.may_come_to(users, use, frozenset([step])):
                return step
            between = self._published_by(step, roles, is_remote=is_remote)
            if between and not self._roles.may_come_to(self._roles.everyone, use, between):
                return step
        return None

    def _published_by(self, init: Step, roles: Roles, *, is_remote: bool) -> frozenset[Step]:
        """Returns the barriers after which each thread of the CTA, or of the cluster, may use an mbarrier."""
        found = () if is_remote else self._proofs.once(whole_barriers)
        local = [barrier for barrier in found if self._precedes(init, roles, barrier)]
        arrivals, waits = self._proofs.once(cluster_barriers)
        released = [
            each for each in arrivals if self._precedes(init, roles, each) and self._releases(init, roles, each)
        ]
        passed = [
            wait
            for wait in waits
            if any(
                arrive is wait or not self._roles.may_come_to(self._roles.everyone, wait, frozenset([arrive]))
                for arrive in released
            )
        ]
        return frozenset((*local, *passed))

    def _precedes(self, step: Step, roles: Roles, later: Step) -> bool:
        """Returns whether the thread with some roles executes one step before another one, and never after it."""
        return not self._roles.may_come_to(roles, later, frozenset([step])) and not self._roles.may_come_to(
            roles, step, start=later
        )

    def _releases(self, init: Step, roles: Roles, arrive: Step) -> bool:
        """Returns whether an arrival at the cluster's barrier, or a fence before it, releases an initialization."""
        orders = {effect.order for effect in arrive.effects if isinstance(effect, Barrier)}
        if "relaxed" not in orders:
            return True
        fences = frozenset(
            step for step in self._proofs.program.effectful_steps if any(map(_releases_to_cluster, step.effects))
        )
        return not self._roles.may_come_to(roles, arrive, fences, start=init)

    def is_valid_at(self, place: _Place, use: Step) -> bool:
        """Returns whether each invalidation that may be of an mbarrier comes after all executions of a use."""
        users = self._roles.executing(use)
        for end, own, roles in self._ends:
            if own is not None and not _overlap(own, place):
                continue
            if self._roles.may_come_to(self._roles.everyone, use, start=end):
                return False
            if self._roles.is_one_thread(users | roles):
                continue
            between = (
                barrier
                for barrier in self._proofs.once(whole_barriers)
                if not self._roles.may_come_to(roles, end, frozenset([barrier]))
                and not self._roles.may_come_to(users, use, start=barrier)
            )
            if next(between, None) is None:
                return False
        return True

    def is_initialized_once(self, init: Step) -> bool:
        """Returns whether only one thread executes an initialization, and none of the mbarrier again while it is
        valid."""
        mine = [(place, roles) for step, place, roles in self._inits if step is init]
        if len(mine) != 1 or mine[0][0] is None:
            return False
        (place, roles), others = mine[0], self._inits
        if not self._roles.is_one_thread(roles) or place is None:
            return False
        for step, own, other in others:
            if own is not None and not _overlap(own, place):
                continue
            if own != place or not self._roles.is_one_thread(roles | other):
                return False
            ends = frozenset(end for end, ended, by in self._ends if ended == place and by == roles)
            pairs = ((init, step, other), (step, init, roles))
            if any(self._roles.may_come_to(by, second, ends, start=first) for first, second, by in pairs):
                return False
        return True


def _overlap(first: _Place, second: _Place) -> bool:
    return first[0] == second[0] and abs(first[1] - second[1]) < _BYTES


def _releases_to_cluster(effect: Effect) -> bool:
    if isinstance(effect, MemoryFence) and effect.only == "mbarrier.init":
        return True
    level = fence_level(effect, restricted=False, orders=RELEASE_ORDERS)
    return level is not None and level > CTA_LEVEL
