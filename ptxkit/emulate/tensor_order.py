"""Accesses to Tensor Memory held against those before them: who may still be working on the columns that are used.

Loads and stores are over when their warp waits for them, multiplications, copies and shifts when a commit arrives;
other threads must be told of it, and relaxed arrivals and waits tell of it, too. These last are pipelined among
themselves. That registers are used shows that a load has come; only the strict policy asks for a wait then. What lanes
of a warp know counts for all of it: its loads, stores and waits are those of the whole warp.

Source: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations", "tcgen05.fence",
"tcgen05.wait".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Finding, Witness
from ptxkit.emulate.knowledge import DONE, Knowledge
from ptxkit.emulate.operations import TCGEN05
from ptxkit.emulate.tensor.regions import Region
from ptxkit.isa import table
from ptxkit.isa.effects import CtaGroup, TensorFence
from ptxkit.records import dataclass, field

if TYPE_CHECKING:
    from ptxkit.emulate.clocks import Clocks
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.program import Code

LOAD, STORE, ALLOCATION = "tcgen05.ld", "tcgen05.st", "tcgen05.alloc"
_WAITS = {LOAD: "tcgen05.wait::ld", STORE: "tcgen05.wait::st"}
_WARP = 32


@lru_cache(maxsize=4096)
def is_fence_behind(opcode: str) -> bool:
    """Whether an instruction orders asynchronous operations behind a synchronisation of threads."""
    effects = (each for match in table().candidates(opcode) for each in match.effects)
    return any(isinstance(each, TensorFence) and each.side == "after" for each in effects)


@lru_cache(maxsize=4096)
def _group_of(opcode: str) -> int:
    """For how many CTAs an instruction is; 0 where that is no question."""
    effects = (each for match in table().candidates(opcode) for each in match.effects)
    return next((each.ctas for each in effects if isinstance(each, CtaGroup)), 0)


def _groups_of(code: Code) -> Iterator[tuple[int, int]]:
    """The instructions of a function that are for one CTA, or for a pair."""
    for pc, instruction in enumerate(code.instructions):
        ctas = _group_of(instruction.opcode)
        if ctas:
            yield ctas, pc


@dataclass(slots=True, eq=False)
class Issue:
    """One execution, by a thread or a warp. done: agents and times that tell of its end; None while nobody can know.

    fenced: warps that had a fence since they know. blamed: whether a finding speaks of it. by_use: whether it is only
    known to be over since its registers were used.
    """

    place: tuple[Code, int, Cta]
    threads: Any
    completion: str
    known: Knowledge
    done: tuple[Any, Any] | None = None
    fenced: set[tuple[Cta, int]] = field(default_factory=set)
    blamed: bool = False
    by_use: bool = False

    @property
    def warp(self) -> tuple[Cta, int]:
        """The warp that executes it."""
        return self.place[2], int(self.threads[0]) // _WARP

    def ends(self) -> None:
        """Its threads know that it is over."""
        self.done, self.by_use = (self.threads, self.known.own[self.threads].copy()), False

    def completed(self, engine: int) -> None:
        """A commit has arrived: whoever knows what its mbarrier tells knows that it is over."""
        self.done = numpy.array([engine]), self.known.own[[engine]].copy()


class TensorOrder:
    """What was done to the Tensor Memory of each CTA, by the regions that were touched."""

    def __init__(self, clocks: Clocks) -> None:
        self._clocks = clocks
        self._uses: dict[Cta, dict[tuple[object, ...], tuple[Issue, Region]]] = {}
        self._waiting: dict[tuple[Cta, int, str], list[Issue]] = {}
        self._loaded: dict[tuple[object, int, int], Issue] = {}
        self._groups: dict[int, tuple[Code, int]] | None = None

    # ------------------------------------------------------------------------------------------------ accesses

    def uses(self, group: Group, threads: Any, completion: str, regions: Iterable[Region]) -> Issue:
        """Threads use regions: nobody else may be working on them."""
        cta = group.cta
        issue = Issue((group.activation.code, group.pc, cta), threads, completion, self._clocks.knowledge(cta))
        regions = list(regions)
        moves = completion in _WAITS
        if moves:
            does, detail = ("read", "begins to load") if completion == LOAD else ("write", "begins to store")
            self._clocks.tensor_happens(group, does, f"{detail} {_named(regions)}")
        for region in regions:
            for before, other in list(self._uses.setdefault(region.cta, {}).values()):
                if before is not issue and other.meets(region):
                    self._judge(issue, region, before, other)
        if moves:
            self._clocks.tensor_judged()
        for region in regions:
            self._keep(issue, region)
        if moves:
            self._waiting.setdefault((*issue.warp, completion), []).append(issue)
        return issue

    def _keep(self, issue: Issue, region: Region) -> None:
        """Enter a use; what it covers was held against it, and need not be held against others."""
        uses = self._uses[region.cta]
        if region.writes:
            for key, (before, other) in list(uses.items()):
                if before.completion != ALLOCATION and before is not issue and region.covers(other):
                    del uses[key]
        uses[issue.warp, issue.completion, *region.key] = issue, region

    def waited(self, group: Group, kind: str) -> None:
        """Warps wait for their loads, or stores."""
        what = "loads" if kind == LOAD else "stores"
        self._clocks.tensor_happens(group, "wait", f"wait for their {what} of Tensor Memory")
        for warp in numpy.unique(group.lanes.index // _WARP).tolist():
            for issue in self._waiting.pop((group.cta, warp, kind), ()):
                issue.ends()

    def loads_to(self, group: Group, slots: Iterable[int]) -> None:
        """Warps have just begun to load to registers."""
        for warp in numpy.unique(group.lanes.index // _WARP).tolist():
            begun = self._waiting.get((group.cta, warp, LOAD), ())
            for issue in begun[-1:]:
                self._loaded.update(((group.activation, slot, warp), issue) for slot in slots)

    def registers_used(self, group: Group, slots: Iterable[int]) -> None:
        """Threads use registers: what was loaded to them has come."""
        if self._loaded:
            for warp in numpy.unique(group.lanes.index // _WARP).tolist():
                for slot in slots:
                    issue = self._loaded.pop((group.activation, slot, warp), None)
                    if issue is not None and issue.done is None:
                        issue.ends()
                        issue.by_use = True

    # --------------------------------------------------------------------------------------------------- fences

    def fenced(self, group: Group) -> None:
        """Threads execute a fence: what they do to Tensor Memory from here on stands behind all that they know."""
        self._clocks.tensor_happens(group, "fence", "what they do to Tensor Memory comes behind what they know")
        warps = [(group.cta, each) for each in numpy.unique(group.lanes.index // _WARP).tolist()]
        issues = {issue for cta in group.cta.cluster.ctas for issue, _ in self._uses.get(cta, {}).values()}
        for issue in issues:
            if issue.completion in (TCGEN05, ALLOCATION):
                issue.fenced.update(warp for warp in warps if warp not in issue.fenced and self._is_told(issue, warp))

    def _is_told(self, issue: Issue, warp: tuple[Cta, int]) -> bool:
        """Whether a lane of a warp knows that an operation is over."""
        if issue.done is None:
            return False
        if issue.warp == warp and issue.completion != TCGEN05:
            return True
        cta, number = warp
        agents, times = issue.done
        lanes = numpy.arange(number * _WARP, min((number + 1) * _WARP, cta.threads))
        known = self._clocks.knowledge(cta)
        heard = [known.heard, *(told for lane in lanes.tolist() for _, told in known.seen.get(lane, ()))]
        if any(issue.known in told and (told[issue.known][DONE, agents] >= times).any() for told in heard):
            return True
        who, whom = numpy.repeat(lanes, len(agents)), numpy.tile(agents, len(lanes))
        return bool(known.knows(who, issue.known, whom, numpy.tile(times, len(lanes))).any())

    def _wants_fence(self, issue: Issue) -> bool:
        """Whether fences are asked for: kernels without any rely on how GPUs issue instructions."""
        codes = issue.place[2].machine.program.codes
        return self._clocks.strict or any(is_fence_behind(each) for code in codes for each in code.opcodes)

    # ------------------------------------------------------------------------------------------------- judging

    def _judge(self, issue: Issue, region: Region, before: Issue, other: Region) -> None:
        """Whether a use of columns may come when it does."""
        pipelined = issue.completion == TCGEN05
        if before.completion in _WAITS:
            self._judge_move(issue, region, before, other)
        elif before.completion == ALLOCATION or not pipelined:
            told = self._is_told(before, issue.warp)
            if not told and before.completion == TCGEN05:
                what = "nothing tells this thread that its commit has arrived"
                if before.done is None:
                    what = "no commit of its thread has told that it is complete"
                self._found("PTX704", issue, region, before, f"may still be working on: {what}")
            elif told and issue.warp != before.warp and issue.warp not in before.fenced and other.writes:
                self._judge_fence(issue, region, before)

    def _judge_move(self, issue: Issue, region: Region, before: Issue, other: Region) -> None:
        if not (region.writes or other.writes):
            return
        wait = _WAITS[before.completion]
        if before.done is None:
            usual = issue.warp == before.warp and (before.completion, issue.completion) == (STORE, LOAD)
            severity = "warning" if usual else "error"  # kernels of the vendor load behind a store without a wait
            self._found("PTX706", issue, region, before, f"may still be working on: no `{wait}` has come", severity)
        elif not self._is_told(before, issue.warp):
            self._found("PTX706", issue, region, before, "works on: nothing orders the two")
        elif before.by_use and self._clocks.strict:
            what = f"has worked on: only that its registers are used shows that it is over, and no `{wait}` has come"
            self._found("PTX706", issue, region, before, what, "warning")

    def _judge_fence(self, issue: Issue, region: Region, before: Issue) -> None:
        if self._wants_fence(issue):
            codes = issue.place[2].machine.program.codes
            has_any = any(is_fence_behind(each) for code in codes for each in code.opcodes)
            does = "has allocated" if before.completion == ALLOCATION else "has written"
            what = f"{does}: no `tcgen05.fence::after_thread_sync` stands behind what told the thread of it"
            self._found("PTX705", issue, region, before, what, "error" if has_any else "warning")

    def is_mixed(self, group: Group) -> bool:
        """Threads execute an instruction for one CTA, or for a pair. Whether the kernel has both."""
        if self._groups is None:
            self._groups = {}
            for each in group.cta.machine.program.codes:
                for ctas, pc in _groups_of(each):
                    self._groups.setdefault(ctas, (each, pc))
            if len(self._groups) > 1:
                self._mixed(group, *self._groups.values())
        return len(self._groups) > 1

    def _mixed(self, group: Group, usual: tuple[Code, int], odd: tuple[Code, int]) -> None:
        thread = int(group.lanes.index[0])
        own, other = (self._witness((*each, group.cta), thread) for each in (odd, usual))
        text = f"`{own.action}` has another group of CTAs than `{other.action}` at line {other.line}"
        self._add("PTX702", text, (*odd, group.cta), (own, other))

    # ---------------------------------------------------------------------------------------------- allocation

    def allocated(self, group: Group, threads: Any, region: Region) -> None:
        """A warp takes columns. Its lanes may read at once where, which is written for all of them."""
        place, known = (group.activation.code, group.pc, group.cta), self._clocks.knowledge(group.cta)
        known.learn(threads, known.tell(threads[:1]))
        issue = Issue(place, threads, ALLOCATION, known)
        issue.ends()
        self._uses.setdefault(region.cta, {})[issue.warp, ALLOCATION, *region.key] = issue, region
        self._clocks.tensor_happens(group, "write", f"takes {_named([region])}")

    def given_back(self, group: Group, threads: Any, region: Region) -> None:
        """A warp gives columns back: all that was done with them must be over."""
        end = Issue((group.activation.code, group.pc, group.cta), threads, "", self._clocks.knowledge(group.cta))
        uses = self._uses.get(region.cta, {})
        self._clocks.tensor_happens(group, "write", f"gives back {_named([region])}")
        for key, (before, other) in list(uses.items()):
            if not other.meets(region):
                continue
            del uses[key]
            moves = before.completion in _WAITS
            if before.completion == ALLOCATION or before.blamed or (moves and before.warp == end.warp):
                continue
            if (moves or other.writes) and not self._is_told(before, end.warp):
                self._found("PTX708", end, region, before, "may still be working on: nothing tells that it is over")
            elif before.by_use and self._clocks.strict:
                what = "has worked on: only that its registers are used shows that it is over, and no wait has come"
                self._found("PTX708", end, region, before, what, "warning")

        self._clocks.tensor_judged()

    def is_lost(self, cta: Cta, first: int, count: int, *, half: bool) -> None:
        """A CTA has ended with columns that it took. half: its peer has given back what both took."""
        for issue, region in self._uses.get(cta, {}).values():
            if issue.completion == ALLOCATION and region.start == first:
                own = self._witness(issue.place, int(issue.threads[0]), region)
                if half:
                    text = f"only its peer gives back the {count} columns that CTA {cta.ctaid} of the pair took"
                    self._add("PTX708", text, issue.place, (own,))
                else:
                    text = f"CTA {cta.ctaid} ends, and {count} columns of Tensor Memory are never given back"
                    self._add("PTX701", text, issue.place, (own,))

    def ends(self, cta: Cta) -> None:
        """A cluster has ended: nothing of a CTA is kept."""
        self._uses.pop(cta, None)
        for key in [each for each in self._waiting if each[0] is cta]:
            del self._waiting[key]

    # ------------------------------------------------------------------------------------------------ reporting

    def _found(
        self, rule: str, issue: Issue, region: Region, before: Issue, what: str, severity: str = "error"
    ) -> None:
        before.blamed = before.blamed or severity == "error"
        own = self._witness(issue.place, int(issue.threads[0]), region)
        other = self._witness(before.place, int(before.threads[0]), region)
        does = "gives back" if rule == "PTX708" else "uses"
        text = f"`{own.action}` {does} Tensor Memory that `{other.action}` at line {other.line} {what}"
        self._add(rule, text, issue.place, (own, other), severity)

    def _witness(self, place: tuple[Code, int, Cta], thread: int, region: Region | None = None) -> Witness:
        code, pc, cta = place
        machine = cta.machine
        text, line = code.instructions[pc].opcode, machine.line_of(code.offsets[pc])
        start, size = (0, 0) if region is None else (region.address, region.end - region.start)
        return Witness(text, line, machine.thread_of(thread), cta.ctaid, "tensor" if size else "", start, size)

    def _add(
        self, rule: str, text: str, place: tuple[Code, int, Cta], shown: Iterable[Witness], severity: str = "error"
    ) -> None:
        code, pc, cta = place
        witnesses = tuple(shown)
        finding = Finding(rule, text, witnesses[0].line, code.offsets[pc], witnesses, _MISSING[rule], severity)
        cta.machine.report.add(finding, witnesses[-1].line)


def _named(regions: Iterable[Region]) -> str:
    """Columns in words."""
    stretches = sorted({(each.start, each.end - 1) for each in regions})
    return "columns " + ", ".join(f"{start} to {end}" for start, end in stretches[:3])


_MISSING = {
    "PTX701": "`tcgen05.dealloc` with the same address and number of columns, by one warp, before the CTA ends",
    "PTX702": "one `.cta_group` in all tcgen05 instructions of the kernel",
    "PTX704": "`tcgen05.commit` by the thread that issued it, and a wait on its mbarrier before the columns are used",
    "PTX705": "`tcgen05.fence::after_thread_sync` behind the wait or the barrier",
    "PTX706": "`tcgen05.wait` behind the load or store, before others are told",
    "PTX708": "a barrier, or a wait for the commit, between the last use and the deallocation",
}
"""By rule, what is missing."""
