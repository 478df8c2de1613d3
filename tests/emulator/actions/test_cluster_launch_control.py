"""Clusters that cancel others which have not started, and execute their work."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from ptxkit.emulator import POLICIES, run
from ptxkit.emulator.driver.uninitialized_dependence import find_uninitialized_dependence
from ptxkit.syntax import parse
from tests.emulator.support import HEAD

THREADS = 32
WORK = f"""{HEAD}.visible .entry k(.param .u64 done, .param .u64 by)
{{
 .shared .align 16 .b8 answer[16]; .shared .align 8 .b64 bar;
 .reg .pred %p<6>; .reg .b32 %r<16>; .reg .b64 %d<8>; .reg .b128 %q<2>;
 mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, 0;
 ld.param.u64 %d0, [done]; ld.param.u64 %d1, [by];
 @%p0 mbarrier.init.shared::cta.b64 [bar], 1;
 bar.sync 0;
NEXT:
 @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
 @%p0 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar];
 mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2;
 @%p0 red.global.add.u32 [%d3], 1;
 @%p0 st.global.u32 [%d4], %r2;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r3;
 @!%p1 bra WAIT;
 xor.b32 %r3, %r3, 1;
 ld.shared.b128 %q0, [answer];
 fence.proxy.async.shared::cta;
 bar.sync 0;
 clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0;
 @!%p2 bra END;
 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %q0;
 bra NEXT;
END: ret;
}}
"""


def run_work(policy: str, seed: int, text: str = WORK) -> Any:
    arguments = [numpy.zeros(7, numpy.uint32), numpy.full(7, 99, numpy.uint32)]
    return run(text, "k", grid=7, block=THREADS, arguments=arguments, policy=policy, seed=seed)


@pytest.mark.parametrize("policy", POLICIES)
def test_each_work_item_is_executed_once(policy: str) -> None:
    for seed in range(5):
        found = run_work(policy, seed)
        assert not found.unsupported_reason, found.unsupported_reason
        assert [(each.code, each.message) for each in found.findings] == []
        assert (found.outputs[0] == 1).all()


def test_a_cluster_cancels_others_that_have_not_started() -> None:
    assert (run_work("eager", 0).outputs[1] == 0).all()


def test_a_refusal_that_is_decoded_without_a_test_is_found() -> None:
    asked = " clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0;\n @!%p2 bra END;\n"
    assert asked in WORK
    found = run_work("late", 0, WORK.replace(asked, ""))
    assert [each.code for each in found.findings] == ["PTX614"]


DECODED = WORK.replace(" @!%p2 bra END;\n", "").replace(" bra NEXT;\nEND:", " @%p2 bra NEXT;\nEND: USE")


@pytest.mark.parametrize(("use", "codes"), [("", []), ("@%p0 st.global.u32 [%d4], %r1;", ["PTX651"])])
def test_the_result_of_a_tested_refusal_is_correct(use: str, codes: list[str]) -> None:
    arguments = [numpy.zeros(7, numpy.uint32), numpy.full(7, 99, numpy.uint32)]
    launch: dict[str, Any] = {"grid": 7, "block": THREADS, "arguments": arguments, "policy": "late", "seed": 0}
    text = DECODED.replace("USE", use)
    found = find_uninitialized_dependence(parse(text), "k", **launch).violations
    assert not run(text, "k", **launch).findings
    assert sorted({each.code for each in found}) == codes


def test_a_response_that_is_read_too_early_is_found() -> None:
    found = run_work(
        "late",
        0,
        WORK.replace("WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r3;\n @!%p1 bra WAIT;\n", ""),
    )
    assert "PTX302" in {each.code for each in found.findings}
