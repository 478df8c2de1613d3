"""Determines whether a thread may execute an instruction of a kernel, or of what it calls, in a loop."""

from __future__ import annotations

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.called_functions import called_functions
from ptxkit.analysis.ir.program import Program, Step


def may_repeat(program: Program, step: Step) -> bool:
    """Returns whether a loop contains a step, or a call that may lead to it; so does a function that calls itself."""
    home = program.function_of(step)
    if home.analysis(ControlFlowGraph).may_repeat(step):
        return True
    for code in program.functions:
        for call in code.own_effectful_steps:
            entered = called_functions(program, call) if call.is_opaque_call else ()
            if home in entered and (code in entered or code.analysis(ControlFlowGraph).may_repeat(call)):
                return True
    return False
