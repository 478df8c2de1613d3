"""Recognizes programs for which an execution can only show whether each access is valid by itself.

They compute, load and store, and do not interact with other threads. An execution that has covered each of the accesses
for many iterations has found everything that it can find, however many iterations remain.
"""

from __future__ import annotations

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.convergence_compiler import is_collective_instruction
from ptxkit.isa.effects import Access, Control, Effect, Value

#: The state spaces whose accesses are not recorded.
_UNOBSERVED_SPACES = ("global", "const", "param", "local")


def sync_free_accesses(program: Program) -> frozenset[Step] | None:
    """Returns the accesses of such a program.

    The result is None where the program has other effects, or calls functions other than the system's.
    """
    found: set[Step] = set()
    for step in program.own_effectful_steps:
        if step.match is None or step.is_opaque_call or is_collective_instruction(step.match):
            return None
        if not all(map(_is_unobserved, step.effects)):
            return None
        if any(isinstance(effect, Access) for effect in step.effects):
            found.add(step)
    return frozenset(found)


def _is_unobserved(effect: Effect) -> bool:
    if isinstance(effect, Access):
        is_at_once = (effect.completion, effect.proxy, effect.order) == (None, "generic", "weak")
        return is_at_once and effect.space.startswith(_UNOBSERVED_SPACES)
    return isinstance(effect, Control | Value)
