"""Results that depend on uninitialized memory and registers."""

from __future__ import annotations

import numpy as np
import pytest

from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.emulator import POLICIES
from ptxkit.emulator.driver.uninitialized_dependence import PERTURBED_PATTERN, find_uninitialized_dependence
from ptxkit.syntax import parse
from tests.emulator.support import kernel, outcome

STORE = " mov.u32 %r31, %tid.x; ld.param.u64 %d1, [out]; mad.wide.u32 %d1, %r31, 4, %d1; st.global.u32 [%d1], %r0;"
TILE = ".shared .align 4 .b32 tile[64];"


def lines(body: str, policy: str = "eager") -> list[tuple[str, int]]:
    module = parse(kernel(body, ".param .u64 out", TILE))
    launch = {"block": 32, "arguments": [np.zeros(32, np.uint32)], "policy": policy}
    found = find_uninitialized_dependence(module, "k", **launch).violations
    assert all(each.witnesses for each in found)
    return [(each.code, each.line) for each in found]


@pytest.mark.parametrize("policy", POLICIES)
def test_an_uninitialized_word_of_shared_memory_must_not_be_stored(policy: str) -> None:
    assert [code for code, _ in lines(f"ld.shared.u32 %r0, [tile];{STORE}", policy)] == [ptx6xx.UNINITIALIZED_DATA]


def test_an_initialized_word_may_be_stored() -> None:
    assert not lines(f"st.shared.u32 [tile], 7; bar.sync 0; ld.shared.u32 %r0, [tile];{STORE}")


def test_an_uninitialized_register_must_not_be_stored() -> None:
    assert lines(f"add.u32 %r0, %r5, 1;{STORE}")


def test_masked_bits_are_ignored() -> None:
    assert not lines(f"ld.shared.u32 %r3, [tile]; and.b32 %r0, %r3, 0; mul.lo.u32 %r5, %r6, %r7;{STORE}")


def test_control_flow_must_not_depend_on_it() -> None:
    body = f"mov.u32 %r0, 1; setp.gt.u32 %p1, %r9, 100; @%p1 bra OVER; mov.u32 %r0, 2;\nOVER:\n{STORE}"
    assert lines(body)
    assert not lines("mov.u32 %r9, 3;" + body)


def test_an_address_must_not_depend_on_it() -> None:
    assert lines(f"mov.u32 %r0, 1; mov.u32 %r4, tile; add.u32 %r4, %r4, %r9; st.shared.u32 [%r4], 1;{STORE}")


def test_nondeterministic_results_are_excluded() -> None:
    assert not lines(f"mov.u32 %r0, %globaltimer_lo;{STORE}")


def test_a_run_with_other_findings_is_not_repeated() -> None:
    assert not lines(f"st.shared.u32 [tile+2], 1; ld.shared.u32 %r0, [tile];{STORE}")


def test_other_bit_patterns_can_be_selected() -> None:
    out = np.zeros(32, np.uint32)
    found = outcome(
        f"ld.shared.u32 %r0, [tile];{STORE}",
        parameters=".param .u64 out",
        outside=TILE,
        arguments=[out],
        unwritten=PERTURBED_PATTERN,
    )
    assert set(found.outputs[0]) == {PERTURBED_PATTERN << 16 | PERTURBED_PATTERN}
