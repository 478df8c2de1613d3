"""Pipelines: producers fill stages of shared memory while consumers read others, as with `cuda::pipeline`.

`k.pipeline(stages, producers=1, consumers=256)` synchronizes each stage with two mbarriers, `full` and `empty`:

    pipe = k.pipeline(4, producers=1, consumers=256)
    pipe.init()                                   # initializes the mbarriers, then a barrier of the CTA
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

`k.thread_pipeline(stages)` is a pipeline of each thread's own `cp.async` copies: its stages are groups of copies.

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
    """A stage that a thread has acquired: its index, and its mbarriers."""

    index: Register[u32] | int
    full: Barrier
    empty: Barrier


class Pipeline:
    """Stages that synchronize producers and consumers, which are different threads or the same.

    `producers` is the number of arrivals that fill a stage, one for each thread that commits it. `consumers` is the
    number of threads that release it.
    """

    def __init__(
        self, kernel: InstructionBuilder, stages: int, producers: int, consumers: int, name: str | None
    ) -> None:
        for what, count in (("producers", producers), ("consumers", consumers)):
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise BuildValueError(f"the number of {what} of a pipeline is an integer of at least 1, not {count!r}")
        self._kernel = kernel
        self.stages = stages
        self.producers, self.consumers = producers, consumers
        self.scope = "cta"
        """The scope of the threads that release stages: `cta` or `cluster`."""
        prefix = name or f"pipeline_{len(kernel.declarations.variables)}"
        self.full = mbarrier(kernel, f"{prefix}_full", stages)
        self.empty = mbarrier(kernel, f"{prefix}_empty", stages)

    def init(self, *, thread: int = 0, cluster: bool = False) -> None:
        """Initializes the mbarriers in one thread, and synchronizes all threads of the CTA or the cluster.

        All threads of the CTA must execute it. With `cluster`, consumers of other CTAs release stages, too.
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
        """Returns the position of a producing thread in the ring. The first stage is free."""
        return Producer(self, Ring(self._kernel, self.stages))

    def consumer(self) -> Consumer:
        """Returns the position of a consuming thread in the ring."""
        return Consumer(self, Ring(self._kernel, self.stages))

    def record_commit(self) -> None:
        """Records the line of a commit, for the warning about pipelines that are never waited for."""
        if isinstance(self.full.base, str):
            self._kernel.barrier_uses.commit_locations.setdefault(self.full.base, find_caller())

    def record_expected_bytes(self, size: int | Register[u32]) -> None:
        """Records the line where a stage expects bytes, for the error about bytes that no copy transfers."""
        if isinstance(self.full.base, str) and (isinstance(size, Register) or size):
            self._kernel.barrier_uses.expected_bytes_locations.setdefault(self.full.base, find_caller())

    def at(self, ring: Ring) -> Stage:
        """Returns the stage at a position in the ring."""
        return Stage(ring.stage, self.full[ring.stage], self.empty[ring.stage])


class Producer:
    """Fills the stages in turn: acquires a stage, starts copies or stores to it, and commits it."""

    def __init__(self, pipeline: Pipeline, ring: Ring) -> None:
        self._pipeline = pipeline
        self.ring = ring

    def acquire(self) -> Stage:
        """Waits until the consumers have released the stage, and returns it."""
        stage = self._pipeline.at(self.ring)
        stage.empty.wait(self.ring.opposite(), scope=self._pipeline.scope)
        return stage

    def commit(self, stage: Stage, *, bytes: int | Register[u32] | None = None, copies: bool = False) -> None:  # noqa: A002
        """Marks the stage as full when all of its data has arrived, and advances to the next stage.

        `bytes` is the number of bytes that this thread's bulk copies transfer; the arrival expects them, so the
        commit comes *before* the copies, as in `stage()`. With `copies`, the arrival waits for this thread's `cp.async`
        copies. Raises `BuildError` if both are given.
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
        """Acquires a stage, and commits it after the block: `with producer.stage(bytes=n) as stage:`.

        With `bytes`, the bytes of the copies in the block are expected before them. `memcpy_async` expects its own
        bytes, so a stage that it fills is opened without `bytes`.
        """
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
    """Reads the stages in turn: waits for a stage, reads it, and releases it."""

    def __init__(self, pipeline: Pipeline, ring: Ring) -> None:
        self._pipeline = pipeline
        self.ring = ring

    def wait(self) -> Stage:
        """Waits until the stage is full, and returns it."""
        stage = self._pipeline.at(self.ring)
        stage.full.wait(self.ring.parity)
        return stage

    def release(self, stage: Stage, *, ranks: Iterable[int | Register[u32]] = ()) -> None:
        """Releases the stage to the producers, and advances to the next stage.

        `ranks` are the ranks of the CTAs of the cluster whose producers write to this CTA, by multicast; by default the
        CTA's own. The pipeline must then be initialized with `cluster`, and its `consumers` counts the threads of all
        CTAs that release a stage. Raises `BuildError` if it is not initialized so.
        """
        elsewhere = tuple(ranks)
        if elsewhere and self._pipeline.scope != "cluster":
            raise BuildError("consumers of other CTAs release stages: use pipe.init(cluster=True)")
        for rank in elsewhere:
            stage.empty.map_rank(rank).arrive()
        if not elsewhere:
            stage.empty.arrive()
        self.ring.advance()

    @contextmanager
    def stage(self, *, ranks: Iterable[int | Register[u32]] = ()) -> Iterator[Stage]:
        """Waits for a stage, and releases it after the block; `ranks` has the meaning of `release`."""
        stage = self.wait()
        yield stage
        self.release(stage, ranks=ranks)


class ThreadPipeline:
    """Stages of a thread's own `cp.async` copies: groups of copies, of which the newest `stages - 1` may be
    incomplete.
    """

    def __init__(self, kernel: InstructionBuilder, stages: int) -> None:
        if isinstance(stages, bool) or not isinstance(stages, int) or stages < 1:
            raise BuildValueError(f"the number of stages of a pipeline is an integer of at least 1, not {stages!r}")
        self._kernel = kernel
        self.stages = stages

    def commit(self) -> None:
        """Commits the copies since the last commit as a stage. A stage may be empty, so that the count of groups stays
        right.
        """
        self._kernel.instruction("cp_async_commit_group", ())

    def wait(self, pending: int | None = None) -> None:
        """Waits for the oldest stage: until at most `pending` groups are incomplete, by default `stages - 1`.

        Only this thread's own copies are complete then; a barrier makes them visible to other threads.
        """
        left = self.stages - 1 if pending is None else pending
        self._kernel.instruction("cp_async_wait_group", (left,))


def pipeline(
    k: InstructionBuilder, stages: int, *, producers: int | Group, consumers: int | Group, name: str | None = None
) -> Pipeline:
    """Returns a pipeline of stages that mbarriers synchronize: see `ptxkit.build.pipeline`.

    `producers` is the group or the number of threads that commit a stage, and `consumers` of those that release it.
    """
    filling, working = (each.size if isinstance(each, Group) else each for each in (producers, consumers))
    return Pipeline(k, stages, filling, working, name)


def thread_pipeline(k: InstructionBuilder, stages: int) -> ThreadPipeline:
    """Returns a pipeline of `stages` groups of each thread's own `cp.async` copies."""
    return ThreadPipeline(k, stages)
