"""Changes that break nothing: about these nothing may be reported."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

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
from ptxkit.isa.expressions import Role
from ptxkit.records import replace
from ptxkit.syntax.tree import Integer
from ptxkit.testing.faults.changes import Change, constant, doubled, dropped, moved_after, replaced, with_operand
from ptxkit.testing.faults.counts import arrive_alone, expect_alone
from ptxkit.testing.faults.deletions import relies_on_init_fence
from ptxkit.testing.faults.family import Operator, Search
from ptxkit.testing.faults.moves import async_fences, is_asynchronous
from ptxkit.testing.faults.reading import Reading
from ptxkit.testing.faults.spaces import own_as_cluster
from ptxkit.testing.faults.spelling import respelled


def _wait_for_more(reading: Reading) -> Iterator[Change | None]:
    for step, wait in reading.having(WaitGroup):
        pending = constant(wait.pending, reading, step)
        if pending and isinstance(wait.pending, Role):
            new = with_operand(step, wait.pending.name, Integer(pending - 1, str(pending - 1)))
            yield replaced(reading, step, [new]) if new is not None else None


def _twice(*kinds: type) -> Search:
    def search(reading: Reading) -> Iterator[Change]:
        for step in reading.steps:
            if any(reading.effects(step, kind) for kind in kinds):
                yield doubled(reading, step)

    return search


def _barrier_twice(reading: Reading) -> Iterator[Change]:
    """Barriers that every thread comes to, of all threads; arrivals at the same number would have to be twice, too."""
    barriers = [each for _, each in reading.having(Barrier) if each.level == "cta"]
    for step, barrier in reading.having(Barrier):
        if barrier.level != "cta" or barrier.action != "sync" or not reading.reached_by_all(step):
            continue
        everybody = all(each.threads is None for each in barriers) and constant(barrier.number, reading, step) == 0
        if everybody:
            yield doubled(reading, step)


def _cluster_barrier_twice(reading: Reading) -> Iterator[Change]:
    found = [(step, each) for step, each in reading.having(Barrier) if each.level == "cluster"]
    for (arrive, first), (wait, second) in pairwise(found):
        if (first.action, second.action) == ("arrive", "wait") and reading.reached_by_all(wait):
            text = f"{reading.text(wait)} {reading.text(arrive)} {reading.text(wait)}"
            span = reading.span(wait)
            said = f"`{reading.text(arrive)}` and `{reading.text(wait)}` twice"
            yield Change(wait.start, said, ((span.start, span.end, text),))


def _wider_fence(reading: Reading) -> Iterator[Change | None]:
    for step, fence in async_fences(reading):
        if fence.spaces:
            new = respelled(step, (fence, replace(fence, spaces=())))
            yield replaced(reading, step, [new]) if new is not None else None


def _fence_for_cluster(reading: Reading) -> Iterator[Change | None]:
    """The own CTA's shared memory is part of the cluster's."""
    for step, fence in async_fences(reading):
        if fence.spaces == ("shared::cta",):
            new = respelled(step, (fence, replace(fence, spaces=("shared::cluster",))))
            yield replaced(reading, step, [new]) if new is not None else None


def _fence_by_issuer(reading: Reading) -> Iterator[Change]:
    """Behind the barrier, where the issuing thread executes it, too: the text of the ISA does not forbid that."""
    for step, _ in async_fences(reading):
        for later in reading.after(step):
            if is_asynchronous(reading, later):
                break
            if any(each.level == "cta" and each.action == "sync" for each in reading.effects(later, Barrier)):
                if reading.reached_by_all(later):
                    yield moved_after(reading, step, later)
                break


def _larger_scope(reading: Reading) -> Iterator[Change | None]:
    larger = {"cta": "cluster", "cluster": "gpu", "gpu": "sys"}
    for step in reading.steps:
        for effect in step.effects:
            if isinstance(effect, MbarrierArrive | MbarrierWait | MemoryFence) and effect.scope in larger:
                new = respelled(step, (effect, replace(effect, scope=larger[effect.scope])))
                if new is not None and getattr(effect, "only", None) is None:
                    yield replaced(reading, step, [new])


def _stronger_order(reading: Reading) -> Iterator[Change | None]:
    stronger = {"MbarrierArrive": "release", "MbarrierWait": "acquire", "Barrier": "release"}
    for step in reading.steps:
        for effect in step.effects:
            if isinstance(effect, MbarrierArrive | MbarrierWait | Barrier) and effect.order == "relaxed":
                new = respelled(step, (effect, replace(effect, order=stronger[type(effect).__name__])))
                yield replaced(reading, step, [new]) if new is not None else None


def _empty_commit(reading: Reading) -> Iterator[Change]:
    """An empty group more, where every wait of the kind waits for all groups."""
    for step, commit in reading.having(CommitGroup):
        waits = [(each, wait) for each, wait in reading.having(WaitGroup) if wait.group == commit.group]
        if all(constant(wait.pending, reading, each) == 0 for each, wait in waits):
            yield doubled(reading, step)


def _expect_first(reading: Reading) -> Iterator[Change | None]:
    for step, arrive in reading.having(MbarrierArrive):
        plain, bytes_ = arrive_alone(step, arrive), expect_alone(step, arrive)
        if plain is not None and bytes_ is not None:
            yield replaced(reading, step, [bytes_, plain])


def _no_init_fence(reading: Reading) -> Iterator[Change]:
    """The barrier behind the init tells all threads, the cluster's too unless its arrival is relaxed."""
    for step, fence in reading.having(MemoryFence):
        if fence.only is not None and not relies_on_init_fence(reading, step):
            yield dropped(reading, step)


def _no_relinquish(reading: Reading) -> Iterator[Change]:
    for step, memory in reading.having(TensorMemory):
        if memory.action == "relinquish":
            yield dropped(reading, step)


def _no_early_launch(reading: Reading) -> Iterator[Change]:
    for step, grid in reading.having(Grid):
        if grid.action == "launch_dependents":
            yield dropped(reading, step)


OPERATORS = (
    Operator("harmless: wait for more", (), _wait_for_more),
    Operator("harmless: fence twice", (), _twice(ProxyFence, MemoryFence)),
    Operator("harmless: group wait twice", (), _twice(WaitGroup)),
    Operator("harmless: mbarrier wait twice", (), _twice(MbarrierWait)),
    Operator("harmless: barrier twice", (), _barrier_twice),
    Operator("harmless: cluster barrier twice", (), _cluster_barrier_twice),
    Operator("harmless: wider fence", (), _wider_fence),
    Operator("harmless: fence for the cluster", (), _fence_for_cluster),
    Operator("harmless: fence behind the barrier", (), _fence_by_issuer),
    Operator("harmless: larger scope", (), _larger_scope),
    Operator("harmless: stronger order", (), _stronger_order),
    Operator("harmless: cluster address space", (), own_as_cluster),
    Operator("harmless: empty commit", (), _empty_commit),
    Operator("harmless: expect, then arrive", (), _expect_first),
    Operator("harmless: no init fence", (), _no_init_fence),
    Operator("harmless: no relinquish", (), _no_relinquish),
    Operator("harmless: no early launch", (), _no_early_launch),
)
