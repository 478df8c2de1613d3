"""Mbarrier objects: arrivals and bytes, phases, and waits."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from ptxkit.emulator import run
from tests.emulator.support import kernel

THREADS = 64
BEGIN = """
 .shared .align 8 .b64 bar;
 .shared .align 8 .b64 other;
 mov.u32 %r31, %tid.x; ld.param.u64 %d0, [a];
 setp.eq.u32 %p0, %r31, 0;
"""
INIT = " @%p0 mbarrier.init.shared.b64 [bar], {count};\n bar.sync 0;\n"
WAIT = "{name}: mbarrier.try_wait.parity.shared.b64 %p1, [bar], {parity};\n @!%p1 bra {name};\n"


def ran(body: str, policy: str = "eager", threads: int = THREADS, seed: int = 0) -> Any:
    """Runs a kernel with one buffer, a."""
    text = kernel(BEGIN + body, ".param .u64 a")
    found = run(text, "k", block=threads, arguments=[numpy.zeros(THREADS, numpy.uint32)], policy=policy, seed=seed)
    assert not found.unsupported_reason, found.unsupported_reason
    return found


def codes(body: str, **how: Any) -> list[str]:
    """Returns the codes of the findings of a run."""
    return [each.code for each in ran(body, **how).findings]


def init(count: int) -> str:
    """Thread 0 initializes the mbarrier, and the others wait for it."""
    return INIT.replace("{count}", str(count))


def wait(name: str, parity: int) -> str:
    """Waits for the phase of a parity."""
    return WAIT.replace("{name}", name).replace("{parity}", str(parity))


KEEP = " mul.wide.u32 %d1, %r31, 4; add.u64 %d1, %d0, %d1; st.global.u32 [%d1], %r1;\n"


def test_a_run_continues_after_several_threads_have_initialized_one_mbarrier() -> None:
    together = " mbarrier.init.shared.b64 [bar], 64;\n bar.sync 0;\n mbarrier.arrive.shared.b64 _, [bar];\n"
    found = ran(" setp.lt.u32 %p3, %r31, 32;\n @%p3" + together + wait("L", 0) + " mov.u32 %r1, 7;\n" + KEEP)
    assert [each.code for each in found.findings] == ["PTX502"]
    assert (found.outputs[0] == 7).all()


def test_a_run_ends_where_threads_initialize_an_mbarrier_with_different_counts() -> None:
    found = ran(" setp.lt.u32 %p3, %r31, 2; add.u32 %r2, %r31, 1;\n @%p3 mbarrier.init.shared.b64 [bar], %r2;\n" + KEEP)
    assert [each.code for each in found.findings] == ["PTX502"]
    assert not found.outputs[0].any()


@pytest.mark.parametrize("policy", ["eager", "late", "torn", "random"])
def test_a_phase_ends_when_all_have_arrived(policy: str) -> None:
    body = init(THREADS) + " mbarrier.arrive.shared.b64 _, [bar];\n" + wait("L", 0) + " mov.u32 %r1, 7;\n" + KEEP
    found = ran(body, policy)
    assert not found.findings
    assert (found.outputs[0] == 7).all()


def test_a_wait_for_a_missing_arrival_is_reported_with_the_counts() -> None:
    found = ran(init(THREADS + 1) + " mbarrier.arrive.shared.b64 _, [bar];\n" + wait("L", 0))
    (finding,) = found.findings
    assert finding.code == "PTX504"
    assert "65 arrivals expected, 64 seen" in finding.message


def test_a_wait_for_missing_bytes_is_reported_with_the_bytes() -> None:
    found = ran(init(1) + " @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 48;\n" + wait("L", 0))
    (finding,) = found.findings
    assert finding.code == "PTX503"
    assert "48 bytes expected, 0 received" in finding.message


def test_bytes_may_be_complete_before_they_are_expected_while_an_arrival_is_pending() -> None:
    body = init(1) + (
        " @%p0 mbarrier.complete_tx.shared.b64 [bar], 48;\n @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 48;\n"
    )
    assert not codes(body + wait("L", 0))


def test_the_state_has_the_pending_arrivals_before_the_operation() -> None:
    body = init(THREADS) + (
        " mbarrier.arrive.shared.b64 %d2, [bar];\n mbarrier.pending_count.b64 %r1, %d2;\n" + wait("L", 0) + KEEP
    )
    assert sorted(ran(body).outputs[0]) == list(range(1, THREADS + 1))


def test_a_wait_for_a_state_succeeds() -> None:
    body = init(THREADS) + (
        " mbarrier.arrive.shared.b64 %d2, [bar];\n"
        "L: mbarrier.test_wait.shared.b64 %p1, [bar], %d2;\n @!%p1 bra L;\n mov.u32 %r1, 3;\n" + KEEP
    )
    assert (ran(body).outputs[0] == 3).all()


def test_a_wait_for_the_other_parity_succeeds_on_a_fresh_mbarrier() -> None:
    assert not codes(init(THREADS) + wait("L", 1))


def test_a_drop_lowers_the_count_of_later_phases() -> None:
    body = init(THREADS) + (
        " setp.lt.u32 %p2, %r31, 32;\n"
        " @%p2 mbarrier.arrive_drop.shared.b64 _, [bar];\n @!%p2 mbarrier.arrive.shared.b64 _, [bar];\n"
        + wait("L", 0)
        + " bar.sync 0;\n @%p2 bra OUT;\n mbarrier.arrive.shared.b64 _, [bar];\n"
        + wait("M", 1)
        + "OUT:\n"
    )
    assert not codes(body)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (" mbarrier.arrive.shared.b64 _, [bar];\n", "PTX501"),
        (init(1) + " @%p0 mbarrier.init.shared.b64 [bar], 1;\n", "PTX502"),
        (" mbarrier.init.shared.b64 [bar], 1;\n", "PTX502"),
        (init(1) + " mbarrier.arrive.shared.b64 _, [bar];\n", "PTX505"),
        (
            init(64) + " @%p0 mbarrier.inval.shared.b64 [bar];\n bar.sync 0;\n mbarrier.arrive.shared.b64 _, [bar];\n",
            "PTX507",
        ),
        (init(1) + " @%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 1048576;\n", "PTX503"),
        (init(1) + " @%p0 mbarrier.arrive.noComplete.shared.b64 %d2, [bar], 1;\n", "PTX505"),
    ],
)
def test_an_error_of_an_mbarrier_is_found(body: str, code: str) -> None:
    assert codes(body) == [code]


def test_an_mbarrier_may_be_initialized_again_after_its_invalidation() -> None:
    again = " @%p0 mbarrier.inval.shared.b64 [bar];\n @%p0 mbarrier.init.shared.b64 [bar], 2;\n"
    assert not codes(init(1) + again)


def test_polling_two_mbarriers_in_turn_is_not_a_deadlock() -> None:
    body = init(1) + (
        " @%p0 mbarrier.init.shared.b64 [other], 1;\n bar.sync 0;\n @!%p0 bra ARRIVE;\n"
        "L: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n @%p1 bra OUT;\n"
        " mbarrier.test_wait.parity.shared.b64 %p1, [other], 0;\n @%p1 bra OUT;\n bra L;\n"
        "ARRIVE: setp.eq.u32 %p2, %r31, 40;\n @%p2 mbarrier.arrive.shared.b64 _, [other];\nOUT:\n"
    )
    for policy in ("eager", "late", "random"):
        assert not codes(body, policy=policy)


def test_a_second_arrival_without_a_wait_is_found() -> None:
    twice = " @%p0 mbarrier.arrive.shared.b64 _, [bar];\n" * 2
    assert codes(init(1) + twice) == ["PTX505"]
    asked = " @%p0 mbarrier.arrive.shared.b64 _, [bar];\n" + wait("L", 0) + " bar.sync 0;\n"
    assert not codes(init(1) + asked + " @%p0 mbarrier.arrive.shared.b64 _, [bar];\n")


def test_an_overwritten_mbarrier_is_found() -> None:
    store = " @%p0 st.shared.u32 [bar+4], 0;\n"
    assert codes(init(1) + store) == ["PTX502"]
    assert not codes(init(1) + " @%p0 mbarrier.inval.shared.b64 [bar];\n" + store)


def test_threads_that_are_not_ordered_after_the_initialization_are_found() -> None:
    body = " @%p0 mbarrier.init.shared.b64 [bar], 64;\n{meet} mbarrier.arrive.shared.b64 _, [bar];\n" + wait("L", 0)
    assert codes(body.replace("{meet}", "")) == ["PTX501"]
    assert not codes(body.replace("{meet}", " bar.sync 0;\n"))


def test_a_wait_without_a_loop_may_end_too_early() -> None:
    once = " mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n selp.u32 %r1, 1, 0, %p1;\n"
    arrive = " setp.eq.u32 %p2, %r31, 63;\n @%p2 mbarrier.arrive.shared.b64 _, [bar];\n"
    assert not ran(init(1) + once + arrive + KEEP, "late").outputs[0].any()


@pytest.mark.parametrize(
    ("declared", "address", "name"),
    [
        (".shared .align 8 .b64 full[2];", "full+8", "`full[1]`"),
        (".shared .align 8 .b8 _ZZ1kE4sync[8];", "_ZZ1kE4sync", "`sync`"),
        (".shared .align 8 .b8 _ZZ1kE7storage[64];", "_ZZ1kE7storage+24", "`storage+24`"),
    ],
)
def test_a_wait_without_end_names_the_object_as_the_author_did(declared: str, address: str, name: str) -> None:
    text = f"{init(THREADS + 1)} mbarrier.arrive.shared.b64 _, [bar];\n{wait('L', 0)}".replace("[bar]", f"[{address}]")
    (finding,) = ran(f" {declared}\n{text}").findings
    assert f"wait for phase 0 of the mbarrier {name}: " in finding.message
