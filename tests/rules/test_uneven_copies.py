"""A producer that stops waiting is found in a cluster although the bytes of its copies are unknown."""

from __future__ import annotations

from pathlib import Path

from ptxkit.diagnostics import Severity
from ptxkit.linter import lint

RULES = Path(__file__).parents[2] / "corpus" / "rules"
TEXT = (RULES / "PTX504_ok_multicast_slot_released_to_both_ctas.ptx").read_text("utf-8")
WAIT = "\tmbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5+8], %r12;\n\t@!%p3 bra free;\n"
EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 4096;"


def test_an_arrival_is_in_excess_before_the_copies_of_a_phase_become_uneven() -> None:
    assert TEXT.count(WAIT) == 1
    assert not lint(TEXT).diagnostics
    nine_rounds = f"\tsetp.lt.u32 %p5, %r8, 9;\n\t@!%p5 bra filled;\n{WAIT}filled:\n"
    [excess] = lint(TEXT.replace(WAIT, nine_rounds)).diagnostics
    assert (str(excess.code), excess.severity) == ("PTX505", Severity.ERROR)
    assert excess.source.text[excess.span.start :].startswith(EXPECT)
