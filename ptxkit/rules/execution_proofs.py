"""Proves what rules demand of the threads that execute an instruction together, on all paths and for all data.

Source: PTX ISA, "bar, barrier", "barrier.cluster", "bar.warp.sync", "Warp-level Matrix Instructions: wgmma.mma_async",
"Parallel Synchronization and Communication Instructions: shfl.sync".
"""

from __future__ import annotations

from collections import defaultdict

from ptxkit.analysis.abstract_interpretation.abstract_values import integers_in
from ptxkit.analysis.abstract_interpretation.cluster_arrivals import is_of_cluster, unpaired_steps
from ptxkit.analysis.abstract_interpretation.returning_calls import is_sole_function
from ptxkit.analysis.abstract_interpretation.thread_roles import Roles
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.diagnostics.obligation import LaunchNeed
from ptxkit.isa.effects import AsyncRegisters, Barrier, CtaGroup, Effect
from ptxkit.isa.expressions import Expression, OperandRole
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.limits import MAX_CHECKED_NUMBERS
from ptxkit.rules.model import Evidence, LaunchNeeds
from ptxkit.rules.obligation_sites import Site
from ptxkit.rules.phase_proofs import prove_phases
from ptxkit.syntax.constants import WARP_SIZE

_ALL_LANES = (1 << WARP_SIZE) - 1


def prove_whole_warp(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX603 that all lanes of a warp execute an instruction together."""
    return _uniform(proofs, site.step) or _of_groups(proofs, site.step, WARP_SIZE)


def prove_whole_warpgroup(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX315 that all warps of whole warpgroups execute an instruction together."""
    is_multiplication = any(isinstance(effect, AsyncRegisters) for effect in site.step.effects)
    return _of_groups(proofs, site.step, 4 * WARP_SIZE, may_be_partial=not is_multiplication)


def prove_barrier(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX601 that all threads of a barrier arrive at it."""
    return _prove_roles_meet(proofs, site) or prove_phases(proofs, site)


def _prove_roles_meet(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves that all threads of a barrier arrive at it, by the roles of the threads.

    The threads must not wait for each other elsewhere: each barrier must be one of all threads, or of all threads of a
    role that no other one shares.
    """
    is_of_warp = any(isinstance(effect, Barrier) and effect.level == "warp" for effect in site.step.effects)
    is_whole, needs = proofs.once(_needs_of_barriers if is_of_warp else _needs_of_larger_barriers)
    if is_whole:
        return _uniform(proofs, site.step)
    return None if needs is None else needs or Evidence("uniform", obligation_words.UNIFORM_IN_ROLE())


def _needs_of_larger_barriers(proofs: FunctionProofs) -> tuple[bool, LaunchNeeds | None]:
    """Returns what `_needs_of_barriers` returns, without the barriers of warps."""
    return _needs_of_barriers(proofs, ("cta", "cluster"))


def _needs_of_barriers(
    proofs: FunctionProofs, levels: tuple[str, ...] = ("warp", "cta", "cluster")
) -> tuple[bool, LaunchNeeds | None]:
    """Returns whether all barriers of some levels are of all threads, and otherwise the conditions under which each is
    of all threads of a role; None if they are unknown.
    """
    left = [
        (step, effect)
        for step in proofs.program.effectful_steps
        for effect in step.effects
        if isinstance(effect, Barrier) and effect.level in levels and not _is_whole(proofs, step, effect)
    ]
    if left and not is_sole_function(proofs.program):
        return False, None
    found: dict[LaunchNeed, None] = {}
    for step, effect in left:
        needs = _needs_of_warps(proofs, step, effect) if effect.level == "warp" else None
        if effect.level == "cta":
            needs = proofs.once(_needs_of_roles)
        if needs is None:
            return False, None
        found.update(dict.fromkeys(needs))
    return not left, tuple(found)


def _needs_of_warps(proofs: FunctionProofs, step: Step, effect: Barrier) -> LaunchNeeds | None:
    """Returns the conditions under which all lanes of each warp execute a barrier of the warp; None if unknown."""
    if not _has_all_lanes(proofs, step, effect.number):
        return None
    found = _of_groups(proofs, step, WARP_SIZE)
    return () if isinstance(found, Evidence) else found


def _needs_of_roles(proofs: FunctionProofs) -> LaunchNeeds | None:
    """Returns the conditions under which each barrier of the CTA with a number of threads has exactly these threads.

    The threads of a barrier are those of one role, which share no thread with those of another one.
    """
    members: dict[int, Roles] = {}
    whole = set(proofs.once(whole_barriers))
    for step in proofs.program.effectful_steps:
        for effect in step.effects:
            if not isinstance(effect, Barrier) or effect.level != "cta" or step in whole:
                continue
            parts = _role_parts(proofs, step, effect)
            if parts is None or not proofs.role_execution.is_equal(step, tuple(parts.values())):
                return None
            for number, part in parts.items():
                if members.setdefault(number, part) != part:
                    return None
    numbers = {number for step in whole for each in step.effects for number in _cta_numbers(proofs, step, each)}
    if not numbers.isdisjoint(members):
        return None
    distinct = set(members.values())
    if sum(map(len, distinct)) != len(frozenset().union(*distinct)):
        return None
    count = proofs.roles.vectors.threads
    return needs_of_row(proofs, max((role % count for part in distinct for role in part), default=0) + 1)


def _cta_numbers(proofs: FunctionProofs, step: Step, effect: Effect) -> list[int]:
    is_of_cta = isinstance(effect, Barrier) and effect.level == "cta"
    return barrier_numbers(proofs, step, effect) or [] if is_of_cta and isinstance(effect, Barrier) else []


def _role_parts(proofs: FunctionProofs, step: Step, effect: Barrier) -> dict[int, Roles] | None:
    """Returns the threads of a barrier by its number, if they are as many as it counts; None otherwise."""
    roles, expected = proofs.roles, step.constant_of(effect.threads)
    vector = (0,) * len(roles.everyone)
    if effect.number is not None:
        constant = step.constant_of(effect.number)
        operand = step.operand(effect.number.name) if isinstance(effect.number, OperandRole) else None
        known = (constant,) * len(roles.everyone) if constant is not None else roles.vectors.value_of(step, operand)
        if known is None:
            return None
        vector = known
    if effect.action != "sync" or expected is None:
        return None
    parts: dict[int, set[int]] = defaultdict(set)
    for role in roles.executing(step):
        parts[vector[role]].add(role)
    # Each thread is represented twice: as an elected lane and as one that is not.
    is_full = all(
        len(part) == 2 * expected == 2 * len({r % roles.vectors.threads for r in part}) for part in parts.values()
    )
    return {number: frozenset(part) for number, part in parts.items()} if is_full else None


def prove_cluster_pair(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX613 that a thread arrives at the barrier of its cluster and waits there in turn."""
    unpaired = proofs.program.analysis(unpaired_steps)
    if unpaired is None or site.step in unpaired:
        return None
    return Evidence("paired", obligation_words.PAIRED())


def prove_counts(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX602 that all barriers of the CTA with one number count the same number of threads."""
    if not is_sole_function(proofs.program):
        return None
    own = _counts_by_number(proofs, site.step)
    counts = set(own.values())
    for step in proofs.program.effectful_steps:
        for number, count in _counts_by_number(proofs, step).items():
            if number is None or None in own or number in own:
                counts.add(count)
    is_one = len(counts) == 1 and None not in counts
    return Evidence("no other", obligation_words.SAME_COUNTS()) if is_one else None


def _counts_by_number(proofs: FunctionProofs, step: Step) -> dict[int | None, int | None]:
    """Returns the threads that the barriers of a step count, by their numbers; None for each that is unknown."""
    found: dict[int | None, int | None] = {}
    launch = launch_config_of(proofs.program)
    for effect in step.effects:
        if isinstance(effect, Barrier) and effect.level == "cta":
            whole = launch.threads if launch.is_exact else -1
            count = whole if effect.threads is None else step.constant_of(effect.threads)
            numbers: list[int | None] = [*(barrier_numbers(proofs, step, effect) or (None,))]
            found.update(dict.fromkeys(numbers, count))
    return found


def prove_member_mask(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX607 that the mask of an instruction includes each lane."""
    step = site.step
    masks = [effect.number for effect in step.effects if isinstance(effect, Barrier)]
    if masks and all(_has_all_lanes(proofs, step, mask) for mask in masks):
        return Evidence("range", obligation_words.ALL_LANES())
    return None


def _has_all_lanes(proofs: FunctionProofs, step: Step, mask: Expression | None) -> bool:
    if step.constant_of(mask) is not None or not isinstance(mask, OperandRole):
        return step.constant_of(mask) in (_ALL_LANES, -1)
    held = integers_in(proofs.values.value_at(step, step.operand(mask.name)))
    return held is not None and held.unsigned[:2] == (_ALL_LANES, _ALL_LANES)


def prove_one_cta_group(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX702 that an instruction has the same number of CTAs in its group as the first one of the kernel."""
    functions = proofs.program.functions
    groups = [each for step in functions[0].effectful_steps for each in step.effects if isinstance(each, CtaGroup)]
    own = {each.ctas for each in site.step.effects if isinstance(each, CtaGroup)}
    is_known = functions[0].is_kernel and all(each.is_fully_matched for each in functions)
    if not is_known or not groups or own != {groups[0].ctas}:
        return None
    return Evidence("no other", obligation_words.ONE_CTA_GROUP(count=groups[0].ctas))


def _uniform(proofs: FunctionProofs, step: Step) -> Evidence | None:
    return Evidence("uniform", obligation_words.UNIFORM()) if proofs.execution.in_cta(step) else None


def _of_groups(
    proofs: FunctionProofs, step: Step, size: int, *, may_be_partial: bool = False
) -> Evidence | LaunchNeeds | None:
    """Returns the proof that all threads of each group of consecutive ones execute a step equally often, or none.

    may_be_partial: whether the last group of a block may have fewer threads.
    """
    least = proofs.role_execution.groups_of(step, size, may_be_partial=may_be_partial)
    if least is None:
        return None
    if not least and proofs.roles.vectors.is_row:
        return (LaunchNeed("%ntid.x", "multiple", amount=size), *needs_of_row(proofs))
    return needs_of_row(proofs, least) or Evidence("uniform", obligation_words.UNIFORM_IN_ROLE())


def _is_whole(proofs: FunctionProofs, step: Step, effect: Barrier) -> bool:
    """Returns whether all threads for which a barrier may wait execute it equally often."""
    launch, execution = launch_config_of(proofs.program), proofs.execution
    if effect.level == "cluster":
        return execution.in_cluster(step)
    if effect.level == "warp":
        is_full = launch.is_exact and launch.threads % WARP_SIZE == 0
        return is_full and _has_all_lanes(proofs, step, effect.number) and execution.in_cta(step)
    return execution.in_barrier(step, effect)


def whole_barriers(proofs: FunctionProofs) -> tuple[Step, ...]:
    """Returns the barriers that all threads of a CTA execute equally often, as all others with the same number."""
    found: dict[int, list[Step]] = defaultdict(list)
    other: set[int] = set()
    for step in proofs.program.effectful_steps:
        for effect in step.effects:
            if isinstance(effect, Barrier) and effect.level == "cta":
                numbers = barrier_numbers(proofs, step, effect)
                if numbers is None:
                    return ()
                for number in numbers:
                    found[number].append(step)
                if len(numbers) > 1 or not _is_whole(proofs, step, effect):
                    other.update(numbers)
    return tuple(step for number, steps in found.items() if number not in other for step in steps)


def barrier_numbers(proofs: FunctionProofs, step: Step, effect: Barrier) -> list[int] | None:
    """Returns the numbers that a barrier of the CTA may have; None if they are unknown."""
    constant = 0 if effect.number is None else step.constant_of(effect.number)
    if constant is not None or not isinstance(effect.number, OperandRole):
        return None if constant is None else [constant]
    vector = proofs.roles.vectors.value_of(step, step.operand(effect.number.name))
    if vector is not None:
        return sorted({vector[role] for role in proofs.roles.executing(step)})
    held = integers_in(proofs.values.value_at(step, step.operand(effect.number.name)))
    return None if held is None or held.count > MAX_CHECKED_NUMBERS else held.members()


def cluster_barriers(proofs: FunctionProofs) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Returns the arrivals and the waits at the barrier of the cluster; none unless all its threads execute each."""
    found = [(s, e) for s in proofs.program.effectful_steps for e in s.effects if is_of_cluster(e)]
    if not all(proofs.execution.in_cluster(step) for step, _ in found):
        return (), ()
    arrivals, waits = ([s for s, e in found if getattr(e, "action", "") != other] for other in ("wait", "arrive"))
    return tuple(arrivals), tuple(waits)


def needs_of_row(proofs: FunctionProofs, least: int = 1) -> LaunchNeeds:
    """Returns the conditions under which blocks have the shape that proofs about the roles of threads assume.

    least: the least number of threads.
    """
    if not proofs.roles.vectors.is_row:
        return ()
    size = (LaunchNeed("%ntid.x", "least", amount=least),) if least > 1 else ()
    return (*size, *(LaunchNeed(f"%ntid.{axis}", "extent", amount=1) for axis in "yz"))
