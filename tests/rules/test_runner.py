"""Kernels checked with rules in sequence."""

from __future__ import annotations

import gc
from collections.abc import Iterator

from ptxkit import parse
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.diagnostics.catalogue import ptx2xx, ptx3xx
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
    for _ in held.verdicts():
        pass
    assert collecting == [False, False]
    assert gc.isenabled()
