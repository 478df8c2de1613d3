"""Which instructions are asynchronous or synchronise, and what each does, in a few words: no execution is needed for
it."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.program import Program, Step
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
from ptxkit.isa.expressions import ConstantExpr, Expression, OperandRole
from ptxkit.model.view import AsyncOp, AsyncOpCategory
from ptxkit.syntax.constants import evaluate
from ptxkit.syntax.printer import print_operand

#: Of an instruction with several effects the first of these counts.
_PRIORITY = (
    AsyncOpCategory.ISSUE,
    AsyncOpCategory.COMMIT,
    AsyncOpCategory.WAIT,
    AsyncOpCategory.ARRIVE,
    AsyncOpCategory.BARRIER,
    AsyncOpCategory.FENCE,
    AsyncOpCategory.SETUP,
)


def find_async_ops(program: Program, lines: dict[Step, int]) -> Iterator[tuple[Step, AsyncOp]]:
    """The steps of a program that are asynchronous or synchronise, in the order of the text. lines: of each step."""
    for step in program.steps:
        sort = category_of(step)
        if sort is not None:
            opcode = step.instruction.opcode
            words = dict.fromkeys(filter(None, (_describe_effect(step, effect) for effect in step.effects)))
            yield step, AsyncOp(lines[step], sort, opcode, "; ".join(words))


def category_of(step: Step) -> AsyncOpCategory | None:
    """What a step has to do with synchronisation; None where nothing."""
    found = {sort for effect in step.effects if (sort := _category_of_effect(effect)) is not None}
    return next((sort for sort in _PRIORITY if sort in found), None)


def _category_of_effect(effect: Effect) -> AsyncOpCategory | None:
    match effect:
        case Access(completion=str()) | Prefetch() | AsyncRegisters():
            return AsyncOpCategory.ISSUE
        case CommitGroup() | MbarrierArrive(asynchronous=True) | MbarrierTrack():
            return AsyncOpCategory.COMMIT
        case WaitGroup() | MbarrierWait() | Grid(action="wait"):
            return AsyncOpCategory.WAIT
        case ProxyFence() | MemoryFence() | RegisterFence() | TensorFence():
            return AsyncOpCategory.FENCE
        case Barrier(level="warp", order="relaxed"):
            return None  # lanes that meet in a shuffle or a vote
        case Barrier():
            return AsyncOpCategory.BARRIER
        case MbarrierArrive() | MbarrierExpect() | Grid():
            return AsyncOpCategory.ARRIVE
        case MbarrierInit() | MbarrierInvalidate() | TensorMemory() | RegisterCount() | Cancellation(action="request"):
            return AsyncOpCategory.SETUP
    return None


def _describe_effect(step: Step, effect: Effect) -> str:  # noqa: PLR0912 (a case for each effect)
    match effect:
        case CommitGroup(group):
            return f"closes the {_describe_group(group)}"
        case WaitGroup(group, pending, reads, commits):
            count = _format_operand(step, pending)
            what = f"the {_describe_group(group)}s are read" if reads else f"the {_describe_group(group)}s are complete"
            most = "" if count == "0" else f", all but the last {count}"
            return f"{'closes its group and ' if commits and group == 'cp.async' else ''}waits until {what}{most}"
        case ProxyFence(proxy, spaces, direction):
            suffix = "" if direction == "both" else f", {direction}"
            return f"orders the generic and the {proxy} proxy{suffix}{': ' if spaces else ''}{', '.join(spaces)}"
        case MemoryFence(order, scope, only):
            return f"memory fence: {order}, {scope}" + (f", of {only}" if only else "")
        case RegisterFence(group):
            return f"orders registers before {group}"
        case TensorFence(side):
            return f"tcgen05 fence {side} the threads synchronise"
        case Barrier(level, action, number, threads) if _category_of_effect(effect) is not None:
            which = f" {_format_operand(step, number)}" if number is not None and level == "cta" else ""
            count = f", {_format_operand(step, threads)} threads" if threads is not None else ""
            return f"{level} barrier{which}: {action}{count}"
        case MbarrierInit(barrier, count):
            return (
                f"makes mbarrier {_format_operand(step, OperandRole(barrier))} for "
                f"{_format_operand(step, count)} arrivals"
            )
        case MbarrierInvalidate(barrier):
            return f"ends mbarrier {_format_operand(step, OperandRole(barrier))}"
        case MbarrierArrive(barrier, count, expect, asynchronous=late):
            more = f", {_format_operand(step, expect)} bytes expected" if expect is not None else ""
            when = "has what was issued arrive" if late else "arrives"
            return f"{when} at mbarrier {_format_operand(step, OperandRole(barrier))}{more}"
        case MbarrierTrack(barrier):
            return f"has its copies arrive at mbarrier {_format_operand(step, OperandRole(barrier))}"
        case MbarrierExpect(barrier, size):
            return f"mbarrier {_format_operand(step, OperandRole(barrier))} expects {_format_operand(step, size)} bytes"
        case MbarrierWait(barrier, phase, by):
            return (
                f"waits at mbarrier {_format_operand(step, OperandRole(barrier))} by {by} "
                f"{_format_operand(step, OperandRole(phase))}"
            )
        case Grid(action):
            return "waits for the grids before" if action == "wait" else "lets the next grid start"
        case RegisterCount(action, count):
            return f"registers: {action} to {_format_operand(step, count)}"
        case TensorMemory(action, _, columns):
            return f"Tensor Memory: {action}" + (
                f", {_format_operand(step, columns)} columns" if columns is not None else ""
            )
    return ""


def _describe_group(group: str) -> str:
    return f"{'bulk' if group == 'bulk' else group} group"


def _format_operand(step: Step, expression: Expression | None) -> str:
    """A number, or the operand as it is written; `?` for what is computed."""
    match expression:
        case ConstantExpr(value):
            return str(value)
        case OperandRole(name):
            operand = step.operand(name)
            if operand is None:
                return "?"
            number = evaluate(operand)
            return str(number) if number is not None else print_operand(operand)
    return "?"
