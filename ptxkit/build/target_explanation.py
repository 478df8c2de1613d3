"""`k.explain_target()`: what raises the `.version` and `.target` of a kernel above the lowest that the builder uses.

    print(k.explain_target())

    .version 8.0 and .target sm_90
      kernel.py:12: cp.async.bulk.commit_group needs PTX 8.0 and sm_90
      kernel.py:9: max.f16 needs PTX 7.0 and sm_80

Source: PTX ISA, "PTX Module Directives: .version, .target", "Release Notes".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptxkit.build.module_assembly import module_heading, statements_of
from ptxkit.build.target_inference import generality_key, infer_lowest_target
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.forms import Gate
from ptxkit.isa.wording import describe_gate
from ptxkit.kernel_model.source_lines import Location
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from ptxkit.build.instructions import InstructionBuilder


@dataclass(frozen=True, slots=True)
class TargetCause:
    """A requirement above the lowest version and target.

    `subject` is the instruction, the special register or the directive that has it, `location` the line of its first
    use, and `requirement` states it in words: `PTX 7.8 and sm_90, for .cluster`. `version` and `target` are the lowest
    that satisfy it.
    """

    subject: str
    location: Location
    requirement: str
    version: tuple[int, int]
    target: str

    def __str__(self) -> str:
        return f"{self.location}: {self.subject} needs {self.requirement}"


@dataclass(frozen=True, slots=True)
class TargetExplanation:
    """The version and target of a kernel, and what requires them.

    `causes` has each requirement once, with the highest target first. `is_chosen` states that the kernel names the
    target.
    """

    version: tuple[int, int]
    target: str
    is_chosen: bool
    causes: tuple[TargetCause, ...]

    def __str__(self) -> str:
        by = ", which the kernel names" if self.is_chosen else ""
        lines = [f".version {self.version[0]}.{self.version[1]} and .target {self.target}{by}"]
        if not self.causes:
            lines.append("  nothing needs more than the lowest version and target of the builder")
        return "\n".join([*lines, *(f"  {each}" for each in self.causes)])


def explain_target(k: InstructionBuilder) -> TargetExplanation:
    """Returns what the kernel's `.version` and `.target` are, and each cause that raises them: `print` it.

    The causes are instructions, modifiers, special registers and directives of the kernel and of the functions that it
    calls, each with the line of its first use. Raises `BuildError` if no target satisfies all of them.
    """
    k.recorder.usage.was_used = True
    version, target = module_heading(k)
    found: dict[tuple[object, str], tuple[tuple[object, ...], TargetCause]] = {}
    for gate, subject, location in _list_gates(k):
        lowest = infer_lowest_target([gate])
        if lowest != infer_lowest_target([]) and (gate.alternatives, gate.subject) not in found:
            cause = TargetCause(subject, location, _describe(gate, subject), lowest[0], str(lowest[1]))
            found[gate.alternatives, gate.subject] = (generality_key(lowest[1]), lowest[0]), cause
    ordered = sorted(found.values(), key=lambda each: each[0], reverse=True)
    is_chosen = any(each.target is not None for each in k.list_call_graph())
    return TargetExplanation(version, str(target), is_chosen, tuple(cause for _, cause in ordered))


def _describe(gate: Gate, subject: str) -> str:
    """Returns a requirement in words, without the name of what has it where the subject begins with that."""
    return describe_gate(replace(gate, subject="") if subject.startswith(gate.subject) else gate)


def _list_gates(k: InstructionBuilder) -> Iterator[tuple[Gate, str, Location]]:
    """Yields each requirement with its subject and the line of its use."""
    for entry in statements_of(k):
        for gate in entry.match.gates if entry.match is not None else ():
            assert isinstance(entry.statement, tree.Instruction)
            yield gate, entry.statement.opcode, entry.location
    for routine in k.list_call_graph():
        for gate in (*routine.raw_gates, *routine.special_gates()):
            yield gate, gate.subject or f"PTX in {routine.name}", routine.location
