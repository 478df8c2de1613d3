"""Kernels checked with rules in sequence."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from ptxkit import parse
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.diagnostics import Verdict
from ptxkit.diagnostics.catalogue import ptx2xx, ptx3xx
from ptxkit.rules import analyze
from ptxkit.rules.model import Observation, OpenObligation, Rule
from ptxkit.rules.runner import RuleRun

TWO = """
.version 8.0
.target sm_80
.address_size 64
.entry one() { ret; }
.entry other() { ret; }
"""


def test_garbage_is_collected_between_kernels_only() -> None:
    collecting: list[bool] = []

    def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
        collecting.append(gc.isenabled())
        yield OpenObligation(kernel.program.steps[0], ptx3xx.NO_PATH_REACHES())

    held = RuleRun(parse(TWO), "isa", [Rule(ptx2xx.GENERIC_ADDRESS_IN_SPACE, check)], AnalysisBudget())
    for _ in held.run():
        pass
    assert collecting == [False, False]
    assert gc.isenabled()


COPY = """
.version 8.0
.target sm_80
.address_size 64
.entry kernel() {
  .shared .align 16 .b8 tile[16];
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  mov.u32 %r1, tile;
  mov.u64 %rd1, 0;
  cp.async.cg.shared.global [%r1], [%rd1], 16;
  cp.async.wait_all;
  ret;
}
"""


def test_a_kernel_that_the_budget_does_not_reach_does_not_use_too_much_memory() -> None:
    held = RuleRun(parse(COPY), "isa", [], AnalysisBudget(steps=0))
    for _ in held.run():
        pass
    (reason,) = {each.reason for each in held.verdict().undecided}
    assert reason.startswith("the kernel is too large to be analyzed completely: its 600,000 steps")


def test_the_verdict_of_a_module_is_made_once_however_many_kernels_add_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one contains all findings: those after each kernel would take quadratic time and memory."""
    made = []
    original = RuleRun.verdict

    def record(run: RuleRun) -> Verdict:
        made.append(original(run))
        return made[-1]

    monkeypatch.setattr(RuleRun, "verdict", record)
    head, _, body = COPY.replace("cp.async.wait_all;", "").partition(".entry kernel")
    found = analyze(parse(head + "".join(f".entry {name}{body}" for name in "abcd")))
    assert made == [found]
    assert len({each.span for each in found.diagnostics}) == 4
