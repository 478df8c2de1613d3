"""Calls of a function that does not exist, whose name states the reason: `cuda::ptx` was compiled for the wrong target.

libcu++ declares, for each of its PTX wrappers, a function `__cuda_ptx_<op>_is_not_supported_before_<targets>__` that
nothing defines, and calls it if the target lacks the instruction. ptxas rejects a whole program that calls one
(`Unresolved extern function`); for a relocatable one the linker does. A declaration that is never called is harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit.diagnostics import Message, Severity
from ptxkit.diagnostics.catalogue import directive_helps, ptx8xx
from ptxkit.syntax.tree import Body, Function, Instruction, Module, Name
from ptxkit.validate.gate_checker import GateChecker
from ptxkit.validate.problem import Problem, WordLocation

_NAME = r"__cuda_ptx_(\w+?)_is_not_supported_before_((?:SM_\w+?_)+)_"


def wrong_target_problems(module: Module, gates: GateChecker) -> Iterator[Problem]:
    """Yields one finding for each such function: at its first call, or at its declaration if nothing calls it."""
    for item, start in module.with_offsets():
        if not isinstance(item, Function) or item.body is not None or not item.name.startswith("__cuda_ptx_"):
            continue
        match = re.fullmatch(_NAME, item.name)
        if match is None:
            continue
        uses = [
            use for each in module.functions() if each.body is not None for use in _call_offsets(each.body, item.name)
        ]
        yield _wrapper_problem(item.name, match, uses, start, gates)


def _call_offsets(body: Body, name: str) -> Iterator[int]:
    for statement, start in body.flatten_blocks():
        if isinstance(statement, Instruction) and Name(name) in statement.operands:
            yield start


def _wrapper_problem(name: str, match: re.Match[str], uses: list[int], start: int, gates: GateChecker) -> Problem:
    targets = [f"sm_{each}" for each in re.findall(r"SM_(\w+?)_", match[2])]
    *others, last = targets
    wanted: Message | str = last
    if others:
        wanted = directive_helps.OR(targets=", ".join(others), last=last)
    elif not last[-1].isalpha():
        wanted = directive_helps.OR_LATER(target=last)
    have = directive_helps.COMPILED_FOR(target=gates.target) if gates.target else ""
    facts = {"wrapper": match[1], "target": wanted, "actual": have}
    message = ptx8xx.WRAPPER_DECLARED(**facts)
    if uses:
        message = ptx8xx.WRAPPER_CALLED(**facts, times=f", {len(uses)} times" if len(uses) > 1 else "")
    return Problem(
        message,
        WordLocation(uses[0] if uses else start, name),
        help=directive_helps.COMPILE_FOR(target=targets[0]),
        severity=Severity.ERROR if uses else Severity.WARNING,
        section="PTX Module Directives: .target",
    )
