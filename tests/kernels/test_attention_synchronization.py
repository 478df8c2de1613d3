"""Each synchronization instruction of the attention kernel is necessary: without it, the machine finds a fault.

The machine executes more of this kernel than lint, which does not know the schedule. The problem is the smallest one
that executes all code more than once: two tiles, of which one has three blocks with a mask and one three without it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ptxkit.emulator import RunBudget, TensorMapArgument, run
from ptxkit.kernels import attention
from ptxkit.kernels.attention_config import AttentionConfig
from ptxkit.kernels.attention_schedule import encode_tiles
from ptxkit.kernels.scaled_dot_product import Attention
from ptxkit.syntax.parser import parse
from ptxkit.testing.mutation.campaign import CorpusKernel
from ptxkit.testing.mutation.line_deletions import find_line_deletions
from ptxkit.testing.mutation.mutant import Mutant

CONFIG = AttentionConfig(head=64, keys=16, slots=3)
QUERIES, KEYS = 130, 64

EXPECTED = {
    "bar.sync": {"PTX501", "PTX602"},
    "bar.arrive": {"PTX504", "PTX601"},
    "mbarrier.init.b64": {"PTX501"},
    "mbarrier.arrive.b64": {"PTX504", "PTX601"},
    "mbarrier.arrive.expect_tx.b64": {"PTX504", "PTX601"},
    "mbarrier.try_wait.parity.b64": {"PTX302", "PTX303", "PTX314", "PTX505"},
    "wgmma.fence.sync": {"PTX312"},
    "wgmma.commit_group.sync": {"PTX301", "PTX311", "PTX314"},
    "wgmma.wait_group.sync": {"PTX311", "PTX314"},
}
"""The codes that may be found, by the instruction that is deleted."""
LAST_WAIT = "bar.sync"
"""The last one only takes the turn that is passed last. The ISA does not state that a CTA may end while a
barrier has arrivals, so the kernel does not do that; the machine knows no fault.
"""


@cache
def deletions() -> dict[str, list[Mutant]]:
    """Returns the deletions in the order of the text, by the form of the instruction."""
    found: dict[str, list[Mutant]] = {}
    for each in find_line_deletions(CorpusKernel("attention", Path("attention.ptx"), text())):
        found.setdefault(each.mutant.family, []).append(each.mutant)
    return found


@cache
def text() -> str:
    return str(attention(CONFIG))


def codes_of(changed: str) -> set[str]:
    """Returns the codes of the findings of a run, after which asynchronous operations complete as late as possible."""
    plan = Attention(1, QUERIES, 1, CONFIG.head, keys=KEYS, causal=True, top_left=True, config=CONFIG)
    arrays = [np.zeros((1, length, 1, CONFIG.head), np.uint16) for length in (QUERIES, KEYS, KEYS)]
    forms = [each.tensor for each in plan.kernel.parameters[:3]]
    maps = [
        TensorMapArgument.tiled(array, box=form.box, swizzle=form.swizzle)
        for array, form in zip(arrays, forms, strict=True)
        if form is not None
    ]
    out, lse = np.zeros_like(arrays[0]), np.zeros(plan.logarithm_shape, np.float32)
    strides = [np.uint32(step // 2) for step in out.strides[:3]]
    items = encode_tiles(plan.tiles_of(1)).reshape(-1)
    outcome = run(
        parse(changed),
        "attention",
        grid=1,
        shared=plan.kernel.dynamic_bytes,
        arguments=[*maps, out, *strides, lse, items, np.float32(plan.scale)],
        budget=RunBudget(seconds=60),
    )
    assert outcome.findings or outcome.is_clean, outcome.incomplete_reason
    return {each.code for each in outcome.findings}


def test_the_whole_kernel_has_no_findings() -> None:
    assert not codes_of(text())


def test_each_kind_of_synchronization_is_expected() -> None:
    assert set(deletions()) == set(EXPECTED)
    assert sum(map(len, deletions().values())) > 50


@pytest.mark.parametrize("form", EXPECTED)
def test_without_any_one_instruction_the_machine_finds_a_fault(form: str) -> None:
    found = [codes_of(each.apply(text())) for each in deletions()[form]]
    if form == LAST_WAIT:
        assert not found.pop()
    assert len(found) > 1
    assert all(found)
    assert set().union(*found) <= EXPECTED[form]
