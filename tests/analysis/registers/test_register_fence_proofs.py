"""What is proven about the fences before asynchronous multiplications, on all paths."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxkit.analysis.ir.program import flatten
from ptxkit.analysis.registers.register_fence_proofs import proof_of_register_fence
from ptxkit.syntax import parse
from tests.analysis.registers.test_async_register_proofs import COMMIT, ISSUE, WAIT
from tests.analysis.support import module_of, program_of

KERNELS = sorted((Path(__file__).parents[3] / "corpus/kernels").glob("wgmma_*.ptx"))
FENCE = "wgmma.fence.sync.aligned;"
ADD = "add.f32 %f1, %f1, %f8;"
LARGER = (
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7},"
    " %rd1, %rd2, 1, 1, 1, 0, 0;"
)


def is_fenced(body: str) -> bool:
    """Whether a fence is proven before the last multiplication."""
    program = program_of(module_of(f".reg .f32 %f<10>; {{ {body} }}"))
    issue = [each for each in program.steps if each.instruction.opcode.startswith("wgmma.mma")][-1]
    return proof_of_register_fence(program, issue) is not None


@pytest.mark.parametrize(
    ("body", "is_proven"),
    [
        (f"{FENCE} {ISSUE}", True),
        (ISSUE, False),
        (f"{ADD} {FENCE} {ISSUE}", True),
        (f"{FENCE} {ADD} {ISSUE}", False),
        (f"{FENCE} add.f32 %f9, %f9, %f8; {ISSUE}", True),
        (f"@%p1 bra A; {FENCE} A: {ISSUE}", False),
        (f"{FENCE} @%p1 bra A; {ADD} {FENCE} A: {ISSUE}", True),
        (f"@%p1 {FENCE} {ISSUE}", False),
        (f"setp.eq.u32 %p1, %r1, 0; @%p1 {FENCE} @%p1 {ISSUE}", True),
        (f"{FENCE} A: {ISSUE} {COMMIT} {WAIT} @%p1 bra A;", True),
        (f"{FENCE} A: {ISSUE} {COMMIT} {WAIT} {ADD} @%p1 bra A;", False),
        (f"A: {FENCE} {ISSUE} {COMMIT} {WAIT} {ADD} @%p1 bra A;", True),
        # only multiplications of one shape may share accumulators without a fence
        (f"{FENCE} {ISSUE} {ISSUE}", True),
        (f"{ISSUE} {ISSUE}", True),  # the fence that is missing is that of the first one
        (f"{ADD} @%p1 {ISSUE} {ISSUE}", False),
        (f"{FENCE} {LARGER} {ISSUE}", False),
        (f"{FENCE} {LARGER} {FENCE} {ISSUE}", True),
        # the earlier one uses only some of the registers
        (f"{FENCE} add.f32 %f7, %f7, %f8; {ISSUE} {LARGER}", False),
        # plain moves give values other names
        (f"mov.f32 %f1, %f9; {FENCE} {ISSUE}", True),
        (f"{FENCE} mov.f32 %f1, %f9; {ISSUE}", True),
        (f"{FENCE} add.f32 %f9, %f9, %f8; mov.f32 %f1, %f9; {ISSUE}", False),
        (f"{FENCE} {ADD} mov.f32 %f1, %f9; {ISSUE}", True),
        (f"{FENCE} {ADD} @%p1 mov.f32 %f1, %f9; {ISSUE}", False),
        (f"{FENCE} mov.f32 %f1, 0f00000000; {ISSUE}", True),
        (f"mov.f32 %f1, 0f00000000; {ISSUE}", False),
        (f"{FENCE} call unknown; {ISSUE}", False),
    ],
)
def test_a_fence_follows_each_access_on_each_path(body: str, is_proven: bool) -> None:
    assert is_fenced(body) is is_proven


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_no_multiplication_of_the_corpus_is_proven_without_its_fences(path: Path) -> None:
    text = path.read_text("utf-8")
    assert _unproven(text) == 0
    assert _unproven(re.sub(r"wgmma\.fence\.sync\.aligned;", "", text)) > 0


def _unproven(text: str) -> int:
    module = parse(text)
    programs = [flatten(module, each) for each in module.functions() if each.body is not None]
    issues = [
        (program, step)
        for program in programs
        for step in program.steps
        if step.instruction.opcode.startswith("wgmma.mma")
    ]
    return sum(proof_of_register_fence(program, step) is None for program, step in issues)
