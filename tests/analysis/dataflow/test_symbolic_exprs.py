"""The value of a register as a formula."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from pathlib import Path

import pytest

from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.dataflow.symbolic_exprs import SymbolicExprs
from ptxkit.analysis.ir.program import Program, Step, flatten
from ptxkit.analysis.symexec.block_compiler import CompiledProgram
from ptxkit.analysis.symexec.compiled_code import CompiledBlock
from ptxkit.analysis.symexec.executor import LockstepExecutor
from ptxkit.analysis.symexec.group_state import GroupState
from ptxkit.analysis.symexec.lane_exchange import LaneExchange
from ptxkit.analysis.values.scenario import Scenario, launch_config_of
from ptxkit.analysis.values.special_registers import SpecialRegisters
from ptxkit.analysis.values.symbolic_values import SymbolicValueTable, value_of_lane
from ptxkit.fast_dataclasses import replace
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Name

HEAD = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 .ptr .global in, .param .u32 n)
{
\t.shared .align 16 .b8 tile[4096];
\t.reg .pred %p<4>;
\t.reg .b32 %r<16>;
\t.reg .b64 %rd<16>;
\t.reg .f32 %f<4>;
"""


def held_value(body: str, register: str) -> tuple[str, str | None, bool] | None:
    """Describes the operand of the last instruction of a body, which is `use`: its formula, its space, generic or
    not."""
    module = parse(f"{HEAD}{body}\n\tmov.b32 %r15, {register if register.startswith('%r') else '0'};\n\tret;\n}}\n")
    program = flatten(module, module.function("k"))
    found = SymbolicExprs(program).value_before(program.steps[-2], register)
    return None if found is None else (str(found), found.space, found.is_generic)


@pytest.mark.parametrize(
    ("body", "register", "words"),
    [
        ("mov.u32 %r1, 7;", "%r1", "7"),
        ("mov.u32 %r1, %tid.x; add.s32 %r2, %r1, -3;", "%r2", "%tid.x - 3"),
        ("mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;", "%r4",
         "%ctaid.x*%ntid.x + %tid.x"),
        ("mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; sub.s32 %r3, %r2, %r1;", "%r3", "15*%tid.x"),
        ("mov.u32 %r1, %tid.x; neg.s32 %r2, %r1; not.b32 %r3, %r2;", "%r3", "%tid.x - 1"),
        ("mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; and.b32 %r3, %r2, 3;", "%r3", "((%tid.x >> 5) & 3)"),
        ("mov.u32 %r1, %tid.x; sub.s32 %r2, %r1, %r1;", "%r2", "0"),
        ("mov.u32 %r1, %tid.x; shr.s32 %r2, %r1, 5;", "%r2", "(s32(%tid.x) >> 5)"),
        ("ld.param.u32 %r1, [n]; mul.lo.s32 %r2, %r1, 4;", "%r2", "4*n"),
        ("mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4;", "%rd1", "4*%tid.x"),
        ("mov.u32 %r1, %tid.x; cvt.u64.u32 %rd1, %r1;", "%rd1", "%tid.x"),
        ("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32;", "%p1", "%tid.x < 32"),
        ("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; not.pred %p2, %p1;", "%p2", "not (%tid.x < 32)"),
    ],
)  # fmt: skip
def test_arithmetic_becomes_a_sum(body: str, register: str, words: str) -> None:
    assert held_value(body, register) == (words, None, False)


def test_a_sum_that_may_have_wrapped_is_one_unknown_in_more_bits() -> None:
    body = "mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 1; mul.wide.s32 %rd1, %r2, 4;"
    assert held_value(body, "%rd1") == ("4*s32(%tid.x + 1)", None, False)
    assert held_value(body.replace("mul.wide.s32 %rd1, %r2, 4", "cvt.u64.u32 %rd1, %r2"), "%rd1") == (
        "u32(%tid.x + 1)",
        None,
        False,
    )


def test_an_address_has_its_space_and_keeps_it_in_sums() -> None:
    body = "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; add.u32 %r3, %r1, %r2; cvt.u64.u32 %rd1, %r2;"
    assert held_value(body, "%r3") == ("tile + %tid.x", "shared", False)
    assert held_value("ld.param.u64 %rd1, [in]; add.s64 %rd2, %rd1, 64;", "%rd2") == ("in + 64", "global", True)
    assert held_value("ld.param.u64 %rd1, [in]; cvta.to.global.u64 %rd2, %rd1;", "%rd2") == ("in", "global", False)
    assert held_value("mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1;", "%rd2") == ("tile", "shared::cta", True)
    assert held_value("mov.u32 %r1, tile+16; mov.u32 %r2, tile; sub.s32 %r3, %r1, %r2;", "%r3") == ("16", None, False)


def test_a_wider_constant_is_extended_as_the_instruction_states() -> None:
    body = "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, -2;"
    assert held_value(body, "%rd1") == ("4294967294*%tid.x", None, False)
    assert held_value(body.replace("wide.u32", "wide.s32"), "%rd1") == ("-2*%tid.x", None, False)


LOOP = """
\tmov.u32 %r1, %tid.x;
\tmov.u32 %r2, 5;
L:
\tadd.s32 %r3, %r1, 1;
\tadd.s32 %r1, %r1, 128;
\tsetp.lt.u32 %p1, %r1, 4096;
\t@%p1 bra L;
"""


def test_a_loop_that_adds_a_constant_to_a_register_counts_its_iterations() -> None:
    assert held_value(LOOP, "%r3") == ("128*rounds(line 16) + %tid.x + 1", None, False)
    assert held_value(LOOP, "%r2") == ("5", None, False)


CHOSEN = LOOP.replace("add.s32 %r1, %r1, 128;", "selp.b32 %r1, 0, %r1, %p2;")


def test_a_loop_that_selects_a_value_counts_nothing() -> None:
    assert held_value(CHOSEN, "%r3") == ("%r1@15 + 1", None, False)
    copied = CHOSEN.replace("\tsetp.lt", "\tmov.u32 %r4, %r3;\n\tsetp.lt").replace(
        "L:", "\tmov.u32 %r3, 9;\nL:\n\tmov.u32 %r5, %r3;"
    )
    assert held_value(copied, "%r5") == ("%r3@16", None, False)


def test_an_unknown_value_has_no_formula() -> None:
    assert held_value("ld.global.u32 %r1, [%rd1];", "%r1") is None
    assert held_value("add.f32 %f1, %f2, %f3;", "%f1") is None
    assert held_value("@%p1 mov.u32 %r1, 1;\n@!%p1 mov.u32 %r1, 2;", "%r1") is None
    assert held_value("", "%r1") is None


def test_a_register_that_has_changed_since_is_named_with_the_line() -> None:
    body = "ld.global.u32 %r1, [%rd1];\n\tadd.s32 %r2, %r1, 1;\n\tmov.u32 %r1, 0;"
    assert held_value(body, "%r2") == ("%r1@11 + 1", None, False)
    assert held_value(body.replace("mov.u32 %r1, 0", "mov.u32 %r3, 0"), "%r2") == ("%r1 + 1", None, False)


class _Noting(CompiledProgram):
    """Returns code that prints the values that an execution finds in the registers that a step has assigned."""

    def __init__(self, program: Program, note: Callable[[GroupState, Step], None]) -> None:
        super().__init__(program, lambda _: None, whole=True)
        self._note = note

    def block(self, index: int) -> CompiledBlock:
        block = super().block(index)
        steps = [(step, guard, (*actions, partial(self._observe, step))) for step, guard, actions in block.steps]
        return replace(block, steps=tuple(steps))

    def _observe(self, step: Step, state: GroupState) -> None:
        self._note(state, step)


@pytest.mark.parametrize(
    "name", ["bulk_add_one.sm_90", "dsmem_copy.sm_90", "wgmma_ring.sm_90a", "tensor_reduce.sm_90a"]
)
def test_formulas_agree_with_executed_values(name: str) -> None:
    """Compares sums of special registers and shared variables with an execution of the first CTA of a launch."""
    path = Path(__file__).resolve().parents[3] / "corpus" / "kernels" / f"{name}.ptx"
    module = parse(path.read_text("utf-8"), str(path))
    [function] = [each for each in module.functions() if each.body is not None][:1]
    program = flatten(module, function)
    formulas, launch = SymbolicExprs(program), launch_config_of(program)
    checked: set[tuple[Step, str]] = set()

    def value(factor: str, state: GroupState, lane: int) -> int | None:
        variable = program.scope.variable(factor)
        if variable is not None and variable.space == "shared":
            return variable.address
        held = SpecialRegisters(launch, 0, state.tids).get(factor)
        found = None if held is None else value_of_lane(held, lane)
        return found if isinstance(found, int) else None

    def compare(state: GroupState, step: Step) -> None:
        for role in step.match.results if step.match is not None else ():
            target = step.match.operand(role, step.instruction) if step.match is not None else None
            if not isinstance(target, Name) or not target.text.startswith("%r"):
                continue
            formula, lane = formulas.value_after(step, target.text), state.first_active
            held = state.registers.get(target.text)
            found = 0 if held is None else value_of_lane(held, lane)
            if formula is None or formula.is_generic or formula.condition_text or not isinstance(found, int):
                continue
            factors = {each: value(each, state, lane) for product, _ in formula.sum.monomials for each in product}
            if None in factors.values():
                continue
            total = sum(
                count * prod(factors[each] or 0 for each in product) for product, count in formula.sum.monomials
            )
            assert (total - found) % (1 << (64 if target.text.startswith("%rd") else 32)) == 0, (step, str(formula))
            checked.add((step, target.text))

    everyone = tuple(range(launch.threads))
    code = _Noting(program, compare)
    state = GroupState(
        code, Scenario(launch, 512), everyone, SymbolicValueTable(), LaneExchange(), pointer_parameters(program)
    )
    LockstepExecutor(state).run()
    assert len(checked) > 8


def test_a_comparison_as_a_number_is_not_shown_as_a_sum() -> None:
    assert held_value("mov.u32 %r1, %tid.x; set.lt.u32.u32 %r2, %r1, 5;", "%r2") is None
    assert held_value("mov.u32 %r1, %tid.x; neg.s32 %r2, %r1;", "%r2") == ("-%tid.x", None, False)
