"""Generated kernels: ptxas accepts them, the machine finds nothing in them, and all kinds of statements occur."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ptxkit.emulator import run
from ptxkit.fast_dataclasses import replace
from ptxkit.testing.generators.carry_chains import chains
from ptxkit.testing.generators.kernel_ast import (
    UPDATE_ROWS,
    ExchangeStatement,
    GeneratedKernel,
    IfStatement,
    LoadStatement,
    LoopStatement,
    Statement,
    StepStatement,
    UpdateStatement,
)
from ptxkit.testing.generators.load_forms import loads_of
from ptxkit.testing.generators.random_kernels import random_kernel
from ptxkit.testing.generators.step_catalog import StepTemplate, steps_of
from ptxkit.testing.oracles.ptxas import installed_ptxas

AIM = ((8, 7), "sm_90a")


def some(count: int) -> list[GeneratedKernel]:
    return [random_kernel(Random(number), *AIM, name=f"k{number}") for number in range(count)]


def kinds(statements: tuple[Statement, ...]) -> set[str]:
    found = {type(each).__name__ for each in statements}
    for each in statements:
        if isinstance(each, IfStatement):
            found |= kinds(each.then) | kinds(each.otherwise)
        elif isinstance(each, LoopStatement):
            found |= kinds(each.body)
    return found


def execute_kernel(kernel: GeneratedKernel) -> np.ndarray:  # type: ignore[type-arg]
    arguments = [kernel.inputs(), kernel.outputs()]
    found = run(kernel.module(), kernel.name, grid=kernel.grid, block=kernel.block, arguments=arguments)
    assert found.is_clean, (found, kernel.module())
    output: np.ndarray = found.outputs[1]  # type: ignore[type-arg]
    return output


def test_the_same_choices_generate_the_same_kernel() -> None:
    assert some(3) == some(3)


def test_all_kinds_of_statements_occur() -> None:
    found = set().union(*(kinds(each.statements) for each in some(60)))
    assert found == {f"{each}Statement" for each in ("Step", "Exchange", "If", "Load", "Loop", "Update")}


def test_the_machine_finds_nothing_in_them_under_any_schedule() -> None:
    for kernel in some(12):
        execute_kernel(kernel)
        arguments = [kernel.inputs(), kernel.outputs()]
        shape = {"grid": kernel.grid, "block": kernel.block}
        found = run(kernel.module(), kernel.name, **shape, arguments=arguments, policy="random", seed=3)
        assert found.is_clean, (found, kernel.module())
        assert np.array_equal(found.outputs[1], execute_kernel(kernel))


@pytest.mark.skipif(not installed_ptxas(), reason="ptxas is not installed")
def test_ptxas_accepts_them() -> None:
    texts = [each.module() for each in some(200)]
    assert installed_ptxas()[0].refusals(texts, "sm_90a") == {}


def test_a_probe_after_each_instruction_changes_no_result() -> None:
    for kernel in some(10):
        bare, probed = (replace(kernel, probes=probes) for probes in (False, True))
        kept = len(kernel.result_registers)
        assert np.array_equal(
            execute_kernel(bare)[UPDATE_ROWS:], execute_kernel(probed)[len(probed.outputs()) - kept :]
        )
        assert len(probed.sources()) >= len(bare.sources()) == kept


def of(statements: tuple[Statement, ...], rows: tuple[str, ...], kept: tuple[str, ...] = ()) -> GeneratedKernel:
    return GeneratedKernel(*AIM, 2, 32, rows, statements, kept)


def step(kind: str, start: str, results: int) -> StepTemplate:
    """Returns a step of the table by the prefix of its text."""
    steps = (each for form in steps_of(*AIM)[kind] for each in form)
    return next(each for each in steps if each.template.startswith(start) and len(each.results) == results)


def test_a_thread_reads_the_value_of_another_of_its_cta() -> None:
    kernel = of((LoadStatement("%b32_0", 0), ExchangeStatement("%b32_1", "%b32_0", 3)), ("b32",), ("%b32_1",))
    held = (kernel.inputs()[0] & np.uint64(0xFFFFFFFF)).reshape(2, 32)
    assert np.array_equal(execute_kernel(kernel)[UPDATE_ROWS], np.roll(held, -3, axis=1).ravel())


@pytest.mark.parametrize(("space", "row"), [("global", 0), ("shared", 1)])
def test_an_update_in_a_loop_counts_every_iteration_of_every_thread(space: str, row: int) -> None:
    steps = (each for form in steps_of(*AIM)["update"] for each in form)
    adding = next(
        each for each in steps if ".add." in each.template and each.space == space and ".u64" in each.template
    )
    body = (UpdateStatement(adding, "%b64_0", 5),)
    kernel = of((LoadStatement("%b64_0", 0), LoopStatement("%b32_0", 3, True, body)), ("b64",))
    turns = np.arange(64, dtype=np.uint64) % np.uint64(32) % np.uint64(3) + np.uint64(1)
    each = (kernel.inputs()[0] * turns).reshape(2, 32).sum(axis=1)
    output = execute_kernel(kernel)[row]
    assert output[5] == (each.sum() if space == "global" else each[0])
    assert space == "global" or output[32 + 5] == each[1]


def test_both_sides_of_a_branch_are_taken_by_their_threads() -> None:
    negate = step("compute", "not.b32", 1)
    modifier = (StepStatement(negate, ("%b32_1",), ("%b32_0",)),)
    copied = (
        LoadStatement("%b32_0", 0),
        StepStatement(negate, ("%b32_1",), ("%b32_0",)),
        StepStatement(negate, ("%b32_1",), ("%b32_1",)),
    )
    kernel = of(
        (*copied, LoadStatement("%pred_0", 1), IfStatement("%pred_0", modifier, ())), ("b32", "pred"), ("%b32_1",)
    )
    held, chosen = kernel.inputs()[0].astype(np.uint32), (kernel.inputs()[1] & np.uint64(1)) != 0
    assert chosen.any()
    assert not chosen.all()
    assert np.array_equal(execute_kernel(kernel)[UPDATE_ROWS], np.where(chosen, ~held, held))


def test_no_step_is_approximate_or_may_be_fused() -> None:
    texts = {each.template.partition(" ")[0] for form in steps_of(*AIM)["compute"] for each in form}
    assert "fma.rn.f32" in texts
    assert {"add.s32", "add.rn.f32", "mul.rn.f64"} & texts
    assert not {"add.f32", "mul.f32", "sub.f64", "mul.f16"} & texts
    assert not [each for each in texts if ".approx" in each or ".full" in each]


SEED_WITH_NANS = 1


@pytest.mark.parametrize(
    ("text", "bits", "one"),
    [
        ("neg.f32", 32, 0x7FFFFFFF),
        ("abs.f64", 64, 0xFFF8000000000000),
        ("mul.rz.f64", 64, 0xFFF8000000000000),
        ("neg.f16 ", 16, 0x7FFF),
    ],
)
def test_a_nan_becomes_the_canonical_one_and_a_number_is_unchanged(text: str, bits: int, one: int) -> None:
    found = step("compute", text, 1)
    registers = [f"%b{bits}_{each}" for each in range(len(found.operands))]
    loads = tuple(LoadStatement(each, place) for place, each in enumerate(registers))
    bare = of((*loads, StepStatement(found, (f"%b{bits}_9",), tuple(registers))), (f"f{bits}",) * 2, (f"%b{bits}_9",))
    bare = replace(bare, seed=SEED_WITH_NANS)
    plain = execute_kernel(bare)[UPDATE_ROWS]
    merged = execute_kernel(replace(bare, canonical_nan=True))[UPDATE_ROWS]
    infinity = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}[bits]
    is_nan = (plain & np.uint64((1 << bits - 1) - 1)) > np.uint64(infinity)
    assert is_nan.any()
    assert not is_nan.all()
    assert np.array_equal(merged, np.where(is_nan, np.uint64(one), plain))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("lop3.and.b32 %b32_0|%pred_1, %b32_0, %b32_1, %b32_2, 0x26, %pred_0;", "%b32_0"),
        ("setp.lt.and.u32 %pred_0|%pred_1, %b32_0, %b32_1, %pred_0;", "%pred_0"),
        ("setp.lt.and.u32 %pred_0|%pred_1, %b32_0, %b32_1, !%pred_0;", "%pred_0"),
    ],
)
def test_a_result_that_is_also_read_changes_no_other_result(text: str, first: str) -> None:
    """As hardware does: all results are computed from the old contents of the registers."""
    other = "%b32_7" if first == "%b32_0" else "%pred_7"

    def outputs(instruction: str, result: str) -> np.ndarray:  # type: ignore[type-arg]
        loads = (
            *(LoadStatement(f"%b32_{each}", each) for each in range(3)),
            LoadStatement("%pred_0", 3),
            LoadStatement(other, 4),
        )
        done = StepStatement(StepTemplate("", instruction.replace("{", ""), (), ()), (), ())
        kernel = of((*loads, done), ("b32", "b32", "b32", "pred", "pred" if "pred" in other else "b32"))
        written = replace(
            kernel,
            statements=(*kernel.statements[:5], LoadStatement("%pred_1", 3), done),
            result_registers=(result, "%pred_1"),
        )
        return execute_kernel(written)[UPDATE_ROWS:]

    apart = outputs(text.replace(f" {first}|", f" {other}|"), other)
    assert apart[1].any()
    assert np.array_equal(outputs(text, first), apart)


def test_one_kernel_in_four_is_compared_with_the_bits_of_its_nans_and_has_only_steps_that_fix_them() -> None:
    exact = [each for each in some(80) if not each.canonical_nan]
    assert 8 < len(exact) < 32
    assert all(do.step.fixes_nans for each in exact for do in each.steps())
    assert any(
        do.step.results[:1] == ("f32",) for each in exact for do in each.steps() if isinstance(do, StepStatement)
    )


def test_steps_that_round_have_canonical_nans_and_those_of_f64_and_copies_do_not() -> None:
    fixes = {each.template.partition(" ")[0]: each.fixes_nans for form in steps_of(*AIM)["compute"] for each in form}
    assert fixes["fma.rn.f32"]
    assert fixes["setp.leu.f64"]
    assert not any(fixes[each] for each in ("mul.rz.f64", "min.f64", "neg.f32", "abs.f32", "cvt.rmi.f64.f64"))


def test_a_step_that_loses_its_guard_in_ptxas_has_none() -> None:
    takes = {each.template.partition(" ")[0]: each.takes_guard for form in steps_of(*AIM)["compute"] for each in form}
    assert takes["set.ge.and.u32.s64"]
    assert takes["add.rn.f32"]
    assert not takes["set.gt.f32.s32"]
    assert not takes["testp.finite.f32"]
    assert not takes["set.lt.and.u32.bf16"]
    guarded = [do for each in some(200) for do in each.steps() if isinstance(do, StepStatement) and do.guard]
    assert guarded
    assert all(do.step.takes_guard for do in guarded)


def test_a_guarded_step_writes_only_initialized_registers() -> None:
    held: set[str] = set()
    for each in some(400):
        held.clear()
        for statement in each.statements:  # at the top, in the text's order
            if isinstance(statement, StepStatement):
                assert not statement.guard or held.issuperset(statement.results), each.module()
                held |= set(statement.results)
            elif isinstance(statement, LoadStatement):
                held.add(statement.register)
            elif isinstance(statement, ExchangeStatement):
                held.add(statement.result)
            elif isinstance(statement, LoopStatement):
                held |= {name for do in statement.body if isinstance(do, StepStatement) for name in do.results}


def test_shift_amounts_and_divisors_are_loaded() -> None:
    """For others ptxas is known to deviate from the manual."""
    fresh = {each.template.partition(" ")[0]: each.fresh for form in steps_of(*AIM)["compute"] for each in form}
    assert fresh["shr.s64"] == fresh["rem.s64"] == {1}
    assert fresh["abs.f16x2"] == fresh["abs.ftz.f16x2"] == {0}
    assert not fresh["add.rn.f32"]
    for kernel in some(200):
        loaded = {each.register for each in kernel_loads(kernel.statements)}
        for each in kernel.steps():
            if isinstance(each, StepStatement):
                assert loaded.issuperset(each.operands[place] for place in each.step.fresh)


def kernel_loads(statements: tuple[Statement, ...]) -> set[LoadStatement]:
    found: set[LoadStatement] = set()
    for each in statements:
        if isinstance(each, LoadStatement):
            found.add(each)
        elif isinstance(each, IfStatement):
            found |= kernel_loads(each.then) | kernel_loads(each.otherwise)
        elif isinstance(each, LoopStatement):
            found |= kernel_loads(each.body)
    return found


def test_ctas_synchronize_by_each_barrier_of_all_threads_and_reduce_predicates() -> None:
    texts = {each.template.partition(" ")[0] for form in steps_of(*AIM)["meeting"] for each in form}
    assert {"bar.sync", "barrier.cta.sync", "bar.red.popc.u32", "barrier.red.or.pred"} <= texts
    assert not [each for each in texts if "arrive" in each]
    step = next(each for form in steps_of(*AIM)["meeting"] for each in form if "red.popc" in each.template)
    kernel = of((LoadStatement("%pred_0", 0), StepStatement(step, ("%b32_0",), ("%pred_0",))), ("pred",), ("%b32_0",))
    wanted = (kernel.inputs() & np.uint64(1)).reshape(kernel.grid, kernel.block).sum(axis=1)
    assert np.array_equal(execute_kernel(kernel)[UPDATE_ROWS], np.repeat(wanted, kernel.block))


def test_a_carry_is_passed_from_the_first_of_a_chain_to_the_second() -> None:
    step = next(each for form in chains(*AIM) for each in form if each.template.startswith("add.cc.u32"))
    assert step.template == "add.cc.u32 {0}, {2}, {3}; addc.u32 {1}, {4}, {5};"
    loads = tuple(LoadStatement(f"%b32_{place}", place) for place in range(4))
    done = StepStatement(step, ("%b32_4", "%b32_5"), ("%b32_0", "%b32_1", "%b32_2", "%b32_3"))
    kernel = of((*loads, done), ("u32",) * 4, ("%b32_4", "%b32_5"))
    rows = kernel.inputs() & np.uint64(0xFFFFFFFF)
    carried = (rows[0] + rows[1]) >> np.uint64(32)
    assert carried.any()
    output = execute_kernel(kernel)[UPDATE_ROWS:]
    assert np.array_equal(output[1], (rows[2] + rows[3] + carried) & np.uint64(0xFFFFFFFF))


def test_a_difference_passes_its_borrow_to_no_sum() -> None:
    for step in (each for form in chains(*AIM) for each in form):
        first, second = (line.strip().partition(".")[0] for line in step.template.split(";")[:2])
        assert (first == "sub") == (second == "subc")


def test_elements_are_loaded_by_every_instruction_with_the_plain_one_first() -> None:
    known = loads_of(*AIM)
    assert all(modifiers[0] == f"ld.global.b{width}" for width, modifiers in known.items())
    assert {"nc", "volatile", "mmio"} <= {word for modifier in known[32] for word in modifier.split(".")}
    for number, modifier in enumerate(known[32]):
        kernel = of((LoadStatement("%b32_0", 0, modifier),), ("b32",), ("%b32_0",))
        assert np.array_equal(execute_kernel(kernel)[UPDATE_ROWS], kernel.inputs()[0] & np.uint64(0xFFFFFFFF)), number


def test_no_load_in_a_branch_acquires() -> None:
    every, weak = loads_of(*AIM), loads_of(*AIM, acquiring=False)
    assert {
        word for modifiers in every.values() for modifier in modifiers for word in modifier.split(".") if "acq" in word
    } == {"acquire"}
    assert not [modifier for modifiers in weak.values() for modifier in modifiers if "acquire" in modifier]
    loads = set().union(*(kernel_loads(kernel.statements) for kernel in some(200)))
    top = {each for kernel in some(200) for each in kernel.statements if isinstance(each, LoadStatement)}
    assert [each for each in top if "acquire" in each.opcode]
    assert loads - top
    assert not [each for each in loads - top if "acquire" in each.opcode]


def test_updates_commute_and_include_all_ctas() -> None:
    texts = [each.template for form in steps_of(*AIM)["update"] for each in form]
    assert len(texts) > 10
    assert not [each for each in texts if ".exch" in each or ".inc" in each or ".f32" in each or ".cta." in each]
