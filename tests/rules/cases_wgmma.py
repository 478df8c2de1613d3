"""PTX311, PTX312, PTX315: registers of asynchronous multiplications, and the threads that execute them together."""

from __future__ import annotations

from tests.rules.support import Case

_FENCE = "wgmma.fence.sync.aligned;"
_MULTIPLY = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd6, %rd7, 1, 1, 1, 0, 0;"
_WIDE = (
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
    "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %rd6, %rd7, 1, 1, 1, 0, 0;"
)
_OTHER = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f5, %f6, %f7, %f8}, %rd6, %rd7, 1, 1, 1, 0, 0;"
_FRAGMENT = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
    "{%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, %rd7, 1, 1, 1, 0;"
)
_COMMIT = "wgmma.commit_group.sync.aligned;"
_WAIT = "wgmma.wait_group.sync.aligned 0;"
_ONE_LEFT = "wgmma.wait_group.sync.aligned 1;"
_STORE = "st.global.f32 [%rd2], %f1;"
_SETUP = """.reg .f32 %f<24>;
shr.u32 %r20, %r2, 4; cvt.u64.u32 %rd5, %r20; or.b64 %rd6, %rd5, 68719542272; add.u64 %rd7, %rd6, 128;
mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
mov.f32 %f5, %f1; mov.f32 %f6, %f1; mov.f32 %f7, %f1; mov.f32 %f8, %f1;
mov.u32 %r10, %r1; mov.u32 %r11, %r1; mov.u32 %r12, %r1; mov.u32 %r13, %r1;
"""


def _case(
    name: str,
    body: str,
    bounds: str = ".reqntid 128, 1, 1",
    undecided: tuple[str, ...] = (),
    before: str = "",
) -> Case:
    return Case(name, f"{_SETUP}{body}", bounds=bounds, undecided=undecided, before=before)


def _ring(name: str, hand_back: str, ctas: int = 1, undecided: tuple[str, ...] = ()) -> Case:
    """A thread of a fifth warp fills the tile, the first four multiply; hand_back: how these release it.

    The CTAs of a cluster wait for each other at the start and the end.
    """
    barrier = "" if ctas == 1 else "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    return Case(
        name,
        f""".reg .f32 %f<9>;
add.u32 %r20, %r5, 8; mov.u32 %r10, 0; mov.u32 %r11, 0;
@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @%p1 mbarrier.init.shared::cta.b64 [%r20], 128; {barrier or "bar.sync 0;"}
setp.lt.u32 %p3, %r1, 128; @%p3 bra consume;
setp.ne.u32 %p4, %r1, 128; @%p4 bra end;
mov.u32 %r11, 1;
fill: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r20], %r11; @!%p5 bra fill;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
{_FILL} {"//! PTX314 issue wait" if "PTX314" in hand_back else ""}
xor.b32 %r11, %r11, 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p6, %r10, 4; @%p6 bra fill;
bra end;
consume: shr.u32 %r12, %r2, 4; cvt.u64.u32 %rd5, %r12; or.b64 %rd6, %rd5, 68719542272; add.u64 %rd7, %rd6, 64;
mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
round: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r5], %r11; @!%p5 bra round;
{_FENCE} {_MULTIPLY} //= issue
{_COMMIT}
{hand_back.replace("PTX314", "")}
xor.b32 %r11, %r11, 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p6, %r10, 4; @%p6 bra round;
{_WAIT} {_STORE}
end: {barrier}""",
        bounds=f".reqntid 160, 1, 1 {'.reqnctapercluster 2, 1, 1' if barrier else ''}",
        undecided=undecided,
    )


def _alone(name: str, end: str) -> Case:
    """One warpgroup, whose first thread fills the tile for each iteration; end: how an iteration ends."""
    return Case(
        name,
        f"""{_SETUP}mov.u32 %r14, 0; mov.u32 %r15, 0;
@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0;
round: @!%p1 bra wait;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
{_FILL} {"//! PTX314 issue wait" if "PTX314" in end else ""}
wait: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r5], %r15; @!%p5 bra wait;
{_FENCE} {_MULTIPLY} //= issue
{_COMMIT}
{end.replace("PTX314", "")}
xor.b32 %r15, %r15, 1; add.u32 %r14, %r14, 1; setp.lt.u32 %p6, %r14, 4; @%p6 bra round;
{_WAIT} //= wait
{_STORE}""",
    )


_FILL = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 2048, [%r5];"
_ARRIVE = "mbarrier.arrive.shared::cta.b64 _, [%r20];"
_ARRIVE_AT_BOTH = """and.b32 %r22, %r1, 1; mapa.shared::cluster.u32 %r23, %r20, %r22;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];"""


def _note_case(name: str, body: str) -> Case:
    return Case(name, f"{_SETUP}{body}", notes=True)


NOTES = (
    _note_case(
        "a fence orders nothing where only a wait follows the last multiplication",
        f"""{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT} //~ PTX907 last //~ PTX907 last
{_FENCE} //~ PTX907
{_MULTIPLY} {_COMMIT} {_WAIT} {_STORE} //= last""",
    ),
    _note_case(
        "a fence is after an access to the accumulators",
        f"""{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT} add.f32 %f1, %f1, %f1;
{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT} {_STORE}""",
    ),
    _note_case(
        "a fence is before a multiplication of another shape",
        f"{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT} {_FENCE} {_WIDE} {_COMMIT} {_WAIT} {_STORE}",
    ),
    _note_case(
        "data decide whether an access precedes the fence",
        f"""{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT}
ld.global.u32 %r21, [%rd1]; setp.eq.u32 %p4, %r21, 7; @%p4 add.f32 %f2, %f1, %f1;
{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT} {_STORE}""",
    ),
)


CASES = (
    *NOTES,
    _ring("a slot released after the wait may be filled", f"{_WAIT} {_ARRIVE}"),
    _ring("a slot handed back before the wait is still read", f"{_ARRIVE} PTX314\n{_WAIT} //= wait"),
    _ring("a slot handed back with its group pending is still read", f"{_ONE_LEFT} //= wait\n{_ARRIVE} PTX314"),
    _ring("an older group than the last one may be left pending", f"{_COMMIT} {_ONE_LEFT} {_ARRIVE}"),
    _ring(
        "another CTA may order the copy after a slot that is handed back before the wait",
        f"{_ARRIVE_AT_BOTH}\n{_WAIT}",
        ctas=2,
        undecided=("PTX314",),
    ),
    _ring(
        "each CTA of a cluster hands back its own slot before the wait", f"{_ARRIVE} PTX314\n{_WAIT} //= wait", ctas=2
    ),
    _ring("a slot is handed back to both CTAs after the wait", f"{_WAIT} {_ARRIVE_AT_BOTH}", ctas=2),
    _alone("a thread that has waited for the multiplication, too, may fill the tile", f"bar.sync 0;\n{_WAIT}"),
    _alone("a thread that waits and then synchronizes with the others may fill the tile", f"{_WAIT}\nbar.sync 0;"),
    _alone("a thread that only synchronizes with the others may not fill the tile", "bar.sync 0; PTX314"),
    Case(
        "whether a function has the fence is not followed",
        f"{_SETUP}call order; {_MULTIPLY} {_COMMIT} {_WAIT} {_STORE}",
        before=f".func order() {{ {_FENCE} ret; }}",
        undecided=("PTX312",),
    ),
    _case(
        "no execution takes the path around the fence",
        f"""setp.ge.u32 %p4, %r6, 77; setp.le.and.u32 %p4, %r6, 78, %p4;
shl.b32 %r14, %r6, 31; setp.eq.and.u32 %p4, %r14, 0, %p4;
@%p4 bra issue; {_FENCE} issue: {_MULTIPLY} {_COMMIT} {_WAIT} {_STORE}""",
        undecided=("PTX312",),
    ),
    _case(
        "an accumulator stored with no wait is in flight",
        f"{_FENCE} {_MULTIPLY} //= issue\n{_COMMIT}\n{_STORE} //! PTX311 issue\n{_WAIT}",
    ),
    _case("an accumulator stored after the wait is not in flight", f"{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT} {_STORE}"),
    _case(
        "a wait that leaves the newest group pending leaves its accumulators in flight",
        f"{_FENCE} {_MULTIPLY} //= issue\n{_COMMIT} {_ONE_LEFT} //= wait\n{_STORE} //! PTX311 issue wait\n{_WAIT}",
    ),
    _case(
        "a wait that leaves the newest group pending frees the older one's accumulators",
        f"{_FENCE} {_MULTIPLY} {_COMMIT} {_OTHER} {_COMMIT} {_ONE_LEFT} {_STORE} {_WAIT}",
    ),
    _case(
        "accumulators of another shape are no chain",
        f"{_FENCE} {_MULTIPLY} //= issue\n{_COMMIT}\n{_WIDE} //! PTX311 issue\n{_COMMIT} {_WAIT} {_STORE}",
        undecided=("PTX312",),
    ),
    _case(
        "two multiplications may read one fragment of A",
        f"{_FENCE} {_FRAGMENT} {_FRAGMENT} {_COMMIT} {_WAIT} {_STORE}",
    ),
    _case(
        "a plain move renames an accumulator",
        f"{_FENCE} {_MULTIPLY} {_COMMIT}\nmov.f32 %f9, %f1;\n{_WAIT}\nst.global.f32 [%rd2], %f9;",
    ),
    _case(
        "the other name of an accumulator in flight is in flight, too",
        f"{_FENCE} {_MULTIPLY} //= issue\n{_COMMIT}\nmov.f32 %f9, %f1;\n"
        f"st.global.f32 [%rd2], %f9; //! PTX311 issue\n{_WAIT}",
    ),
    _case(
        "a wait on one side of a branch leaves the other side open",
        f"{_FENCE} {_MULTIPLY} {_COMMIT} setp.eq.u32 %p3, %r6, 0;\n@%p3 bra skip;\n{_WAIT}\nskip:\n{_STORE}\n{_WAIT}",
        undecided=("PTX311",),
    ),
    _case(
        "a function may contain the wait",
        f"{_FENCE} {_MULTIPLY} {_COMMIT} call finish, (); {_STORE}",
        undecided=("PTX311",),
        before=f".func finish() {{ {_WAIT} ret; }}",
    ),
    _case(
        "a wait covers what a function may have left in flight",
        f"{_FENCE} {_MULTIPLY} {_COMMIT} call finish, (); {_WAIT} {_STORE}",
        before=f".func finish() {{ {_ONE_LEFT} ret; }}",
    ),
    _case("the first multiplication needs a fence", f"{_MULTIPLY} //! PTX312\n{_COMMIT} {_WAIT} {_STORE}"),
    _case(
        "accumulators that were changed need another fence",
        f"{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT}\nadd.f32 %f2, %f2, %f5; //= touch\n"
        f"{_MULTIPLY} //! PTX312 touch\n{_COMMIT} {_WAIT} {_STORE}",
    ),
    _case(
        "accumulators that were changed and fenced are in order",
        f"{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT}\nadd.f32 %f2, %f2, %f5;\n"
        f"{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT} {_STORE}",
    ),
    _case("a chain of one shape needs one fence", f"{_FENCE} {_MULTIPLY} {_MULTIPLY} {_COMMIT} {_WAIT} {_STORE}"),
    _case(
        "a fence by one thread does not cover a warpgroup",
        f"@%p1 {_FENCE} //! PTX315\n{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT} {_STORE}",
    ),
    _case(
        "a wait by one warp does not cover a warpgroup",
        f"{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT} {_STORE} setp.lt.u32 %p3, %r1, 32;\n@!%p3 bra end;\n"
        f"{_WAIT} //! PTX315\nend:",
    ),
    _case(
        "the second of two warpgroups may multiply on its own",
        f"setp.lt.u32 %p3, %r1, 128;\n@%p3 bra end;\n{_FENCE} {_MULTIPLY} {_COMMIT} {_WAIT} {_STORE}\nend:",
        bounds=".reqntid 256, 1, 1",
    ),
)
