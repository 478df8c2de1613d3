"""mbarrier objects as typed addresses: the operations of `cuda::barrier`, by the names of the ISA.

    full = k.mbarrier("full", 4)              # four of them, a ring
    with k.thread_is(0):
        full.init(1)                          # all four
    k.bar_sync(0)
    full[stage].wait(parity)

A `Barrier` is the address of objects in the executing CTA's shared memory, a `RemoteBarrier` that of objects of any CTA
of the cluster, on which threads may arrive but not wait.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ptxkit.build.addresses import Shared, SharedCluster
from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.registers import Register
from ptxkit.kernel_model.scalar_types import b64, pred, u32

if TYPE_CHECKING:
    from typing import Self

    from ptxkit.build.registers import Number

SCOPES = ("cta", "cluster")
FIRST_SUSPENDING_TARGET = 90
"""The first target on which a wait suspends the thread; before it, `test_wait` polls."""


class Barrier(Shared[b64]):
    """The address of mbarrier objects in shared memory, 8 bytes each, written by `mbarrier` instructions only."""

    def init(self, count: int | Register[u32]) -> None:
        """Makes the objects live; each phase takes `count` arrivals. One thread does this, and a barrier must follow.

        Before other CTAs arrive on them: `fence_barrier_init`, and a barrier of the cluster.
        """
        for number in range(self.count or 1):
            self.builder.instruction("mbarrier_init", (self[number], count))

    def inval(self) -> None:
        """Ends the lifetime of the objects, which no thread may be using; their memory is then free for other uses."""
        for number in range(self.count or 1):
            self.builder.instruction("mbarrier_inval", (self[number],))

    def __getitem__(self, index: int | Register[Any] | slice) -> Self:
        """One of the objects, or some of them in a row."""
        found = super().__getitem__(index)
        if isinstance(index, int) and self.extent is not None:
            found.extent = (found.offset, min(found.offset + 8, self.extent[1]))
        return found

    def _at_offset(
        self, base: str | Register[Any], offset: int, alignment: int, extent: tuple[int, int] | None
    ) -> Self:
        _propagate_origin(self, base)
        return super()._at_offset(base, offset, alignment, extent)

    def to_register(self) -> Register[Any]:
        """The whole address in a register; the builder does not track it there."""
        origin = _origin_variable(self)
        if origin is not None:
            self.builder.barrier_uses.escaped.add(origin)
        return super().to_register()

    # --------------------------------------------------------------------------------------------- arriving

    def arrive(self, count: int | Register[u32] = 1, *, scope: str = "cta", order: str = "release") -> Register[b64]:
        """`count` arrivals; gives the phase's token. More than one at a time, or another scope, needs sm_90."""
        operands = (self,) if _is_single_arrival(count) else (self, count)
        return cast(
            "Register[b64]", self.builder.instruction(f"mbarrier_arrive{_semantics_suffix(scope, order)}", operands)
        )

    def arrive_expect_tx(
        self, size: int | Register[u32], *, scope: str = "cta", order: str = "release"
    ) -> Register[b64]:
        """One arrival, after which the phase waits for `size` more bytes of asynchronous copies."""
        name = f"mbarrier_arrive_expect_tx{_semantics_suffix(scope, order)}"
        return cast("Register[b64]", self.builder.instruction(name, (self, size)))

    arrive_tx = arrive_expect_tx
    """The same by the name that CUDA C++ has for it."""

    def arrive_drop(self, count: int | Register[u32] = 1) -> Register[b64]:
        """Arrives for the last time: later phases wait for `count` arrivals less."""
        operands = (self,) if _is_single_arrival(count) else (self, count)
        return cast("Register[b64]", self.builder.instruction("mbarrier_arrive_drop", operands))

    def arrive_drop_expect_tx(self, size: int | Register[u32]) -> Register[b64]:
        """The last arrival, after which the phase waits for `size` more bytes of asynchronous copies."""
        return cast("Register[b64]", self.builder.instruction("mbarrier_arrive_drop_expect_tx", (self, size)))

    def pending(self, token: Register[b64]) -> Register[u32]:
        """How many arrivals the phase still waited for when an arrival gave this token."""
        count = cast("Register[Any]", self.builder.instruction("mbarrier_pending_count", (token,)))
        return Register(self.builder, u32, count.name)

    def expect_tx(self, size: int | Register[u32]) -> None:
        """Makes the current phase wait for `size` more bytes; no arrival."""
        self.builder.instruction("mbarrier_expect_tx_relaxed_cta", (self, size))

    def complete_tx(self, size: int | Register[u32]) -> None:
        """Does what a copy of `size` bytes does when it completes; no copy is made."""
        self.builder.instruction("mbarrier_complete_tx_relaxed_cta", (self, size))

    def track_cp_async(self, *, counted: bool = True) -> None:
        """Arrives when all `cp.async` that this thread has issued so far are complete.

        With `counted`, the arrival is one of those that `init` counts (`.noinc`); else the phase waits for one more.
        """
        self.builder.instruction(f"cp_async_mbarrier_arrive{'_noinc' if counted else ''}", (self,))

    # ---------------------------------------------------------------------------------------------- waiting

    def wait(
        self,
        parity: int | Register[u32] | None = None,
        *,
        token: Register[b64] | None = None,
        scope: str = "cta",
        hint: int | None = None,
    ) -> None:
        """Waits until a phase is complete: that of a parity, or that of a token which an arrival gave.

        `parity` is 0 for the first phase, then alternating. The hardware may suspend the thread for `hint` nanoseconds.
        The loop is around `try_wait`, or around `test_wait` where the kernel is for a target below sm_90, or names none
        and nothing else in it needs sm_90.
        """
        builder = self.builder
        again = builder.recorder.label("wait")
        builder.recorder.place(again)
        number = None if builder.target is None else builder.target.number
        done = builder.register(pred)
        if number is None or number >= FIRST_SUSPENDING_TARGET:
            self._poll("mbarrier_try_wait", parity, token, scope, () if hint is None else (hint,), done)
        if number is None or number < FIRST_SUSPENDING_TARGET:
            self._poll("mbarrier_test_wait", parity, token, scope, (), done)
        if number is None:
            builder.recorder.fold_fallback()
        builder.branch(again, unless=done)

    def try_wait(
        self,
        parity: int | Register[u32] | None = None,
        *,
        token: Register[b64] | None = None,
        scope: str = "cta",
        limit: int | Register[u32] | None = None,
    ) -> Register[pred]:
        """Whether the phase is complete, after waiting for at most `limit` nanoseconds (None: the hardware's own)."""
        return self._poll("mbarrier_try_wait", parity, token, scope, () if limit is None else (limit,))

    def test_wait(
        self,
        parity: int | Register[u32] | None = None,
        *,
        token: Register[b64] | None = None,
        scope: str = "cta",
    ) -> Register[pred]:
        """Whether the phase is complete; does not wait."""
        return self._poll("mbarrier_test_wait", parity, token, scope, ())

    def _poll(
        self,
        name: str,
        parity: int | Register[u32] | None,
        token: Register[b64] | None,
        scope: str,
        more: tuple[Register[u32] | Number, ...],
        into: Register[pred] | None = None,
    ) -> Register[pred]:
        if token is None and isinstance(parity, Register) and parity.type.bits == 64:
            raise BuildTypeError(f"{parity!r} is not a parity; what an arrival gave goes by name: token={parity.name}")
        if (parity is None) == (token is None):
            raise BuildTypeError("a wait is for the phase of a parity or of a token: give one of them")
        if parity is not None and not isinstance(parity, Register) and parity not in (0, 1):
            raise BuildValueError(f"a parity is 0 or 1, not {parity!r}")
        by = "" if parity is None else "_parity"
        phase = token if parity is None else parity
        name = f"{name}{by}{_semantics_suffix(scope, 'acquire')}"
        return cast("Register[pred]", self.builder.instruction(name, (self, phase, *more), into=into))

    # --------------------------------------------------------------------------------------------- elsewhere

    def map_rank(self, rank: int | Register[u32]) -> RemoteBarrier:
        """The object at the same place in the CTA of that rank."""
        mapped = self.builder.instruction("mapa_shared_cluster_u32", (super().to_register(), rank))
        register = cast("Register[u32]", mapped)
        _propagate_origin(self, register)
        return RemoteBarrier(self.builder, b64, register, self.alignment)


class RemoteBarrier(SharedCluster[b64]):
    """The address of an mbarrier object of some CTA of the cluster: for arrivals, which give no token."""

    def _at_offset(
        self, base: str | Register[Any], offset: int, alignment: int, extent: tuple[int, int] | None
    ) -> Self:
        _propagate_origin(self, base)
        return super()._at_offset(base, offset, alignment, extent)

    def arrive(self, count: int | Register[u32] = 1, *, scope: str = "cluster", order: str = "release") -> None:
        """`count` arrivals. What this thread wrote before is ordered for who waits with the scope of the cluster."""
        operands = (self,) if _is_single_arrival(count) else (self, count)
        self.builder.instruction(f"mbarrier_arrive{_semantics_suffix(scope, order)}", operands)

    def arrive_expect_tx(self, size: int | Register[u32], *, scope: str = "cluster", order: str = "release") -> None:
        """One arrival, after which the phase waits for `size` more bytes of asynchronous copies."""
        self.builder.instruction(f"mbarrier_arrive_expect_tx{_semantics_suffix(scope, order)}", (self, size))

    arrive_tx = arrive_expect_tx

    def arrive_drop(self, count: int | Register[u32] = 1, *, scope: str = "cluster", order: str = "release") -> None:
        """Arrives for the last time: later phases wait for `count` arrivals less."""
        operands = (self,) if _is_single_arrival(count) else (self, count)
        self.builder.instruction(f"mbarrier_arrive_drop{_semantics_suffix(scope, order)}", operands)

    def expect_tx(self, size: int | Register[u32]) -> None:
        """Makes the current phase wait for `size` more bytes; no arrival."""
        self.builder.instruction("mbarrier_expect_tx_relaxed_cluster", (self, size))

    def complete_tx(self, size: int | Register[u32]) -> None:
        """Does what a copy of `size` bytes does when it completes; no copy is made."""
        self.builder.instruction("mbarrier_complete_tx_relaxed_cluster", (self, size))


def _origin_variable(address: Shared[b64] | SharedCluster[b64]) -> str | None:
    return address.builder.barrier_uses.find_origin_variable(
        address.base if isinstance(address.base, str) else address.base.name
    )


def _propagate_origin(address: Shared[b64] | SharedCluster[b64], base: str | Register[Any]) -> None:
    """Remembers of a new base which variable it was made from."""
    origin = _origin_variable(address)
    if isinstance(base, Register) and origin is not None:
        address.builder.barrier_uses.origin_variables[base.name] = origin


def _is_single_arrival(count: int | Register[u32]) -> bool:
    """A single arrival needs no operand, and no sm_90."""
    return not isinstance(count, Register) and count == 1


def _semantics_suffix(scope: str, order: str) -> str:
    """The words of order and scope; none where they are the usual ones, which older targets take."""
    if scope not in SCOPES:
        raise BuildValueError(f"the scope of an mbarrier operation is one of {', '.join(SCOPES)}, not {scope!r}")
    usual = scope == "cta" and order in ("release", "acquire")
    return "" if usual else f"_{order}_{scope}"
