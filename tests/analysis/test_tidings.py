"""Copies into another CTA that tell the CTA that copies: by what the receiving one may hear that they are over."""

from __future__ import annotations

import pytest

from ptxkit.analysis.incoming import Departures, incoming, reads
from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.tidings import first_tidings, may_have_heard
from tests.analysis.support import kernel_of, module_of

START = """.shared .align 128 .b8 mine[256], tile[256]; .shared .align 8 .b64 bar[2];
mov.u32 %r1, tile; mov.u32 %r2, bar;
mov.u32 %r3, %cluster_ctarank; xor.b32 %r4, %r3, 1; mov.u32 %r6, %tid.x; setp.eq.u32 %p1, %r6, 0; mov.u32 %r7, mine;
mapa.shared::cluster.u32 %r5, %r2, %r4; mapa.shared::cluster.u32 %r8, %r1, %r4; shl.b32 %r9, %r6, 2;
add.u32 %r10, %r1, %r9; @%p1 mbarrier.init.shared::cta.b64 [%r2], 1; @%p1 mbarrier.init.shared::cta.b64 [%r2+8], 1;
@%p1 fence.mbarrier_init.release.cluster; @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;"""
MEET = "barrier.cluster.arrive; barrier.cluster.wait;"
COPY = (
    "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r8], [%r7], 256, [%r2];"
    "over: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra over;"
)
SIGNAL = "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5+8];"
READ = "ld.shared.u32 %r11, [%r10];"


def heard(parity: int = 0) -> str:
    wait = "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
    return f"heard: {wait} %p3, [%r2+8], {parity}; @!%p3 bra heard;"


def cluster(*lines: str) -> Kernel:
    bounds = ".reqntid 64\n.reqnctapercluster 2, 1, 1"
    return kernel_of(module_of(START + "".join(lines), bounds=bounds))


def test_a_signal_is_known_by_the_phase_in_which_it_counts() -> None:
    own = "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r2+8];"
    first, second = cluster(MEET, SIGNAL, MEET), cluster(MEET, own, heard(), MEET, SIGNAL, MEET)
    assert list((first_tidings(first.worlds, 0) or {}).values()) == [1]
    assert list((first_tidings(second.worlds, 0) or {}).values()) == [2]


@pytest.mark.parametrize(
    ("lines", "may"),
    [
        ((MEET, COPY, READ, MEET), {False}),
        ((MEET, COPY, MEET, READ), {True}),
        ((MEET, COPY, SIGNAL, heard(), READ, MEET), {True}),
        ((MEET, COPY, SIGNAL, heard(1), READ, MEET), {False}),  # the wait passes before anybody signals
        ((MEET, COPY, SIGNAL, "@!%p1 bra go;", heard(), "go: bar.sync 0;", READ, MEET), {True}),
        ((READ, MEET, COPY, MEET), {True}),  # the barrier of the cluster comes before the copy
        ((MEET, READ, "bar.sync 0;", SIGNAL, heard(), COPY, MEET), {True}),  # the copy may answer
    ],
)
def test_only_what_comes_from_the_other_cta_behind_the_copy_tells_of_its_end(
    lines: tuple[str, ...], may: set[bool]
) -> None:
    kernel = cluster(*lines)
    world = kernel.worlds[0]
    tidings = first_tidings(kernel.worlds, 0)
    found = {
        may_have_heard(world, reader, position, copy, tidings, Departures(world))
        for copy in incoming(kernel.worlds, world)
        for reader in world.threads.values()
        for position, _ in reads(reader, copy)
    }
    assert found == may
