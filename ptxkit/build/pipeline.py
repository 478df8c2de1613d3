"""Pipelines: stages of shared memory that producers fill while consumers work on others; `cuda::pipeline` in PTX.

`k.pipeline(stages, producers=1, consumers=256)` hands stages over by two mbarriers each, `full` and `empty`:

    pipe = k.pipeline(4, producers=1, consumers=256)
    pipe.init()                                   # one thread initialises, all meet
    with k.role(warps=0), k.elect_one():
        producer = pipe.producer()
        with k.for_range(0, tiles) as tile:
            with producer.stage(bytes=source.bytes) as stage:
                source.load(tiles_of[stage.index * TILE], (tile, 0), stage.full)
    with k.role(warps=range(1, 9)):
        consumer = pipe.consumer()
        with k.for_range(0, tiles):
            with consumer.stage() as stage:
                ...                               # reads the stage

`k.thread_pipeline(stages)` serves `cp.async` within each thread: its stages are groups of copies.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier", "Data Movement and Conversion
Instructions: cp.async.commit_group", "... cp.async.wait_group".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ptxkit.build.barriers_and_fences import cluster_sync, cta_sync, fence_barrier_init
from ptxkit.build.control_flow import thread_is
from ptxkit.build.errors import BuildError, BuildValueError, find_caller
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.mbarrier import Barrier
from ptxkit.build.memory_declarations import mbarrier
from ptxkit.build.registers import Register
from ptxkit.build.stage_ring import Ring
from ptxkit.build.thread_groups import Group
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import u32


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage that a thread has acquired: its number, and its mbarriers."""

    index: Register[u32] | int
    full: Barrier
    empty: Barrier


class Pipeline:
    """Stages with producers and consumers that are different threads, or the same.

    `producers` counts the arrivals that fill a stage, one for each thread that commits it, and `consumers` the threads
    that release it.
    """

    def __init__(
        self, kernel: InstructionBuilder, stages: int, producers: int, consumers: int, name: str | None
    ) -> None:
        for what, count in (("producers", producers), ("consumers", consumers)):
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise BuildValueError(f"a pipeline has a whole number of {what}, at least 1, not {count!r}")
        self._kernel = kernel
        self.stages = stages
        self.producers, self.consumers = producers, consumers
        self.scope = "cta"
        """Of those who release stages."""
        prefix = name or f"pipeline_{len(kernel.declarations.variables)}"
        self.full = mbarrier(kernel, f"{prefix}_full", stages)
        self.empty = mbarrier(kernel, f"{prefix}_empty", stages)

    def init(self, *, thread: int = 0, cluster: bool = False) -> None:
        """One thread initialises the mbarriers, and all threads of the CTA meet, or of the cluster.

        All threads of the CTA must come here. With `cluster`, consumers of other CTAs release stages, too.
        """
        self.scope = "cluster" if cluster else "cta"
        k = self._kernel
        with thread_is(k, thread):
            self.full.init(self.producers)
            self.empty.init(self.consumers)
            if cluster:
                fence_barrier_init(k)
        if cluster:
            cluster_sync(k, aligned=False)
        else:
            cta_sync(k)

    def producer(self) -> Producer:
        """The place of a producing thread in the ring: its first stage is free."""
        return Producer(self, Ring(self._kernel, self.stages))

    def consumer(self) -> Consumer:
        """The place of a consuming thread in the ring."""
        return Consumer(self, Ring(self._kernel, self.stages))

    def record_commit(self) -> None:
        """Remembers where a stage is committed, for the warning where none is waited for."""
        if isinstance(self.full.base, str):
            self._kernel.barrier_uses.commit_locations.setdefault(self.full.base, find_caller())

    def record_expected_bytes(self, size: int | Register[u32]) -> None:
        """Remembers where a stage announces bytes, for the error where nothing brings them."""
        if isinstance(self.full.base, str) and (isinstance(size, Register) or size):
            self._kernel.barrier_uses.expected_bytes_locations.setdefault(self.full.base, find_caller())

    def at(self, ring: Ring) -> Stage:
        """The stage at a place in the ring."""
        return Stage(ring.stage, self.full[ring.stage], self.empty[ring.stage])


class Producer:
    """Fills stages in turn: acquire, start copies or store, commit."""

    def __init__(self, pipeline: Pipeline, ring: Ring) -> None:
        self._pipeline = pipeline
        self.ring = ring

    def acquire(self) -> Stage:
        """Waits until the consumers have released the stage."""
        stage = self._pipeline.at(self.ring)
        stage.empty.wait(self.ring.opposite(), scope=self._pipeline.scope)
        return stage

    def commit(self, stage: Stage, *, bytes: int | Register[u32] | None = None, copies: bool = False) -> None:  # noqa: A002
        """Makes the stage full once all of it is there, and advances to the next.

        `bytes` is what this thread's bulk copies bring, announced with the arrival: commit *before* they are issued, as
        `stage()` does. With `copies`, the arrival waits for this thread's `cp.async`.
        """
        if bytes is not None and copies:
            raise BuildError("a stage is filled by bulk copies, which count bytes, or by cp.async, which arrives")
        if copies:
            stage.full.track_cp_async()
        elif bytes is not None:
            stage.full.arrive_expect_tx(bytes)
            self._pipeline.record_expected_bytes(bytes)
        else:
            stage.full.arrive()
        self._pipeline.record_commit()
        self.ring.advance()

    @contextmanager
    def stage(self, *, bytes: int | Register[u32] | None = None, copies: bool = False) -> Iterator[Stage]:  # noqa: A002
        """Acquires a stage, and commits it after the block. With `bytes`, what the copies in it bring is announced
        before them; `memcpy_async` announces its own copy, so a stage that it fills is opened without."""
        stage = self.acquire()
        if bytes is not None:
            stage.full.arrive_expect_tx(bytes)
            self._pipeline.record_expected_bytes(bytes)
            yield stage
            self.ring.advance()
        else:
            yield stage
            self.commit(stage, copies=copies)


class Consumer:
    """Works on stages in turn: wait, read, release."""

    def __init__(self, pipeline: Pipeline, ring: Ring) -> None:
        self._pipeline = pipeline
        self.ring = ring

    def wait(self) -> Stage:
        """Waits until the stage is full."""
        stage = self._pipeline.at(self.ring)
        stage.full.wait(self.ring.parity)
        return stage

    def release(self, stage: Stage, *, ranks: Iterable[int | Register[u32]] = ()) -> None:
        """Releases the stage to the producers, and advances to the next.

        `ranks` are the CTAs of the cluster whose producers write to this CTA, by multicast; by default its own. `init`
        then has `cluster`, and `consumers` counts those of all CTAs that release a stage.
        """
        elsewhere = tuple(ranks)
        if elsewhere and self._pipeline.scope != "cluster":
            raise BuildError("consumers of other CTAs release stages: say so, pipe.init(cluster=True)")
        for rank in elsewhere:
            stage.empty.map_rank(rank).arrive()
        if not elsewhere:
            stage.empty.arrive()
        self.ring.advance()

    @contextmanager
    def stage(self, *, ranks: Iterable[int | Register[u32]] = ()) -> Iterator[Stage]:
        """Waits for a stage, and releases it after the block; `ranks` is that of `release`."""
        stage = self.wait()
        yield stage
        self.release(stage, ranks=ranks)


class ThreadPipeline:
    """Stages of one thread's own `cp.async`: groups, of which the newest `stages - 1` may be pending."""

    def __init__(self, kernel: InstructionBuilder, stages: int) -> None:
        if isinstance(stages, bool) or not isinstance(stages, int) or stages < 1:
            raise BuildValueError(f"a pipeline has a whole number of stages, at least 1, not {stages!r}")
        self._kernel = kernel
        self.stages = stages

    def commit(self) -> None:
        """Closes the stage: the copies since the last one, or none at the end, so that the count holds."""
        self._kernel.instruction("cp_async_commit_group", ())

    def wait(self, pending: int | None = None) -> None:
        """Waits for the oldest stage: until at most `pending` groups are pending, by default `stages - 1`.

        Only what this thread copied is there then: others meet it at a barrier.
        """
        left = self.stages - 1 if pending is None else pending
        self._kernel.instruction("cp_async_wait_group", (left,))


def pipeline(
    k: InstructionBuilder, stages: int, *, producers: int | Group, consumers: int | Group, name: str | None = None
) -> Pipeline:
    """Stages whose transfer mbarriers synchronise: see `ptxkit.build.pipeline`.

    `producers` are the threads that commit a stage, or how many, and `consumers` those that release it.
    """
    filling, working = (each.size if isinstance(each, Group) else each for each in (producers, consumers))
    return Pipeline(k, stages, filling, working, name)


def thread_pipeline(k: InstructionBuilder, stages: int) -> ThreadPipeline:
    """Stages of each thread's own `cp.async`."""
    return ThreadPipeline(k, stages)
