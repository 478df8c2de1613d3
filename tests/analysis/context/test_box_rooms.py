"""The room of the boxes of tensor copies, where one thread or several copy."""

from __future__ import annotations

import pytest

from ptxkit.analysis.context.box_rooms import find_rooms_of_copies
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.linter import lint_module
from ptxkit.settings.model import DEFAULT
from ptxkit.syntax import parse

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128]) .reqntid 32
{{
 .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %d<3>;
 .shared .align 1024 .b8 tile[8192]; .shared .align 8 .b64 full;
 mov.b64 %d1, map; cvta.param.u64 %d1, %d1; mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, full;
 setp.lt.u32 %p1, %r1, {threads}; shl.b32 %r4, %r1, 11; add.u32 %r4, %r4, %r2;
 @%p1 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r4], [%d1, {{%r1}}], [%r3];
 ret;
}}
"""


@pytest.mark.parametrize(("threads", "room"), [(1, 8192), (2, 2048), (4, 2048)])
def test_the_boxes_of_several_threads_end_where_the_next_one_begins(threads: int, room: int) -> None:
    explored: dict[str, KernelFacts] = {}
    lint_module(parse(KERNEL.format(threads=threads), "k.ptx"), DEFAULT, explored)
    facts = explored["k"].scenarios[0]
    assert set(find_rooms_of_copies(facts.groups, facts.program).values()) == {room}
