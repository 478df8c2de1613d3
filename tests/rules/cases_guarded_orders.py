"""Orders that data decides: each open question with the twin in which every path has the order."""

from __future__ import annotations

from tests.rules.support import Case

#: A word that the host chooses for the CTA, and another one for each thread; predicates on them.
_DATA = """ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 3;
mul.wide.u32 %rd10, %r1, 4; add.s64 %rd10, %rd1, %rd10; ld.global.u32 %r11, [%rd10]; setp.eq.u32 %p4, %r11, 7;"""
_FENCE = "fence.proxy.async.shared::cta;"
_COPY_OUT = """bar.sync 0; @!%p1 bra done;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 2048; cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:"""
_STORE = "st.shared.u32 [%r4], %r11;"
_OTHER = "xor.b32 %r12, %r3, 1024; add.u32 %r12, %r12, %r2; ld.shared.u32 %r13, [%r12]; st.global.u32 [%rd2], %r13;"
_COPY_IN = "cp.async.ca.shared.global [%r4], [%rd1], 16; cp.async.commit_group;"
_OWN = "ld.shared.u32 %r13, [%r4]; st.global.u32 [%rd2], %r13;"
_INIT = f"@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; {_FENCE} bar.sync 0;"
_ISSUE = """@!%p1 bra issued; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, [%r5];
issued:"""
_WAIT = "{0}: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r5], 0; @!%p5 bra {0};"
_POLL = """mov.u32 %r20, 0;
poll: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r5], 0; add.u32 %r20, %r20, 1;
setp.ge.u32 %p7, %r20, 100; or.pred %p8, %p6, %p7; @!%p8 bra poll;"""
_MULTIPLY = """.reg .f32 %f<8>; shr.u32 %r20, %r2, 4; cvt.u64.u32 %rd13, %r20; or.b64 %rd13, %rd13, 68719542272;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, %rd13, %rd13, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;"""
_MULTIPLY_WAIT = "wgmma.wait_group.sync.aligned 0;"
_SET = "@%p1 st.{}.shared.u32 [%r5], 1;"
_FLAG = """@%p1 st.shared.u32 [%r5], 0; bar.sync 0; setp.lt.u32 %p6, %r1, 32; @!%p6 bra read;
st.shared.u32 [%r4], %r1; bar.warp.sync -1; {release} bra done;
read: {acquire} setp.eq.u32 %p7, %r14, 0; @%p7 bra read;
and.b32 %r12, %r3, 496; add.u32 %r12, %r12, %r2; ld.shared.u32 %r13, [%r12]; st.global.u32 [%rd2], %r13;
done:"""

_BITS = "ld.global.v4.u32 {%r20,%r21,%r22,%r23}, [%rd1]; "
_FIVE_BRANCHES = _BITS + "".join(
    f"setp.eq.u32 %p8, %r2{number}, 0; @%p8 bra next{number}; membar.cta; next{number}: " for number in range(4)
)
_TABLE = """and.b32 %r20, %r10, 3; ways: .branchtargets one, two, three, four; brx.idx %r20, ways;
one: {0} bra joined; two: {0} bra joined; three: {1} bra joined; four: {0} joined:"""
_SYNC = """.func sync(.param .b32 a) {{ .reg .b32 %a; .reg .pred %q; ld.param.b32 %a, [a]; setp.eq.u32 %q, %a, 11;
{} bar.sync 0; ret; }}"""
_CALL_SYNC = "{ .param .b32 a0; st.param.b32 [a0], %r10; call.uni sync, (a0); }"

#: One stage that thread 0 fills and the other warps empty, as often as a loaded word requires.
_STAGE = f"""{_DATA} .reg .b64 %filled; and.b32 %r10, %r10, 63; setp.ge.u32 %p6, %r1, 32;
@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 96; {_FENCE} bar.sync 0;
mov.u32 %r20, 0; mov.u32 %r21, 1; mov.u32 %r22, 0; @%p6 bra empty; @!%p1 bra done;
fill: setp.ge.u32 %p7, %r20, %r10; @%p7 bra done;
free: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r5+8], %r21; @!%p5 bra free; xor.b32 %r21, %r21, 1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 2048, [%r5];
add.u32 %r20, %r20, 1; bra fill;
empty: setp.ge.u32 %p7, %r20, %r10; @%p7 bra done;
full: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r5], %r22; @!%p5 bra full; {{flip}}
{_OWN} mbarrier.arrive.shared::cta.b64 _, [%r5+8]; add.u32 %r20, %r20, 1; bra empty;
done:"""
_SIGNAL = f"""@%p1 st.shared.u32 [%r5], 0; bar.sync 0; setp.ge.u32 %p6, %r1, 96; @!%p6 bra copy;
{_STORE} {{fence}} bar.warp.sync -1; setp.eq.u32 %p7, %r1, 96; @%p7 st.release.cta.shared.u32 [%r5], 1; bra done;
copy: @!%p1 bra done; poll: ld.acquire.cta.shared.u32 %r14, [%r5]; setp.eq.u32 %p7, %r14, 0; @%p7 bra poll;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2+1536], 512; cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
done:"""

CASES = (
    Case(
        "an argument that leaves out the barrier for one value",
        f"{_STORE.replace('%r11', '%r1')} setp.eq.u32 %p3, %r6, 77; @%p3 bra over; bar.sync 0; over: {_OTHER}",
        undecided=("PTX621",),
    ),
    Case(
        "an argument that chooses one of two barriers",
        f"""{_STORE.replace("%r11", "%r1")} setp.eq.u32 %p3, %r6, 77; @%p3 bra second; bar.sync 0; bra joined;
second: bar.sync 0; joined: {_OTHER}""",
    ),
    Case(
        "a CTA that leaves out the fence",
        f"""{_STORE.replace("%r11", "%r1")} mov.u32 %r20, %ctaid.x; setp.eq.u32 %p3, %r20, 7;
@!%p3 {_FENCE} {_COPY_OUT}""",
        undecided=("PTX401",),
    ),
    Case(
        "two fences, of which each CTA executes one",
        f"""{_STORE.replace("%r11", "%r1")} mov.u32 %r20, %ctaid.x; setp.eq.u32 %p3, %r20, 7;
@!%p3 {_FENCE} @%p3 {_FENCE} {_COPY_OUT}""",
    ),
    Case(
        "a stage that is emptied without a change of parity, as often as the data say",
        _STAGE.format(flip=""),
        undecided=("PTX300", "PTX505", "PTX621"),
    ),
    Case(
        "a stage that is filled and emptied as often as the data say",
        _STAGE.format(flip="xor.b32 %r22, %r22, 1;"),
        undecided=("PTX300",),
    ),
    Case(
        "a copy of what another warp stores, without a barrier",
        f"""{_DATA} setp.ge.u32 %p6, %r1, 96;
@%p6 {_STORE} //= store
@%p6 {_FENCE} bar.warp.sync -1; //= fence
@!%p1 bra done;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 2048; //! PTX401 store fence
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
done:""",
    ),
    Case(
        "a copy of what another warp stores, after a barrier",
        f"{_DATA} setp.ge.u32 %p6, %r1, 96; @%p6 {_STORE} @%p6 {_FENCE} {_COPY_OUT}",
    ),
    Case(
        "a fence of a third thread, between two barriers",
        f"""{_DATA} setp.ge.u32 %p6, %r1, 96; @%p6 {_STORE} bar.sync 0; setp.eq.u32 %p6, %r1, 64;
@%p6 {_FENCE} {_COPY_OUT}""",
        undecided=("PTX401",),
    ),
    Case("a flag before a copy, without the fence", f"{_DATA} {_SIGNAL.format(fence='')}", undecided=("PTX401",)),
    Case(
        "a flag before a copy, after the fence",
        f"{_DATA} {_SIGNAL.format(fence=_FENCE)}",
        undecided=("PTX621",),
    ),
    Case(
        "a branch on data over the fence, after four that have nothing to do with it",
        f"{_DATA} {_STORE} {_FIVE_BRANCHES} @%p4 bra over; {_FENCE} over: {_COPY_OUT}",
        undecided=("PTX401",),
    ),
    Case("a fence after four branches on data", f"{_DATA} {_STORE} {_FIVE_BRANCHES} {_FENCE} {_COPY_OUT}"),
    Case(
        "two fences, each of which the data may leave out",
        f"{_DATA} {_STORE} @%p3 {_FENCE} @%p4 {_FENCE} {_COPY_OUT}",
        undecided=("PTX401",),
    ),
    Case(
        "two fences, of which the data may leave out one",
        f"{_DATA} {_STORE} @%p3 {_FENCE} @%p4 {_FENCE} @!%p3 {_FENCE} {_COPY_OUT}",
    ),
    Case(
        "an indexed branch with one target without the fence",
        f"{_DATA} {_STORE} {_TABLE.format(_FENCE, '')} {_COPY_OUT}",
        undecided=("PTX401",),
    ),
    Case(
        "an indexed branch with a fence at each target",
        f"{_DATA} {_STORE} {_TABLE.format(_FENCE, _FENCE)} {_COPY_OUT}",
    ),
    Case(
        "a function that returns before its barrier if the data say so",
        f"{_DATA} {_STORE} {_CALL_SYNC} {_OTHER}",
        before=_SYNC.format("@%q ret;"),
        undecided=("PTX621",),
    ),
    Case(
        "a function with a barrier on each path",
        f"{_DATA} {_STORE} {_CALL_SYNC} {_OTHER}",
        before=_SYNC.format("@%q bra here; here:"),
        undecided=("PTX621",),
    ),
    Case(
        "a branch on data over the fence",
        f"{_DATA} {_STORE} @%p4 bra over; {_FENCE} over: {_COPY_OUT}",
        undecided=("PTX401",),
    ),
    Case(
        "a branch on data with a fence on either side",
        f"{_DATA} {_STORE} @%p4 bra second; {_FENCE} bra joined; second: {_FENCE} joined: {_COPY_OUT}",
    ),
    Case(
        "a branch on data over the wait for a group",
        f"{_DATA} {_COPY_IN} @%p4 bra over; cp.async.wait_group 0; over: {_OWN} cp.async.wait_group 0;",
        undecided=("PTX302",),
    ),
    Case(
        "a loop with a loaded number of iterations that waits for a group",
        f"""{_DATA} {_COPY_IN} mov.u32 %r20, 0;
loop: setp.ge.u32 %p8, %r20, %r10; @%p8 bra left; cp.async.wait_group 0; add.u32 %r20, %r20, 1; bra loop;
left: {_OWN} cp.async.wait_group 0;""",
        undecided=("PTX300", "PTX302"),
    ),
    Case(
        "a branch on data over the wait for an mbarrier",
        f"{_DATA} {_INIT} {_ISSUE} @%p4 bra over; {_WAIT.format('early')} over: {_OWN} {_WAIT.format('late')}",
        undecided=("PTX302",),
    ),
    Case(
        "a wait for an mbarrier on both sides of a branch on data",
        f"""{_DATA} {_INIT} {_ISSUE} @%p3 bra second; {_WAIT.format("one")} bra joined;
second: {_WAIT.format("two")} joined: {_OWN}""",
    ),
    Case(
        "a wait that gives up after some tests",
        f"{_DATA} {_INIT} {_ISSUE} {_POLL} {_OWN} {_WAIT.format('late')}",
        undecided=("PTX302",),
    ),
    Case(
        "a wait that gives up after some tests, with a test of its result",
        f"{_DATA} {_INIT} {_ISSUE} {_POLL} @!%p6 bra late; {_OWN} {_WAIT.format('late')}",
    ),
    Case(
        "a wait that ends in a trap after some tests",
        f"""{_DATA} {_INIT} {_ISSUE} mov.u32 %r20, 0;
poll: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r5], 0; @%p6 bra ready; add.u32 %r20, %r20, 1;
setp.lt.u32 %p7, %r20, 100; @%p7 bra poll; trap;
ready: {_OWN}""",
    ),
    Case(
        "a barrier that the CTA executes if its data say so",
        f"{_DATA} {_STORE} @%p3 bar.sync 0; {_OTHER}",
        undecided=("PTX621",),
    ),
    Case("a barrier on both sides", f"{_DATA} {_STORE} @%p3 bar.sync 0; @!%p3 bar.sync 0; {_OTHER}"),
    Case(
        "a loop with a loaded number of iterations that holds the barrier",
        f"""{_DATA} {_STORE} mov.u32 %r20, 0;
loop: setp.ge.u32 %p8, %r20, %r10; @%p8 bra left; bar.sync 0; add.u32 %r20, %r20, 1; bra loop;
left: {_OTHER}""",
        undecided=("PTX621",),
    ),
    Case(
        "an mbarrier that is initialized if the data say so",
        f"""{_DATA} @!%p3 bra over; @%p1 mbarrier.init.shared::cta.b64 [%r5], 128;
over: bar.sync 0; mbarrier.arrive.shared::cta.b64 _, [%r5]; {_WAIT.format("wait")}""",
        undecided=("PTX501",),
    ),
    Case(
        "an arrival of the threads whose data say so",
        f"""{_DATA} @%p1 mbarrier.init.shared::cta.b64 [%r5], 128; bar.sync 0;
@%p4 mbarrier.arrive.shared::cta.b64 _, [%r5]; {_WAIT.format("wait")}""",
        undecided=("PTX504",),
    ),
    Case(
        "a token that decides whether the thread waits, in a register that was zero",
        f"""{_DATA} @%p1 mbarrier.init.shared::cta.b64 [%r5], 128; bar.sync 0; {_STORE} mov.b64 %rd14, 0;
mbarrier.arrive.shared::cta.b64 %rd14, [%r5]; setp.ne.u64 %p8, %rd14, 0; @%p8 bra over; {_WAIT.format("wait")}
over: {_OTHER}""",
        undecided=("PTX621",),
    ),
    Case(
        "a branch on data over the wait for a multiplication",
        f"""{_DATA} {_MULTIPLY} @%p3 bra over; {_MULTIPLY_WAIT}
over: st.global.f32 [%rd2], %f0; {_MULTIPLY_WAIT}""",
        undecided=("PTX311",),
    ),
    Case(
        "the wait for a multiplication on both sides of a branch on data",
        f"""{_DATA} {_MULTIPLY} @%p3 bra second; {_MULTIPLY_WAIT} bra joined;
second: {_MULTIPLY_WAIT} joined: st.global.f32 [%rd2], %f0;""",
    ),
    Case(
        "a volatile flag",
        _FLAG.format(release="@%p1 st.volatile.shared.u32 [%r5], 1;", acquire="ld.volatile.shared.u32 %r14, [%r5];"),
        undecided=("PTX621",),
    ),
    Case(
        "a flag that is released and acquired",
        _FLAG.format(release=_SET.format("release.cta"), acquire="ld.acquire.cta.shared.u32 %r14, [%r5];"),
        undecided=("PTX621",),
    ),
    Case(
        "a volatile flag between fences",
        _FLAG.format(
            release="@%p1 fence.acq_rel.cta; @%p1 st.volatile.shared.u32 [%r5], 1;",
            acquire="ld.volatile.shared.u32 %r14, [%r5]; fence.acq_rel.cta;",
        ),
        undecided=("PTX621",),
    ),
)
