"""Which instructions are asynchronous or synchronise, and what each does, in a few words: no walk is needed for it."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.program import Program, Step
from ptxkit.isa.effects import (
    Access,
    AsyncRegisters,
    Barrier,
    Cancellation,
    CommitGroup,
    Effect,
    Grid,
    MbarrierArrive,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
    MemoryFence,
    Prefetch,
    ProxyFence,
    RegisterCount,
    RegisterFence,
    TensorFence,
    TensorMemory,
    WaitGroup,
)
from ptxkit.isa.expressions import Const, Expression, Role
from ptxkit.syntax.constants import evaluate
from ptxkit.syntax.printer import print_operand
from ptxkit.views import Happening, Sort

#: Of an instruction with several effects the first of these counts.
_ORDER = (Sort.ISSUE, Sort.COMMIT, Sort.WAIT, Sort.ARRIVE, Sort.BARRIER, Sort.FENCE, Sort.SETUP)


def happenings(program: Program, lines: dict[Step, int]) -> Iterator[tuple[Step, Happening]]:
    """The steps of a program that are asynchronous or synchronise, in the order of the text. lines: of each step."""
    for step in program.steps:
        sort = sort_of(step)
        if sort is not None:
            opcode = step.instruction.opcode
            words = dict.fromkeys(filter(None, (_words(step, effect) for effect in step.effects)))
            yield step, Happening(lines[step], sort, opcode, "; ".join(words))


def sort_of(step: Step) -> Sort | None:
    """What a step has to do with synchronisation; None where nothing."""
    found = {sort for effect in step.effects if (sort := _sort(effect)) is not None}
    return next((sort for sort in _ORDER if sort in found), None)


def _sort(effect: Effect) -> Sort | None:
    match effect:
        case Access(completion=str()) | Prefetch() | AsyncRegisters():
            return Sort.ISSUE
        case CommitGroup() | MbarrierArrive(asynchronous=True) | MbarrierTrack():
            return Sort.COMMIT
        case WaitGroup() | MbarrierWait() | Grid(action="wait"):
            return Sort.WAIT
        case ProxyFence() | MemoryFence() | RegisterFence() | TensorFence():
            return Sort.FENCE
        case Barrier(level="warp", order="relaxed"):
            return None  # lanes that meet in a shuffle or a vote
        case Barrier():
            return Sort.BARRIER
        case MbarrierArrive() | MbarrierExpect() | Grid():
            return Sort.ARRIVE
        case MbarrierInit() | MbarrierInvalidate() | TensorMemory() | RegisterCount() | Cancellation(action="request"):
            return Sort.SETUP
    return None


def _words(step: Step, effect: Effect) -> str:  # noqa: PLR0912 (a case for each effect)
    match effect:
        case CommitGroup(group):
            return f"closes the {_group(group)}"
        case WaitGroup(group, pending, reads, commits):
            count = _said(step, pending)
            what = f"the {_group(group)}s are read" if reads else f"the {_group(group)}s are complete"
            most = "" if count == "0" else f", all but the last {count}"
            return f"{'closes its group and ' if commits and group == 'cp.async' else ''}waits until {what}{most}"
        case ProxyFence(proxy, spaces, direction):
            way = "" if direction == "both" else f", {direction}"
            return f"orders the generic and the {proxy} proxy{way}{': ' if spaces else ''}{', '.join(spaces)}"
        case MemoryFence(order, scope, only):
            return f"memory fence: {order}, {scope}" + (f", of {only}" if only else "")
        case RegisterFence(group):
            return f"orders registers before {group}"
        case TensorFence(side):
            return f"tcgen05 fence {side} the threads synchronise"
        case Barrier(level, action, number, threads) if _sort(effect) is not None:
            which = f" {_said(step, number)}" if number is not None and level == "cta" else ""
            count = f", {_said(step, threads)} threads" if threads is not None else ""
            return f"{level} barrier{which}: {action}{count}"
        case MbarrierInit(barrier, count):
            return f"makes mbarrier {_said(step, Role(barrier))} for {_said(step, count)} arrivals"
        case MbarrierInvalidate(barrier):
            return f"ends mbarrier {_said(step, Role(barrier))}"
        case MbarrierArrive(barrier, count, expect, asynchronous=late):
            more = f", {_said(step, expect)} bytes expected" if expect is not None else ""
            when = "has what was issued arrive" if late else "arrives"
            return f"{when} at mbarrier {_said(step, Role(barrier))}{more}"
        case MbarrierTrack(barrier):
            return f"has its copies arrive at mbarrier {_said(step, Role(barrier))}"
        case MbarrierExpect(barrier, size):
            return f"mbarrier {_said(step, Role(barrier))} expects {_said(step, size)} bytes"
        case MbarrierWait(barrier, phase, by):
            return f"waits at mbarrier {_said(step, Role(barrier))} by {by} {_said(step, Role(phase))}"
        case Grid(action):
            return "waits for the grids before" if action == "wait" else "lets the next grid start"
        case RegisterCount(action, count):
            return f"registers: {action} to {_said(step, count)}"
        case TensorMemory(action, _, columns):
            return f"Tensor Memory: {action}" + (f", {_said(step, columns)} columns" if columns is not None else "")
    return ""


def _group(group: str) -> str:
    return f"{'bulk' if group == 'bulk' else group} group"


def _said(step: Step, expression: Expression | None) -> str:
    """A number, or the operand as it is written; `?` for what is computed."""
    match expression:
        case Const(value):
            return str(value)
        case Role(name) if step.match is not None:
            operand = step.match.operand(name, step.instruction)
            if operand is None:
                return "?"
            number = evaluate(operand)
            return str(number) if number is not None else print_operand(operand)
    return "?"
