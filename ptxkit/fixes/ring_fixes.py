"""Proposes fixes of findings about a ring: the missing arrival of its readers, and the mbarrier to wait for or to
arrive at.

The address is that of a neighboring mbarrier: at an offset from a register, or in another variable at the same slot. No
such fix is safe: the author may have intended another change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Fix
from ptxkit.diagnostics.catalogue import fix_titles
from ptxkit.diagnostics.catalogue.ptx5xx import MbarrierPair, MisplacedArrival, MissingArrival
from ptxkit.diagnostics.message import TextTemplate
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.fixes.insertions import space_suffix
from ptxkit.fixes.limits import MAX_INSERTION_POINTS
from ptxkit.fixes.snippets import MbarrierTarget, mbarrier_operand
from ptxkit.fixes.statement_edits import replace_operand
from ptxkit.isa.effects import MbarrierWait
from ptxkit.syntax.printer import print_operand
from ptxkit.syntax.tree import Address, Name


@dataclass(frozen=True, slots=True)
class _MbarrierText:
    """An operand, and the statements that compute the register in it."""

    operand: str
    setup: str = ""


def propose_ring_fixes(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields changes for a finding whose rule determined the mbarrier of an arrival or a wait."""
    if isinstance(item.payload, MissingArrival):
        yield from _insert_arrival(around, step, item.payload)
    elif isinstance(item.payload, MisplacedArrival):
        arrival = around.step_at(item.payload.statement)
        yield from _replace_mbarrier(around, arrival, item.payload.mbarriers, fix_titles.ARRIVE_AT_MBARRIER)
    elif isinstance(item.payload, MbarrierPair):
        wait = around.step_at(item.payload.statement)
        yield from _replace_mbarrier(around, wait, item.payload, fix_titles.WAIT_FOR_MBARRIER)


def _insert_arrival(around: FunctionContext, wait: Step, missing: MissingArrival) -> Iterator[Fix]:
    """Yields the arrival of the readers, of each thread or of one lane for its warp after a warp barrier."""
    step, reader = around.step_at(missing.place), around.step_at(missing.mbarriers.statement)
    if step is None or reader is None:
        return
    place = around.end_of(step) if missing.is_after else step.start
    for address in (*_same_text(around, wait, step), *_neighbors(around, missing.mbarriers)):
        arrival = f"mbarrier.arrive{space_suffix(reader)}.b64 _, {address.operand};"
        if missing.by_warp:
            lane, is_first = around.unused_name("lane"), around.unused_name("elected")
            setup = f".reg .b32 {lane};\n.reg .pred {is_first};\n{address.setup}"
            chosen = f"mov.u32 {lane}, %laneid;\nsetp.eq.u32 {is_first}, {lane}, 0;\n@{is_first} {arrival}"
            barrier = "bar.warp.sync -1;"
            text = f"{barrier}\n{_block(setup + chosen)}"
            title = fix_titles.ADD_ONE_ARRIVAL_PER_WARP(barrier=barrier, arrival=arrival)
        else:
            text = _block(address.setup + arrival) if address.setup else arrival
            title = fix_titles.ADD(text=arrival)
        yield Fix(title, (around.insert_line(place, text),))


def _replace_mbarrier(
    around: FunctionContext, step: Step | None, pair: MbarrierPair, title: TextTemplate
) -> Iterator[Fix]:
    """Yields the other mbarrier as the operand of a wait or an arrival. pair: from that of a wait to the other one."""
    operand = _find_mbarrier_operand(step) if step is not None else None
    if step is None or operand is None:
        return
    at = step.instruction.operands.index(operand)
    for address in (*_operands_of_others(around, step, operand), *_neighbors(around, pair)):
        change = replace_operand(around, step, at, address.operand)
        setup = (around.insert_line(step.start, address.setup.strip()),) if address.setup else ()
        yield Fix(title(address=address.operand), (*setup, change))


def _find_mbarrier_operand(step: Step) -> Address | None:
    return next(filter(None, (mbarrier_operand(step, kind) for kind in get_args(MbarrierTarget))), None)


def _same_text(around: FunctionContext, wait: Step, step: Step) -> Iterator[_MbarrierText]:
    """Yields the operand of the writer's wait unchanged, if its register has a value in the readers' code."""
    operand = mbarrier_operand(wait, MbarrierWait)
    if operand is not None and isinstance(operand.base, Name):
        name = operand.base.text
        if around.reaching_writers(step, name) not in ([], around.reaching_writers(wait, name)):
            yield _MbarrierText(print_operand(operand))


def _operands_of_others(around: FunctionContext, user: Step, own: Address) -> list[_MbarrierText]:
    """Returns the mbarrier operands of other instructions, nearest first, that have a value at a wait or an arrival."""
    found = {
        operand: None
        for step in sorted(around.program.steps, key=lambda step: abs(step.index - user.index))
        if (operand := _find_mbarrier_operand(step)) not in (None, own)
        and isinstance(operand.base, Name)
        and around.is_always_assigned(user, operand.base.text)
    }
    return [_MbarrierText(print_operand(operand)) for operand in found][:MAX_INSERTION_POINTS]


def _neighbors(around: FunctionContext, pair: MbarrierPair) -> Iterator[_MbarrierText]:
    """Yields the address of the other mbarrier, derived from the operand for the current one."""
    wait = around.step_at(pair.statement)
    operand = mbarrier_operand(wait, MbarrierWait) if wait is not None else None
    if wait is None or operand is None or not isinstance(operand.base, Name):
        return
    moved = replace(operand, offset=operand.offset + pair.distance)
    if pair.own is None or pair.other is None:
        yield _MbarrierText(print_operand(moved))
        return
    base = operand.base.text
    if base == pair.own:
        yield _MbarrierText(print_operand(replace(moved, base=Name(pair.other))))
        return
    width = around.width(wait, base)
    if width is None:
        return
    own, other = around.unused_name("own"), around.unused_name("other")
    setup = (
        f".reg .b{width} {own};\n.reg .b{width} {other};\nmov.b{width} {own}, {pair.own};\n"
        f"mov.b{width} {other}, {pair.other};\nsub.s{width} {own}, {base}, {own};\n"
        f"add.s{width} {other}, {other}, {own};\n"
    )
    yield _MbarrierText(print_operand(Address(Name(other), moved.offset)), setup)


def _block(text: str) -> str:
    return "{\n\t" + text.replace("\n", "\n\t") + "\n}"
