"""A warp-specialized ring: one lane of the third warp fills two slots by bulk copies, two warps read them.

`full[slot]` signals that a slot is filled, `empty[slot]` that both warps have read it. The waits have the order that
compilers write: a slot and a parity that flips when the slots wrap around.
"""

from __future__ import annotations

RING = """.version 8.0
.target sm_90
.address_size 64
.visible .entry ring(.param .u64 in, .param .u64 out)
.reqntid 96, 1, 1
{
	.shared .align 128 .b8 tiles[4096];
	.shared .align 8 .b64 full[2];
	.shared .align 8 .b64 empty[2];
	.shared .align 16 .b32 sums[64];
	.reg .pred %first, %done, %more, %leader, %wrap;
	.reg .b32 %t, %lane, %warp, %slot, %parity, %i, %tile, %f, %e, %v, %sum;
	.reg .b64 %in, %out, %o;
	ld.param.u64 %in, [in];
	cvta.to.global.u64 %in, %in;
	ld.param.u64 %out, [out];
	cvta.to.global.u64 %out, %out;
	mov.u32 %t, %tid.x;
	and.b32 %lane, %t, 31;
	shr.u32 %warp, %t, 5;
	setp.eq.u32 %first, %t, 0;
	@!%first bra made;
	mbarrier.init.shared::cta.b64 [full], 1;
	mbarrier.init.shared::cta.b64 [full+8], 1;
	mbarrier.init.shared::cta.b64 [empty], 2;
	mbarrier.init.shared::cta.b64 [empty+8], 2;
made:
	bar.sync 0;
	mov.u32 %slot, 0;
	mov.u32 %i, 0;
	setp.eq.u32 %leader, %lane, 0;
	setp.ne.u32 %more, %warp, 2;
	@%more bra consumer;
	@!%leader bra end;
	mov.u32 %parity, 1;
produce:
	shl.b32 %f, %slot, 3;
	mov.u32 %e, empty;
	add.u32 %e, %e, %f;
	mov.u32 %v, full;
	add.u32 %f, %v, %f;
	shl.b32 %tile, %slot, 11;
	mov.u32 %v, tiles;
	add.u32 %tile, %v, %tile;
drained:
	mbarrier.try_wait.parity.shared::cta.b64 %done, [%e], %parity;
	@!%done bra drained;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%f], 2048;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%in], 2048, [%f];
	add.u64 %in, %in, 2048;
	add.u32 %slot, %slot, 1;
	setp.eq.u32 %wrap, %slot, 2;
	selp.b32 %slot, 0, %slot, %wrap;
	selp.b32 %v, 1, 0, %wrap;
	xor.b32 %parity, %parity, %v;
	add.u32 %i, %i, 1;
	setp.lt.u32 %more, %i, 8;
	@%more bra produce;
	bra end;
consumer:
	mov.u32 %parity, 0;
	mov.u32 %sum, 0;
consume:
	shl.b32 %f, %slot, 3;
	mov.u32 %e, empty;
	add.u32 %e, %e, %f;
	mov.u32 %v, full;
	add.u32 %f, %v, %f;
	shl.b32 %tile, %slot, 11;
	mov.u32 %v, tiles;
	add.u32 %tile, %v, %tile;
	shl.b32 %v, %t, 2;
	add.u32 %tile, %tile, %v;
filled:
	mbarrier.try_wait.parity.shared::cta.b64 %done, [%f], %parity;
	@!%done bra filled;
	ld.shared.u32 %v, [%tile];
	add.u32 %sum, %sum, %v;
	bar.warp.sync -1;
	@%leader mbarrier.arrive.shared::cta.b64 _, [%e];
	add.u32 %slot, %slot, 1;
	setp.eq.u32 %wrap, %slot, 2;
	selp.b32 %slot, 0, %slot, %wrap;
	selp.b32 %v, 1, 0, %wrap;
	xor.b32 %parity, %parity, %v;
	add.u32 %i, %i, 1;
	setp.lt.u32 %more, %i, 8;
	@%more bra consume;
	mul.wide.u32 %o, %t, 4;
	add.u64 %out, %out, %o;
	st.global.u32 [%out], %sum;
end:
	ret;
}
"""

#: One lane of each warp signals that all of it has read.
MEETING = "\tbar.warp.sync -1;\n"
RELEASE = "\t@%leader mbarrier.arrive.shared::cta.b64 _, [%e];\n"
READ = "\tld.shared.u32 %v, [%tile];\n"
WAIT_EMPTY = "mbarrier.try_wait.parity.shared::cta.b64 %done, [%e], %parity;"
WAIT_FULL = "mbarrier.try_wait.parity.shared::cta.b64 %done, [%f], %parity;"
EXPECTED = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%f], 2048;"
COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%in], 2048, [%f];"
#: The two warps that read exchange their sums at the end.
EXCHANGED = """\tmov.u32 %v, sums;
	shl.b32 %e, %t, 2;
	add.u32 %tile, %v, %e;
	st.shared.u32 [%tile], %sum;
	bar.sync 1, 64;
	xor.b32 %e, %e, 128;
	add.u32 %tile, %v, %e;
	ld.shared.u32 %sum, [%tile];
"""


def ring(*changes: tuple[str, str], text: str = RING) -> str:
    """Returns the ring with each text replaced by another, everywhere."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def with_exchange() -> str:
    """Returns the ring at whose end the warps that read exchange their sums."""
    return ring(("\tmul.wide.u32 %o", f"{EXCHANGED}\tmul.wide.u32 %o"))
