"""Kernels held against rules, one after the other."""

from __future__ import annotations

import gc
from collections.abc import Iterator

from ptxkit import parse
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.rules.model import Observation, OpenObligation, Rule
from ptxkit.rules.runner import RuleRun

TWO = """
.version 8.0
.target sm_80
.address_size 64
.entry one() { ret; }
.entry other() { ret; }
"""


def test_garbage_is_looked_for_between_kernels_only() -> None:
    collecting: list[bool] = []

    def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
        collecting.append(gc.isenabled())
        yield OpenObligation(kernel.program.steps[0], "whether garbage is looked for")

    held = RuleRun(parse(TWO), "isa", [Rule("PTX201", "asks", (), check)], AnalysisBudget())
    for _ in held.verdicts():
        pass
    assert collecting == [False, False]
    assert gc.isenabled()
