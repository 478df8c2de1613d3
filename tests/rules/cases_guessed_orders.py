"""Findings about two threads, with an unknown barrier, or one that only a guess leads a thread to."""

from __future__ import annotations

from tests.rules.support import Case

#: The register keeps its value, which the analysis does not know.
_HIDE = "mov.u32 %r30, %clock; shl.b32 %r30, %r30, 28; or.b32 %r30, %r30, {0}; and.b32 {0}, %r30, 0xfffffff;"
#: %p6 is true for the first 64 threads, which the analysis does not know.
_HIDDEN_HALF = """setp.lt.u32 %p5, %r1, 64; selp.u32 %r20, 1, 0, %p5; mov.u32 %r30, %clock; shl.b32 %r30, %r30, 1;
or.b32 %r20, %r20, %r30; and.b32 %r20, %r20, 1; setp.ne.u32 %p6, %r20, 0;"""
_TELL = """setp.lt.u32 %p5, %r1, 64; @%p5 bra tell;
bar.sync {there}; ld.shared.u32 %r10, [%r2]; bra end;
tell: {guard}bar.arrive {here};
end:"""
_STORE = "@%p1 st.shared.u32 [%r2], %r6;"
_WAIT = "{0}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [{1}], 0; @!%p3 bra {0};"
_ARRIVE = "mbarrier.arrive.shared::cta.b64 %rd7, [{0}];"

_GUESS = "ld.global.u32 %r11, [%rd1]; setp.eq.u32 %p3, %r11, 0;"
RACES = (
    Case(
        "lanes take different paths before a guess",
        f"""bar.sync 0; @%p1 bra set;
ld.shared.u32 %r10, [%r2]; //! PTX621 write
bra join;
set: st.shared.u32 [%r2], %r6; //= write
join: {_GUESS} @%p3 bra end; bar.warp.sync -1;
end: nanosleep.u32 0;""",
        bounds=".reqntid 32",
    ),
    Case(
        "a guess decides whether a lane waits for the others before it stores",
        f"""bar.sync 0; @%p1 bra set; ld.shared.u32 %r10, [%r2]; {_GUESS} @%p3 bra end; bar.warp.sync -1; bra end;
set: bar.warp.sync -1; st.shared.u32 [%r2], %r6;
end: nanosleep.u32 0;""",
        bounds=".reqntid 32",
        undecided=("PTX621",),
    ),
    Case(
        "threads arrive at a barrier of an unknown number",
        f"{_STORE} mov.u32 %r20, 5; {_HIDE.format('%r20')}\n{_TELL.format(there='5, 128', here='%r20, 128', guard='')}",
        undecided=("PTX601", "PTX621"),
    ),
    Case(
        "threads wait at a barrier of an unknown number",
        f"{_STORE} mov.u32 %r20, 5; {_HIDE.format('%r20')}\n{_TELL.format(there='%r20, 128', here='5, 128', guard='')}",
        undecided=("PTX601", "PTX621"),
    ),
    Case(
        "threads arrive at a barrier for an unknown number of threads",
        f"""{_STORE} mov.u32 %r20, 96; {_HIDE.format("%r20")} setp.lt.u32 %p5, %r1, 32; @%p5 bra tell;
setp.ge.u32 %p5, %r1, 96; @%p5 bra end; bar.sync 5, 96; ld.shared.u32 %r10, [%r2]; bra end;
tell: bar.arrive 5, %r20;
end:""",
        undecided=("PTX601", "PTX621"),
    ),
    Case(
        "a guess decides whether threads arrive at a barrier",
        f"{_STORE} {_HIDDEN_HALF}\n{_TELL.format(there='5, 128', here='5, 128', guard='@%p6 ')}",
        undecided=("PTX601", "PTX621"),
    ),
    Case(
        "threads arrive at another barrier than others wait at",
        """@%p1 st.shared.u32 [%r2], %r6; //= write
setp.lt.u32 %p5, %r1, 64; @%p5 bra tell;
bar.sync 5, 64; ld.shared.u32 %r10, [%r2]; //! PTX621 write
bra end;
tell: bar.sync 6, 64;
end:""",
    ),
    Case(
        "no thread synchronizes before a guess",
        """@%p1 st.shared.u32 [%r2], %r6; //= write
ld.shared.u32 %r10, [%r2]; //! PTX621 write
ld.global.u32 %r11, [%rd1]; setp.eq.u32 %p3, %r11, 0; @%p3 bra end; bar.sync 0;
end:""",
    ),
    Case(
        "the read precedes the rounds of the barrier that follow a guess",
        """bar.sync 0; @%p1 st.shared.u32 [%r2], %r6; //= write
ld.shared.u32 %r10, [%r2]; //! PTX621 write
ld.global.u32 %r11, [%rd1]; setp.eq.u32 %p3, %r11, 0; @%p3 bra end; nanosleep.u32 0;
end: bar.sync 0;""",
    ),
    Case(
        "threads wait at an unknown mbarrier",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0;
{_STORE} @%p1 {_ARRIVE.format("%r5")} {_HIDE.format("%r5")} {_WAIT.format("wait", "%r5")} ld.shared.u32 %r10, [%r2];""",
        undecided=("PTX501", "PTX504", "PTX621"),
    ),
    Case(
        "a copy is complete before threads arrive at a barrier of an unknown number",
        f"""mov.u32 %r20, 5; {_HIDE.format("%r20")} cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group;
cp.async.wait_group 0; setp.lt.u32 %p5, %r1, 64; @%p5 bra there; bar.arrive %r20, 128; bra end;
there: bar.sync 5, 128; ld.shared.u32 %r10, [%r2+2044];
end:""",
        undecided=("PTX302", "PTX601"),
    ),
)

UNKNOWN_CODE = (
    Case(
        "an unknown function may fence and synchronize before an asynchronous read",
        """st.shared.u32 [%r2], %r1; bar.sync 0; st.shared.u32 [%r4], %r1; call.uni elsewhere; @!%p1 bra end;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 2048;
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
end:""",
        before=".extern .func elsewhere;",
        undecided=("PTX300", "PTX301", "PTX303", "PTX401", "PTX603"),
    ),
)

_TWO = "@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 128; bar.sync 0;"
_ALL_WAIT = f"{_ARRIVE.format('%r5')} {_WAIT.format('wait', '%r5')} add.u32 %r20, %r5, 8;"

LIFETIMES = (
    Case(
        "threads wait at an unknown mbarrier before one is invalidated",
        f"""{_TWO} {_ALL_WAIT} {_ARRIVE.format("%r20")} {_HIDE.format("%r20")} {_WAIT.format("again", "%r20")}
@%p1 mbarrier.inval.shared::cta.b64 [%r5];""",
        undecided=("PTX501", "PTX507"),
    ),
    Case(
        "threads arrive at an unknown mbarrier before one is invalidated",
        f"""{_TWO} {_ALL_WAIT} {_HIDE.format("%r20")} {_ARRIVE.format("%r20")} {_WAIT.format("again", "%r5+8")}
@%p1 mbarrier.inval.shared::cta.b64 [%r5];""",
        undecided=("PTX501", "PTX504", "PTX507"),
    ),
    Case(
        "threads wait at a barrier of an unknown number after an initialization",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; mov.u32 %r20, 5; {_HIDE.format("%r20")}
setp.lt.u32 %p5, %r1, 64; @%p5 bra there; bar.sync 5, 128; bra on; there: bar.sync %r20, 128;
on: {_ARRIVE.format("%r5")} {_WAIT.format("wait", "%r5")}""",
        undecided=("PTX501", "PTX504"),
    ),
)

_HALVES = "setp.lt.u32 %p5, %r1, 64; @%p5 bra {0}; bar.sync %r20, 128; bra {0}on; {0}: bar.sync 5, 128; {0}on:"

COPIES = (
    Case(
        "threads wait at a barrier of an unknown number before a copy to what they have read",
        f"""mov.u32 %r20, 5; {_HIDE.format("%r20")} @%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0;
ld.shared.u32 %r10, [%r4]; {_HALVES.format("there")} @!%p1 bra wait;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 2048, [%r5];
{_WAIT.format("wait", "%r5")}""",
        undecided=("PTX302", "PTX504", "PTX621"),
    ),
    Case(
        "threads wait at a barrier of an unknown number before the deallocation of Tensor Memory",
        f"""mov.u32 %r20, 5; {_HIDE.format("%r20")} setp.lt.u32 %p7, %r1, 32;
@%p7 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 32; bar.sync 0; ld.shared.u32 %r10, [%r2];
and.b32 %r12, %r1, 96; shl.b32 %r12, %r12, 16; add.u32 %r12, %r12, %r10;
tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r11}}, [%r12]; tcgen05.wait::ld.sync.aligned;
tcgen05.fence::before_thread_sync; {_HALVES.format("there")} tcgen05.fence::after_thread_sync;
@%p7 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;""",
        target="sm_100a",
        undecided=("PTX601", "PTX708"),
    ),
)

CASES = (*COPIES, *RACES, *UNKNOWN_CODE, *LIFETIMES)
