"""Determines which functions a call may enter, directly or through further calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ptxkit.analysis.ir.program import Program, Step, callee_of
from ptxkit.analysis.ir.worklist import Worklist


def called_functions(program: Program, call: Step) -> list[Program]:
    """Returns the functions with a body that a call may enter before it returns.

    A call by an address may enter each function that the kernel calls.
    """
    entered = Worklist(_entered_names(program, call))
    for name in entered:
        for step in program.callees[name].own_effectful_steps:
            if step.is_opaque_call:
                entered.add(_entered_names(program, step))
    return [program.callees[name] for name in sorted(entered.seen)]


def calls_of(program: Program, callee: Program) -> Iterator[Step]:
    """Yields the calls by which a kernel, or a function that it calls, may enter a function directly."""
    for code in program.functions:
        for call in code.own_effectful_steps:
            if call.is_opaque_call and callee.function.name in _entered_names(program, call):
                yield call


def sole_calls(program: Program) -> Iterator[tuple[Step, Program]]:
    """Yields the calls of a kernel, each with its function, that are the only ones which may enter the function."""
    calls = [step for code in program.functions for step in code.own_effectful_steps if step.is_opaque_call]
    entered = Counter(name for call in calls for name in _entered_names(program, call))
    for call in calls:
        code = program.callees.get(callee_of(call) or "")
        if code is not None and program.contains(call) and entered[code.function.name] == 1:
            yield call, code


def _entered_names(program: Program, call: Step) -> list[str]:
    name = callee_of(call)
    if name is not None and name in program.callees:
        return [name]
    is_declared = any(function.name == name for function in program.module.functions())
    return [] if is_declared else list(program.callees)
