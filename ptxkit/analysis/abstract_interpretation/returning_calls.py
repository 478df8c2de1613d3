"""Determines which calls certainly come back to the caller, and whether all paths of a function are known."""

from __future__ import annotations

from ptxkit.analysis.ir.program import Program, Step, callee_of
from ptxkit.isa.effects import Control


class ReturningCalls:
    """The calls of one function, and of the functions that it calls."""

    def __init__(self, program: Program) -> None:
        self._callees = program.callees
        self._known: dict[str, bool] = {}

    def returns(self, step: Step) -> bool:
        """Returns whether a thread that executes a step cannot exit in it, in code that is called."""
        if not step.is_opaque_call:
            return True
        name = callee_of(step)
        return name is not None and self._never_exits(name)

    def _never_exits(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = False  # for a call of itself
            callee = self._callees.get(name)
            self._known[name] = (
                callee is not None
                and has_known_paths(callee)
                and not any(_exits(step) or not self.returns(step) for step in callee.own_effectful_steps)
            )
        return self._known[name]


def has_known_paths(program: Program) -> bool:
    """Returns whether the table has each instruction of a function, and the targets of all branches are known."""
    return program.analysis(_has_known_paths)


def is_self_contained(program: Program) -> bool:
    """Returns whether all paths of a function are known, and it calls no other functions than those of the system."""
    return has_known_paths(program) and program.analysis(_calls_nothing)


def is_sole_function(program: Program) -> bool:
    """Returns whether a function is a kernel that calls nothing, so that all its instructions and paths are known."""
    return program.is_kernel and len(program.functions) == 1 and is_self_contained(program)


def _has_known_paths(program: Program) -> bool:
    return program.is_fully_matched and all(
        step.targets
        for step in program.own_effectful_steps
        if any(isinstance(effect, Control) and effect.kind.startswith("branch") for effect in step.effects)
    )


def _calls_nothing(program: Program) -> bool:
    return not any(step.is_opaque_call for step in program.effectful_steps)


def _exits(step: Step) -> bool:
    return any(isinstance(effect, Control) and effect.kind == "exit" for effect in step.effects)
