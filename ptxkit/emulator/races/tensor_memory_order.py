"""Ordering of accesses to Tensor Memory: which earlier operations on the same columns may still be in flight.

Loads and stores are complete when their warp waits for them; multiplications, copies and shifts when a commit arrives.
Other threads must synchronize with that, for which relaxed arrivals and waits suffice. Multiplications, copies and
shifts are pipelined among themselves. A use of its registers proves that a load is complete; only the strict policy
requires a wait then. The knowledge of a lane counts for the whole warp, because its loads, stores and waits are
collective.

Source: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations", "tcgen05.fence",
"tcgen05.wait".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics import Message, Severity
from ptxkit.diagnostics.catalogue import ptx7xx
from ptxkit.emulator.core.findings import UNAWAITED, Violation, Witness
from ptxkit.emulator.limits import MAX_CACHED_OPCODES
from ptxkit.emulator.races.access_history import AccessHistory
from ptxkit.emulator.races.vector_clocks import COMPLETED, CtaClocks
from ptxkit.emulator.state.memory import CtaMemory
from ptxkit.emulator.sync.async_operation import TCGEN05
from ptxkit.emulator.tensor.tmem_regions import TmemRegion
from ptxkit.emulator.threads.machine_observer import MachineObserver
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa import table
from ptxkit.isa.effects import CtaGroup, TensorFence
from ptxkit.syntax.constants import WARP_SIZE

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import ClusterState, CtaState, FunctionCode
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

LOAD, STORE, ALLOCATION = "tcgen05.ld", "tcgen05.st", "tcgen05.alloc"
_WAIT_OF_ACCESS = {LOAD: "tcgen05.wait::ld", STORE: "tcgen05.wait::st"}


@lru_cache(maxsize=MAX_CACHED_OPCODES)
def is_fence_after_sync(opcode: str) -> bool:
    """Returns whether an instruction orders asynchronous operations after a synchronization of threads."""
    effects = (each for match in table().candidates(opcode) for each in match.effects)
    return any(isinstance(each, TensorFence) and each.side == "after" for each in effects)


@lru_cache(maxsize=MAX_CACHED_OPCODES)
def _cta_group_of(opcode: str) -> int:
    """Returns the number of CTAs of an instruction's `cta_group`, or 0 if it has none."""
    effects = (each for match in table().candidates(opcode) for each in match.effects)
    return next((each.ctas for each in effects if isinstance(each, CtaGroup)), 0)


def _cta_group_uses(code: FunctionCode) -> Iterator[tuple[int, int]]:
    """Yields the instructions of a function that have a `cta_group`."""
    for pc, instruction in enumerate(code.instructions):
        ctas = _cta_group_of(instruction.opcode)
        if ctas:
            yield ctas, pc


@dataclass(slots=True, eq=False)
class TensorMemoryUse:
    """One execution of an instruction that uses Tensor Memory, by a thread or a warp.

    `completion_clock` has the agents and times that signal its completion, and is None before that. `fenced_warps` are
    warps that executed a fence after they knew of the completion. `is_reported` states whether a violation mentions it,
    and `is_known_by_register_use` whether its completion is only known from a use of its registers.
    """

    location: tuple[FunctionCode, int, CtaState]
    threads: Any
    completion: str
    clocks: CtaClocks
    completion_clock: tuple[Any, Any] | None = None
    fenced_warps: set[tuple[CtaState, int]] = field(default_factory=set)
    is_reported: bool = False
    is_known_by_register_use: bool = False

    @property
    def warp(self) -> tuple[CtaState, int]:
        """The warp that executes it."""
        return self.location[2], int(self.threads[0]) // WARP_SIZE

    def mark_complete(self) -> None:
        """Records that its threads are ordered after its completion."""
        self.completion_clock, self.is_known_by_register_use = (
            (self.threads, self.clocks.own_times[self.threads].copy()),
            False,
        )

    def record_commit(self, engine: int) -> None:
        """Records that a commit has arrived: threads that acquire from its mbarrier follow the completion."""
        self.completion_clock = numpy.array([engine]), self.clocks.own_times[[engine]].copy()


class TensorMemoryOrder(MachineObserver):
    """The operations on the Tensor Memory of each CTA, by the regions that were accessed."""

    def __init__(self, history: AccessHistory) -> None:
        self._history = history
        self._uses: dict[CtaMemory, dict[tuple[object, ...], tuple[TensorMemoryUse, TmemRegion]]] = {}
        self._waiting: dict[tuple[CtaState, int, str], list[TensorMemoryUse]] = {}
        self._loaded_registers: dict[tuple[object, int, int], TensorMemoryUse] = {}
        self._cta_groups: dict[int, tuple[FunctionCode, int]] | None = None

    # ------------------------------------------------------------------------------------------------ accesses

    def record_use(
        self, group: ThreadGroup, threads: Any, completion: str, regions: Iterable[TmemRegion]
    ) -> TensorMemoryUse:
        """Records a use of regions: no conflicting operation on them may be in flight."""
        cta = group.cta
        issue = TensorMemoryUse(
            (group.activation.function, group.pc, cta), threads, completion, self._history.clocks_of(cta)
        )
        regions = list(regions)
        moves = completion in _WAIT_OF_ACCESS
        if moves:
            does, detail = ("read", "begins to load") if completion == LOAD else ("write", "begins to store")
            group.cta.machine.observer.on_tensor_memory_op(group, does, f"{detail} {_describe_columns(regions)}")
        for region in regions:
            for before, other in list(self._uses.setdefault(region.cta, {}).values()):
                if before is not issue and other.overlaps(region):
                    self._check_use(issue, region, before, other)
        if moves:
            group.cta.machine.observer.on_tensor_memory_checked()
        for region in regions:
            self._add_use(issue, region)
        if moves:
            self._waiting.setdefault((*issue.warp, completion), []).append(issue)
        return issue

    def _add_use(self, issue: TensorMemoryUse, region: TmemRegion) -> None:
        """Adds a use; earlier uses that it covers were compared with it and are removed."""
        uses = self._uses[region.cta]
        if region.writes:
            for key, (before, other) in list(uses.items()):
                if before.completion != ALLOCATION and before is not issue and region.contains(other):
                    del uses[key]
        uses[issue.warp, issue.completion, *region.key] = issue, region

    def record_wait(self, group: ThreadGroup, kind: str) -> None:
        """Records that warps wait for their loads or stores."""
        what = "loads" if kind == LOAD else "stores"
        group.cta.machine.observer.on_tensor_memory_op(group, "wait", f"wait for their {what} of Tensor Memory")
        for warp in numpy.unique(group.lanes.index // WARP_SIZE).tolist():
            for issue in self._waiting.pop((group.cta, warp, kind), ()):
                issue.mark_complete()

    def record_load(self, group: ThreadGroup, slots: Iterable[int]) -> None:
        """Records that warps have started loads to registers."""
        for warp in numpy.unique(group.lanes.index // WARP_SIZE).tolist():
            begun = self._waiting.get((group.cta, warp, LOAD), ())
            for issue in begun[-1:]:
                self._loaded_registers.update(((group.activation, slot, warp), issue) for slot in slots)

    def record_register_use(self, group: ThreadGroup, slots: Iterable[int]) -> None:
        """Records that threads use registers, which proves that the loads to these are complete."""
        if self._loaded_registers:
            for warp in numpy.unique(group.lanes.index // WARP_SIZE).tolist():
                for slot in slots:
                    issue = self._loaded_registers.pop((group.activation, slot, warp), None)
                    if issue is not None and issue.completion_clock is None:
                        issue.mark_complete()
                        issue.is_known_by_register_use = True

    # --------------------------------------------------------------------------------------------------- fences

    def record_fence(self, group: ThreadGroup) -> None:
        """Records a fence: later operations of its threads on Tensor Memory are ordered after all accesses that they
        know.
        """
        group.cta.machine.observer.on_tensor_memory_op(
            group, "fence", "orders their operations on Tensor Memory after what they observed"
        )
        warps = [(group.cta, each) for each in numpy.unique(group.lanes.index // WARP_SIZE).tolist()]
        issues = {issue for cta in group.cta.cluster.ctas for issue, _ in self._uses.get(cta, {}).values()}
        for issue in issues:
            if issue.completion in (TCGEN05, ALLOCATION):
                issue.fenced_warps.update(
                    warp
                    for warp in warps
                    if warp not in issue.fenced_warps and self._is_completion_observed(issue, warp)
                )

    def _is_completion_observed(self, issue: TensorMemoryUse, warp: tuple[CtaState, int]) -> bool:
        """Returns whether a lane of a warp knows that an operation is complete."""
        if issue.completion_clock is None:
            return False
        if issue.warp == warp and issue.completion != TCGEN05:
            return True
        cta, number = warp
        agents, times = issue.completion_clock
        lanes = numpy.arange(number * WARP_SIZE, min((number + 1) * WARP_SIZE, cta.threads))
        known = self._history.clocks_of(cta)
        acquired = [
            known.relaxed_vector,
            *(
                acquired_clocks
                for lane in lanes.tolist()
                for _, acquired_clocks in known.pending_acquires.get(lane, ())
            ),
        ]
        if any(
            issue.clocks in acquired_clocks and (acquired_clocks[issue.clocks][COMPLETED, agents] >= times).any()
            for acquired_clocks in acquired
        ):
            return True
        who, whom = numpy.repeat(lanes, len(agents)), numpy.tile(agents, len(lanes))
        return bool(known.happens_before(who, issue.clocks, whom, numpy.tile(times, len(lanes))).any())

    def _requires_fence(self, issue: TensorMemoryUse) -> bool:
        """Returns whether fences are required: kernels without any rely on how GPUs issue instructions."""
        codes = issue.location[2].machine.program.decoded_functions
        return self._history.strict or any(is_fence_after_sync(each) for code in codes for each in code.opcodes)

    # ------------------------------------------------------------------------------------------------- checking

    def _check_use(
        self, issue: TensorMemoryUse, region: TmemRegion, before: TensorMemoryUse, other: TmemRegion
    ) -> None:
        """Checks a use of columns against an earlier one."""
        pipelined = issue.completion == TCGEN05
        if before.completion in _WAIT_OF_ACCESS:
            self._check_move(issue, region, before, other)
        elif before.completion == ALLOCATION or not pipelined:
            acquired_clocks = self._is_completion_observed(before, issue.warp)
            if not acquired_clocks and before.completion == TCGEN05:
                is_committed = before.completion_clock is not None
                template = ptx7xx.COMMIT_NOT_KNOWN if is_committed else ptx7xx.OPERATION_NOT_COMMITTED
                self._add_rule_violation(template(), issue, region, before)
            elif (
                acquired_clocks and issue.warp != before.warp and issue.warp not in before.fenced_warps and other.writes
            ):
                self._check_fence(issue, region, before)

    def _check_move(
        self, issue: TensorMemoryUse, region: TmemRegion, before: TensorMemoryUse, other: TmemRegion
    ) -> None:
        if not (region.writes or other.writes):
            return
        wait = _WAIT_OF_ACCESS[before.completion]
        if before.completion_clock is None:
            usual = issue.warp == before.warp and (before.completion, issue.completion) == (STORE, LOAD)
            # Kernels of the vendor load after a store without a wait.
            severity = Severity.WARNING if usual else None
            self._add_rule_violation(ptx7xx.NO_WAIT_FOR_ACCESS(wait=wait), issue, region, before, severity)
        elif not self._is_completion_observed(before, issue.warp):
            self._add_rule_violation(ptx7xx.ACCESS_UNORDERED(), issue, region, before)
        elif before.is_known_by_register_use and self._history.strict:
            content = ptx7xx.ONLY_REGISTERS_SHOW_COMPLETION(wait=f"`{wait}`")
            self._add_rule_violation(content, issue, region, before, Severity.WARNING)

    def _check_fence(self, issue: TensorMemoryUse, region: TmemRegion, before: TensorMemoryUse) -> None:
        is_synchronous = before.completion == ALLOCATION
        if self._requires_fence(issue) and (self._history.strict or not is_synchronous):
            codes = issue.location[2].machine.program.decoded_functions
            has_any = any(is_fence_after_sync(each) for code in codes for each in code.opcodes)
            content = ptx7xx.NO_FENCE_AFTER_SYNC(effect="allocated" if is_synchronous else "written")
            self._add_rule_violation(content, issue, region, before, None if has_any else Severity.WARNING)

    def record_cta_group(self, group: ThreadGroup) -> bool:
        """Records an instruction for one CTA, or for a pair. Returns whether the kernel has both."""
        if self._cta_groups is None:
            self._cta_groups = {}
            for each in group.cta.machine.program.decoded_functions:
                for ctas, pc in _cta_group_uses(each):
                    self._cta_groups.setdefault(ctas, (each, pc))
            if len(self._cta_groups) > 1:
                self._report_mixed(group, *self._cta_groups.values())
        return len(self._cta_groups) > 1

    def _report_mixed(self, group: ThreadGroup, usual: tuple[FunctionCode, int], odd: tuple[FunctionCode, int]) -> None:
        thread = int(group.lanes.index[0])
        own, other = (self._witness((*each, group.cta), thread) for each in (odd, usual))
        content = ptx7xx.CTA_GROUPS_DIFFER(action=own.action, other=other.action)
        self._add_violation(content, (*odd, group.cta), (own, other))

    # ---------------------------------------------------------------------------------------------- allocation

    def record_allocation(self, group: ThreadGroup, threads: Any, region: TmemRegion) -> None:
        """Records that a warp allocates columns.

        Its lanes may immediately read the address, because it is written for all of them.
        """
        place, known = (group.activation.function, group.pc, group.cta), self._history.clocks_of(group.cta)
        known.acquire_clock(threads, known.release_clock(threads[:1]))
        issue = TensorMemoryUse(place, threads, ALLOCATION, known)
        issue.mark_complete()
        self._uses.setdefault(region.cta, {})[issue.warp, ALLOCATION, *region.key] = issue, region
        group.cta.machine.observer.on_tensor_memory_op(group, "write", f"allocates {_describe_columns([region])}")

    def record_deallocation(self, group: ThreadGroup, threads: Any, region: TmemRegion) -> None:
        """Records that a warp deallocates columns, and checks that all uses of these are complete."""
        end = TensorMemoryUse(
            (group.activation.function, group.pc, group.cta), threads, "", self._history.clocks_of(group.cta)
        )
        uses = self._uses.get(region.cta, {})
        group.cta.machine.observer.on_tensor_memory_op(group, "write", f"deallocates {_describe_columns([region])}")
        for key, (before, other) in list(uses.items()):
            if not other.overlaps(region):
                continue
            del uses[key]
            moves = before.completion in _WAIT_OF_ACCESS
            if before.completion == ALLOCATION or before.is_reported or (moves and before.warp == end.warp):
                continue
            if (moves or other.writes) and not self._is_completion_observed(before, end.warp):
                self._add_rule_violation(ptx7xx.DEALLOCATED_DURING_USE(), end, region, before)
            elif before.is_known_by_register_use and self._history.strict:
                content = ptx7xx.ONLY_REGISTERS_SHOW_COMPLETION(wait="wait").under(ptx7xx.TENSOR_DEALLOCATED_IN_USE)
                self._add_rule_violation(content, end, region, before, Severity.WARNING)

        group.cta.machine.observer.on_tensor_memory_checked()

    def on_cluster_exit(self, cluster: ClusterState) -> None:
        """All CTAs of a cluster have exited: they must have deallocated their Tensor Memory."""
        for cta in cluster.ctas:
            memory = cta.tensor_memory
            peer = cluster.ctas[cta.rank ^ 1].tensor_memory if cluster.size > cta.rank ^ 1 else None
            for first, count in memory.allocations.items():
                half = first in memory.paired_allocations and peer is not None and not peer.allocations
                self._report_leak(cta, first, count, half=half)
        for cta in cluster.ctas:
            self._drop_cta(cta)

    def _report_leak(self, cta: CtaState, first: int, count: int, *, half: bool) -> None:
        """Reports columns of a CTA that has exited. With `half`, its peer has deallocated the columns that both
        allocated.
        """
        for issue, region in self._uses.get(cta, {}).values():
            if issue.completion == ALLOCATION and region.start == first:
                own = self._witness(issue.location, int(issue.threads[0]), region)
                template = ptx7xx.ONLY_PEER_DEALLOCATES if half else ptx7xx.COLUMNS_NEVER_DEALLOCATED
                self._add_violation(template(count=count, cta=cta.ctaid), issue.location, (own,))

    def _drop_cta(self, cta: CtaState) -> None:
        """Discards the state of a CTA whose cluster has exited."""
        self._uses.pop(cta, None)
        for key in [each for each in self._waiting if each[0] is cta]:
            del self._waiting[key]

    # ------------------------------------------------------------------------------------------------ reporting

    def _add_rule_violation(
        self,
        content: Message,
        issue: TensorMemoryUse,
        region: TmemRegion,
        before: TensorMemoryUse,
        severity: Severity | None = None,
    ) -> None:
        """Reports two uses of columns. The message lacks the fields that all such findings share."""
        before.is_reported = before.is_reported or severity is None
        own = self._witness(issue.location, int(issue.threads[0]), region)
        other = self._witness(before.location, int(before.threads[0]), region)
        does = "deallocates" if content.code == ptx7xx.TENSOR_DEALLOCATED_IN_USE else "uses"
        content = content.with_fields(action=own.action, access=does, other=other.action)
        lacks = () if content.code == ptx7xx.TENSOR_FENCE else UNAWAITED
        self._add_violation(content, issue.location, (own, other), severity, lacks)

    def _witness(
        self, place: tuple[FunctionCode, int, CtaState], thread: int, region: TmemRegion | None = None
    ) -> Witness:
        code, pc, cta = place
        machine = cta.machine
        offset = code.offsets[pc]
        text, line, by = code.instructions[pc].opcode, machine.line_of(offset), machine.thread_of(thread)
        start, size = (0, 0) if region is None else (region.address, region.end - region.start)
        return Witness(text, line, by, cta.ctaid, "tensor" if size else "", start, size, offset=offset)

    @staticmethod
    def _add_violation(
        content: Message,
        place: tuple[FunctionCode, int, CtaState],
        shown: Iterable[Witness],
        severity: Severity | None = None,
        lacks: tuple[tuple[int, ...], ...] = (),
    ) -> None:
        code, pc, cta = place
        witnesses = tuple(shown)
        finding = Violation(content, witnesses[0].line, code.offsets[pc], witnesses, severity, lacks)
        cta.machine.report.add(finding, witnesses[-1].line)


def tensor_memory_order_of(group: ThreadGroup) -> TensorMemoryOrder | None:
    """Returns the observer of the order of accesses to Tensor Memory, or None if none exists."""
    observer = group.cta.machine.observer
    return observer.find(TensorMemoryOrder) if observer.is_checking else None


def _describe_columns(regions: Iterable[TmemRegion]) -> str:
    stretches = sorted({(each.start, each.end - 1) for each in regions})
    return "columns " + ", ".join(f"{start} to {end}" for start, end in stretches[:3])
