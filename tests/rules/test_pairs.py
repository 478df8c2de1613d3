"""Operands of both CTAs of a pair: the copies of the other CTA must be complete, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit import lint

_FIXTURE = Path(__file__).resolve().parents[2] / "corpus" / "rules" / "PTX702_ok_pair_of_ctas.ptx"
_COPY = """
	@!%p1 bra copied;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 6144;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1+65536], 6144, [full];
copied:
"""
_WAIT = """
filled:
	mbarrier.try_wait.parity.shared::cta.b64 %p5, [full], 0;
	@!%p5 bra filled;
"""
_MEET = "	barrier.cluster.arrive;\n	barrier.cluster.wait;\n"


def _pair(before: str, leader: str) -> str:
    """Each CTA copies its operands. before, leader: code of all threads and of the leader before the multiplication."""
    lines = _FIXTURE.read_text().splitlines(keepends=True)
    kept = "".join(line for line in lines if "st.shared.v4" not in line)
    kept = kept.replace("{\n", "{\n	.shared .align 8 .b64 full;\n", 1)
    kept = kept.replace("[done], 1;", "[done], 1;\n	@%p1 mbarrier.init.shared::cta.b64 [full], 1;", 1)
    kept = kept.replace("	.reg .b16 %rs<2>;", f"	.reg .b16 %rs<2>;{_COPY}{before}", 1)
    return kept.replace("	tcgen05.mma", f"{leader}	tcgen05.mma", 1)


@pytest.mark.parametrize(
    ("before", "leader", "asks"),
    [(f"{_WAIT}{_MEET}", "", False), ("", _WAIT, True), (_MEET, _WAIT, True)],
    ids=["both wait, and meet", "only the leader waits", "the other one does not wait before they meet"],
)
def test_copies_of_both_ctas_are_complete_before_a_multiplication(before: str, leader: str, asks: bool) -> None:
    verdict = lint(_pair(before, leader))
    assert verdict.diagnostics == ()
    assert {item.code for item in verdict.undecided} == ({"PTX302"} if asks else set())
