"""The memory that `verify` needs at its peak, in proportion to the buffers of a kernel, whatever the number of runs.

The bytes that Python and NumPy allocate are counted, which depends neither on the machine nor on its load.
"""

from __future__ import annotations

import tracemalloc

import pytest

from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, verify_source
from ptxkit.verifier.integer_guesses import LARGE_MEMORY_BYTES

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k({parameters}) .reqntid 32
{{
 .reg .b32 %r<4>; .reg .b64 %d<8>;
 mov.u32 %r1, %tid.x;
{body}
 ret;
}}
"""
BUFFER = """ ld.param.u64 %d0, [{0}]; ld.global.u32 %r2, [%d0+{1}]; st.global.u32 [%d0], %r2;
"""
TABLE = """ ld.param.u64 %d0, [table]; mul.wide.u32 %d1, %r1, 8; add.u64 %d0, %d0, %d1; ld.global.u64 %d2, [%d0];
 ld.global.u32 %r2, [%d2+{0}]; st.global.u32 [%d2], %r2;
"""
"""A pointer from a table of pointers."""
NEAR, FAR, FARTHEST = 1 << 19, 6 << 20, 12 << 20
"""Offsets in the buffers of the first runs, and in larger ones, which runs have after an access beyond the first."""

BYTES_OF_BUFFER_BYTE = 48
"""Each byte of global memory has its value, the times of accesses, and their sites; at the peak there are two runs."""
OTHER_BYTES = 64 << 20


@pytest.mark.parametrize(
    ("parameters", "body", "largest"),
    [
        (["p"], BUFFER.format("p", FARTHEST), 16 << 20),
        (["p", "q", "s"], "".join(BUFFER.format(name, FAR) for name in "pqs"), 3 * (8 << 20)),
        (["table"], TABLE.format(NEAR), 2 * (1 << 20)),
        (["table"], TABLE.format(FARTHEST), 2 * (16 << 20)),
    ],
)
def test_the_memory_of_runs_is_in_proportion_to_their_buffers(parameters: list[str], body: str, largest: int) -> None:
    assert largest <= LARGE_MEMORY_BYTES
    given = ", ".join(f".param .u64 {name}" for name in parameters)
    source = SourceFile("k.ptx", KERNEL.format(parameters=given, body=body))
    tracemalloc.start()
    try:
        result = verify_source(source, VerifyRequest(schedules=12))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    [run] = result.runs
    assert run.reached == run.instructions
    assert run.runs >= 12
    assert largest < peak < BYTES_OF_BUFFER_BYTE * largest + OTHER_BYTES
