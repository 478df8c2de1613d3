"""Control flow: branches, calls, returns.

Source: PTX ISA, "Control Flow Instructions", "Kernel and Function Directives", "Function Declarations and Definitions".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import memory_words, ptx2xx
from ptxkit.emulator.core.findings import ExecutionFault, UnsupportedError
from ptxkit.emulator.engine.calls import call_step
from ptxkit.emulator.engine.operand_access import OperandAccess
from ptxkit.emulator.threads.thread_groups import IndexedBranch, JumpSignal, ReturnSignal, Step, ThreadGroup
from ptxkit.isa.effects import Control


def control_step(control: Control, operands: OperandAccess, targets: Sequence[int]) -> Step:
    """Returns the step that executes a change of control. `targets` are the indices to which it can branch."""
    match control.kind:
        case "branch" | "branch_indexed" if not targets:
            raise UnsupportedError("nothing declares the label, or the list of labels")
        case "branch":
            jump = JumpSignal(targets[0])
            return lambda _group: jump
        case "branch_indexed":
            return _indexed_branch(operands, targets)
        case "call":
            return call_step(operands)
        case "return":
            return lambda _group: ReturnSignal()
        case "exit":
            return lambda _group: ReturnSignal(exits_thread=True)
        case "trap":
            return _raise_trap
        case kind:
            raise UnsupportedError(f"the machine does not know the change of control {kind}")


def _indexed_branch(operands: OperandAccess, labels: Sequence[int]) -> Callable[[ThreadGroup], Any]:
    targets = numpy.array(labels, numpy.int64)
    index = operands.reader("index")

    def scatter(group: ThreadGroup) -> IndexedBranch:
        chosen = index.read(group)
        wrong = chosen >= len(targets)
        if wrong.any():
            message = ptx2xx.BRANCH_INDEX_TOO_LARGE(index=int(chosen[wrong][0]), labels=len(targets))
            raise ExecutionFault(message, group.lanes.index[wrong])
        return IndexedBranch(targets[chosen])

    return scatter


def _raise_trap(group: ThreadGroup) -> None:
    raise ExecutionFault(memory_words.TRAP_EXECUTED(), group.lanes.index)
