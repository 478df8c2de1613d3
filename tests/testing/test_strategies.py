"""The strategies: fast enough, valid or invalid as requested, and shrinking to the simplest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import find, given, settings

from ptxkit.emulator import run
from ptxkit.testing import strategies
from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.generators.kernel_ast import GeneratedKernel, IfStatement
from ptxkit.testing.oracles.assertions import assert_ptxas_agrees, assert_round_trips
from tests.testing.calls import count_calls

MOST_CALLS = 15_000
"""Calls of Python functions for one kernel of the strategy; it takes about 5,000."""
QUIET = settings(max_examples=40, deadline=None, database=None, derandomize=True)


@QUIET
@given(strategies.instructions())
def test_valid_instructions_are_accepted(instruction: strategies.GeneratedInstruction) -> None:
    assert ptxkit_refusal(instruction.module()) is None
    assert_round_trips(instruction)


@QUIET
@given(strategies.instructions(valid=False))
def test_others_are_rejected_and_differ_in_one_property(instruction: strategies.GeneratedInstruction) -> None:
    assert ptxkit_refusal(instruction.module()) is not None
    assert instruction.change


@QUIET
@given(strategies.instructions(target="sm_80", version=(7, 1)))
def test_a_target_has_only_its_own_instructions(instruction: strategies.GeneratedInstruction) -> None:
    assert "wgmma" not in instruction.text
    assert ptxkit_refusal(instruction.module()) is None


@QUIET
@given(strategies.instruction_named("fma"))
def test_instructions_of_one_opcode_are_generated(instruction: strategies.GeneratedInstruction) -> None:
    assert instruction.text.startswith("fma.")


def test_an_opcode_that_the_target_lacks_is_reported() -> None:
    with pytest.raises(ValueError, match=r"PTX 7\.1 has no instruction 'wgmma' on sm_80"):
        strategies.instruction_named("wgmma", "sm_80", (7, 1))


@QUIET
@given(strategies.kernels(statements=4))
def test_kernels_have_equal_verdicts_and_round_trip(kernel: GeneratedKernel) -> None:
    assert ptxkit_refusal(kernel.module()) is None
    assert_round_trips(kernel)


@settings(QUIET, max_examples=15)
@given(strategies.kernels())
def test_ptxas_accepts_kernels_and_the_machine_finds_nothing(kernel: GeneratedKernel) -> None:
    assert_ptxas_agrees(kernel)
    arguments = [kernel.inputs(), kernel.outputs()]
    assert run(kernel.module(), kernel.name, grid=kernel.grid, block=kernel.block, arguments=arguments).is_clean


def test_generating_a_small_kernel_takes_few_calls() -> None:
    """Calls of Python functions are counted, since a busy machine, or a large heap of other tests, changes any time."""
    texts: list[str] = []

    @settings(QUIET, max_examples=100)
    @given(strategies.kernels(statements=4))
    def keep_them(kernel: GeneratedKernel) -> None:
        texts.append(kernel.module())

    find(strategies.kernels(), lambda _: True, settings=QUIET)  # reads the table before calls are counted
    calls = count_calls(keep_them)
    assert len(texts) == 100
    assert 0 < calls < MOST_CALLS * len(texts), calls / len(texts)


def test_a_kernel_shrinks_to_the_relevant_statements() -> None:
    found = find(
        strategies.kernels(statements=4),
        lambda kernel: any(isinstance(each, IfStatement) for each in kernel.statements),
        settings=settings(QUIET, max_examples=2000),
    )
    assert (found.grid, found.block, len(found.statements)) == (1, 32, 2)
    assert len(list(found.steps())) == 1


def test_a_planted_fault_shrinks_to_under_fifteen_instructions() -> None:
    """A machine that computes `or` for `xor`."""

    def result_of(kernel: GeneratedKernel, text: str) -> np.ndarray:  # type: ignore[type-arg]
        arguments = [kernel.inputs(), kernel.outputs()]
        found = run(text, kernel.name, grid=kernel.grid, block=kernel.block, arguments=arguments, races=False)
        return np.asarray(found.outputs[1])

    def differs(kernel: GeneratedKernel) -> bool:
        text = kernel.module()
        if "xor.b" not in text:
            return False
        return bool((result_of(kernel, text) != result_of(kernel, text.replace("xor.b", "or.b"))).any())

    many = settings(QUIET, max_examples=2000)
    found = find(strategies.kernels(statements=6), differs, settings=many)
    body = found.module().partition("\n{\n")[2]
    instructions = [each.strip() for each in body.replace("\n", " ").split(";")]
    assert len([each for each in instructions if each and each[0].isalpha() and each != "ret"]) < 15
    assert len(list(found.steps())) == 1


@pytest.mark.parametrize(
    ("type_", "held", "edges"),
    [
        ("f32", np.float32, {0x7F800000, 0x80000000, 0x7F7FFFFF, 1}),
        ("f16x2", np.uint32, {0x7C007C00, 0x80008000}),
        ("bf16", np.uint16, {0x7F80, 0x8000}),
        ("s16", np.int16, {0, 0x7FFF, 0x8000, 0xFFFF}),
        ("u64", np.uint64, {0, (1 << 64) - 1}),
        ("e4m3", np.uint8, {0, 0x7F}),
    ],
)
def test_arrays_have_the_edges_of_their_type(type_: str, held: type, edges: set[int]) -> None:
    seen: set[int] = set()

    @settings(QUIET, max_examples=30)
    @given(strategies.arrays(type_, (4, 25)))
    def look(array: np.ndarray) -> None:  # type: ignore[type-arg]
        assert array.dtype == held
        assert array.shape == (4, 25)
        seen.update(array.view(f"u{array.itemsize}").ravel().tolist())

    look()
    assert edges <= seen
