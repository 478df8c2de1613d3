"""Ordering of accesses to Tensor Memory: which earlier operations on the same columns may still be in flight.

Loads and stores are complete when their warp waits for them; multiplications, copies and shifts when a commit arrives.
Other threads must synchronize with that, for which relaxed arrivals and waits suffice. Multiplications, copies and
shifts are pipelined among themselves. A use of its registers shows that a load is complete; only the strict policy
requires a wait then. What lanes of a warp know counts for the whole warp: its loads, stores and waits are collective.

Source: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations", "tcgen05.fence",
"tcgen05.wait".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import Violation, Witness
from ptxkit.emulator.races.vector_clocks import COMPLETED, CtaClocks
from ptxkit.emulator.sync.async_operation import TCGEN05
from ptxkit.emulator.tensor.tmem_regions import TmemRegion
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa import table
from ptxkit.isa.effects import CtaGroup, TensorFence

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.engine.executable import DecodedFunction
    from ptxkit.emulator.races.happens_before_monitor import HappensBeforeMonitor
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

LOAD, STORE, ALLOCATION = "tcgen05.ld", "tcgen05.st", "tcgen05.alloc"
_WAIT_OF_ACCESS = {LOAD: "tcgen05.wait::ld", STORE: "tcgen05.wait::st"}
_WARP_SIZE = 32


@lru_cache(maxsize=4096)
def is_fence_after_sync(opcode: str) -> bool:
    """Return whether an instruction orders asynchronous operations after a synchronization of threads."""
    effects = (each for match in table().candidates(opcode) for each in match.effects)
    return any(isinstance(each, TensorFence) and each.side == "after" for each in effects)


@lru_cache(maxsize=4096)
def _cta_group_of(opcode: str) -> int:
    """Return the number of CTAs of an instruction's `cta_group`; 0 where it has none."""
    effects = (each for match in table().candidates(opcode) for each in match.effects)
    return next((each.ctas for each in effects if isinstance(each, CtaGroup)), 0)


def _cta_group_uses(code: DecodedFunction) -> Iterator[tuple[int, int]]:
    """Yield the instructions of a function that have a `cta_group`."""
    for pc, instruction in enumerate(code.instructions):
        ctas = _cta_group_of(instruction.opcode)
        if ctas:
            yield ctas, pc


@dataclass(slots=True, eq=False)
class TensorMemoryUse:
    """One execution, by a thread or a warp. done: agents and times that signal its completion; None before that.

    fenced: warps that executed a fence since they know. blamed: whether a finding mentions it. by_use: whether its
    completion is only known from a use of its registers.
    """

    location: tuple[DecodedFunction, int, Cta]
    threads: Any
    completion: str
    clocks: CtaClocks
    completion_clock: tuple[Any, Any] | None = None
    fenced_warps: set[tuple[Cta, int]] = field(default_factory=set)
    is_reported: bool = False
    is_known_by_register_use: bool = False

    @property
    def warp(self) -> tuple[Cta, int]:
        """Return the warp that executes it."""
        return self.location[2], int(self.threads[0]) // _WARP_SIZE

    def mark_complete(self) -> None:
        """Record that its threads know of its completion."""
        self.completion_clock, self.is_known_by_register_use = (
            (self.threads, self.clocks.own_times[self.threads].copy()),
            False,
        )

    def record_commit(self, engine: int) -> None:
        """Record that a commit has arrived: threads that acquire from its mbarrier know of the completion."""
        self.completion_clock = numpy.array([engine]), self.clocks.own_times[[engine]].copy()


class TensorMemoryOrder:
    """The operations on the Tensor Memory of each CTA, by the regions that were accessed."""

    def __init__(self, clocks: HappensBeforeMonitor) -> None:
        self._monitor = clocks
        self._uses: dict[Cta, dict[tuple[object, ...], tuple[TensorMemoryUse, TmemRegion]]] = {}
        self._waiting: dict[tuple[Cta, int, str], list[TensorMemoryUse]] = {}
        self._loaded_registers: dict[tuple[object, int, int], TensorMemoryUse] = {}
        self._cta_groups: dict[int, tuple[DecodedFunction, int]] | None = None

    # ------------------------------------------------------------------------------------------------ accesses

    def record_use(
        self, group: ThreadGroup, threads: Any, completion: str, regions: Iterable[TmemRegion]
    ) -> TensorMemoryUse:
        """Record a use of regions: no conflicting operation on them may be in flight."""
        cta = group.cta
        issue = TensorMemoryUse(
            (group.activation.function, group.pc, cta), threads, completion, self._monitor.clocks_of(cta)
        )
        regions = list(regions)
        moves = completion in _WAIT_OF_ACCESS
        if moves:
            does, detail = ("read", "begins to load") if completion == LOAD else ("write", "begins to store")
            self._monitor.on_tensor_memory_op(group, does, f"{detail} {_describe_columns(regions)}")
        for region in regions:
            for before, other in list(self._uses.setdefault(region.cta, {}).values()):
                if before is not issue and other.overlaps(region):
                    self._check_use(issue, region, before, other)
        if moves:
            self._monitor.on_tensor_memory_checked()
        for region in regions:
            self._add_use(issue, region)
        if moves:
            self._waiting.setdefault((*issue.warp, completion), []).append(issue)
        return issue

    def _add_use(self, issue: TensorMemoryUse, region: TmemRegion) -> None:
        """Add a use; earlier uses that it covers were compared with it and are removed."""
        uses = self._uses[region.cta]
        if region.writes:
            for key, (before, other) in list(uses.items()):
                if before.completion != ALLOCATION and before is not issue and region.contains(other):
                    del uses[key]
        uses[issue.warp, issue.completion, *region.key] = issue, region

    def record_wait(self, group: ThreadGroup, kind: str) -> None:
        """Record that warps wait for their loads or stores."""
        what = "loads" if kind == LOAD else "stores"
        self._monitor.on_tensor_memory_op(group, "wait", f"wait for their {what} of Tensor Memory")
        for warp in numpy.unique(group.lanes.index // _WARP_SIZE).tolist():
            for issue in self._waiting.pop((group.cta, warp, kind), ()):
                issue.mark_complete()

    def record_load(self, group: ThreadGroup, slots: Iterable[int]) -> None:
        """Record that warps have started loads to registers."""
        for warp in numpy.unique(group.lanes.index // _WARP_SIZE).tolist():
            begun = self._waiting.get((group.cta, warp, LOAD), ())
            for issue in begun[-1:]:
                self._loaded_registers.update(((group.activation, slot, warp), issue) for slot in slots)

    def record_register_use(self, group: ThreadGroup, slots: Iterable[int]) -> None:
        """Record that threads use registers, which shows that the loads to these are complete."""
        if self._loaded_registers:
            for warp in numpy.unique(group.lanes.index // _WARP_SIZE).tolist():
                for slot in slots:
                    issue = self._loaded_registers.pop((group.activation, slot, warp), None)
                    if issue is not None and issue.completion_clock is None:
                        issue.mark_complete()
                        issue.is_known_by_register_use = True

    # --------------------------------------------------------------------------------------------------- fences

    def record_fence(self, group: ThreadGroup) -> None:
        """Record a fence: later operations of its threads on Tensor Memory are ordered after all that they know."""
        self._monitor.on_tensor_memory_op(group, "fence", "what they do to Tensor Memory comes behind what they know")
        warps = [(group.cta, each) for each in numpy.unique(group.lanes.index // _WARP_SIZE).tolist()]
        issues = {issue for cta in group.cta.cluster.ctas for issue, _ in self._uses.get(cta, {}).values()}
        for issue in issues:
            if issue.completion in (TCGEN05, ALLOCATION):
                issue.fenced_warps.update(
                    warp
                    for warp in warps
                    if warp not in issue.fenced_warps and self._is_completion_observed(issue, warp)
                )

    def _is_completion_observed(self, issue: TensorMemoryUse, warp: tuple[Cta, int]) -> bool:
        """Return whether a lane of a warp knows that an operation is complete."""
        if issue.completion_clock is None:
            return False
        if issue.warp == warp and issue.completion != TCGEN05:
            return True
        cta, number = warp
        agents, times = issue.completion_clock
        lanes = numpy.arange(number * _WARP_SIZE, min((number + 1) * _WARP_SIZE, cta.threads))
        known = self._monitor.clocks_of(cta)
        heard = [
            known.relaxed_vector,
            *(told for lane in lanes.tolist() for _, told in known.pending_acquires.get(lane, ())),
        ]
        if any(issue.clocks in told and (told[issue.clocks][COMPLETED, agents] >= times).any() for told in heard):
            return True
        who, whom = numpy.repeat(lanes, len(agents)), numpy.tile(agents, len(lanes))
        return bool(known.happens_before(who, issue.clocks, whom, numpy.tile(times, len(lanes))).any())

    def _requires_fence(self, issue: TensorMemoryUse) -> bool:
        """Return whether fences are required: kernels without any rely on how GPUs issue instructions."""
        codes = issue.location[2].machine.program.decoded_functions
        return self._monitor.strict or any(is_fence_after_sync(each) for code in codes for each in code.opcodes)

    # ------------------------------------------------------------------------------------------------- checking

    def _check_use(
        self, issue: TensorMemoryUse, region: TmemRegion, before: TensorMemoryUse, other: TmemRegion
    ) -> None:
        """Whether a use of columns may come when it does."""
        pipelined = issue.completion == TCGEN05
        if before.completion in _WAIT_OF_ACCESS:
            self._check_move(issue, region, before, other)
        elif before.completion == ALLOCATION or not pipelined:
            told = self._is_completion_observed(before, issue.warp)
            if not told and before.completion == TCGEN05:
                what = "nothing tells this thread that its commit has arrived"
                if before.completion_clock is None:
                    what = "no commit of its thread has told that it is complete"
                self._add_rule_violation("PTX704", issue, region, before, f"may still be working on: {what}")
            elif told and issue.warp != before.warp and issue.warp not in before.fenced_warps and other.writes:
                self._check_fence(issue, region, before)

    def _check_move(
        self, issue: TensorMemoryUse, region: TmemRegion, before: TensorMemoryUse, other: TmemRegion
    ) -> None:
        if not (region.writes or other.writes):
            return
        wait = _WAIT_OF_ACCESS[before.completion]
        if before.completion_clock is None:
            usual = issue.warp == before.warp and (before.completion, issue.completion) == (STORE, LOAD)
            severity = "warning" if usual else "error"  # kernels of the vendor load behind a store without a wait
            self._add_rule_violation(
                "PTX706", issue, region, before, f"may still be working on: no `{wait}` has come", severity
            )
        elif not self._is_completion_observed(before, issue.warp):
            self._add_rule_violation("PTX706", issue, region, before, "works on: nothing orders the two")
        elif before.is_known_by_register_use and self._monitor.strict:
            what = f"has worked on: only that its registers are used shows that it is over, and no `{wait}` has come"
            self._add_rule_violation("PTX706", issue, region, before, what, "warning")

    def _check_fence(self, issue: TensorMemoryUse, region: TmemRegion, before: TensorMemoryUse) -> None:
        if self._requires_fence(issue):
            codes = issue.location[2].machine.program.decoded_functions
            has_any = any(is_fence_after_sync(each) for code in codes for each in code.opcodes)
            does = "has allocated" if before.completion == ALLOCATION else "has written"
            what = f"{does}: no `tcgen05.fence::after_thread_sync` stands behind what told the thread of it"
            self._add_rule_violation("PTX705", issue, region, before, what, "error" if has_any else "warning")

    def record_cta_group(self, group: ThreadGroup) -> bool:
        """Threads execute an instruction for one CTA, or for a pair. Whether the kernel has both."""
        if self._cta_groups is None:
            self._cta_groups = {}
            for each in group.cta.machine.program.decoded_functions:
                for ctas, pc in _cta_group_uses(each):
                    self._cta_groups.setdefault(ctas, (each, pc))
            if len(self._cta_groups) > 1:
                self._report_mixed(group, *self._cta_groups.values())
        return len(self._cta_groups) > 1

    def _report_mixed(
        self, group: ThreadGroup, usual: tuple[DecodedFunction, int], odd: tuple[DecodedFunction, int]
    ) -> None:
        thread = int(group.lanes.index[0])
        own, other = (self._witness((*each, group.cta), thread) for each in (odd, usual))
        text = f"`{own.action}` has another group of CTAs than `{other.action}` at line {other.line}"
        self._add_violation("PTX702", text, (*odd, group.cta), (own, other))

    # ---------------------------------------------------------------------------------------------- allocation

    def record_allocation(self, group: ThreadGroup, threads: Any, region: TmemRegion) -> None:
        """A warp takes columns. Its lanes may read at once where, which is written for all of them."""
        place, known = (group.activation.function, group.pc, group.cta), self._monitor.clocks_of(group.cta)
        known.acquire_clock(threads, known.release_clock(threads[:1]))
        issue = TensorMemoryUse(place, threads, ALLOCATION, known)
        issue.mark_complete()
        self._uses.setdefault(region.cta, {})[issue.warp, ALLOCATION, *region.key] = issue, region
        self._monitor.on_tensor_memory_op(group, "write", f"takes {_describe_columns([region])}")

    def record_deallocation(self, group: ThreadGroup, threads: Any, region: TmemRegion) -> None:
        """A warp gives columns back: all that was done with them must be over."""
        end = TensorMemoryUse(
            (group.activation.function, group.pc, group.cta), threads, "", self._monitor.clocks_of(group.cta)
        )
        uses = self._uses.get(region.cta, {})
        self._monitor.on_tensor_memory_op(group, "write", f"gives back {_describe_columns([region])}")
        for key, (before, other) in list(uses.items()):
            if not other.overlaps(region):
                continue
            del uses[key]
            moves = before.completion in _WAIT_OF_ACCESS
            if before.completion == ALLOCATION or before.is_reported or (moves and before.warp == end.warp):
                continue
            if (moves or other.writes) and not self._is_completion_observed(before, end.warp):
                self._add_rule_violation(
                    "PTX708", end, region, before, "may still be working on: nothing tells that it is over"
                )
            elif before.is_known_by_register_use and self._monitor.strict:
                what = "has worked on: only that its registers are used shows that it is over, and no wait has come"
                self._add_rule_violation("PTX708", end, region, before, what, "warning")

        self._monitor.on_tensor_memory_checked()

    def report_leak(self, cta: Cta, first: int, count: int, *, half: bool) -> None:
        """A CTA has ended with columns that it took. half: its peer has given back what both took."""
        for issue, region in self._uses.get(cta, {}).values():
            if issue.completion == ALLOCATION and region.start == first:
                own = self._witness(issue.location, int(issue.threads[0]), region)
                if half:
                    text = f"only its peer gives back the {count} columns that CTA {cta.ctaid} of the pair took"
                    self._add_violation("PTX708", text, issue.location, (own,))
                else:
                    text = f"CTA {cta.ctaid} ends, and {count} columns of Tensor Memory are never given back"
                    self._add_violation("PTX701", text, issue.location, (own,))

    def drop_cta(self, cta: Cta) -> None:
        """Discard the state of a CTA whose cluster has exited."""
        self._uses.pop(cta, None)
        for key in [each for each in self._waiting if each[0] is cta]:
            del self._waiting[key]

    # ------------------------------------------------------------------------------------------------ reporting

    def _add_rule_violation(
        self,
        rule: str,
        issue: TensorMemoryUse,
        region: TmemRegion,
        before: TensorMemoryUse,
        what: str,
        severity: str = "error",
    ) -> None:
        before.is_reported = before.is_reported or severity == "error"
        own = self._witness(issue.location, int(issue.threads[0]), region)
        other = self._witness(before.location, int(before.threads[0]), region)
        does = "gives back" if rule == "PTX708" else "uses"
        text = f"`{own.action}` {does} Tensor Memory that `{other.action}` at line {other.line} {what}"
        self._add_violation(rule, text, issue.location, (own, other), severity)

    def _witness(
        self, place: tuple[DecodedFunction, int, Cta], thread: int, region: TmemRegion | None = None
    ) -> Witness:
        code, pc, cta = place
        machine = cta.machine
        text, line = code.instructions[pc].opcode, machine.line_of(code.offsets[pc])
        start, size = (0, 0) if region is None else (region.address, region.end - region.start)
        return Witness(text, line, machine.thread_of(thread), cta.ctaid, "tensor" if size else "", start, size)

    def _add_violation(
        self,
        rule: str,
        text: str,
        place: tuple[DecodedFunction, int, Cta],
        shown: Iterable[Witness],
        severity: str = "error",
    ) -> None:
        code, pc, cta = place
        witnesses = tuple(shown)
        finding = Violation(
            rule, text, witnesses[0].line, code.offsets[pc], witnesses, _MISSING_ORDERING[rule], severity
        )
        cta.machine.report.add(finding, witnesses[-1].line)


def _describe_columns(regions: Iterable[TmemRegion]) -> str:
    """Describe columns in words."""
    stretches = sorted({(each.start, each.end - 1) for each in regions})
    return "columns " + ", ".join(f"{start} to {end}" for start, end in stretches[:3])


_MISSING_ORDERING = {
    "PTX701": "`tcgen05.dealloc` with the same address and number of columns, by one warp, before the CTA ends",
    "PTX702": "one `.cta_group` in all tcgen05 instructions of the kernel",
    "PTX704": "`tcgen05.commit` by the thread that issued it, and a wait on its mbarrier before the columns are used",
    "PTX705": "`tcgen05.fence::after_thread_sync` behind the wait or the barrier",
    "PTX706": "`tcgen05.wait` behind the load or store, before others are told",
    "PTX708": "a barrier, or a wait for the commit, between the last use and the deallocation",
}
"""For each rule, what is missing."""
