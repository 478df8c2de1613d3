"""An arrival at the wrong mbarrier of a ring: the finding names it, and a validated fix moves it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Diagnostic
from ptxkit.fixes import fix_source
from ptxkit.linter import lint_source
from ptxkit.source import SourceFile
from tests.fixes.rings import EXPECTED, RELEASE, RING, ring

KERNELS = Path(__file__).parents[2] / "corpus" / "kernels"
HAND_WRITTEN = (KERNELS / "hand_ring_two_slots.sm_90.ptx").read_text()
COMPILED = (KERNELS / "ring_one_producer.sm_90.ptx").read_text()
LAGGING = """	setp.ge.u32 %more, %i, 1;
	and.pred %more, %more, %leader;
	@%more mbarrier.arrive.shared::cta.b64 _, [%e];
"""
"""The consumers release no slot in their first iteration."""


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    return lint_source(SourceFile("k.ptx", text)).diagnostics


def changed_line(text: str, changed: str) -> int:
    """Returns the number of the only line in which two texts differ."""
    lines = list(zip(text.splitlines(), changed.splitlines(), strict=True))
    [number] = [number for number, (one, other) in enumerate(lines, 1) if one != other]
    return number


def lines_of(item: Diagnostic, text: str) -> list[int]:
    """Returns the lines of the labels that blame an arrival, or of a finding at it."""
    blamed = [label.span for label in item.labels if label.message == "arrives at another mbarrier than it should"]
    spans = blamed or [item.span]
    return [text.count("\n", 0, span.start) + 1 for span in spans]


@pytest.mark.parametrize(
    ("text", "arrival", "wrong", "code"),
    [
        (RING, RELEASE.strip(), "[%f]", "PTX503"),
        (RING, RELEASE.strip(), "[empty]", "PTX503"),
        (RING, EXPECTED, "[%e]", "PTX503"),
        (HAND_WRITTEN, "mbarrier.arrive.shared::cta.b64 _, [%f+16];", "[%f]", "PTX503"),
        (HAND_WRITTEN, "mbarrier.arrive.shared::cta.b64 _, [%f+16];", "[%f+8]", "PTX505"),
        (HAND_WRITTEN, "mbarrier.arrive.shared::cta.b64 _, [%f+16];", "[%b+16]", "PTX503"),
        (HAND_WRITTEN, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%f], 512;", "[%f+16]", "PTX503"),
        (COMPILED, "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd8, [%r101],", "[%r101+160]", "PTX503"),
    ],
)
def test_an_arrival_at_the_wrong_mbarrier_is_moved_back(text: str, arrival: str, wrong: str, code: str) -> None:
    own = arrival[arrival.index("[") : arrival.index("]") + 1]
    changed = ring((arrival, arrival.replace(own, wrong)), text=text)
    moved = [item for item in diagnostics(changed) if "arrive at the mbarrier" in (item.help or "")]
    assert code in [item.code for item in moved]
    for item in moved:
        assert lines_of(item, changed) == [changed_line(text, changed)]
    assert fix_source(SourceFile("k.ptx", changed), unsafe=True).source.text == text


def test_no_fix_uses_a_register_that_arriving_threads_did_not_assign() -> None:
    """Two registers of the compiled kernel hold mbarriers of `empty`, but only in threads that do not arrive there."""
    changed = ring(("[%r82];           // 1.", "[%r82+-160];           // 1."), text=COMPILED)
    item, *others = diagnostics(changed)
    assert (item.code, [each.code for each in others]) == ("PTX503", ["PTX621", "PTX207"])
    assert lines_of(item, changed) == [changed_line(COMPILED, changed)]
    after = fix_source(SourceFile("k.ptx", changed), unsafe=True).source.text
    assert not any(f"[{register}];           // 1." in after for register in ("%r22", "%r39", "%r101"))


def test_a_release_that_lags_one_round_is_not_moved() -> None:
    """No other mbarrier lets the ring complete: the wait for the phase without arrivals is the finding."""
    late = ring((RELEASE, LAGGING))
    [item] = diagnostics(late)
    assert item.code == "PTX504"
    assert late[item.span.start : item.span.end].startswith("mbarrier.try_wait.parity.shared::cta.b64 %done, [%e]")
    blocked, arrival = ((each, late[each.span.start : each.span.end]) for each in item.labels[-2:])
    assert (blocked[0].message, blocked[1][:48]) == (
        "never returns",
        "mbarrier.try_wait.parity.shared::cta.b64 %done, ",
    )
    line = late[: blocked[0].span.start].count("\n") + 1
    assert (arrival[0].message, arrival[1] in LAGGING) == (f"would arrive, but only after line {line}", True)
    assert item.help is not None
    assert item.help.startswith(f"arrive before line {line}: ")
    assert not fix_source(SourceFile("k.ptx", late), unsafe=True).applied


@pytest.mark.parametrize("release", [RELEASE, LAGGING])
def test_a_release_of_the_slot_before_is_legal(release: str) -> None:
    lagging = ring((RELEASE, "\txor.b32 %f, %e, 8;\n" + release.replace("[%e]", "[%f]")))
    assert diagnostics(lagging) == ()
