"""The instructions that may execute after others, and before them."""

from __future__ import annotations

from ptxkit.analysis.cfg.reachability import Reachability
from tests.analysis.support import kernel_of, module_of

BODY = """mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
next: add.u32 %r2, %r1, 1;
mul.lo.u32 %r3, %r2, 3;
@%p1 bra next;
sub.u32 %r4, %r3, 1;
@%p1 bra out;
xor.b32 %r5, %r4, 1;
bra done;
out: or.b32 %r6, %r4, 1;
done: not.b32 %r7, %r1;"""


def test_a_step_reaches_the_steps_on_some_path_from_it() -> None:
    program = kernel_of(module_of(BODY)).program
    steps = {step.instruction.opcode.split(".")[0]: step for step in program.steps}
    reach = Reachability(program)

    def after(name: str) -> set[str]:
        found = reach.steps_reachable_from([steps[name]])
        return {other for other, step in steps.items() if step in found}

    assert {"add", "mul", "sub", "xor", "or", "not"} <= after("mul")  # through the back edge
    assert after("sub") & {"add", "mul"} == set()
    assert "or" not in after("xor")
    assert "not" in after("xor")
    before = reach.steps_reaching([steps["or"]])
    assert steps["sub"] in before
    assert steps["xor"] not in before
    assert steps["not"] not in before


def test_steps_of_other_programs_may_execute_at_any_time() -> None:
    program, other = kernel_of(module_of(BODY)).program, kernel_of(module_of(BODY)).program
    assert other.steps[0] in Reachability(program).steps_reachable_from([program.steps[-1]])
    assert program.steps[0] in Reachability(program).steps_reachable_from([other.steps[-1]])
