"""Kernels about the phases of mbarriers, and about barriers, in simulations (PTX302, 504, 505, 601 to 603)."""

from __future__ import annotations

from tests.rules.support import Case

WAIT = "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5],"
ARRIVE = "mbarrier.arrive.shared::cta.b64 _, [%r5];"


def init(count: int) -> str:
    return f"@%p1 mbarrier.init.shared::cta.b64 [%r5], {count}; //= init\nbar.sync 0;"


GUESS = "ld.volatile.global.u32 %r20, [%rd1]; setp.eq.u32 %p4, %r20, 0;"

GUESSED = (
    Case(
        "a deadlock before all branches on data is an error",
        f"""{init(129)}
{ARRIVE} //= arrive
wait: {WAIT} 0; //! PTX504 arrive init
@!%p3 bra wait;
{GUESS} @%p4 bra end;
bar.sync 0; {ARRIVE}
end:""",
    ),
    Case(
        "a deadlock after a branch on data is open",
        f"""{init(129)}
{GUESS} @%p4 bra end;
{ARRIVE}
wait: {WAIT} 0; @!%p3 bra wait;
end:""",
        undecided=("PTX504",),
    ),
    Case(
        "a deadlock of threads is open if data let another thread leave before",
        f"""{init(129)}
@%p2 bra guess;
{ARRIVE}
wait: {WAIT} 0; @!%p3 bra wait;
bra end;
guess: {GUESS} @%p4 bra end;
{ARRIVE} {ARRIVE}
end:""",
        undecided=("PTX504",),
    ),
    Case(
        "an excess arrival before all branches on data is an error",
        f"""{init(128)}
{ARRIVE} //! PTX505 again init
{ARRIVE} //= again
{GUESS} @%p4 bra end;
wait: {WAIT} 0; @!%p3 bra wait;
end:""",
    ),
    Case(
        "an excess arrival after a branch on data is open",
        f"""{init(128)}
{GUESS} @%p4 bra end;
{ARRIVE} {ARRIVE}
end:""",
        undecided=("PTX505",),
    ),
    Case(
        "a wait at which all threads stay is an error although code that is not reached arrives",
        f"""{init(1)}
mul.lo.u32 %r20, %r6, %r6; setp.ne.u32 %p4, %r20, 3; @%p4 bra wait;
{ARRIVE}
wait: {WAIT} 0; //! PTX503
@!%p3 bra wait;""",
        undecided=("PTX300",),
    ),
    Case(
        "a wait after a branch on data is open if only code that is not reached arrives",
        f"""{init(1)}
{GUESS} @%p4 bra end;
mul.lo.u32 %r20, %r6, %r6; setp.ne.u32 %p5, %r20, 3; @%p5 bra wait;
{ARRIVE}
wait: {WAIT} 0; @!%p3 bra wait;
end:""",
        undecided=("PTX300", "PTX503"),
    ),
)

TILED = (
    Case(
        "a deadlock that only large sizes show is an error if whole tiles show it too",
        f"""{init(128)}
setp.lt.u32 %p4, %r6, 1024; @%p4 bra end;
@%p1 {ARRIVE} //= arrive
wait: {WAIT} 0; //! PTX504 arrive init
@!%p3 bra wait;
end:""",
        bounds=".maxntid 128, 1, 1",
    ),
    Case(
        "a deadlock that only sizes with a remainder show is open",
        f"""{init(128)}
setp.lt.u32 %p4, %r6, 1024; @%p4 bra end;
and.b32 %r20, %r6, 511; setp.eq.u32 %p5, %r20, 0; @%p5 {ARRIVE}
@%p5 bra wait;
@%p1 {ARRIVE}
wait: {WAIT} 0; @!%p3 bra wait;
end:""",
        bounds=".maxntid 128, 1, 1",
        undecided=("PTX504",),
    ),
)

MISSING = (
    Case(
        "a wait with an unknown parity is open where only executions without it can be simulated",
        f"""{init(1)}
@%p1 {ARRIVE}
setp.lt.u32 %p4, %r6, 100; @%p4 bra end;
ld.global.u32 %r20, [%rd1];
wait: {WAIT} %r20; @!%p3 bra wait;
end:""",
        undecided=("PTX504",),
    ),
    Case(
        "a phase that needs one arrival more than there are threads never ends",
        f"""{init(129)}
{ARRIVE} //= arrive
wait: {WAIT} 0; //! PTX504 arrive init
@!%p3 bra wait;""",
    ),
    Case(
        "lanes of a warp that initialize at once wipe out no arrival of one of them",
        f"""setp.ge.u32 %p4, %r1, 32; @%p4 bra meet;
mbarrier.init.shared::cta.b64 [%r5], 1; //? PTX502
@%p1 {ARRIVE}
meet: bar.sync 0;
wait: {WAIT} 0; @!%p3 bra wait;""",
    ),
    Case(
        "a thread that has dropped out is not counted in later phases",
        f"""{init(128)}
setp.lt.u32 %p4, %r1, 32;
@%p4 mbarrier.arrive_drop.shared::cta.b64 _, [%r5]; @%p4 bra end; {ARRIVE}
wait: {WAIT} 0; @!%p3 bra wait;
{ARRIVE}
again: {WAIT} 1; @!%p3 bra again;
end:""",
    ),
    Case(
        "a thread that waits after a drop may miss its phase",
        f"""{init(128)}
setp.lt.u32 %p4, %r1, 32; setp.ge.u32 %p5, %r1, 32;
@%p4 mbarrier.arrive_drop.shared::cta.b64 _, [%r5]; @%p5 {ARRIVE}
wait: {WAIT} 0; //! PTX504 init
@!%p3 bra wait;
@%p4 bra end; {ARRIVE}
again: {WAIT} 1; @!%p3 bra again;
end:""",
    ),
    Case(
        "a thread that leaves without dropping out is missed",
        f"""{init(128)}
setp.lt.u32 %p4, %r1, 32; {ARRIVE}
wait: {WAIT} 0; @!%p3 bra wait;
@%p4 bra end; {ARRIVE} //= arrive
again: {WAIT} 1; //! PTX504 arrive init
@!%p3 bra again;
end:""",
    ),
    Case(
        "an arrival that counts for a warp counts 32",
        f"""{init(128)}
and.b32 %r10, %r1, 31; setp.eq.u32 %p4, %r10, 0; bar.warp.sync -1;
@%p4 mbarrier.arrive.shared::cta.b64 _, [%r5], 32;
wait: {WAIT} 0; @!%p3 bra wait;""",
    ),
    Case(
        "the arrival of cp.async that is not counted is made up for before",
        f"""{init(128)}
cp.async.ca.shared.global [%r4], [%rd1], 16; cp.async.mbarrier.arrive.shared.b64 [%r5]; {ARRIVE}
wait: {WAIT} 0; @!%p3 bra wait;""",
        target="sm_90",
    ),
    Case(
        "the arrival of cp.async that is counted needs no other",
        f"""{init(128)}
cp.async.ca.shared.global [%r4], [%rd1], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [%r5];
wait: {WAIT} 0; @!%p3 bra wait;""",
    ),
    Case(
        "copies that arrive as well as their threads are too many in blocks of any size",
        f"""mov.u32 %r10, %ntid.x;
@%p1 mbarrier.init.shared::cta.b64 [%r5], %r10; //= init
bar.sync 0; cp.async.ca.shared.global [%r4], [%rd1], 16;
cp.async.mbarrier.arrive.noinc.shared.b64 [%r5]; //! PTX505 arrive init
{ARRIVE} //= arrive
wait: {WAIT} 0; @!%p3 bra wait;""",
        bounds="",
    ),
    Case(
        "copies that arrive as well as their threads are counted in blocks of any size",
        f"""mov.u32 %r10, %ntid.x; shl.b32 %r10, %r10, 1; @%p1 mbarrier.init.shared::cta.b64 [%r5], %r10; bar.sync 0;
cp.async.ca.shared.global [%r4], [%rd1], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [%r5];
{ARRIVE}
wait: {WAIT} 0; @!%p3 bra wait;""",
        bounds="",
    ),
    Case(
        "where the size of the block is open a count may be right",
        f"""{init(256)}
{ARRIVE}
wait: {WAIT} 0; @!%p3 bra wait;""",
        bounds="",
        undecided=("PTX504",),
    ),
    Case(
        "a count taken from the size of the block is right whatever that is",
        f"""mov.u32 %r10, %ntid.x; @%p1 mbarrier.init.shared::cta.b64 [%r5], %r10; bar.sync 0;
{ARRIVE}
wait: {WAIT} 0; @!%p3 bra wait;""",
        bounds="",
    ),
    Case(
        "the completed phases are unknown where a branch depends on data",
        f"""{init(129)}
ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p4, %r10, 7; @%p4 {ARRIVE} {ARRIVE}
wait: {WAIT} 0; @!%p3 bra wait;""",
        undecided=("PTX504", "PTX505"),
    ),
)

EXCESS = (
    Case(
        "every thread arrives where one should",
        f"""{init(1)}
{ARRIVE} //! PTX505 init
wait: {WAIT} 0; @!%p3 bra wait;""",
    ),
    Case(
        "every thread arrives twice in a phase, after a poll and a wait",
        f"""{init(128)} {ARRIVE}
{WAIT} 0; @%p3 bra ended;
wait: {WAIT} 0; @!%p3 bra wait;
ended: mov.u32 %r10, 2; mbarrier.arrive.shared::cta.b64 _, [%r5], %r10; //! PTX505 init
also: {WAIT} 1; @!%p3 bra also;""",
    ),
    Case(
        "a parity that does not flip is wrong from the second iteration on, which small sizes do not reach",
        f"""{init(128)} mov.u32 %r10, 0;
more: setp.ge.u32 %p5, %r10, %r6; @%p5 bra end; add.u32 %r10, %r10, 32;
{ARRIVE} //! PTX505 init
wait: {WAIT} 0; @!%p3 bra wait; bra.uni more;
end:""",
    ),
    Case(
        "a parity that flips is correct in all iterations",
        f"""{init(128)} mov.u32 %r10, 0; mov.u32 %r11, 0;
more: setp.ge.u32 %p5, %r10, %r6; @%p5 bra end; add.u32 %r10, %r10, 32;
{ARRIVE}
wait: {WAIT} %r11; @!%p3 bra wait; xor.b32 %r11, %r11, 1; bra.uni more;
end:""",
    ),
    Case(
        "a producer that does not wait for its slot laps the consumers",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; //= init
@%p1 mbarrier.init.shared::cta.b64 [%r5+8], 96; bar.sync 0; //= slots
setp.lt.u32 %p4, %r1, 32; mov.u32 %r10, 0; @!%p4 bra consumer;
setp.ne.u32 %p5, %r1, 0; @%p5 bra end;
produce:
{ARRIVE} //! PTX505 init
add.u32 %r10, %r10, 1; setp.lt.u32 %p5, %r10, 4; @%p5 bra produce; bra.uni end;
consumer: and.b32 %r11, %r10, 1;
wait: {WAIT} %r11; @!%p3 bra wait;
mbarrier.arrive.shared::cta.b64 _, [%r5+8]; //! PTX505 slots
add.u32 %r10, %r10, 1; setp.lt.u32 %p5, %r10, 4; @%p5 bra consumer;
end:""",
    ),
    Case(
        "a producer that waits for its slot does not",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 96; bar.sync 0;
setp.lt.u32 %p4, %r1, 32; mov.u32 %r10, 0; @!%p4 bra consumer;
setp.ne.u32 %p5, %r1, 0; @%p5 bra end;
produce: and.b32 %r11, %r10, 1; xor.b32 %r11, %r11, 1;
free: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5+8], %r11; @!%p3 bra free;
{ARRIVE}
add.u32 %r10, %r10, 1; setp.lt.u32 %p5, %r10, 4; @%p5 bra produce; bra.uni end;
consumer: and.b32 %r11, %r10, 1;
wait: {WAIT} %r11; @!%p3 bra wait;
mbarrier.arrive.shared::cta.b64 _, [%r5+8];
add.u32 %r10, %r10, 1; setp.lt.u32 %p5, %r10, 4; @%p5 bra consumer;
end:""",
    ),
)

BARRIERS = (
    Case(
        "each half waits for all at another barrier",
        """setp.lt.u32 %p4, %r1, 64;
@%p4 barrier.sync 1; //! PTX601 other
@!%p4 barrier.sync 2; //= other""",
    ),
    Case(
        "a barrier for more warps than arrive never completes",
        """setp.lt.u32 %p4, %r1, 64;
@%p4 barrier.sync 1, 96; //! PTX601""",
    ),
    Case(
        "warps that have left are not waited for",
        "setp.lt.u32 %p4, %r1, 64; @%p4 bra end; bar.sync 0;\nend:",
    ),
    Case(
        "lanes that reach a counted barrier on two paths are one warp",
        """and.b32 %r10, %r1, 1; setp.eq.u32 %p4, %r10, 0; @%p4 bra even; nanosleep.u32 1;
even: barrier.sync 3, 128;""",
    ),
    Case(
        "the two sides of a barrier count differently",
        """setp.lt.u32 %p4, %r1, 64;
@%p4 barrier.arrive 1, 96; //= first
@!%p4 barrier.sync 1, 128; //! PTX602 first""",
    ),
    Case(
        "the two sides of a barrier have the same count",
        "setp.lt.u32 %p4, %r1, 64; @%p4 barrier.arrive 1, 128; @!%p4 barrier.sync 1, 128;",
    ),
    Case(
        "a named barrier counts 64 here and 96 there",
        """setp.lt.u32 %p4, %r1, 32; setp.ge.u32 %p5, %r1, 96;
@%p4 barrier.sync 4, 64; //= first
@%p5 barrier.sync 4, 96; //! PTX602 first""",
    ),
)

ALIGNED = (
    Case(
        "an aligned barrier for thread 0 only",
        "@%p1 bar.sync 0; //! PTX603",
    ),
    Case(
        "lanes of a warp that execute two aligned barriers",
        """and.b32 %r10, %r1, 1; setp.eq.u32 %p4, %r10, 0; @%p4 bra even;
bar.sync 0; //! PTX603
bra.uni end;
even: bar.sync 0; //! PTX603
end:""",
    ),
    Case(
        "lanes that leave early for some sizes only break nothing for others",
        "setp.ge.u32 %p4, %r1, %r6; @%p4 bra end; bar.sync 0;\nend:",
        undecided=("PTX603",),
    ),
    Case(
        "a barrier that need not be aligned, for the lanes of a warp that are left",
        "setp.lt.u32 %p4, %r1, 40; @!%p4 bra end; barrier.sync 0;\nend:",
    ),
)

COPY = """@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 2048, [%r5];"""
TAKE = "ld.shared.u32 %r20, [%r4];"

EARLIER = (
    Case(
        "the parity of the previous phase orders no read of data that the next phase completes",
        f"""{init(1)}
{COPY}
first: {WAIT} 0; @!%p3 bra first; {TAKE} bar.sync 0;
{COPY} //= copy
second: {WAIT} 0; //= wait
@!%p3 bra second; {TAKE} //! PTX302 copy wait""",
    ),
    Case(
        "each phase has its own parity",
        f"""{init(1)}
{COPY}
first: {WAIT} 0; @!%p3 bra first; {TAKE} bar.sync 0;
{COPY}
second: {WAIT} 1; @!%p3 bra second; {TAKE}""",
    ),
    Case(
        "the second of two iterations of a loop with a constant parity",
        f"""{init(1)}
mov.u32 %r7, 0;
next: {COPY} //= copy
wait: {WAIT} 0; //= wait
@!%p3 bra wait; {TAKE} //! PTX302 copy wait
bar.sync 0; add.u32 %r7, %r7, 1; setp.lt.u32 %p4, %r7, 2; @%p4 bra next;""",
    ),
    Case(
        "a reader that a barrier orders after the second copy, and its issuer has only seen the first phase",
        f"""{init(1)}
{COPY}
first: {WAIT} 0; //= wait
@!%p3 bra first; {TAKE} bar.sync 0;
{COPY} //= copy
bar.sync 0; @%p1 bra end; {TAKE} //! PTX302 copy wait
end:""",
    ),
    Case(
        "a second wait of one thread and a barrier order the reads of the others",
        f"""{init(1)}
{COPY}
first: {WAIT} 0; @!%p3 bra first; {TAKE} bar.sync 0;
{COPY}
@!%p1 bra meet;
second: {WAIT} 1; @!%p3 bra second;
meet: bar.sync 0; {TAKE}""",
    ),
)

_BY_TOKENS = f"""{init(128)} mbarrier.arrive.shared::cta.b64 %rd10, [%r5];
first: mbarrier.test_wait.shared::cta.b64 %p3, [%r5], %rd10; @!%p3 bra first;
st.shared.u32 [%r4], %r1; {{store}}
mbarrier.arrive.shared::cta.b64 %rd11, [%r5];
second: mbarrier.test_wait.shared::cta.b64 %p3, [%r5], {{token}}; @!%p3 bra second;
xor.b32 %r12, %r3, 1024; add.u32 %r12, %r12, %r2;
ld.shared.u32 %r13, [%r12]; {{read}}
st.global.u32 [%rd2], %r13;"""

TOKENS = (
    Case(
        "a wait with the token of an earlier phase",
        _BY_TOKENS.format(token="%rd10", store="//= store", read="//! PTX621 store"),
    ),
    Case(
        "a wait with a token that no arrival returned",
        f"""{init(128)}
{ARRIVE}
wait: mbarrier.try_wait.shared::cta.b64 %p3, [%r5], %rd11; //! PTX504
@!%p3 bra wait;""",
    ),
    Case(
        "a wait with a token that other threads received",
        f"""{init(128)}
@%p1 bra first; {ARRIVE} bra wait;
first: mbarrier.arrive.shared::cta.b64 %rd11, [%r5];
wait: mbarrier.try_wait.shared::cta.b64 %p3, [%r5], %rd11; //! PTX504
@!%p3 bra wait;""",
    ),
    Case(
        "a wait with a token of one of two paths",
        f"""{init(128)}
@%p1 bra first; mbarrier.arrive.shared::cta.b64 %rd11, [%r5]; bra wait;
first: mbarrier.arrive.shared::cta.b64 %rd11, [%r5];
wait: mbarrier.try_wait.shared::cta.b64 %p3, [%r5], %rd11; @!%p3 bra wait;""",
    ),
    Case("a wait with the token of the last arrival", _BY_TOKENS.format(token="%rd11", store="", read="")),
)

_LANES = """@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; //= init
@%p1 mbarrier.init.shared::cta.b64 [%r5+8], 1;
bar.sync 0;
mov.b32 %r30, 0; and.b32 %r31, %r1, 31;
setp.ge.u32 %p5, %r1, 32; @%p5 bra consumer;
producer: and.b32 %r32, %r30, 1; xor.b32 %r33, %r32, 1;
wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5+8], %r33; @!%p3 bra wait;
st.shared.u32 [%r4], %r30; {write}
bar.warp.sync -1;
elect.sync _|%p4, -1; @%p4 mbarrier.arrive.shared::cta.b64 _, [%r5];
add.u32 %r30, %r30, 1; setp.lt.u32 %p6, %r30, 8; @%p6 bra producer;
bra end;
consumer: and.b32 %r32, %r30, 1;
again: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], %r32; {again}
@!%p3 bra again;
ld.shared.u32 %r34, [%r4+-512]; //= read
{choose}
@!%p4 bra next; mbarrier.arrive.shared::cta.b64 _, [%r5+8]; //= arrive
next: add.u32 %r30, %r30, 1; setp.lt.u32 %p6, %r30, 8; @%p6 bra consumer;
end:"""

LANES = (
    Case(
        "no lane of a warp can miss a phase if the warp converges before one arrives",
        _LANES.format(choose="elect.sync _|%p4, -1;", write="", again=""),
        bounds=".reqntid 64, 1, 1",
    ),
    Case(
        "a lane that arrives while others of its warp still wait lets them miss a phase",
        _LANES.format(choose="setp.eq.u32 %p4, %r31, 0;", write="//! PTX621 read arrive", again="//! PTX504 init"),
        bounds=".reqntid 64, 1, 1",
    ),
)

CASES = (*GUESSED, *TILED, *MISSING, *EXCESS, *EARLIER, *BARRIERS, *ALIGNED, *TOKENS, *LANES)
