"""Executes a kernel for commands that only list what it does."""

from __future__ import annotations

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import flatten
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.syntax.tree import Function, Module


def explore_kernel(module: Module, kernel: Function) -> KernelFacts:
    """Returns the facts about a kernel and the functions that it calls."""
    explorer = Explorer(flatten(module, kernel, calls=True))
    if explorer.program.steps:
        explorer.run()
    return KernelFacts(explorer)
