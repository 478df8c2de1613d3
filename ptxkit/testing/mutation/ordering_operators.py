"""Fences and synchronization with less ordering: a smaller scope, a weaker order, or another state space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import (
    Access,
    Barrier,
    CommitGroup,
    Control,
    Grid,
    MbarrierArrive,
    MbarrierWait,
    MemoryFence,
    ProxyFence,
    WaitGroup,
)
from ptxkit.syntax.printer import print_instruction
from ptxkit.testing.mutation.edits import MutationEdit, replace_step, splice_text
from ptxkit.testing.mutation.function_analysis import (
    FunctionAnalysis,
    read_registers,
    written_registers,
)
from ptxkit.testing.mutation.move_operators import async_fences, fenced_spaces, last_write
from ptxkit.testing.mutation.mutation_operator import MutationOperator
from ptxkit.testing.mutation.respelling import form_with_effects, respell

Scoped: TypeAlias = Access | MbarrierArrive | MbarrierWait | MemoryFence | ProxyFence
Ordered: TypeAlias = Access | Barrier | MbarrierArrive | MbarrierWait

_PLAIN = ("weak", "volatile", "mmio", "relaxed")


def _smaller_scope(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Synchronizes with its own CTA only, although threads of other CTAs take part.

    A scope includes the threads that may observe the order. A tensor map that the same CTA releases and acquires at
    once is observed only there, so the change is harmless.
    """
    for step in reading.steps:
        found = [each for each in step.effects if isinstance(each, Scoped)]
        wide = [each for each in found if each.scope in ("cluster", "gpu") and _is_scope_relevant(reading, step, each)]
        if not wide:
            continue
        new = respell(step, *[(each, replace(each, scope="cta")) for each in wide])
        rules = () if _is_cta_local(reading, step, wide[0]) else _scope_rules(wide[0])
        yield replace_step(reading, step, [new], rules) if new is not None else None


def _is_scope_relevant(reading: FunctionAnalysis, step: Step, effect: Scoped) -> bool:
    """Returns whether the scope matters: other CTAs take part, and the wait is not for the bytes of a copy only."""
    match effect:
        case MbarrierArrive():
            remote = reading.is_computed_by(step, step.operand(effect.barrier), ("map_rank",))
            return remote and effect.expect is None and not effect.asynchronous
        case MbarrierWait():
            return any(_is_remote(reading, each, arrive) for each, arrive in reading.steps_with(MbarrierArrive))
        case MemoryFence():
            return effect.only is None and (effect.scope == "gpu" or reading.uses_cluster)
        case ProxyFence():
            return effect.proxy == "tensormap"
        case Access():
            return effect.order not in ("weak",)
    return False


def _is_remote(reading: FunctionAnalysis, step: Step, arrive: MbarrierArrive) -> bool:
    return arrive.expect is None and reading.is_computed_by(step, step.operand(arrive.barrier), ("map_rank",))


def _is_cta_local(reading: FunctionAnalysis, step: Step, effect: Scoped) -> bool:
    """Returns whether the other half of the synchronization of a tensor map is adjacent, and no other CTA can take
    part.

    Adjacent means: under the same guard, for the same address, with only computation and synchronization in between.
    The map is then the one that this CTA wrote: that of another CTA would race with it whatever the scopes are, since
    the kernel has no means by which CTAs wait for each other.
    """
    if not isinstance(effect, ProxyFence) or effect.proxy != "tensormap" or _may_sync_across_ctas(reading):
        return False
    other, conversion = (
        ("acquire", reading.following_steps) if effect.direction == "release" else ("release", reading.preceding_steps)
    )
    for near in conversion(step):
        for fence in reading.effects(near, ProxyFence):
            if (fence.proxy, fence.direction) == (
                "tensormap",
                other,
            ) and near.instruction.guard == step.instruction.guard:
                address = step.operand(effect.address)
                return address is not None and address == near.operand(fence.address)
        if not reading.has_only_effects(near, (Barrier, CommitGroup, WaitGroup)) or set(written_registers(near)) & set(
            read_registers(step)
        ):
            return False
    return False


def _may_sync_across_ctas(reading: FunctionAnalysis) -> bool:
    """Returns whether CTAs may wait for each other: in clusters, through global memory, or in called functions."""
    return reading.uses_cluster or any(_may_sync_with_ctas(step) for step in reading.steps)


def _may_sync_with_ctas(step: Step) -> bool:
    """Returns whether threads of several CTAs may synchronize by an instruction; an unknown instruction may have any
    effect.
    """
    for effect in step.effects:
        match effect:
            case Access():
                meets = effect.order != "weak" and not effect.space.startswith("shared")
            case MemoryFence():
                meets = effect.only is None and effect.scope != "cta"
            case Control():
                meets = effect.kind == "call"
            case _:
                meets = isinstance(effect, Grid)
        if meets:
            return True
    return step.match is None


def _scope_rules(effect: Scoped) -> tuple[str, ...]:
    if isinstance(effect, ProxyFence):
        return ("TM5",)
    return ("MB17",) if isinstance(effect, MbarrierArrive | MbarrierWait) else ("race",)


def _weaker_order(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Makes a release or acquire relaxed. An arrival that also expects bytes need not publish anything."""
    for step in reading.steps:
        for effect in step.effects:
            if not isinstance(effect, Ordered) or effect.order in _PLAIN:
                continue
            if isinstance(effect, MbarrierArrive) and (effect.expect is not None or effect.asynchronous):
                continue
            new = respell(step, (effect, replace(effect, order="relaxed")))
            if new is not None:
                yield replace_step(reading, step, [new], _order_rules(reading, step, effect))


def _order_rules(reading: FunctionAnalysis, step: Step, effect: Ordered) -> tuple[str, ...]:
    """Returns the rules that a relaxed synchronization violates: none if there is nothing to publish, or no later
    access.
    """
    match effect:
        case Access():
            return ("race",)
        case MbarrierWait():
            return ("MB15",)
        case MbarrierArrive():
            return ("MB15",) if _publishes(reading, step) else ()
    used = any(reading.effects(each, Access) for each in reading.steps[step.index :])
    return ("CL4",) if used and _publishes(reading, step) else ()


def _publishes(reading: FunctionAnalysis, step: Step) -> bool:
    """Returns whether an access has not been published by a barrier of all threads, in the order of the text.

    A unidirectional proxy fence orders its accesses through relaxed synchronization as well.
    """
    for earlier in reversed(reading.steps[: step.index]):
        effects = earlier.effects
        if any(isinstance(each, Barrier) and _is_cta_wide(each) for each in effects):
            return False
        if any(isinstance(each, ProxyFence) and each.direction == "release" for each in effects):
            return False
        if any(isinstance(each, Access) and _is_visible(each) for each in effects):
            return True
    return False


def _is_cta_wide(barrier: Barrier) -> bool:
    return barrier.level == "cluster" or (barrier.level == "cta" and barrier.threads is None)


def _is_visible(access: Access) -> bool:
    """Returns whether an access may conflict with one of another thread; global memory is usually only read.

    Other operations of the async proxy complete on mbarriers by themselves.
    """
    kind = access.space.partition("::")[0]
    is_tracked = access.proxy == "generic" or access.completion == "wgmma"
    return is_tracked and (kind == "shared" or (kind in ("global", "generic") and access.kind != "read"))


def _other_fence_space(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Replaces a fence for shared memory by one for global memory, or the reverse, whichever the last write does not
    access."""
    for step, fence in async_fences(reading):
        last = last_write(reading, step, fenced_spaces(fence))
        if last is None:
            continue
        spaces = {each.space.partition("::")[0] for each in reading.effects(last, Access) if each.kind != "read"}
        other = "shared::cta" if spaces == {"global"} else "global"
        new = respell(step, (fence, replace(fence, spaces=(other,))))
        yield replace_step(reading, step, [new]) if new is not None and spaces in ({"global"}, {"shared"}) else None


def _drop_fence_proxy(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Replaces a proxy fence by one within the generic proxy."""
    plain = form_with_effects("fence", (MemoryFence("acq_rel", "cta"),))
    for step, _ in async_fences(reading):
        if plain is not None:
            text = print_instruction(replace(plain, guard=step.instruction.guard))
            description = f"`{reading.text(step)}` becomes `{text}`"
            yield MutationEdit(step.start, description, (splice_text(reading, step, text),))


OPERATORS = (
    MutationOperator("smaller-scope", ("MB17",), _smaller_scope),
    MutationOperator("weaker-order", ("MB15",), _weaker_order),
    MutationOperator("fence-other-memory", ("PX11",), _other_fence_space),
    MutationOperator("fence-without-proxy", ("PX1",), _drop_fence_proxy),
)
