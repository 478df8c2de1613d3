"""`memcpy_async`: a copy by a group of threads, by the fastest unit that alignment, size and target allow.

    copy = k.memcpy_async(tile, source[first], 4096, group=k.this_cta(), barrier=ready)
    token = ready.arrive()
    ready.wait(token=token)
    copy.mechanism, copy.reason                   # 'bulk', 'both addresses and the size are multiples of 16 bytes'

All threads of the group call it. With a barrier, its current phase does not complete before the copy has: each thread
then arrives, and waits for the phase. Without one, `copy.wait()` waits, and the threads of the group meet.

Source: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy", "... cp.async", "... cp.async.bulk";
CUDA C++ Programming Guide, "Asynchronous Data Copies".
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, cast

from ptxkit.build.addresses import Address, Global, Shared
from ptxkit.build.barrier import Barrier
from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.types import Scalar, b8, b16, b32, b64, u32
from ptxkit.build.values import Register, power_of_two_in
from ptxkit.records import dataclass

if TYPE_CHECKING:
    from ptxkit.build.groups import Group
    from ptxkit.build.routine import Routine
    from ptxkit.isa.targets import Target

BULK, CP_ASYNC, PLAIN = "bulk", "cp.async", "ld/st"
"""The mechanisms: the bulk copy engine (TMA), asynchronous copies of each thread (LDGSTS), loads and stores."""

UNROLLED = 16
"""So many turns of a loop of known length are written out."""

_WORDS: dict[int, type[Scalar]] = {8: b64, 4: b32, 2: b16, 1: b8}


@dataclass(frozen=True, slots=True)
class Copy:
    """What a copy became. mechanism: `bulk`, `cp.async` or `ld/st`; unit: bytes that each instruction moves, 0 for all.

    reason: what decided it.
    """

    mechanism: str
    unit: int
    reason: str
    finish: Callable[[], None]

    def wait(self) -> None:
        """Waits for a copy that no barrier tracks; the threads of the group meet."""
        self.finish()


@dataclass(frozen=True, slots=True)
class _Plan:
    mechanism: str
    unit: int
    reason: str


def memcpy_async(
    kernel: Routine,
    destination: Address[Any],
    source: Address[Any],
    size: int | Register[u32],
    group: Group,
    barrier: Barrier | None,
) -> Copy:
    """See `Kernel.memcpy_async`."""
    if not isinstance(destination, Global | Shared) or not isinstance(source, Global | Shared):
        raise BuildTypeError(f"a copy is between global and shared memory, not from {source!r} to {destination!r}")
    known = size.multiple if isinstance(size, Register) else power_of_two_in(_whole(size))
    into_shared = isinstance(destination, Shared) and isinstance(source, Global)
    aligned = min(destination.alignment, source.alignment, known)
    plan = _plan(kernel.target, aligned, into_shared=into_shared, tracked=barrier is not None)
    if plan.mechanism == BULK:
        assert barrier is not None
        _bulk(kernel, destination, source, size, group, barrier)
        return Copy(BULK, 0, plan.reason, _tracked)
    _by_threads(kernel, destination, source, size, group, plan)
    if barrier is not None:
        if plan.mechanism == CP_ASYNC:
            barrier.track_cp_async(counted=False)
        return Copy(plan.mechanism, plan.unit, plan.reason, _tracked)

    def finish() -> None:
        if plan.mechanism == CP_ASYNC:
            kernel.instruction("cp_async_wait_all", ())
        group.sync()

    return Copy(plan.mechanism, plan.unit, plan.reason, finish)


def _tracked() -> None:
    raise BuildTypeError("a barrier tracks this copy: arrive at it and wait for its phase")


def _plan(target: Target | None, aligned: int, *, into_shared: bool, tracked: bool) -> _Plan:
    """The mechanism for addresses and a size that are multiples of `aligned` bytes."""
    number = None if target is None else target.number
    unit = min(aligned, 16)
    if not into_shared:
        return _plain(unit, "only copies from global to shared memory are asynchronous")
    if number is not None and number < 80:
        return _plain(unit, f"sm_{number} has no asynchronous copies")
    if unit < 4:
        return _plain(unit, f"asynchronous copies move at least 4 bytes, and only {unit} divides addresses and size")
    if unit < 16:
        return _Plan(CP_ASYNC, unit, f"addresses and size are multiples of {unit} bytes, and bulk copies need 16")
    if not tracked:
        return _Plan(CP_ASYNC, unit, "no barrier is given, which a bulk copy would tell of its end")
    if number is None:
        return _Plan(CP_ASYNC, unit, "the kernel names no target, and bulk copies need sm_90")
    if number < 90:
        return _Plan(CP_ASYNC, unit, f"bulk copies need sm_90, and the kernel is for sm_{number}")
    return _Plan(BULK, 0, "both addresses and the size are multiples of 16 bytes")


def _plain(unit: int, reason: str) -> _Plan:
    return _Plan(PLAIN, unit, reason)


def _whole(size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise BuildValueError(f"a copy has a whole number of bytes, at least 1, not {size!r}")
    return size


def _bulk(
    kernel: Routine,
    destination: Address[Any],
    source: Address[Any],
    size: int | Register[u32],
    group: Group,
    barrier: Barrier,
) -> None:
    """One thread announces the bytes and issues the copy."""
    with nullcontext() if group.size == 1 else kernel.if_(cast("Register[u32]", group.rank) == 0):
        barrier.expect_tx(size)
        kernel.instruction("cp_async_bulk", (destination, source, size, barrier))


def _by_threads(
    kernel: Routine,
    destination: Address[Any],
    source: Address[Any],
    size: int | Register[u32],
    group: Group,
    plan: _Plan,
) -> None:
    """Each thread of the group copies every `group.size`-th unit."""
    unit = plan.unit
    to, of = _bytes(destination), _bytes(source)

    def copy(offset: Register[u32] | int) -> None:
        if plan.mechanism == CP_ASYNC:
            kernel.instruction("cp_async_cg" if unit == 16 else "cp_async_ca", (to[offset], of[offset], unit))
        else:
            _move(kernel, to[offset], of[offset], unit)

    first = group.rank * unit
    step = group.size * unit
    if isinstance(size, int) and -(-size // step) <= UNROLLED:
        for start in range(0, size, step):
            here = first + start
            with nullcontext() if start + step <= size else kernel.if_(cast("Register[u32]", here) < size):
                copy(here)
        return
    with kernel.for_range(first, size, step) as offset:
        copy(offset)


def _bytes(address: Address[Any]) -> Address[b8]:
    assert isinstance(address, Global | Shared)
    return address.cast(b8)


def _move(kernel: Routine, to: Address[b8], of: Address[b8], unit: int) -> None:
    """Loads and stores `unit` bytes: a vector of two words where they are sixteen."""
    assert isinstance(to, Global | Shared)
    assert isinstance(of, Global | Shared)
    word = _WORDS[min(unit, 8)]
    if unit == 16:
        kernel.instruction("st_v2", (to.cast(word), kernel.instruction("ld_v2", (of.cast(word),))))
    else:
        to.cast(word).store(of.cast(word).load())
