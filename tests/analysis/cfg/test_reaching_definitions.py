"""The assignments that may reach a read, compared with a search over the single instructions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptxkit.analysis.cfg.control_flow_graph import step_successors
from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.ir.program import Program, Step
from tests.analysis.support import module_of, program_of

_LABELS = 3
#: A statement: an assignment of %r1 or %r2, with or without a guard, a read, a jump, a conditional jump, or an exit.
_STATEMENTS = st.one_of(
    st.sampled_from(
        ["mov.u32 %r1, 0;", "@%p1 mov.u32 %r1, 1;", "mov.u32 %r2, 0;", "@%p1 mov.u32 %r2, 1;", "add.u32 %r3, %r1, %r2;"]
    ),
    st.builds("@%p1 bra to{};".format, st.integers(0, _LABELS - 1)),
    st.builds("bra to{};".format, st.integers(0, _LABELS - 1)),
    st.just("exit;"),
)
_PARTS = st.lists(st.lists(_STATEMENTS, max_size=5), min_size=_LABELS + 1, max_size=_LABELS + 1)


def _search(program: Program, step: Step, register: str) -> tuple[set[Step], bool]:
    """Returns the assignments that reach a step, and whether each path to it has one; path by path."""
    before: dict[int, list[int]] = {each.index: [] for each in program.steps}
    for each in program.steps:
        for after in step_successors(program, each):
            before[after].append(each.index)
    found: set[Step] = set()
    is_always_assigned = step.index > 0
    waiting, seen = list(before[step.index]), set[int]()
    while waiting:
        index = waiting.pop()
        if index in seen:
            continue
        seen.add(index)
        earlier = program.steps[index]
        if earlier in program.definitions.get(register, ()):
            found.add(earlier)
            if earlier.instruction.guard is None:
                continue
        is_always_assigned &= index > 0
        waiting += before[index]
    return found, is_always_assigned


@given(_PARTS)
def test_blocks_give_the_same_assignments_as_single_instructions(parts: list[list[str]]) -> None:
    first, *others = ("\n".join(each) for each in parts)
    labeled = "".join(f"to{number}:\n{each}\nmov.u32 %r4, %r1;\n" for number, each in enumerate(others))
    program = program_of(module_of(f"{first}\n{labeled}"))
    definitions = ReachingDefinitions(program)
    assert program.steps
    for step in program.steps:
        for register in ("%r1", "%r2"):
            found, is_always_assigned = _search(program, step, register)
            assert definitions.definitions_reaching(step, register, surely=True) == found
            assert definitions.is_always_assigned(step, register) == is_always_assigned


def test_a_read_far_from_the_assignments_has_them() -> None:
    filling = "".join(f"add.u32 %r5, %r5, {number}; @%p2 bra end;\n" for number in range(2500))
    program = program_of(module_of(f"mov.u32 %r1, 0; @%p1 mov.u32 %r1, 1;\n{filling}mov.u32 %r2, %r1;\nend:"))
    (read,) = program.definitions["%r2"]
    assert len(ReachingDefinitions(program).definitions_reaching(read, "%r1")) == 2
