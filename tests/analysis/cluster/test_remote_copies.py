"""Copies from other CTAs of a cluster, and the threads that have observed that they are complete."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ptxkit.analysis.cluster.cluster_facts import find_signaled_mbarriers
from ptxkit.analysis.cluster.remote_copies import (
    OutgoingSignals,
    RemoteCopy,
    find_remote_copies,
    is_completion_observed,
    reads_of_copy,
)
from ptxkit.analysis.context.kernel_facts import KernelFacts
from tests.analysis.support import kernel_of, module_of

START = """.shared .align 128 .b8 tile[512]; .shared .align 8 .b64 bar; mov.u32 %r1, tile; mov.u32 %r2, bar;
mov.u32 %r3, %cluster_ctarank; xor.b32 %r4, %r3, 1; mov.u32 %r6, %tid.x; setp.eq.u32 %p1, %r6, 0;
mapa.shared::cluster.u32 %r5, %r2, %r4; mapa.shared::cluster.u32 %r8, %r1, %r4; shl.b32 %r9, %r6, 2;
add.u32 %r8, %r8, %r9; add.u32 %r10, %r1, %r9; @%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;"""
MEET = "barrier.cluster.arrive; barrier.cluster.wait;"
STORE = "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r8], %r6, [%r5];"
READ = "ld.shared.u32 %r11, [%r10];"


def wait(parity: int = 0, order: str = ".acquire") -> str:
    return f"wait: mbarrier.try_wait.parity{order}.cluster.shared::cta.b64 %p2, [%r2], {parity}; @!%p2 bra wait;"


def cluster(*lines: str) -> KernelFacts:
    bounds = ".reqntid 64\n.reqnctapercluster 2, 1, 1"
    return kernel_of(module_of(START + "".join(lines), bounds=bounds))


def signaled_copies(kernel: KernelFacts) -> Iterator[bool | None]:
    """Returns what is known about each copy where its bytes are read, in the first CTA."""
    facts = kernel.scenarios[0]
    signals = find_signaled_mbarriers(kernel.scenarios)
    for copy in find_remote_copies(kernel.scenarios, facts):
        for reader in facts.threads.values():
            for position, _ in reads_of_copy(reader, copy):
                yield is_completion_observed(facts, reader, position, copy, signals, OutgoingSignals(facts))


def test_a_store_into_another_cta_is_a_copy_there() -> None:
    kernel = cluster(MEET, STORE, wait(), MEET)
    copies: list[RemoteCopy] = list(find_remote_copies(kernel.scenarios, kernel.scenarios[0]))
    assert {(copy.source.scenario.rank, copy.phase) for copy in copies} == {(1, 1)}
    by_thread = {copy.issuer.tid: copy.low - 1024 for copy in copies}
    assert by_thread == {tid: 4 * tid for tid in by_thread}
    assert all(copy.high == copy.low + 4 for copy in copies)


def test_a_store_into_the_executing_cta_is_not_a_copy() -> None:
    kernel = cluster(MEET, "mov.u32 %r8, %r10; mov.u32 %r5, %r2;", STORE, wait(), MEET)
    assert not list(find_remote_copies(kernel.scenarios, kernel.scenarios[0]))


@pytest.mark.parametrize(
    ("lines", "known"),
    [
        ((MEET, STORE, wait(), READ, MEET), True),
        ((MEET, STORE, READ, wait(), MEET), False),
        ((MEET, STORE, wait(1), READ, MEET), False),
        ((MEET, STORE, wait(order=".relaxed"), READ, MEET), False),
        ((MEET, STORE, "@!%p1 bra go;", wait(), "go: bar.sync 0;", READ, MEET), True),
        ((READ, MEET, STORE, wait(), MEET), None),  # the barrier of the cluster comes before the store
    ],
)
def test_a_thread_that_waits_for_the_phase_has_observed_the_store(lines: tuple[str, ...], known: bool | None) -> None:
    found = set(signaled_copies(cluster(*lines)))
    assert found == {known}


def test_a_copy_that_may_answer_a_signal_may_come_later() -> None:
    signal = "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5+8];"
    ready = "ready: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r2+8], 0; @!%p3 bra ready;"
    second = "@%p1 mbarrier.init.shared::cta.b64 [%r2+8], 1;"
    assert set(signaled_copies(cluster(second, MEET, READ, "bar.sync 0;", signal, ready, STORE, wait(), MEET))) == {
        None
    }
