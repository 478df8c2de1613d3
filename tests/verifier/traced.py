"""Shared by the tests of pictures: kernels with one fault each, and the pictures of their findings."""

from __future__ import annotations

from ptxkit.model.trace import FindingTrace
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, verify_source

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 source, .param .u64 out) .reqntid 128
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.shared .align 16 .b8 tile[512];
	.shared .align 8 .b64 barrier;
	ld.param.u64 %rd1, [source];
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.u64 %rd4, %rd1, %rd3;
	add.u64 %rd5, %rd2, %rd3;
	mov.u32 %r3, tile;
	shl.b32 %r2, %r1, 2;
	add.u32 %r2, %r2, %r3;
	xor.b32 %r4, %r1, 32;
	shl.b32 %r4, %r4, 2;
	add.u32 %r4, %r4, %r3;
"""
TAIL = """
	bar.sync 0;
	ret;
}
"""

RACE = """	st.shared.u32 [%r2], 0;
	bar.sync 0;
	st.shared.u32 [%r2], %r1; // the other
	BARRIER
	ld.shared.u32 %r5, [%r4]; // at fault"""

COPY = """	cp.async.ca.shared.global [%r2], [%rd4], 4; // the other
	cp.async.commit_group;
	WAIT
	bar.sync 0;
	ld.shared.u32 %r5, [%r4]; // at fault
	bar.sync 0;
	cp.async.wait_group 0;"""

BULK = """	mov.u32 %r6, barrier;
	setp.ne.u32 %p1, %r1, 0;
	@!%p1 mbarrier.init.shared.b64 [%r6], 1;
	bar.sync 0;
	st.shared.u32 [%r2], %r1; // the other
	FENCE
	bar.sync 0;
	@%p1 bra END;
	cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 512; // at fault
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
END:"""


def pictures(body: str, head: str = HEAD, **request: object) -> list[FindingTrace]:
    """Returns the pictures of the findings of a kernel."""
    source = SourceFile("k.ptx", f"{head}{body}{TAIL}")
    return list(verify_source(source, VerifyRequest(schedules=2, trace=True, **request)).traces)  # type: ignore[arg-type]


def line_of(trace: FindingTrace, comment: str) -> int:
    """Returns the line with a comment."""
    return next(number for number, text in enumerate(trace.source.text.split("\n"), 1) if text.endswith(comment))
