"""Other block sizes for which a kernel may be meant, derived from its counts."""

from __future__ import annotations

from ptxkit.analysis.context.kernel_facts import KernelFacts
from tests.analysis.support import kernel_of, module_of

INIT = ".shared .align 8 .b64 bar; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, bar;"


def sizes(kernel: KernelFacts) -> list[int]:
    return [facts.scenario.launch.threads for facts in kernel.other_block_sizes(kernel.scenarios[0].scenario)]


def kernel_with(count: int, bounds: str) -> KernelFacts:
    return kernel_of(
        module_of(
            f"{INIT} @%p1 mbarrier.init.shared::cta.b64 [%r2], {count}; bar.sync 0; "
            "mbarrier.arrive.shared::cta.b64 %rd1, [%r2];",
            bounds=bounds,
        )
    )


def test_a_count_suggests_one_arrival_a_thread_or_a_warp_and_a_warp_more() -> None:
    assert {96, 128, 224} <= set(sizes(kernel_with(96, ".maxntid 512, 1, 1")))
    assert {96, 128} <= set(sizes(kernel_with(3, ".maxntid 512, 1, 1")))


def test_no_size_is_larger_than_the_kernel_allows_or_was_tried_before() -> None:
    found = sizes(kernel_with(128, ".maxntid 256, 1, 1"))
    assert max(found) < 256
    assert 128 not in found


def test_no_size_but_the_declared_one_is_tried() -> None:
    assert sizes(kernel_with(64, ".reqntid 128, 1, 1")) == []


def test_half_a_warp_is_not_a_size() -> None:
    assert all(size % 32 == 0 for size in sizes(kernel_with(100, ".maxntid 512, 1, 1")))


def test_planes_of_a_block_keep_their_extent() -> None:
    kernel = kernel_with(64, ".maxntid 64, 4, 1")
    assert {facts.scenario.launch.block[1] for facts in kernel.other_block_sizes(kernel.scenarios[0].scenario)} == {4}
