"""The places of a module before which threads can be delayed: memory accesses, copies and synchronization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ptxkit.analysis.ir.program import Program, Step, flatten
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import (
    Access,
    AsyncRegisters,
    Barrier,
    CommitGroup,
    Grid,
    MbarrierEffect,
    MemoryFence,
    ProxyFence,
    RegisterFence,
    TensorFence,
    TensorMemory,
    WaitGroup,
)
from ptxkit.syntax.positions import statement_spans
from ptxkit.syntax.tree import Function, Module

_PRIVATE_SPACES = ("param", "const", "local")
"""State spaces in which no thread sees the writes of another one."""

_Synchronization: TypeAlias = (
    Barrier
    | CommitGroup
    | Grid
    | MbarrierEffect
    | MemoryFence
    | ProxyFence
    | RegisterFence
    | TensorFence
    | TensorMemory
    | WaitGroup
)


@dataclass(frozen=True, slots=True)
class DelaySite:
    """An instruction before which a delay can be inserted.

    number: among the sites of the module, from 0. function: the name of the function that has it. start: the offset of
    its statement. line: 1-based. text: of the statement, with single blanks.
    """

    number: int
    function: str
    start: int
    line: int
    text: str


def find_sites(module: Module) -> list[DelaySite]:
    """Returns the delay sites of a parsed module, in the order of its functions and of the text."""
    assert module.source is not None
    found: list[DelaySite] = []
    for function in functions_with_code(module):
        for step in site_steps(flatten(module, function)):
            span = statement_spans(module.source, step.start).statement
            text = " ".join(module.source.text[span.start : span.end].split())
            line, _ = module.source.position(step.start)
            found.append(DelaySite(len(found), function.name, step.start, line, text))
    return found


def functions_with_code(module: Module) -> Iterator[Function]:
    """Yields the functions of a module that have instructions."""
    return (each for each in module.functions() if each.body is not None and each.body.statements)


def site_steps(program: Program) -> Iterator[Step]:
    """Yields the steps of a function before which a delay can be inserted.

    None is inserted between the operations of one wgmma group: ptxas waits for the operations there if other
    instructions separate them, which would hide faults.
    """
    return (step for step in program.steps if _is_site(step))


def _is_site(step: Step) -> bool:
    effects = step.effects
    if any(isinstance(each, AsyncRegisters) for each in effects) or any(
        isinstance(each, CommitGroup) and each.group == "wgmma" for each in effects
    ):
        return False
    return any(
        each.space not in _PRIVATE_SPACES if isinstance(each, Access) else isinstance(each, _Synchronization)
        for each in effects
    )
