"""The mbarriers of a cluster on which an operation acts."""

from __future__ import annotations

import pytest

from ptxkit.analysis.ir.shared_window import SharedWindow
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.mbarrier_location import location_of, locations_of
from ptxkit.isa.effects import MbarrierArrive, MbarrierComplete, MbarrierWait
from tests.analysis.support import module_of, walk

CLUSTER = ".reqntid 32\n.reqnctapercluster 4, 1, 1"
START = ".shared .align 128 .b8 tile[512]; .shared .align 8 .b64 bar; mov.u32 %r1, tile; mov.u32 %r2, bar;"
COPY = "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"


def event(body: str, kind: type, rank: int = 0) -> TraceEvent:
    """Returns the only event of a kind in an execution of thread 0 of a CTA."""
    (found,) = walk(module_of(START + body, bounds=CLUSTER), rank=rank).events(kind)
    return found


@pytest.mark.parametrize("rank", [0, 1])
def test_an_operation_on_a_local_mbarrier_is_in_the_executing_cta(rank: int) -> None:
    arrival = event("mbarrier.arrive.shared::cta.b64 _, [%r2];", MbarrierArrive, rank)
    assert isinstance(arrival.address, int)
    assert location_of(rank, arrival) == (rank, arrival.address)
    assert locations_of(rank, arrival) == ((rank, arrival.address),)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_mapped_address_is_in_the_cta_that_it_names(rank: int) -> None:
    own = event("mbarrier.arrive.shared::cta.b64 _, [%r2];", MbarrierArrive)
    body = "mapa.shared::cluster.u32 %r3, %r2, 3; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];"
    assert location_of(rank, event(body, MbarrierArrive, rank)) == (3, own.address)


def test_a_mask_names_one_mbarrier_in_each_of_its_ctas() -> None:
    copy = event(f"mov.u16 %h1, 13; {COPY} [%r1], [%rd1, {{%r4}}], [%r2], %h1;", MbarrierComplete)
    assert locations_of(0, copy) == tuple((rank, copy.address) for rank in (0, 2, 3))


@pytest.mark.parametrize(("rank", "reported"), [(0, (0, 2)), (1, (1, 3))])
def test_of_a_pair_of_ctas_the_one_with_the_parity_of_the_named_one_is_signaled(
    rank: int, reported: tuple[int, ...]
) -> None:
    body = f"mov.u16 %h1, 6; {COPY}.cta_group::2 [%r1], [%rd1, {{%r4}}], [%r2], %h1;"
    copy = event(body, MbarrierComplete, rank)
    assert locations_of(rank, copy) == tuple((each, copy.address) for each in reported)


def test_a_commit_signals_all_ctas_of_its_mask() -> None:
    body = "mov.u16 %h1, 3; tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
    commit = event(f"{body} [%r2], %h1;", MbarrierArrive)
    assert locations_of(0, commit) == ((0, commit.address), (1, commit.address))


@pytest.mark.parametrize(
    "body",
    [
        "ld.global.u32 %r2, [%rd1]; mbarrier.arrive.shared::cta.b64 _, [%r2];",
        "ld.global.u32 %r5, [%rd1]; mapa.shared::cluster.u32 %r2, %r2, %r5;"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];",
    ],
)
def test_an_unknown_address_has_no_location(body: str) -> None:
    assert locations_of(0, event(body, MbarrierArrive)) is None


def test_an_unknown_mask_has_no_locations() -> None:
    copy = event(f"ld.global.u16 %h1, [%rd1]; {COPY} [%r1], [%rd1, {{%r4}}], [%r2], %h1;", MbarrierComplete)
    assert locations_of(0, copy) is None


def test_an_event_without_a_mask_has_one_location() -> None:
    address = SharedWindow(0).map_to_rank(1024, 2)
    (step, *_) = walk(module_of("bar.sync 0;")).state.code.program.steps
    wait = TraceEvent(step, 0, MbarrierWait("bar", "phase", "parity", "p", blocking=False), address)
    assert locations_of(0, wait) == ((2, 1024),)
