"""Proposes fixes of findings about missing synchronization: the statement, at each place where it may belong.

These are guesses, the most likely first. The finding states what is missing and names the statements at which this is
observed, but not the place of the missing statement. A fix is offered only where the check of the changed text shows
that it is valid. No such fix is safe: some threads may never arrive at an inserted barrier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix, Severity
from ptxkit.diagnostics.catalogue import fix_titles, ptx3xx, ptx4xx, ptx5xx, ptx6xx, ptx7xx
from ptxkit.fast_dataclasses import replace
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.fixes.limits import MAX_INSERTION_POINTS
from ptxkit.fixes.snippets import (
    MbarrierTarget,
    mbarrier_operand,
    mbarrier_operand_text,
    on_first_thread,
    thread_counts,
    with_guard_of,
)
from ptxkit.fixes.statement_edits import labeled_steps
from ptxkit.isa.effects import (
    Access,
    Barrier,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierTrack,
    MbarrierWait,
)
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Name

_RACE_CODES = {
    ptx3xx.READ_BEFORE_WAIT,
    ptx3xx.SOURCE_REUSED_IN_FLIGHT,
    ptx5xx.MBARRIER_USE_BEFORE_INIT,
    ptx5xx.MBARRIER_INVAL_IN_USE,
    ptx6xx.SHARED_MEMORY_RACE,
    ptx7xx.TENSOR_DEALLOCATED_IN_USE,
}
_CTA_BARRIER = "bar.sync 0;"
_CLUSTER_BARRIER = "barrier.cluster.arrive;\nbarrier.cluster.wait;"


def propose_insertions(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields statements to insert for a finding about synchronization."""
    is_wrong = item.severity is Severity.ERROR or item.code == ptx6xx.READ_BEFORE_GRID_WAIT
    if not is_wrong:
        return
    others = labeled_steps(item, around)
    if item.code == ptx4xx.TENSOR_MAP_FENCE:
        yield from _insert_tensormap_acquire(item, around, step)
    if item.code == ptx5xx.MBARRIER_TX_COUNT_MISMATCH:
        yield from _insert_expect_tx(item, around, step, others)
    if item.code in (ptx5xx.MBARRIER_TX_COUNT_MISMATCH, ptx5xx.MBARRIER_MISSING_ARRIVALS):
        yield from _insert_arrive(around, step, others)
    if item.code == ptx5xx.MBARRIER_USE_BEFORE_INIT and not others:
        yield from _insert_mbarrier_init(around, step)
    if item.code in (ptx6xx.REMOTE_ACCESS_TOO_EARLY, ptx6xx.UNPAIRED_CLUSTER_BARRIER):
        yield from _insert_cluster_half(around)
    if item.code == ptx6xx.REMOTE_ACCESS_TOO_EARLY:
        for made in (each for each in others if mbarrier_operand_text(each, MbarrierInit)):
            yield from _insert_at(
                around, [around.end_of(made)], with_guard_of(made, "fence.mbarrier_init.release.cluster;")
            )
        places = dict.fromkeys((around.entry_point, *islice(around.points_before(step), MAX_INSERTION_POINTS)))
        yield from _insert_at(around, places, _CLUSTER_BARRIER)
    if item.code == ptx6xx.READ_BEFORE_GRID_WAIT:
        yield from _insert_at(around, [step.start], "griddepcontrol.wait;")
    if item.code == ptx6xx.EXIT_TOO_EARLY and around.exit_points:
        edits = tuple(around.insert_line(place, _CLUSTER_BARRIER) for place in around.exit_points)
        yield Fix(fix_titles.ADD(text=_on_one_line(_CLUSTER_BARRIER)), edits)
    if item.code in _RACE_CODES and others:
        yield from _insert_barrier(item, around, step, others)


def _insert_barrier(item: Diagnostic, around: FunctionContext, step: Step, others: list[Step]) -> Iterator[Fix]:
    """Yields the barrier that the finding names, or one of all threads, unless no barrier suffices.

    The places are before the release, before the faulty access, and after the other access.
    """
    text = item.properties.get("barrier", _barrier_text(around))
    if isinstance(text, str):
        before = (
            each for other in (*others[1:], step) for each in islice(around.points_before(other), MAX_INSERTION_POINTS)
        )
        later_points = list(islice(around.points_after(others[0]), MAX_INSERTION_POINTS))
        yield from _insert_at(around, dict.fromkeys((*before, *later_points)), text)


def _insert_tensormap_acquire(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the fence by which a thread acquires a changed tensor map, before the copy with the map."""
    if item.properties.get("missing") != "acquire":
        return
    maps = [each for each in step.instruction.operands if isinstance(each, Address) and each.index]
    for each in maps[:1]:
        text = f"fence.proxy.tensormap::generic.acquire.gpu [{print_operand(each.base)}], 128;"
        yield from _insert_at(around, [step.start], with_guard_of(step, text))


def _insert_expect_tx(item: Diagnostic, around: FunctionContext, step: Step, others: list[Step]) -> Iterator[Fix]:
    """Yields an expect-tx for copies whose bytes no thread expects: in an arrival, otherwise with a new one."""
    copied = item.properties.get("copied")
    if not isinstance(copied, int) or item.properties.get("expected"):
        return
    arriving = (each for each in around.program.steps if mbarrier_operand_text(each, MbarrierArrive))
    near = sorted(arriving, key=lambda each: abs(each.index - step.index))
    arrivals = list(dict.fromkeys((step, *others, *near[:MAX_INSERTION_POINTS])))
    for each in arrivals:
        yield from _insert_arrive_expect_tx(around, each, copied)
    for each in arrivals:
        address = mbarrier_operand_text(each, MbarrierArrive)
        if address:
            text = f"mbarrier.expect_tx.relaxed.cta{space_suffix(each)}.b64 {address}, {copied};"
            yield from _insert_at(around, [each.start], with_guard_of(each, text))
    for each in (step, *others):
        address = mbarrier_operand_text(each, MbarrierComplete)
        if address:
            text = f"mbarrier.arrive.expect_tx.shared::cta.b64 _, {address}, {copied};"
            yield from _insert_at(
                around,
                islice(around.points_before(each), MAX_INSERTION_POINTS),
                with_guard_of(each, text),
                like=(each,),
            )


def _insert_arrive_expect_tx(around: FunctionContext, step: Step, size: int) -> Iterator[Fix]:
    """Yields fixes that make a plain arrival of one thread also expect bytes."""
    name, action, *words = step.instruction.opcode.split(".")
    operands = step.instruction.operands
    if mbarrier_operand_text(step, MbarrierArrive) and len(operands) == 2 and "expect_tx" not in words:
        spans = statement_spans(around.source, step.start)
        opcode = ".".join((name, action, "expect_tx", *words))
        end = spans.operands[-1].end
        if spans.opcode is not None:
            edits = (Edit(spans.opcode, opcode), Edit(Span(end, end), f", {size}"))
            yield Fix(fix_titles.ADD_EXPECT_TX(size=size, opcode=opcode), edits)


def _insert_arrive(around: FunctionContext, step: Step, others: list[Step]) -> Iterator[Fix]:
    """Yields an arrival after an expect-tx without one; otherwise arrivals before the endless wait.

    The latter are those of all threads, or of one.
    """
    address = mbarrier_operand_text(step, MbarrierExpect)
    if address and not mbarrier_operand_text(step, MbarrierArrive):
        text = f"mbarrier.arrive{space_suffix(step)}.b64 _, {address};"
        yield from _insert_at(around, islice(around.points_after(step), 1), with_guard_of(step, text), like=(step,))
        return
    address = mbarrier_operand_text(step, MbarrierWait)
    if address is None:
        return
    yield from _insert_cp_async_arrive(around, step)
    text = f"mbarrier.arrive{space_suffix(step)}.b64 _, {address};"
    makers = [each for each in others if mbarrier_operand_text(each, MbarrierInit)]
    places = [place for place in islice(around.points_before(step), MAX_INSERTION_POINTS) if place != step.start] or [
        step.start
    ]
    for each in dict.fromkeys((text, *(with_guard_of(each, text) for each in makers), on_first_thread(text))):
        yield from _insert_at(around, places, each, like=(step, *makers))


def _insert_cp_async_arrive(around: FunctionContext, wait: Step) -> Iterator[Fix]:
    """Yields the arrival that completes when a thread's copies do, after the last copy before a wait."""
    address = mbarrier_operand(wait, MbarrierWait)
    copies = [each for each in around.program.steps[: wait.index] if _is_trackable_copy(each)]
    name = around.variable_of(address.base.text) if address is not None and isinstance(address.base, Name) else None
    if address is not None and name is not None and copies:
        text = f"cp.async.mbarrier.arrive.noinc.shared.b64 {print_operand(replace(address, base=Name(name)))};"
        yield from _insert_at(around, islice(around.points_after(copies[-1]), MAX_INSERTION_POINTS), text)


def _is_trackable_copy(step: Step) -> bool:
    """Returns whether an mbarrier may track the copies of an instruction."""
    return any(isinstance(effect, Access) and effect.completion == "cp.async" for effect in step.effects)


def _insert_mbarrier_init(around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the initialization of an mbarrier that no thread initializes, by one thread.

    The count is one arrival for each phase, or that of all warps or threads. The initialization is at the beginning
    where a variable holds the mbarrier; where its address is computed, it is before the use.
    """
    kinds: tuple[type[MbarrierTarget], ...] = (MbarrierWait, MbarrierArrive, MbarrierExpect, MbarrierTrack)
    own = next((address for kind in kinds if (address := mbarrier_operand(step, kind))), None)
    address = own or mbarrier_operand(step, MbarrierComplete)
    if address is None:
        return
    space = space_suffix(step).replace("cluster", "cta") if own else ".shared::cta"
    name = around.variable_of(address.base.text) if isinstance(address.base, Name) else None
    if name is not None:
        address, space = Address(Name(name), address.offset), ".shared"
    places = (
        [around.entry_point] if name is not None else list(islice(around.points_before(step), MAX_INSERTION_POINTS))
    )
    for count in dict.fromkeys((1, *thread_counts(around))):
        text = f"mbarrier.init{space}.b64 {print_operand(address)}, {count};"
        yield from _insert_at(around, places, f"{on_first_thread(text)}\n{_barrier_text(around)}", text, like=(step,))


def _insert_cluster_half(around: FunctionContext) -> Iterator[Fix]:
    """Yields the wait after an arrival at the barrier of the cluster, or the arrival before a wait."""
    halves = {"arrive": "barrier.cluster.wait;", "wait": "barrier.cluster.arrive;"}
    found = [
        (each, effect.action)
        for each in around.program.steps
        for effect in each.effects
        if isinstance(effect, Barrier) and effect.level == "cluster" and effect.action in halves
    ]
    for number, (each, action) in enumerate(found):
        near = found[number + 1 : number + 2] if action == "arrive" else found[max(number - 1, 0) : number]
        if all(other == action for _, other in near):
            places = around.points_after(each) if action == "arrive" else around.points_before(each)
            yield from _insert_at(around, islice(places, 1), halves[action])


def _insert_at(
    around: FunctionContext, places: Iterable[int], text: str, title: str | None = None, like: Iterable[Step] = ()
) -> Iterator[Fix]:
    """Yields the insertion of the same text at each place.

    title: the title of the fix, where the text is long. like: the statements from which the text takes its registers; a
    place at which these have other values, or none, is omitted.
    """
    like = tuple(like)
    for place in places:
        if all(around.keeps_registers(step, text, place) for step in like):
            yield Fix(fix_titles.ADD(text=title or _on_one_line(text)), (around.insert_line(place, text),))


def _has_clusters(around: FunctionContext) -> bool:
    """Returns whether the kernel declares clusters of several CTAs."""
    return around.program.function.directive("reqnctapercluster") is not None


def _barrier_text(around: FunctionContext) -> str:
    """Returns the barrier of all threads that may communicate with each other."""
    return _CLUSTER_BARRIER if _has_clusters(around) else _CTA_BARRIER


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def space_suffix(step: Step) -> str:
    """Returns the state space that an instruction names, with its dot; empty where its address is generic."""
    modifiers = step.match.modifiers if step.match is not None else {}
    space = modifiers.get("ss") or modifiers.get("dst") or ""
    return f".{space}" if space.startswith("shared") else ""
