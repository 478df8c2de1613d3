"""Harmless changes: no finding may be reported for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import (
    Barrier,
    CommitGroup,
    Grid,
    MbarrierArrive,
    MbarrierWait,
    MemoryFence,
    ProxyFence,
    TensorMemory,
    WaitGroup,
)
from ptxkit.isa.expressions import OperandRole
from ptxkit.syntax.tree import Integer
from ptxkit.testing.mutation.count_operators import arrival_without_bytes, bytes_without_arrival
from ptxkit.testing.mutation.deletion_operators import relies_on_init_fence
from ptxkit.testing.mutation.edits import (
    MutationEdit,
    delete_step,
    duplicate_step,
    move_after,
    replace_step,
    resolve_constant,
    substitute_operand,
)
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.mutation.move_operators import async_fences, is_asynchronous
from ptxkit.testing.mutation.mutation_operator import MutationOperator, Search
from ptxkit.testing.mutation.respelling import respell
from ptxkit.testing.mutation.space_operators import own_as_cluster


def _wait_for_more(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, wait in reading.steps_with(WaitGroup):
        pending = resolve_constant(wait.pending, reading, step)
        if pending and isinstance(wait.pending, OperandRole):
            new = substitute_operand(step, wait.pending.name, Integer(pending - 1, str(pending - 1)))
            yield replace_step(reading, step, [new]) if new is not None else None


def _duplicate_each(*kinds: type) -> Search:
    def search(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
        for step in reading.steps:
            if any(reading.effects(step, kind) for kind in kinds):
                yield duplicate_step(reading, step)

    return search


def _barrier_twice(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    """Repeats a barrier of all threads that every thread reaches. Barriers whose number has arrivals are excluded,
    because the arrivals would have to be repeated, too.
    """
    barriers = [each for _, each in reading.steps_with(Barrier) if each.level == "cta"]
    for step, barrier in reading.steps_with(Barrier):
        if barrier.level != "cta" or barrier.action != "sync" or not reading.is_executed_by_all(step):
            continue
        all_threads = (
            all(each.threads is None for each in barriers) and resolve_constant(barrier.number, reading, step) == 0
        )
        if all_threads:
            yield duplicate_step(reading, step)


def _cluster_barrier_twice(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    found = [(step, each) for step, each in reading.steps_with(Barrier) if each.level == "cluster"]
    for (arrive, first), (wait, second) in pairwise(found):
        if (first.action, second.action) == ("arrive", "wait") and reading.is_executed_by_all(wait):
            text = f"{reading.text(wait)} {reading.text(arrive)} {reading.text(wait)}"
            span = reading.span(wait)
            description = f"`{reading.text(arrive)}` and `{reading.text(wait)}` twice"
            yield MutationEdit(wait.start, description, ((span.start, span.end, text),))


def _wider_fence(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, fence in async_fences(reading):
        if fence.spaces:
            new = respell(step, (fence, replace(fence, spaces=())))
            yield replace_step(reading, step, [new]) if new is not None else None


def _fence_for_cluster(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Extends a fence from the shared memory of the CTA to that of the cluster, which includes it."""
    for step, fence in async_fences(reading):
        if fence.spaces == ("shared::cta",):
            new = respell(step, (fence, replace(fence, spaces=("shared::cluster",))))
            yield replace_step(reading, step, [new]) if new is not None else None


def _fence_by_issuer(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    """Moves a fence after the barrier if the issuing thread executes it as well, which the ISA does not forbid."""
    for step, _ in async_fences(reading):
        for later in reading.following_steps(step):
            if is_asynchronous(reading, later):
                break
            if any(each.level == "cta" and each.action == "sync" for each in reading.effects(later, Barrier)):
                if reading.is_executed_by_all(later):
                    yield move_after(reading, step, later)
                break


def _larger_scope(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    larger = {"cta": "cluster", "cluster": "gpu", "gpu": "sys"}
    for step in reading.steps:
        for effect in step.effects:
            if isinstance(effect, MbarrierArrive | MbarrierWait | MemoryFence) and effect.scope in larger:
                new = respell(step, (effect, replace(effect, scope=larger[effect.scope])))
                if new is not None and getattr(effect, "only", None) is None:
                    yield replace_step(reading, step, [new])


def _stronger_order(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    stronger = {"MbarrierArrive": "release", "MbarrierWait": "acquire", "Barrier": "release"}
    for step in reading.steps:
        for effect in step.effects:
            if isinstance(effect, MbarrierArrive | MbarrierWait | Barrier) and effect.order == "relaxed":
                new = respell(step, (effect, replace(effect, order=stronger[type(effect).__name__])))
                yield replace_step(reading, step, [new]) if new is not None else None


def _empty_commit(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    """Adds an empty group if every wait of the kind waits for all groups."""
    for step, commit in reading.steps_with(CommitGroup):
        waits = [(each, wait) for each, wait in reading.steps_with(WaitGroup) if wait.group == commit.group]
        if all(resolve_constant(wait.pending, reading, each) == 0 for each, wait in waits):
            yield duplicate_step(reading, step)


def _split_expect_and_arrive(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step, arrive in reading.steps_with(MbarrierArrive):
        plain, bytes_ = arrival_without_bytes(step, arrive), bytes_without_arrival(step, arrive)
        if plain is not None and bytes_ is not None:
            yield replace_step(reading, step, [bytes_, plain])


def _drop_init_fence(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    """Deletes the init fence if the barrier after it orders the initialization for all threads, and for the cluster
    unless its arrival is relaxed.
    """
    for step, fence in reading.steps_with(MemoryFence):
        if fence.only is not None and not relies_on_init_fence(reading, step):
            yield delete_step(reading, step)


def _drop_relinquish(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    for step, memory in reading.steps_with(TensorMemory):
        if memory.action == "relinquish":
            yield delete_step(reading, step)


def _drop_early_launch(reading: FunctionAnalysis) -> Iterator[MutationEdit]:
    for step, grid in reading.steps_with(Grid):
        if grid.action == "launch_dependents":
            yield delete_step(reading, step)


OPERATORS = (
    MutationOperator("harmless: wait for more", (), _wait_for_more),
    MutationOperator("harmless: fence twice", (), _duplicate_each(ProxyFence, MemoryFence)),
    MutationOperator("harmless: group wait twice", (), _duplicate_each(WaitGroup)),
    MutationOperator("harmless: mbarrier wait twice", (), _duplicate_each(MbarrierWait)),
    MutationOperator("harmless: barrier twice", (), _barrier_twice),
    MutationOperator("harmless: cluster barrier twice", (), _cluster_barrier_twice),
    MutationOperator("harmless: wider fence", (), _wider_fence),
    MutationOperator("harmless: fence for the cluster", (), _fence_for_cluster),
    MutationOperator("harmless: fence after the barrier", (), _fence_by_issuer),
    MutationOperator("harmless: larger scope", (), _larger_scope),
    MutationOperator("harmless: stronger order", (), _stronger_order),
    MutationOperator("harmless: cluster address space", (), own_as_cluster),
    MutationOperator("harmless: empty commit", (), _empty_commit),
    MutationOperator("harmless: expect, then arrive", (), _split_expect_and_arrive),
    MutationOperator("harmless: no init fence", (), _drop_init_fence),
    MutationOperator("harmless: no relinquish", (), _drop_relinquish),
    MutationOperator("harmless: no early launch", (), _drop_early_launch),
)
