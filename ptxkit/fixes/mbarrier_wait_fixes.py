"""Proposes fixes of findings about waits for mbarriers: another parity, a tracked one, or a repeated wait.

A parity that is wrong from the first phase on is a constant, in the operand or as the initial value of the register. A
parity that is right only for the first phase needs a register that is flipped after each wait. A phase that is tested
once must be tested until it is complete. A missing wait belongs before the faulty access.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import Diagnostic, Edit, Fix, Severity
from ptxkit.diagnostics.catalogue import fix_titles, ptx3xx, ptx4xx, ptx5xx, ptx6xx, ptx7xx
from ptxkit.fixes.insertion_points import FunctionContext
from ptxkit.fixes.limits import MAX_CHANGED_WAITS, MAX_WAIT_DISTANCE, MAX_WAIT_INSERTION_POINTS
from ptxkit.fixes.snippets import is_duplicate, mbarrier_operand_text
from ptxkit.fixes.statement_edits import labeled_steps
from ptxkit.isa.effects import Control, MbarrierArrive, MbarrierComplete, MbarrierTrack, MbarrierWait, Value
from ptxkit.isa.expressions import CallExpr
from ptxkit.source import Span
from ptxkit.syntax import statement_spans
from ptxkit.syntax.tree import Integer, Name

_FENCE_AFTER_WAIT: Mapping[str, str] = {ptx7xx.TENSOR_COMPLETION: "\ntcgen05.fence::after_thread_sync;"}
"""The statement that follows an inserted wait, by the code of the finding."""
_WAIT_CODES = {
    ptx3xx.READ_BEFORE_WAIT,
    ptx3xx.SOURCE_REUSED_IN_FLIGHT,
    ptx4xx.REFILL_WITHOUT_PROXY_FENCE,
    ptx5xx.MBARRIER_MISSING_ARRIVALS,
    ptx5xx.MBARRIER_EXCESS_ARRIVALS,
    ptx6xx.SHARED_MEMORY_RACE,
    ptx7xx.TENSOR_COMPLETION,
}


def propose_wait_fixes(item: Diagnostic, around: FunctionContext, step: Step) -> Iterator[Fix]:
    """Yields changes of waits near a finding that a wait may cause, and waits that may be missing."""
    if item.code not in _WAIT_CODES or item.severity is not Severity.ERROR:
        return
    others = labeled_steps(item, around)
    blamed = [*others, step] if "parity" in item.properties else [step]
    found = list(islice(_nearby_waits(around, blamed), MAX_CHANGED_WAITS))
    for wait, effect in found:
        yield from _retry_in_loop(around, wait, effect)
    for wait, effect in found:
        if effect.by == "parity":
            yield from _flip_parity(around, wait, effect)
            yield from _track_parity(around, wait, effect)
    if item.code in (ptx3xx.READ_BEFORE_WAIT, ptx6xx.SHARED_MEMORY_RACE, ptx7xx.TENSOR_COMPLETION) or (
        item.code == ptx5xx.MBARRIER_EXCESS_ARRIVALS and not is_duplicate(around, step)
    ):
        yield from _insert_wait(around, step, others, _FENCE_AFTER_WAIT.get(item.code, ""))


def _nearby_waits(around: FunctionContext, blamed: list[Step]) -> Iterator[tuple[Step, MbarrierWait]]:
    """Yields the waits among the blamed statements, last first; otherwise those of the function, nearest first."""
    found = [
        (each, effect) for each in around.program.steps for effect in each.effects if isinstance(effect, MbarrierWait)
    ]
    own = [pair for each in reversed(blamed) for pair in found if pair[0] is each]
    yield from own or sorted(found, key=lambda pair: abs(pair[0].index - blamed[-1].index))


def _retry_in_loop(around: FunctionContext, wait: Step, effect: MbarrierWait) -> Iterator[Fix]:
    """Yields a loop around a wait that is not repeated."""
    result = wait.operand(effect.result)
    if not isinstance(result, Name) or wait.instruction.guard is not None or _retry_branch(around, wait) is not None:
        return
    span = statement_spans(around.source, wait.start).statement
    head, tail = "{\nagain:\n\t", f"\n\t@!{result.text} bra again;\n}}"
    edits = (
        Edit(Span(span.start, span.start), around.indent_lines(span.start, head)),
        Edit(Span(span.end, span.end), around.indent_lines(span.start, tail)),
    )
    yield Fix(fix_titles.REPEAT_TEST(), edits)


def _flip_parity(around: FunctionContext, wait: Step, effect: MbarrierWait) -> Iterator[Fix]:
    """Yields the other constant, as the operand or as the initial value of its register."""
    place = _parity_operand(wait, effect)
    if place is None:
        return
    given = wait.instruction.operands[place]
    constants = [(wait, place, given.value)] if isinstance(given, Integer) else []
    if isinstance(given, Name):
        constants = list(_initial_constants(around, wait, given.text))
    for step, at, value in constants:
        if value in (0, 1):
            span = statement_spans(around.source, step.start).operands[at]
            yield Fix(fix_titles.BEGIN_WITH_PARITY(parity=1 - value), (Edit(span, str(1 - value)),))


def _initial_constants(around: FunctionContext, step: Step, name: str) -> Iterator[tuple[Step, int, int]]:
    """Yields the initial constants of a register: the move, the position of the operand, and the value."""
    seen: set[Step] = set()
    waiting = [(step, name, 0)]
    while waiting:
        reader, register, far = waiting.pop(0)
        for writer in around.reaching_writers(reader, register) if far < MAX_WAIT_DISTANCE else ():
            if writer in seen:
                continue
            seen.add(writer)
            is_copy = _is_copy(writer)
            for at, operand in enumerate(writer.instruction.operands[1:], 1):
                if isinstance(operand, Integer) and is_copy:
                    yield writer, at, operand.value
                elif isinstance(operand, Name):
                    waiting.append((writer, operand.text, far + 1))


def _is_copy(step: Step) -> bool:
    effects = step.effects
    calls = [each.value for each in effects if isinstance(each, Value)]
    return len(calls) == 1 and isinstance(calls[0], CallExpr) and calls[0].function == "copy"


def _track_parity(around: FunctionContext, wait: Step, effect: MbarrierWait) -> Iterator[Fix]:
    """Yields a register that is flipped after the wait, for a wait in a loop with a constant parity."""
    place, after = _parity_operand(wait, effect), _loop_exit(around, wait)
    if place is None or after is None or around.declaration_point is None:
        return
    given = wait.instruction.operands[place]
    if isinstance(given, Name):
        constants = [value for _, _, value in _initial_constants(around, wait, given.text)]
        writers = around.reaching_writers(wait, given.text)
        if len(constants) != 1 or len(writers) != 1 or not _is_copy(writers[0]):
            return
        start = constants[0]
    elif isinstance(given, Integer):
        start = given.value
    else:
        return
    name = around.unused_name("awaited")
    for turned in (start, 1 - start) if start in (0, 1) else ():
        edits = (
            around.insert_line(around.declaration_point, _declare_register(name, turned)),
            Edit(statement_spans(around.source, wait.start).operands[place], name),
            around.insert_line(after, _flip_text(name)),
        )
        yield Fix(fix_titles.FLIP_PARITY(parity=turned), edits)


def _insert_wait(around: FunctionContext, step: Step, others: list[Step], fence: str) -> Iterator[Fix]:
    """Yields waits before the faulty access: for the first phase, and for each phase in turn.

    fence: the statement after the wait.
    """
    kinds = (MbarrierComplete, MbarrierTrack, MbarrierArrive)
    found = (
        (each, address)
        for each in (*others, step)
        for kind in kinds
        if (each is not step or kind is not MbarrierComplete)  # no operation waits for itself
        and (address := mbarrier_operand_text(each, kind))
    )
    source, address = next(found, (step, None))
    if address is None:
        return
    places = [
        each
        for each in islice(around.points_before(step), MAX_WAIT_INSERTION_POINTS)
        if around.keeps_registers(source, address, each)
    ]
    if around.declaration_point is not None and _is_in_loop(around, step):
        name = around.unused_name("awaited")
        for place in places:
            if place > around.declaration_point:
                loop = f"{_wait_loop_text(address, name)}{fence}\n{_flip_text(name)}"
                edits = (
                    around.insert_line(around.declaration_point, _declare_register(name, 0)),
                    around.insert_line(place, loop),
                )
                yield Fix(fix_titles.ADD_WAIT_LOOP_BY_PHASE(address=address), edits)
    for place in places:
        edit = around.insert_line(place, f"{_wait_loop_text(address, '0')}{fence}")
        yield Fix(fix_titles.ADD_WAIT_LOOP(address=address), (edit,))


def _declare_register(name: str, start: int) -> str:
    return f".reg .b32 {name};\nmov.b32 {name}, {start};"


def _flip_text(name: str) -> str:
    return f"xor.b32 {name}, {name}, 1;"


def _wait_loop_text(address: str, parity: str) -> str:
    return (
        "{\n\t.reg .pred %waited;\nagain:\n"
        f"\tmbarrier.try_wait.parity.shared::cta.b64 %waited, {address}, {parity};\n\t@!%waited bra again;\n}}"
    )


def _parity_operand(wait: Step, effect: MbarrierWait) -> int | None:
    """Returns the position of the parity operand; None if none exists."""
    if wait.match is None or wait.match.paths.get(effect.phase):
        return None
    return wait.match.roles.get(effect.phase)


def _retry_branch(around: FunctionContext, wait: Step) -> Step | None:
    """Returns the branch that decides whether a wait is repeated: the next conditional one."""
    for step in around.program.steps[wait.index + 1 : wait.index + 1 + MAX_WAIT_DISTANCE]:
        target = around.branch_target(step)
        if target is not None and step.instruction.guard is not None:
            after = around.program.steps[step.index + 1 : step.index + 3]
            back = [target, *(place for each in after if (place := around.branch_target(each)) is not None)]
            return step if any(wait.index - MAX_WAIT_DISTANCE <= place <= wait.index for place in back) else None
    return None


def _loop_exit(around: FunctionContext, wait: Step) -> int | None:
    """Returns the offset at which the loop around a wait is left, if an outer loop repeats the wait."""
    branch = _retry_branch(around, wait)
    if branch is None or not _is_in_loop(around, branch):
        return None
    target = around.branch_target(branch)
    assert target is not None
    if target <= wait.index:
        return around.end_of(branch)
    return around.program.steps[target].start if target < len(around.program.steps) else None


def _is_in_loop(around: FunctionContext, step: Step) -> bool:
    """Returns whether a branch from after a step leads back to before it."""
    for each in around.program.steps[step.index + 1 :]:
        target = around.branch_target(each) if _is_branch(each) else None
        if target is not None and target <= step.index:
            return True
    return False


def _is_branch(step: Step) -> bool:
    return any(isinstance(effect, Control) for effect in step.effects)
