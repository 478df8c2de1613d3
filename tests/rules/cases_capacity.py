"""Launches that request more shared memory than a CTA can have: nothing is proven about them."""

from __future__ import annotations

from tests.rules.support import Case

_GIVEN = ".extern .shared .align 16 .b8 given[];"
_COPIED = """mov.u32 %r10, given; {moved} add.u32 %r11, %r10, %r3;
cp.async.ca.shared.global [%r11], [%rd1], 16; //= copy
cp.async.commit_group;
ld.shared.b32 %r12, [%r11]; {mark}"""


def _case(name: str, moved: str, mark: str = "", undecided: tuple[str, ...] = ()) -> Case:
    return Case(name, _COPIED.format(moved=moved, mark=mark), before=_GIVEN, undecided=undecided)


_FOUND = "//! PTX302 copy"

CASES = (
    _case("a copy within the possible shared memory is read too early", "add.u32 %r10, %r10, 200000;", _FOUND),
    _case(
        "a copy is beyond all possible shared memory",
        "add.u32 %r10, %r10, 300000;",
        undecided=("PTX300",),
    ),
    _case(
        "large arguments require more memory than possible, and small ones show the fault",
        "mad.lo.u32 %r10, %r6, 1024, %r10;",
        _FOUND,
    ),
    Case(
        "the descriptor of a multiplication has no bits for memory that no CTA has",
        """.reg .f32 %f<9>; mov.u32 %r10, given; add.u32 %r11, %r10, %r3;
cp.async.ca.shared.global [%r11], [%rd1], 16; cp.async.commit_group;
add.u32 %r12, %r11, 262144; st.shared.b32 [%r12], %r1;
add.u32 %r12, %r10, 262144; shr.u32 %r12, %r12, 4; and.b32 %r12, %r12, 16383;
cvt.u64.u32 %rd6, %r12; or.b64 %rd6, %rd6, 68719542272; add.u64 %rd7, %rd6, 128;
fence.proxy.async.shared::cta; bar.sync 0; wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd6, %rd7, 0, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; cp.async.wait_group 0;""",
        before=_GIVEN,
        undecided=("PTX300",),
    ),
)
