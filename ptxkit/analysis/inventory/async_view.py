"""Lists the instructions that are asynchronous or synchronize, with short descriptions, without an execution."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.inventory.operand_values import OperandValues
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

#: The effects in order of priority: of an instruction with several effects, the first of these counts.
_PRIORITY = (
    AsyncOpCategory.ISSUE,
    AsyncOpCategory.COMMIT,
    AsyncOpCategory.WAIT,
    AsyncOpCategory.ARRIVE,
    AsyncOpCategory.BARRIER,
    AsyncOpCategory.FENCE,
    AsyncOpCategory.SETUP,
)


def find_async_ops(
    program: Program, lines: dict[Step, int], values: OperandValues | None = None
) -> Iterator[tuple[Step, AsyncOp]]:
    """Yields the steps of a program that are asynchronous or synchronize, in the order of the text.

    lines: the line of each step. values: of operands in the explored executions, if there were any.
    """
    for step in program.steps:
        sort = category_of(step)
        if sort is not None:
            opcode = step.instruction.opcode
            words = dict.fromkeys(filter(None, (_describe_effect(step, effect, values) for effect in step.effects)))
            threads = values.threads(step) if values is not None else ""
            yield step, AsyncOp(lines[step], sort, opcode, "; ".join(words), threads)


def category_of(step: Step) -> AsyncOpCategory | None:
    """Returns the category of a step that is asynchronous or synchronizes; None for any other step."""
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
            return None  # lanes converge in a shuffle or a vote
        case Barrier():
            return AsyncOpCategory.BARRIER
        case MbarrierArrive() | MbarrierExpect() | Grid():
            return AsyncOpCategory.ARRIVE
        case MbarrierInit() | MbarrierInvalidate() | TensorMemory() | RegisterCount() | Cancellation(action="request"):
            return AsyncOpCategory.SETUP
    return None


def _describe_effect(step: Step, effect: Effect, values: OperandValues | None) -> str:
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
            return f"tcgen05 fence {side} the threads synchronize"
        case Barrier(level, action, number, threads) if _category_of_effect(effect) is not None:
            return _describe_barrier(step, level, action, number, threads)
        case Grid(action):
            return "waits for the grids before" if action == "wait" else "lets the next grid start"
        case RegisterCount(action, count):
            return f"registers: {action} to {_format_operand(step, count)}"
        case TensorMemory(action, _, columns):
            return f"Tensor Memory: {action}" + (
                f", {_format_operand(step, columns)} columns" if columns is not None else ""
            )
    return _describe_mbarrier(step, effect, values)


def _describe_barrier(
    step: Step, level: str, action: str, number: Expression | None, threads: Expression | None
) -> str:
    which = f" {_format_operand(step, number)}" if number is not None and level == "cta" else ""
    count = f", {_format_operand(step, threads)} threads" if threads is not None else ""
    return f"{level} barrier{which}: {action}{count}"


def _describe_mbarrier(step: Step, effect: Effect, values: OperandValues | None) -> str:
    def name(role: str) -> str:
        known = values.barrier(step, effect) if values is not None else None
        return f"mbarrier {known or _format_operand(step, OperandRole(role))}"

    def number(known: int | None, expression: Expression) -> str:
        return _format_operand(step, expression) if known is None else str(known)

    amount = values.amount(step, effect) if values is not None else None
    expected = values.bytes(step, effect) if values is not None else None
    match effect:
        case MbarrierInit(barrier, count):
            arrivals = number(amount, count)
            return f"initializes {name(barrier)} for {arrivals} arrival{'' if arrivals == '1' else 's'} a phase"
        case MbarrierInvalidate(barrier):
            return f"invalidates {name(barrier)}"
        case MbarrierArrive(barrier, _, expect, asynchronous=late):
            more = f", which expects {number(expected, expect)} bytes" if expect is not None else ""
            when = f"makes {name(barrier)} track what was issued" if late else f"arrives at {name(barrier)}"
            return f"{when}{more}"
        case MbarrierTrack(barrier):
            return f"makes {name(barrier)} track its copies"
        case MbarrierExpect(barrier, size):
            return f"{name(barrier)} expects {number(expected, size)} bytes"
        case MbarrierWait(barrier, phase, by):
            return f"waits at {name(barrier)} for the phase of {by} {number(amount, OperandRole(phase))}"
    return ""


def _describe_group(group: str) -> str:
    return f"{'bulk' if group == 'bulk' else group} group"


def _format_operand(step: Step, expression: Expression | None) -> str:
    """Returns a number, or the operand as it is written; `?` for a computed value."""
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
