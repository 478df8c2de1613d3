"""Words that atomics and bulk reductions update."""

from __future__ import annotations

import pytest

from ptxkit.analysis.memory.mixed_proxy_reductions import find_mixed_proxy_updates
from tests.analysis.support import module_of, program_of

START = (
    ".shared .align 16 .b8 tile[1024]; mov.u32 %r1, tile; mov.u32 %r2, %ctaid.x; mov.u32 %r3, 512;"
    "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; ld.param.u64 %rd3, [q]; setp.eq.u32 %p1, %r2, 0;"
)
REDUCE = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r1], 512;"


def mixed_reductions(*lines: str) -> list[str]:
    """The atomics that are found."""
    program = program_of(module_of(START + "".join(lines), parameters=".param .u64 p, .param .u64 q"))
    return [found.atomic.instruction.opcode.partition(".")[0] for found in find_mixed_proxy_updates(program)]


@pytest.mark.parametrize(
    "lines",
    [
        ("red.global.add.u32 [%rd2], 1;", REDUCE),
        ("red.global.add.u32 [%rd2+508], 1;", REDUCE),
        (REDUCE, "red.add.u32 [%rd1+4], 1;"),
        ("add.u64 %rd4, %rd2, 16; red.global.add.u32 [%rd4+-8], 1;", REDUCE),
        ("mov.u64 %rd5, %rd2; red.global.add.u32 [%rd5], 1;", REDUCE),
        ("red.global.add.u32 [%rd2+15], 1;", REDUCE.replace("512", "%r3")),
    ],
)
def test_one_word_of_one_parameter_is_updated_twice(lines: tuple[str, ...]) -> None:
    assert mixed_reductions(*lines) == ["red"]


@pytest.mark.parametrize(
    "lines",
    [
        ("red.global.add.u32 [%rd2+512], 1;", REDUCE),
        ("add.u64 %rd4, %rd2, 16; red.global.add.u32 [%rd4+-20], 1;", REDUCE),
        ("red.global.add.u32 [%rd3], 1;", REDUCE),
        ("red.global.add.u32 [%rd2+16], 1;", REDUCE.replace("512", "%r3")),
        ("mul.wide.u32 %rd4, %r2, 4; add.u64 %rd5, %rd2, %rd4; red.global.add.u32 [%rd5], 1;", REDUCE),
        ("mov.u64 %rd5, %rd2; @%p1 mov.u64 %rd5, %rd3; red.global.add.u32 [%rd5], 1;", REDUCE),
        ("red.shared.add.u32 [%r1], 1;", REDUCE),
        ("st.global.u32 [%rd2], 1;", REDUCE),
        ("red.global.add.u32 [%rd2], 1;",),
    ],
)
def test_other_words_or_unknown_addresses_are_not_reported(lines: tuple[str, ...]) -> None:
    assert mixed_reductions(*lines) == []
