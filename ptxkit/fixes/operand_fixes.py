"""Proposes fixes that change or remove existing statements: an operand, a number, a guard, a redundant statement.

These are guesses, the most likely first; a fix is offered only where the check of the changed text shows that it is
valid. No such fix is safe: the author may have intended another change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias, get_args

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix
from ptxkit.diagnostics.catalogue import fix_titles, ptx2xx, ptx3xx, ptx5xx, ptx6xx, ptx7xx, ptx9xx
from ptxkit.diagnostics.catalogue.ptx9xx import SuggestedStatement
from ptxkit.fast_dataclasses import replace
from ptxkit.fixes.address_fixes import (
    fix_double_conversion,
    fix_generic_in_space,
    fix_misalignment,
    fix_offset_as_generic,
    fix_out_of_bounds,
    fix_wrong_space,
)
from ptxkit.fixes.cancel_fixes import fix_after_refusal
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.fixes.snippets import (
    MbarrierTarget,
    is_duplicate,
    join_words,
    mbarrier_operand,
    mbarrier_operand_text,
    on_first_thread,
    thread_counts,
    with_guard_of,
)
from ptxkit.fixes.statement_edits import (
    delete_statement,
    labeled_steps,
    replace_opcode,
    replace_operand,
    respell_opcode,
    statement_text,
)
from ptxkit.fixes.tcgen05_fixes import fix_cta_group, fix_lane_ownership, fix_missing_commit
from ptxkit.isa.effects import Barrier, MbarrierArrive, MbarrierExpect, MbarrierWait
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Integer, Name

FixProposer: TypeAlias = Callable[[Diagnostic, FunctionContext, Step], Iterator[Fix]]

MBARRIER_BYTES = 8
COUNTED_ARRIVE_OPERANDS = 3
"""The number of operands of an arrival with a count: the state, the mbarrier, the count."""


def propose_operand_fixes(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields changes for findings about existing statements."""
    found = _BY_CODE.get(item.code)
    if found is not None:
        yield from found(item, around, step)


def _use_neighboring_mbarrier(around: FunctionContext, step: Step, others: Iterable[Step]) -> Iterator[Fix]:
    """Yields the mbarriers next to the one that an operand names, if the operand has an offset."""
    for each in dict.fromkeys((step, *others)):
        for place, operand in enumerate(each.instruction.operands):
            if isinstance(operand, Address) and operand.offset and any(operand == of for of in _mbarriers(each)):
                for offset in (operand.offset - MBARRIER_BYTES, operand.offset + MBARRIER_BYTES):
                    new = print_operand(replace(operand, offset=offset))
                    yield Fix(fix_titles.USE_MBARRIER(address=new), (replace_operand(around, each, place, new),))


def _mbarriers(step: Step) -> Iterator[Address]:
    for kind in get_args(MbarrierTarget):
        address = mbarrier_operand(step, kind)
        if address is not None:
            yield address


def _modifier(step: Step, slot: str) -> str | None:
    """Returns the value that an opcode has in a slot of its form."""
    return step.match.modifiers.get(slot) if step.match is not None else None


def _widen_to_cluster(item: Diagnostic, around: FunctionContext, _: Step) -> Iterator[Fix]:
    """Yields the arrival and the wait by which one CTA synchronizes with another, in the scope of the cluster."""
    edits, opcodes = [], []
    for each in labeled_steps(item, around)[1:]:
        order = "acquire" if mbarrier_operand_text(each, MbarrierWait) else "release"
        name, *words = each.instruction.opcode.split(".")
        kept = [word for word in words if word not in (_modifier(each, "sem"), _modifier(each, "sc"))]
        tried = (".".join([name, *kept[:at], order, "cluster", *kept[at:]]) for at in range(len(kept) + 1))
        opcode = next((new for old in tried if (new := respell_opcode(each, old)) is not None), None)
        if opcode is not None and opcode != each.instruction.opcode:
            edits.append(replace_opcode(around, each, opcode))
            opcodes.append(f"`{opcode}`")
    if edits:
        yield Fix(fix_titles.WRITE_EACH(opcodes=join_words(opcodes)), tuple(edits))


def _make_release(item: Diagnostic, around: FunctionContext, _: Step) -> Iterator[Fix]:
    """Yields a release in place of a relaxed arrival that a finding names."""
    for each in labeled_steps(item, around):
        if _modifier(each, "sem") == "relaxed" and (
            mbarrier_operand_text(each, MbarrierArrive) is not None or _is_cluster_barrier(each)
        ):
            words = each.instruction.opcode.split(".")
            opcode = respell_opcode(each, ".".join("release" if word == "relaxed" else word for word in words))
            if opcode is not None:
                yield Fix(fix_titles.WRITE(text=opcode), (replace_opcode(around, each, opcode),), safe=True)


def _widen_to_gpu(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the scope of all CTAs that share a word, which includes that of a CTA."""
    words = step.instruction.opcode.split(".")
    wanted = respell_opcode(step, ".".join("gpu" if each == item.properties.get("scope") else each for each in words))
    if wanted is not None:
        yield Fix(fix_titles.WRITE(text=wanted), (replace_opcode(around, step, wanted),), safe=True)


def _fix_double_init(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields an initialization by one thread, or the removal of the second one."""
    others = labeled_steps(item, around)
    if not others:
        yield from _guard_by_first_thread(around, step)
    for each in (step, *others) if others else ():
        yield Fix(fix_titles.REMOVE(text=statement_text(around, each)), (delete_statement(around, each),))


def _fix_excess_arrivals(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields a larger count of the phase, or an arrival of one thread."""
    yield from _fix_wrong_mbarrier(item, around, step)
    count = item.properties.get("count")
    made = around.step_at(item.labels[-1].span.start) if item.labels else None
    if (
        isinstance(count, int)
        and made is not None
        and any(mbarrier_operand_text(each, MbarrierWait) for each in around.program.steps)
    ):
        all_threads = thread_counts(around) if step.instruction.guard is None else ()
        warp = (count + WARP_SIZE,) if count % WARP_SIZE == 0 else ()
        for new in dict.fromkeys((count + 1, *(each for each in all_threads if each > count), *warp)):
            yield from _replace_init_count(around, made, count, new)
    operands = step.instruction.operands
    if (
        step.match is not None
        and mbarrier_operand_text(step, MbarrierArrive)
        and len(operands) == COUNTED_ARRIVE_OPERANDS
    ):
        yield Fix(fix_titles.ARRIVE_ONCE(), (replace_operand(around, step, COUNTED_ARRIVE_OPERANDS - 1, "1"),))
    yield from _guard_by_first_thread(around, step)


def _delete_duplicate(around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the removal of a statement that repeats an adjacent one."""
    if is_duplicate(around, step):
        yield Fix(fix_titles.REMOVE_DUPLICATE(text=statement_text(around, step)), (delete_statement(around, step),))


def _fix_wrong_mbarrier(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the removal of a duplicate, an earlier expect-tx, or the adjacent mbarriers."""
    yield from _delete_duplicate(around, step)
    yield from _move_expect_before_arrive(around, step, labeled_steps(item, around))
    yield from _use_neighboring_mbarrier(around, step, labeled_steps(item, around))


def _move_expect_before_arrive(around: FunctionContext, step: Step, others: Iterable[Step]) -> Iterator[Fix]:
    """Yields an expect-tx without an arrival before the arrival that may complete the phase."""
    if not mbarrier_operand_text(step, MbarrierExpect) or mbarrier_operand_text(step, MbarrierArrive):
        return
    for other in others:
        if mbarrier_operand_text(other, MbarrierArrive) and other.index < step.index:
            text = statement_text(around, step)
            edits = (around.insert_line(other.start, text), delete_statement(around, step))
            yield Fix(fix_titles.MOVE_BEFORE_ARRIVAL(text=text), edits)


def _replace_init_count(around: FunctionContext, made: Step, old: int, new: int) -> Iterator[Fix]:
    operands = made.instruction.operands
    last = operands[-1] if operands else None
    if isinstance(last, Name) or (isinstance(last, Integer) and last.value == old):
        yield Fix(fix_titles.MAKE_COUNT(count=new), (replace_operand(around, made, len(operands) - 1, str(new)),))


def _guard_by_first_thread(around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields a statement of all threads with a guard for one thread."""
    if step.instruction.guard is None:
        span = statement_spans(around.source, step.start).statement
        text = around.source.text[span.start : span.end]
        new = around.indent_lines(span.start, on_first_thread(text))
        yield Fix(fix_titles.GUARD_BY_FIRST_THREAD(), (Edit(span, new),))


def _drop_guard(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields a statement that all lanes must execute without its guard; for a cluster barrier, also its other half."""
    halves = (
        [each for each in around.program.steps if _is_cluster_barrier(each)]
        if item.code == ptx6xx.UNPAIRED_CLUSTER_BARRIER
        else []
    )
    for each in dict.fromkeys((step, *labeled_steps(item, around), *halves)):
        spans = statement_spans(around.source, each.start)
        if spans.guard is not None and spans.opcode is not None:
            title = fix_titles.REMOVE_GUARD(text=statement_text(around, each)[len(with_guard_of(each, "")) :])
            yield Fix(title, (Edit(Span(spans.guard.start, spans.opcode.start), ""),))


def _fix_uncommitted(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields another mbarrier, or a commit by another thread."""
    yield from _fix_wrong_mbarrier(item, around, step)
    yield from fix_missing_commit(item, around)


def _fix_lane_mask(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the lanes of the executing warp, or a statement without its guard."""
    yield from fix_lane_ownership(item, around, step)
    yield from _drop_guard(item, around, step)


def _fix_register_count(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the instruction for the opposite change of the register count, or a statement without its guard."""
    turned = {"dec": "inc", "inc": "dec"}
    if "wanted" in item.properties:
        wanted = respell_opcode(step, ".".join(turned.get(word, word) for word in step.instruction.opcode.split(".")))
        if wanted is not None:
            yield Fix(fix_titles.WRITE(text=wanted), (replace_opcode(around, step, wanted),))
    yield from _drop_guard(item, around, step)


def _move_later(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields a statement after this one that precedes it too early, or one without its guard."""
    for other in labeled_steps(item, around):
        if other.index < step.index:
            text = statement_text(around, other)
            edits = (delete_statement(around, other), around.insert_line(around.end_of(step), text))
            yield Fix(fix_titles.MOVE_AFTER_THIS(text=text), edits)
    yield from _drop_guard(item, around, step)


def _is_cluster_barrier(step: Step) -> bool:
    return any(isinstance(effect, Barrier) and effect.level == "cluster" for effect in step.effects)


def _fix_barrier_number(_: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the numbers of other barriers."""
    own = _barrier_number(step)
    numbers = dict.fromkeys(number for each in around.program.steps if (number := _barrier_number(each)) is not None)
    for number in numbers if own is not None else ():
        if number != own:
            yield Fix(fix_titles.USE_BARRIER(number=number), (replace_operand(around, step, 0, str(number)),))


def _barrier_number(step: Step) -> int | None:
    """Returns the number of the CTA barrier of an instruction, if it is a constant."""
    first = step.instruction.operands[:1]
    is_barrier = any(isinstance(effect, Barrier) and effect.level == "cta" for effect in step.effects)
    return first[0].value if is_barrier and first and isinstance(first[0], Integer) else None


def _delete_redundant(_: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the removal of a redundant statement."""
    yield Fix(fix_titles.REMOVE(text=statement_text(around, step)), (delete_statement(around, step),))


def _insert_suggested(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields the statement that the rule suggests, with the same guard."""
    if isinstance(item.payload, SuggestedStatement):
        text = item.payload.text
        span = statement_spans(around.source, step.start).statement
        yield Fix(fix_titles.WRITE(text=text), (Edit(span, with_guard_of(step, text)),))


_BY_CODE: Mapping[str, FixProposer] = {
    ptx2xx.GENERIC_ADDRESS_IN_SPACE: fix_generic_in_space,
    ptx2xx.SPACE_OFFSET_AS_GENERIC: fix_offset_as_generic,
    ptx2xx.MISALIGNED_ADDRESS: fix_misalignment,
    ptx2xx.OUT_OF_BOUNDS: fix_out_of_bounds,
    ptx2xx.ADDRESS_OF_ANOTHER_SPACE: fix_wrong_space,
    ptx2xx.GENERIC_WINDOW_MISMATCH: fix_double_conversion,
    ptx3xx.READ_BEFORE_WAIT: _make_release,
    ptx3xx.PARTIAL_WARPGROUP: _drop_guard,
    ptx5xx.MBARRIER_USE_BEFORE_INIT: _fix_wrong_mbarrier,
    ptx5xx.MBARRIER_DOUBLE_INIT: _fix_double_init,
    ptx5xx.MBARRIER_TX_COUNT_MISMATCH: _fix_wrong_mbarrier,
    ptx5xx.MBARRIER_MISSING_ARRIVALS: _fix_wrong_mbarrier,
    ptx5xx.MBARRIER_EXCESS_ARRIVALS: _fix_excess_arrivals,
    ptx5xx.MBARRIER_WITHOUT_ORDERING: _widen_to_cluster,
    ptx6xx.BARRIER_DEADLOCK: _fix_barrier_number,
    ptx6xx.PARTIAL_WARP_BARRIER: _drop_guard,
    ptx6xx.REGISTER_COUNTS: _fix_register_count,
    ptx6xx.UNPAIRED_CLUSTER_BARRIER: _drop_guard,
    ptx6xx.CANCEL_AFTER_FAILURE: fix_after_refusal,
    ptx6xx.SHARED_MEMORY_RACE: _make_release,
    ptx6xx.ATOMIC_SCOPE_TOO_NARROW: _widen_to_gpu,
    ptx7xx.TENSOR_ALLOCATION: _move_later,
    ptx7xx.MIXED_CTA_GROUPS: fix_cta_group,
    ptx7xx.TENSOR_COMPLETION: _fix_uncommitted,
    ptx7xx.TENSOR_LANES: _fix_lane_mask,
    ptx9xx.REDUNDANT_PROXY_FENCE: _delete_redundant,
    ptx9xx.EMPTY_WAIT: _delete_redundant,
    ptx9xx.DUPLICATE_SYNC: _delete_redundant,
    ptx9xx.EMPTY_GROUP: _delete_redundant,
    ptx9xx.OVERBROAD_PROXY_FENCE: _insert_suggested,
    ptx9xx.INEFFECTIVE_SYNC: _delete_redundant,
    ptx9xx.UNUSED_MBARRIER: _delete_redundant,
}
