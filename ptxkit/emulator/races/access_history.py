"""The data that the observers of one launch share: the clocks of each CTA, and the accesses so far with their
instructions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.limits import MAX_CACHED_OPCODES
from ptxkit.emulator.races.inflight_units import incoming_values, touched_units
from ptxkit.emulator.races.memory_access import MemoryAccess
from ptxkit.emulator.races.shadow_memory import ShadowMemory
from ptxkit.emulator.races.vector_clocks import FENCED_GLOBAL, FENCED_SHARED, CtaClocks, clock_kind_count
from ptxkit.emulator.sync.async_operation import AsyncOperation
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.effects import Effect
from ptxkit.semantics.ordering import is_fence, is_half_proxy_fence, scope_level

if TYPE_CHECKING:
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.threads.machine_observer import AccessEvent
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode

FENCED_CLOCK_OF_SPACE = {"shared": FENCED_SHARED, "global": FENCED_GLOBAL}


@dataclass(frozen=True, slots=True)
class AccessSite:
    """An instruction that accessed memory, in a CTA.

    `strength` is the level at which the access is strong, as in `MemoryAccess`. `proxy` is `tensor` if the completion
    of an operation is not a proxy fence. For an asynchronous operation, `completion` is the mechanism that signals its
    completion, and `issuer` the thread that issued it if an engine performed it; otherwise these are empty and -1.
    """

    function: FunctionCode
    pc: int
    cta: CtaState
    strength: int
    proxy: str = "generic"
    completion: str = ""
    issuer: int = -1

    @property
    def location(self) -> tuple[FunctionCode, int, CtaState]:
        """The function, the step and the CTA."""
        return self.function, self.pc, self.cta

    @property
    def offset(self) -> int:
        """The offset of the instruction in the text."""
        return self.function.offsets[self.pc]


@lru_cache(maxsize=MAX_CACHED_OPCODES)
def is_one_way(opcode: str) -> bool:
    """Returns whether an instruction is a fence that orders the generic and the async proxy in one direction."""
    return any(is_half_proxy_fence(each, "async") for each in _effects_of(opcode))


@lru_cache(maxsize=MAX_CACHED_OPCODES)
def is_sc_fence(opcode: str) -> bool:
    """Returns whether an instruction is a sequentially consistent fence."""
    return any(is_fence(each, proxy_fences=False, orders=frozenset({"sc"})) for each in _effects_of(opcode))


def _effects_of(opcode: str) -> Iterator[Effect]:
    return (each for match in table().candidates(opcode) for each in match.effects)


class AccessHistory:
    """The clocks of the CTAs of a launch, the shadow memories of its buffers, and the instructions in these."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self._clock_kinds = 0
        self._clocks_of_cta: dict[CtaState, CtaClocks] = {}
        self._clock_owners: list[CtaClocks] = []
        self._owner_bases: list[int] = []
        self._numbers_of_sites: dict[tuple[object, ...], int] = {}
        self._sites: list[AccessSite] = []
        self._last_event: AccessEvent | None = None
        self._last_access: MemoryAccess | None = None
        self._last_issue: tuple[AsyncOperation, list[MemoryAccess]] | None = None

    # ------------------------------------------------------------------------------------------------ accesses

    def access_of(self, event: AccessEvent) -> MemoryAccess:
        """Returns the access of an event. Its times are those before any observer handles the event."""
        if self._last_event is event and self._last_access is not None:
            return self._last_access
        group, buffer = event.group, event.buffer
        clocks, index, shadow = self.clocks_of(group.cta), group.lanes.index, self.shadow_of(buffer)
        units, rows = shadow.units_of(event.byte_offsets, event.size)
        threads = index if len(units) == len(event.byte_offsets) == len(index) else index[rows]
        self._last_event = event
        self._last_access = found = MemoryAccess(
            (group.activation.function, group.pc, group.cta),
            clocks,
            index,
            event.kind,
            buffer,
            shadow,
            units,
            rows,
            threads,
            clocks.own_times[threads],
            0 if event.order == "weak" else 1 + scope_level(event.scope),
            event.byte_offsets,
            event.size,
            event.value,
        )
        return found

    def issued_accesses(self, operation: AsyncOperation) -> list[MemoryAccess]:
        """Returns all accesses that an operation that is about to start will make."""
        if self._last_issue is None or self._last_issue[0] is not operation:
            rows = numpy.ones(len(operation.threads), bool)
            sides = (("source", "read"), ("target", "write"))
            found = [each for side, kind in sides for each in self.accesses_of(operation, side, kind, rows)]
            if any(each.size != each.shadow.unit for each in found):  # a target has refined the units of a source
                found = [each for side, kind in sides for each in self.accesses_of(operation, side, kind, rows)]
            self._last_issue = operation, found
        return self._last_issue[1]

    def accesses_of(
        self, operation: AsyncOperation, side: str, kind: str, rows: Any, *, with_values: bool = True
    ) -> Iterator[MemoryAccess]:
        """Yields what rows of an operation read or write, as accesses of the threads that issued it."""
        clocks = self.clocks_of(operation.cta)
        for transfer in operation.transfers:
            buffer = transfer.buffer(side)
            if buffer is None or buffer.name not in FENCED_CLOCK_OF_SPACE or not rows.any():
                continue
            shadow = self.shadow_of(buffer)
            units, threads = touched_units(transfer, side, rows, operation.threads, shadow)
            if len(units):
                yield MemoryAccess(
                    (operation.function, operation.pc, operation.cta),
                    clocks,
                    threads,
                    kind,
                    buffer,
                    shadow,
                    units,
                    numpy.arange(len(units)),
                    threads,
                    None,
                    strength_of(operation),
                    units * shadow.unit,
                    shadow.unit,
                    incoming_values(transfer, rows, shadow) if with_values and kind == "write" else None,
                    operation.proxy,
                )

    @staticmethod
    def shadow_of(buffer: ByteBuffer) -> ShadowMemory:
        """Returns the shadow memory of a buffer."""
        if buffer.shadow is None:
            buffer.shadow = ShadowMemory(buffer)
        found: ShadowMemory = buffer.shadow
        return found

    # --------------------------------------------------------------------------------------------------- sites

    def site_number(
        self,
        location: tuple[FunctionCode, int, CtaState],
        strength: int,
        proxy: str = "generic",
        completion: str = "",
        issuer: int = -1,
    ) -> int:
        """Returns the number of a site, which the shadow memory keeps for each unit."""
        key = (*location, strength, proxy, completion, issuer)
        found = self._numbers_of_sites.get(key)
        if found is None:
            found = self._numbers_of_sites[key] = len(self._sites)
            self._sites.append(AccessSite(*location, strength, proxy, completion, issuer))
        return found

    def site(self, number: int) -> AccessSite:
        """Returns a site by its number."""
        return self._sites[number]

    def thread_at(self, site: AccessSite, agent: int) -> int:
        """Returns the thread that made the last access at a site, which was recorded as an agent."""
        return agent - self.clocks_of(site.cta).base if site.issuer < 0 else site.issuer

    # -------------------------------------------------------------------------------------------------- clocks

    def clocks_of(self, cta: CtaState) -> CtaClocks:
        """Returns the clocks of the threads of a CTA."""
        found = self._clocks_of_cta.get(cta)
        if found is None:
            base = 1 if not self._clock_owners else self._owner_bases[-1] + self._clock_owners[-1].threads
            found = self._clocks_of_cta[cta] = CtaClocks(cta, base, self._count_clock_kinds(cta))
            self._clock_owners.append(found)
            self._owner_bases.append(base)
        return found

    def clocks_of_agent(self, agent: int) -> CtaClocks:
        """Returns the clocks of the CTA to which an agent belongs."""
        return self._clock_owners[int(numpy.searchsorted(self._owner_bases, agent, side="right")) - 1]

    def group_by_owner(self, agents: Any, at: Any) -> Iterator[tuple[CtaClocks, Any]]:
        """Yields the clocks of each CTA to which agents at some positions belong, with the positions of these."""
        owners = numpy.searchsorted(self._owner_bases, agents[at], side="right") - 1
        for number in numpy.unique(owners):
            yield self._clock_owners[number], at[owners == number]

    def _count_clock_kinds(self, cta: CtaState) -> int:
        if not self._clock_kinds:
            codes = cta.machine.program.decoded_functions
            parted = cta.cluster.size > 1 or any(is_one_way(each) for code in codes for each in code.opcodes)
            sc = any(is_sc_fence(each) for code in codes for each in code.opcodes)
            self._clock_kinds = clock_kind_count(parted=parted, strict=self.strict, sc=sc)
        return self._clock_kinds


def strength_of(operation: AsyncOperation) -> int:
    """Returns the level at which an operation is strong, as in `MemoryAccess.strength`."""
    return 1 + scope_level(None) if operation.is_combining else 0
