"""Which mbarriers are proven to be initialized once and before their uses, and on which instructions that rests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxkit.analysis.ir.program import ModuleContext, Step, flatten
from ptxkit.diagnostics.obligation import JudgedObligation, LaunchNeed, ObligationVerdict
from ptxkit.isa.effects import MbarrierUse
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.mbarrier_proofs import InitOrder
from ptxkit.rules.obligation_sites import is_a, sites_of
from ptxkit.syntax import parse
from tests.rules.test_address_proofs import TID, kernel
from tests.rules.test_obligations import judge_text

KERNELS = Path(__file__).resolve().parents[2] / "corpus" / "kernels"
BARS = ".shared .align 8 .b64 bars[2];"
FIRST = f"{TID} setp.eq.u32 %p1, %r1, 0;"
INIT = "@%p1 mbarrier.init.shared::cta.b64 [bars], 1;"
USE = "mbarrier.arrive.shared::cta.b64 _, [bars];"
SYNC = "bar.sync 0;"
CLUSTER = "barrier.cluster.arrive{}; barrier.cluster.wait;"
ELECT = f"{TID} setp.ge.u32 %p2, %r1, 32; @%p2 bra M; elect.sync _|%p1, 0xffffffff; {INIT} M:"


def verdicts(body: str, code: str, *, bounds: str = ".reqntid 64, 1, 1") -> list[JudgedObligation]:
    text = kernel(body, variables=BARS).replace(".reqntid 64, 1, 1", bounds).replace("sm_90\n", "sm_90a\n")
    found = judge_text(text).obligations
    assert found is not None
    return [each for each in found if each.code == code]


RIGHT = [
    FIRST + INIT + SYNC + USE,
    FIRST + "@!%p1 bra M; mbarrier.init.shared::cta.b64 [bars], 1; M:" + SYNC + USE,
    FIRST + INIT + "@%p1 " + USE,
    FIRST + INIT + SYNC + "@%p1 " + USE + SYNC + "@%p1 mbarrier.inval.shared::cta.b64 [bars];",
    FIRST + INIT + CLUSTER.format("") + USE,
    FIRST + INIT + "@%p1 fence.mbarrier_init.release.cluster;" + CLUSTER.format(".relaxed") + USE,
    FIRST + INIT + CLUSTER.format("") + "mov.u32 %r3, bars; mapa.shared::cluster.u32 %r4, %r3, 1;"
    " mbarrier.arrive.shared::cluster.b64 _, [%r4];",
    ELECT + SYNC + USE,
    "mov.u32 %r7, -1;" + ELECT.replace("0xffffffff", "%r7") + SYNC + USE,
    f"{TID} shr.u32 %r2, %r1, 5; shfl.sync.idx.b32 %r3, %r2, 0, 31, -1; setp.ne.u32 %p2, %r3, 0; @%p2 bra M;"
    f" elect.sync _|%p1, -1; {INIT} M: {SYNC}{USE}",
    FIRST + INIT + "@%p1 mbarrier.init.shared::cta.b64 [bars+8], 1;" + SYNC + "mov.u32 %r3, bars; mov.u32 %r4, 0;"
    " L: shl.b32 %r5, %r4, 3; add.u32 %r6, %r3, %r5; mbarrier.arrive.shared::cta.b64 _, [%r6]; add.u32 %r4, %r4, 1;"
    " setp.eq.u32 %p2, %r4, 2; selp.u32 %r4, 0, %r4, %p2; add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 9; @%p3 bra L;",
]


@pytest.mark.parametrize("body", RIGHT)
def test_an_mbarrier_that_one_thread_initializes_before_a_barrier_is_proven(body: str) -> None:
    for code in ("PTX501", "PTX502"):
        found = verdicts(body, code)
        assert found
        assert {each.evidence for each in found} == {"initialized"}


WRONG_ORDER = [
    FIRST + INIT + USE,
    FIRST + SYNC + INIT + USE,
    FIRST + INIT + "@%p1 bar.sync 0;" + USE,
    FIRST + INIT + "bar.sync 1, 32;" + USE,
    FIRST + INIT + "bar.warp.sync -1;" + USE,
    # a branch of all threads passes the barrier, or the initialization
    FIRST + INIT + "ld.param.u32 %r3, [n]; setp.eq.u32 %p2, %r3, 0; @%p2 bra M;" + SYNC + "M:" + USE,
    FIRST + "ld.param.u32 %r3, [n]; setp.eq.u32 %p2, %r3, 0; @%p2 bra M;" + INIT + "M:" + SYNC + USE,
    FIRST + "ld.global.u32 %r3, [%rd1]; setp.eq.u32 %p1, %r3, %r1;" + INIT + SYNC + USE,
    # no thread initializes it, or only some blocks have the thread
    f"{TID} setp.eq.u32 %p1, %r1, 64;" + INIT + SYNC + USE,
    # another mbarrier is initialized
    FIRST + "@%p1 mbarrier.init.shared::cta.b64 [bars+8], 1;" + SYNC + USE,
    FIRST + INIT + SYNC + f"{TID} shl.b32 %r2, %r1, 3; and.b32 %r2, %r2, 8; mov.u32 %r3, bars; add.u32 %r4, %r3, %r2;"
    " mbarrier.arrive.shared::cta.b64 _, [%r4];",
    # it is invalid again
    FIRST + INIT + SYNC + "@%p1 mbarrier.inval.shared::cta.b64 [bars];" + SYNC + USE,
    FIRST + INIT + SYNC + USE + "@%p1 mbarrier.inval.shared::cta.b64 [bars];",
    # the other CTA may not have begun, or the arrival releases nothing
    FIRST + INIT + SYNC + "mov.u32 %r3, bars; mapa.shared::cluster.u32 %r4, %r3, 1;"
    " mbarrier.arrive.shared::cluster.b64 _, [%r4];",
    FIRST + INIT + CLUSTER.format(".relaxed") + USE,
    FIRST + "@%p1 fence.mbarrier_init.release.cluster;" + INIT + CLUSTER.format(".relaxed") + USE,
    FIRST + "barrier.cluster.arrive;" + INIT + "barrier.cluster.wait;" + USE,
    # the initialization comes again after the barrier
    FIRST
    + "L:"
    + INIT
    + SYNC
    + USE
    + "ld.param.u32 %r3, [n]; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r3; @%p2 bra L;",
]


@pytest.mark.parametrize("body", WRONG_ORDER)
def test_a_use_that_may_come_before_the_initialization_is_not_proven(body: str) -> None:
    assert verdicts(body, "PTX501")[-1].verdict is not ObligationVerdict.DISCHARGED


TWICE = [
    f"{TID} setp.lt.u32 %p1, %r1, 2;" + INIT + SYNC + USE,
    f"{TID} setp.lt.u32 %p1, %r1, 100;" + INIT + SYNC + USE,
    f"elect.sync _|%p1, -1; {INIT}" + SYNC + USE,
    ELECT.replace("0xffffffff", "0xffff") + SYNC + USE,
    f"{TID} and.b32 %r2, %r1, 31; setp.eq.u32 %p1, %r2, 0;" + INIT + SYNC + USE,
    FIRST + INIT + SYNC + INIT + USE,
    FIRST + INIT + SYNC + f"setp.eq.u32 %p1, %r1, 32;{INIT}" + USE,
    FIRST + "L:" + INIT + SYNC + "add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 3; @%p2 bra L;" + USE,
    FIRST + INIT + "ld.global.u32 %r3, [%rd1]; @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;" + SYNC + USE,
    FIRST + INIT + SYNC + "ld.param.u32 %r3, [n]; setp.eq.u32 %p2, %r3, 0; and.pred %p3, %p1, %p2;"
    " @%p3 mbarrier.inval.shared::cta.b64 [bars];" + INIT + USE,
    "ld.global.u32 %r3, [%rd1]; setp.eq.u32 %p1, %r3, 0;" + INIT + SYNC + USE,
]


@pytest.mark.parametrize("body", TWICE)
def test_an_initialization_that_may_be_repeated_is_not_proven(body: str) -> None:
    assert verdicts(body, "PTX502")[0].verdict is not ObligationVerdict.DISCHARGED


def test_an_invalidated_mbarrier_may_be_initialized_again() -> None:
    body = FIRST + INIT + SYNC + "@%p1 mbarrier.inval.shared::cta.b64 [bars];" + INIT
    assert {each.evidence for each in verdicts(body, "PTX502")} == {"initialized"}


@pytest.mark.parametrize(("thread", "least"), [(0, ()), (32, (LaunchNeed("%ntid.x", "least", 33),))])
def test_blocks_of_unknown_shape_must_be_rows(thread: int, least: tuple[LaunchNeed, ...]) -> None:
    body = f"{TID} setp.eq.u32 %p1, %r1, {thread};" + INIT + SYNC + USE
    [found] = verdicts(body, "PTX501", bounds=".maxntid 64, 1, 1")
    rows = tuple(LaunchNeed(f"%ntid.{axis}", "extent", 1) for axis in "yz")
    assert (found.verdict, found.needs) == (ObligationVerdict.OPEN, (*least, *rows))


def proven_uses(text: str) -> dict[int, tuple[Step, ...]]:
    """The initializations on which the proof of each use rests, by the places in the text."""
    module = parse(text, "k.ptx")
    found: dict[int, tuple[Step, ...]] = {}
    for function in module.functions():
        program = flatten(module, function, ModuleContext(module), calls=True)
        order = FunctionProofs(program).once(InitOrder)
        for site in sites_of(is_a(MbarrierUse))(program):
            places = order.places_of(site.step, site.subject)
            inits = (
                [order.initialization_before(each, site.step, is_remote=False) for each in places[0]] if places else []
            )
            if inits and None not in inits:
                found[site.step.start] = tuple(each for each in inits if each is not None)
    return found


def without(text: str, *spans: tuple[int, int]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


@pytest.mark.parametrize("name", ["bulk_rows.sm_90a", "wgmma_ring.sm_90a", "multicast_cluster.sm_90a"])
def test_without_an_initialization_no_use_of_its_mbarrier_is_proven(name: str) -> None:
    text = (KERNELS / f"{name}.ptx").read_text("utf-8")
    before = proven_uses(text)
    assert len(before) > 2
    for init in {step for steps in before.values() for step in steps}:
        end = text.index(";", init.start) + 1
        after = proven_uses(without(text, (init.start, end)))
        assert not any(init in steps for use, steps in before.items() if use in after)


@pytest.mark.parametrize("name", ["bulk_rows.sm_90a", "wgmma_ring.sm_90a", "elected_leader.sm_90"])
def test_without_the_barrier_only_the_initializing_thread_may_use_it(name: str) -> None:
    text = (KERNELS / f"{name}.ptx").read_text("utf-8")
    spans = [found.span() for found in re.finditer(r"bar\.sync[^;]*;", text)]
    after = proven_uses(without(text, *spans))
    assert spans
    assert len(after) < len(proven_uses(text))
    assert not any("try_wait" in text[use : use + 40] for use in after)
