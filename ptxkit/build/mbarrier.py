"""mbarrier objects as typed addresses: the operations of `cuda::barrier`, with the names of the ISA.

    full = k.mbarrier("full", 4)              # a ring of four objects
    with k.thread_is(0):
        full.init(1)                          # initializes all four
    k.bar_sync(0)
    full[stage].wait(parity)

A `Barrier` is the address of objects in the executing CTA's shared memory. A `RemoteBarrier` is the address of objects
in any CTA of the cluster, where threads may arrive but not wait.

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
"""The first target on which a wait suspends the thread. Older targets poll with `test_wait`."""


class Barrier(Shared[b64]):
    """The address of mbarrier objects in shared memory, 8 bytes each, which only `mbarrier` instructions may access."""

    def init(self, count: int | Register[u32]) -> None:
        """Initializes the objects: each phase completes after `count` arrivals. One thread must execute it.

        A barrier must follow before other threads use the objects. Before threads of other CTAs arrive at them,
        `fence_barrier_init` and a barrier of the cluster are required.
        """
        for number in range(self.count or 1):
            self.builder.instruction("mbarrier_init", (self[number], count))

    def inval(self) -> None:
        """Invalidates the objects, so that their memory may be used for other data. No thread may use them any more."""
        for number in range(self.count or 1):
            self.builder.instruction("mbarrier_inval", (self[number],))

    def __getitem__(self, index: int | Register[Any] | slice) -> Self:
        """Returns the address of one of the objects, or of a range of them."""
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
        """Returns the whole address in a register, where the builder no longer tracks which object it belongs to."""
        origin = _origin_variable(self)
        if origin is not None:
            self.builder.barrier_uses.escaped.add(origin)
        return super().to_register()

    # --------------------------------------------------------------------------------------------- arriving

    def arrive(self, count: int | Register[u32] = 1, *, scope: str = "cta", order: str = "release") -> Register[b64]:
        """Arrives `count` times, and returns the token of the phase.

        A `count` above 1 and other scopes than `cta` need sm_90. `order` is `release` or `relaxed`.
        """
        operands = (self,) if _is_single_arrival(count) else (self, count)
        return cast(
            "Register[b64]", self.builder.instruction(f"mbarrier_arrive{_semantics_suffix(scope, order)}", operands)
        )

    def arrive_expect_tx(
        self, size: int | Register[u32], *, scope: str = "cta", order: str = "release"
    ) -> Register[b64]:
        """Adds `size` bytes to the transaction count of the phase, arrives once, and returns the token of the phase.

        The phase does not complete before asynchronous copies have transferred these bytes. Needs sm_90.
        """
        name = f"mbarrier_arrive_expect_tx{_semantics_suffix(scope, order)}"
        return cast("Register[b64]", self.builder.instruction(name, (self, size)))

    arrive_tx = arrive_expect_tx
    """The name that CUDA C++ has for `arrive_expect_tx`."""

    def arrive_drop(self, count: int | Register[u32] = 1) -> Register[b64]:
        """Arrives `count` times and lowers the arrivals that later phases expect by `count`. Returns the token of the
        phase.
        """
        operands = (self,) if _is_single_arrival(count) else (self, count)
        return cast("Register[b64]", self.builder.instruction("mbarrier_arrive_drop", operands))

    def arrive_drop_expect_tx(self, size: int | Register[u32]) -> Register[b64]:
        """Adds `size` bytes to the transaction count and arrives as `arrive_drop` does. Returns the token of the
        phase.
        """
        return cast("Register[b64]", self.builder.instruction("mbarrier_arrive_drop_expect_tx", (self, size)))

    def pending(self, token: Register[b64]) -> Register[u32]:
        """Returns the number of arrivals that the phase was waiting for when an arrival returned this token."""
        count = cast("Register[Any]", self.builder.instruction("mbarrier_pending_count", (token,)))
        return Register(self.builder, u32, count.name)

    def expect_tx(self, size: int | Register[u32]) -> None:
        """Adds `size` bytes to the transaction count of the current phase, without an arrival."""
        self.builder.instruction("mbarrier_expect_tx_relaxed_cta", (self, size))

    def complete_tx(self, size: int | Register[u32]) -> None:
        """Subtracts `size` bytes from the transaction count of the current phase, as a copy that completes does."""
        self.builder.instruction("mbarrier_complete_tx_relaxed_cta", (self, size))

    def track_cp_async(self, *, counted: bool = True) -> None:
        """Arrives when all `cp.async` copies that this thread has issued so far are complete.

        With `counted`, the arrival is one of those that `init` counts (`.noinc`); else the phase waits for one more
        arrival.
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
        """Waits until a phase is complete, which is given either by its parity or by the token that an arrival
        returned.

        `parity` is 0 for the first phase of the object and alternates. `scope` is `cta` or `cluster`. The hardware may
        suspend the thread for `hint` nanoseconds. The emitted loop polls with `try_wait`, or with `test_wait` if the
        kernel's target is below sm_90, or if the kernel has no explicit target and nothing else in it needs sm_90.
        Raises `BuildTypeError` unless exactly one of parity and token is given.
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
        """Waits for at most `limit` nanoseconds, or a time limit of the hardware, and returns whether the phase is
        complete.
        """
        return self._poll("mbarrier_try_wait", parity, token, scope, () if limit is None else (limit,))

    def test_wait(
        self,
        parity: int | Register[u32] | None = None,
        *,
        token: Register[b64] | None = None,
        scope: str = "cta",
    ) -> Register[pred]:
        """Returns whether the phase is complete, without waiting."""
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
            raise BuildTypeError(f"{parity!r} is not a parity; pass the result of an arrival as token={parity.name}")
        if (parity is None) == (token is None):
            raise BuildTypeError("a wait is for the phase of a parity or of a token: give one of them")
        if parity is not None and not isinstance(parity, Register) and parity not in (0, 1):
            raise BuildValueError(f"a parity is 0 or 1, not {parity!r}")
        by = "" if parity is None else "_parity"
        phase = token if parity is None else parity
        name = f"{name}{by}{_semantics_suffix(scope, 'acquire')}"
        return cast("Register[pred]", self.builder.instruction(name, (self, phase, *more), into=into))

    # --------------------------------------------------------------------------------------------- other CTAs

    def map_rank(self, rank: int | Register[u32]) -> RemoteBarrier:
        """Returns the corresponding object in the CTA with that rank in the cluster."""
        mapped = self.builder.instruction("mapa_shared_cluster_u32", (super().to_register(), rank))
        register = cast("Register[u32]", mapped)
        _propagate_origin(self, register)
        return RemoteBarrier(self.builder, b64, register, self.alignment)


class RemoteBarrier(SharedCluster[b64]):
    """The address of an mbarrier object in any CTA of the cluster. Arrivals at it return no token."""

    def _at_offset(
        self, base: str | Register[Any], offset: int, alignment: int, extent: tuple[int, int] | None
    ) -> Self:
        _propagate_origin(self, base)
        return super()._at_offset(base, offset, alignment, extent)

    def arrive(self, count: int | Register[u32] = 1, *, scope: str = "cluster", order: str = "release") -> None:
        """Arrives `count` times. Orders this thread's earlier writes for the threads that wait with the scope of the
        cluster.
        """
        operands = (self,) if _is_single_arrival(count) else (self, count)
        self.builder.instruction(f"mbarrier_arrive{_semantics_suffix(scope, order)}", operands)

    def arrive_expect_tx(self, size: int | Register[u32], *, scope: str = "cluster", order: str = "release") -> None:
        """Adds `size` bytes to the transaction count of the phase and arrives once."""
        self.builder.instruction(f"mbarrier_arrive_expect_tx{_semantics_suffix(scope, order)}", (self, size))

    arrive_tx = arrive_expect_tx

    def arrive_drop(self, count: int | Register[u32] = 1, *, scope: str = "cluster", order: str = "release") -> None:
        """Arrives `count` times and lowers the arrivals that later phases expect by `count`."""
        operands = (self,) if _is_single_arrival(count) else (self, count)
        self.builder.instruction(f"mbarrier_arrive_drop{_semantics_suffix(scope, order)}", operands)

    def expect_tx(self, size: int | Register[u32]) -> None:
        """Adds `size` bytes to the transaction count of the current phase, without an arrival."""
        self.builder.instruction("mbarrier_expect_tx_relaxed_cluster", (self, size))

    def complete_tx(self, size: int | Register[u32]) -> None:
        """Subtracts `size` bytes from the transaction count of the current phase, as a copy that completes does."""
        self.builder.instruction("mbarrier_complete_tx_relaxed_cluster", (self, size))


def _origin_variable(address: Shared[b64] | SharedCluster[b64]) -> str | None:
    return address.builder.barrier_uses.find_origin_variable(
        address.base if isinstance(address.base, str) else address.base.name
    )


def _propagate_origin(address: Shared[b64] | SharedCluster[b64], base: str | Register[Any]) -> None:
    """Records the variable of an address for a register that is computed from it."""
    origin = _origin_variable(address)
    if isinstance(base, Register) and origin is not None:
        address.builder.barrier_uses.origin_variables[base.name] = origin


def _is_single_arrival(count: int | Register[u32]) -> bool:
    """Returns whether the count is the constant 1, which needs no operand and no sm_90."""
    return not isinstance(count, Register) and count == 1


def _semantics_suffix(scope: str, order: str) -> str:
    """Returns the modifiers of order and scope, or none for the defaults, which older targets accept."""
    if scope not in SCOPES:
        raise BuildValueError(f"the scope of an mbarrier operation is one of {', '.join(SCOPES)}, not {scope!r}")
    usual = scope == "cta" and order in ("release", "acquire")
    return "" if usual else f"_{order}_{scope}"
