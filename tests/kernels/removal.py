"""Removes instructions from a built kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ptxkit.build import Assembled, Kernel
from ptxkit.syntax.tree import Body, Function, Instruction, Module


def positions(kernel: Kernel, opcode: str) -> list[int]:
    """Returns the indices in the kernel's body of instructions whose opcode has this prefix."""
    return matching(kernel, lambda instruction: instruction.opcode.startswith(opcode))


def matching(kernel: Kernel, wanted: Callable[[Instruction], bool]) -> list[int]:
    """Returns the indices in the kernel's body of the instructions that `wanted` selects."""
    statements = _body(kernel.module()).statements
    return [index for index, each in enumerate(statements) if isinstance(each, Instruction) and wanted(each)]


def without(kernel: Kernel, *indices: int) -> Assembled:
    """Returns the kernel without these statements; the others keep their lines."""
    assembled = kernel.assemble()
    body = _body(assembled.module)
    kept = [index for index in range(len(body.statements)) if index not in indices]
    statements = tuple(body.statements[index] for index in kept)
    locations = tuple(assembled.locations[index] for index in kept)
    return Assembled(_with_body(assembled.module, Body(statements)), locations)


def with_replaced(kernel: Kernel, index: int, instruction: Instruction) -> Assembled:
    """Returns the kernel with one statement replaced."""
    assembled = kernel.assemble()
    statements = list(_body(assembled.module).statements)
    statements[index] = instruction
    return Assembled(_with_body(assembled.module, Body(tuple(statements))), assembled.locations)


def _body(module: Module) -> Body:
    (function,) = module.functions()
    assert function.body is not None
    return function.body


def _with_body(module: Module, body: Body) -> Module:
    items = tuple(replace(item, body=body) if isinstance(item, Function) else item for item in module.items)
    return Module(items)
