"""Flags that are polled before a copy."""

from __future__ import annotations

import pytest

from ptxkit.analysis.memory.polled_flags import find_polled_copies
from tests.analysis.support import module_of, program_of

START = ".shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar; ld.param.u64 %rd1, [p]; mov.u32 %r1, tile;"
COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 1024, [bar];"
POLL = "poll: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra poll;"


def find_polls(*lines: str, before: str = "") -> list[str]:
    """The polls of the copies that are found."""
    program = program_of(module_of(START + "".join(lines), parameters=".param .u64 p", before=before))
    return [found.poll.instruction.opcode for found in find_polled_copies(program)]


@pytest.mark.parametrize(
    "poll",
    [
        POLL,
        POLL.replace(".gpu", ".sys"),
        POLL.replace("@%p1", "nanosleep.u32 20; @%p1"),
        POLL.replace("acquire", "relaxed") + "fence.acq_rel.gpu;",
        POLL.replace("ld.acquire.gpu", "ld.volatile") + "membar.gl;",
        "poll: atom.acquire.gpu.global.cas.b32 %r2, [%rd1], 1, 0; setp.ne.u32 %p1, %r2, 1; @%p1 bra poll;",
    ],
)
def test_a_loop_that_reads_a_flag_is_a_poll(poll: str) -> None:
    assert len(find_polls(poll, COPY)) == 1


@pytest.mark.parametrize(
    "lines",
    [
        (COPY,),
        (COPY, POLL),
        (POLL, "fence.proxy.async;", COPY),
        (POLL, "fence.proxy.async.global;", COPY),
        (POLL.replace("acquire", "relaxed"), COPY),
        (POLL.replace(".gpu", ".cta"), COPY),
        (POLL.replace("@%p1 bra poll;", ""), COPY),
        (POLL.replace("setp", "st.global.u32 [%rd1+8], %r2; setp"), COPY),
        ("mov.u32 %r3, %tid.x; setp.eq.u32 %p2, %r3, 0; @%p2 bra on;", POLL, "on:", COPY),
    ],
)
def test_a_fence_or_another_path_or_order_leaves_nothing_to_report(lines: tuple[str, ...]) -> None:
    assert find_polls(*lines) == []


def test_a_call_of_a_function_with_a_fence_leaves_nothing_to_report() -> None:
    functions = ".func order() {{ {} ret; }}"
    assert find_polls(POLL, "call order;", COPY, before=functions.format("fence.proxy.async;")) == []
    assert find_polls(POLL, "call order;", COPY, before=functions.format("membar.gl;")) != []
    relaxed = POLL.replace("acquire", "relaxed")
    assert find_polls(relaxed, "call order;", COPY, before=functions.format("membar.gl;")) != []
