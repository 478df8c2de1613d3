"""Races in global memory are sought only where the threads load from a buffer to which they store."""

from __future__ import annotations

import pytest

from ptxkit.analysis.context import global_memory_facts
from ptxkit.analysis.context.global_memory_facts import find_global_races
from ptxkit.analysis.context.kernel_facts import KernelFacts
from tests.analysis.support import kernel_of, module_of

PARAMETERS = ".param .u64 p, .param .u64 q"
#: Each thread stores to its own word of `p`, and loads the word of its neighbor, from `p` if its number has a limit.
NEIGHBOR = """ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
setp.lt.u32 %p1, %r1, LIMIT; selp.b64 %rd6, %rd1, %rd2, %p1; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd6, %rd3;
ld.global.u32 %r2, [%rd5+4]; st.global.u32 [%rd4], %r2;"""


def facts_of(limit: int) -> KernelFacts:
    body = NEIGHBOR.replace("LIMIT", str(limit))
    return kernel_of(module_of(body, bounds=".reqntid 128", parameters=PARAMETERS))


def test_a_thread_that_loads_what_another_stores_races() -> None:
    found = find_global_races(facts_of(128))
    assert found
    assert all(races for _, races in found.values())


def test_no_accesses_are_compared_where_the_threads_use_no_buffer_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(global_memory_facts, "RaceAnalysis")
    kernel = facts_of(0)
    found = find_global_races(kernel)
    assert found.keys() == {number for number, _ in kernel.complete_scenarios}
    assert not any(races for _, races in found.values())
    assert all(kernel.program.steps[0] in group.covered_steps for facts, _ in found.values() for group in facts.groups)
