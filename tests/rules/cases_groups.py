"""PTX301 to PTX304: groups committed, waited for, and reused; each wrong kernel with its correct twin."""

from __future__ import annotations

from tests.rules.support import Case

_ROUND_TRIP = """selp.b32 %r10, 1, 0, %p1; mov.u32 %r11, %clock; shl.b32 %r11, %r11, 1; or.b32 %r12, %r11, %r10;
and.b32 %r12, %r12, 1; setp.ne.b32 %p4, %r12, 0;"""
CLOSE = "cp.async.commit_group; cp.async.wait_group 0;"

NEVER_COMMITTED = (
    Case(
        "only the copy of the last iteration is left out of every group",
        """mov.u32 %r7, 0;
next: cp.async.commit_group; //= commit
cp.async.cg.shared.global [%r4], [%rd1], 16; //! PTX301 wait commit
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;
cp.async.wait_group 0; //= wait
bar.sync 0;""",
    ),
    Case(
        "a commit at the end of each iteration includes the copy of that iteration",
        """mov.u32 %r7, 0;
next: cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group;
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;
cp.async.wait_group 0; bar.sync 0;""",
        undecided=("PTX304",),
    ),
    Case(
        "a commit of bulk groups closes no group of cp.async",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; //! PTX301 wait
cp.async.bulk.commit_group;
cp.async.wait_group 0; //= wait""",
    ),
    Case(
        "a commit of cp.async groups closes a group of cp.async",
        "cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;",
    ),
    Case(
        "a copy that nothing commits and nothing waits for is worth a warning",
        "cp.async.cg.shared.global [%r4], [%rd1], 16; //? PTX301",
    ),
    Case(
        "a bulk copy that nothing commits and nothing waits for is an error",
        """@!%p1 bra end;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; //! PTX301
end:""",
    ),
    Case(
        "a commit in external code may include the copy",
        """cp.async.cg.shared.global [%r4], [%rd1], 16;
call.uni elsewhere;
cp.async.wait_group 0;""",
        before=".extern .func elsewhere;",
        undecided=("PTX300", "PTX301"),
    ),
    Case(
        "a commit in a function of this module includes the copy",
        "cp.async.cg.shared.global [%r4], [%rd1], 16; call.uni close; cp.async.wait_group 0;",
        before=".func close { cp.async.commit_group; ret; }",
    ),
    Case(
        "a function of this module that commits nothing includes nothing",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; //! PTX301 wait
call.uni close;
cp.async.wait_group 0; //= wait""",
        before=".func close { ret; }",
    ),
    Case(
        "a commit that hangs on data may be missing",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 0;
@%p3 bra skip; cp.async.commit_group; skip: cp.async.wait_group 0;""",
        undecided=("PTX301",),
    ),
    Case(
        "a copy has the guard of the commit in a register that was combined with unknown bits",
        f"""{_ROUND_TRIP}
@%p4 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512;
@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;""",
        undecided=("PTX301",),
    ),
    Case(
        "data decides whether a copy without a commit is reached",
        """ld.volatile.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 0; @%p3 bra end;
cp.async.cg.shared.global [%r4], [%rd1], 16; //? PTX301 wait
cp.async.wait_group 0; //= wait\nend:""",
    ),
    Case(
        "a copy after a branch whose other side traps is reached",
        """ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 0; @%p3 bra wrong;
cp.async.cg.shared.global [%r4], [%rd1], 16; //! PTX301 wait
cp.async.wait_group 0; bra end; //= wait
wrong: trap;\nend:""",
    ),
    Case(
        "a commit after a branch on data is executed on some paths and not on others",
        """ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 0; cp.async.cg.shared.global [%r4], [%rd1], 16;
@%p3 bra there; bra.uni wait; there: cp.async.commit_group; wait: cp.async.wait_group 0;""",
        undecided=("PTX301",),
    ),
)

READ_BEFORE_WAIT = (
    Case(
        "a neighbor in the warp has not waited for this thread's copy",
        """xor.b32 %r10, %r3, 16; add.u32 %r10, %r2, %r10;
cp.async.cg.shared.global [%r4], [%rd1], 16; //= copy
cp.async.wait_all; //= wait
ld.shared.u32 %r11, [%r10]; //! PTX302 copy wait""",
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "a barrier of the warp publishes a copy to a neighbor in it",
        """xor.b32 %r10, %r3, 16; add.u32 %r10, %r2, %r10;
cp.async.cg.shared.global [%r4], [%rd1], 16;
cp.async.wait_all; bar.warp.sync -1;
ld.shared.u32 %r11, [%r10];""",
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "with three groups in flight a wait that leaves two covers the oldest only",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group;
cp.async.cg.shared.global [%r9], [%rd1], 16; //= copy
cp.async.commit_group;
cp.async.cg.shared.global [%r9+4096], [%rd1], 16; cp.async.commit_group;
cp.async.wait_group 2; //= wait
ld.shared.u32 %r10, [%r4];
ld.shared.u32 %r11, [%r9]; //! PTX302 copy wait
cp.async.wait_group 0;""",
    ),
    Case(
        "with three groups in flight a wait that leaves one covers the two oldest",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group;
cp.async.cg.shared.global [%r9], [%rd1], 16; cp.async.commit_group;
cp.async.cg.shared.global [%r9+4096], [%rd1], 16; cp.async.commit_group;
cp.async.wait_group 1; ld.shared.u32 %r10, [%r4]; ld.shared.u32 %r11, [%r9]; cp.async.wait_group 0;""",
    ),
    Case(
        "a read before the wait is no better for the wait after it",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; //= copy
cp.async.commit_group;
ld.shared.u32 %r10, [%r4]; //! PTX302 copy wait
cp.async.wait_group 0; //= wait""",
    ),
    Case(
        "a read after wait_all needs no group",
        "cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.wait_all; ld.shared.u32 %r10, [%r4];",
    ),
    Case(
        "a read of other bytes than the copy's may occur at any time",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group;
ld.shared.u32 %r10, [%r9]; cp.async.wait_group 0;""",
    ),
    Case(
        "a wait without a barrier does not publish another warp's copy",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; //= copy
cp.async.commit_group;
cp.async.wait_group 0; //= wait
xor.b32 %r10, %r3, 512; add.u32 %r10, %r10, %r2;
ld.shared.u32 %r11, [%r10]; //! PTX302 copy wait""",
    ),
    Case(
        "a wait and a barrier publish another warp's copy",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
xor.b32 %r10, %r3, 512; add.u32 %r10, %r10, %r2; ld.shared.u32 %r11, [%r10];""",
    ),
    Case(
        "a ring that waits with one group too many reads the slot that is still filled",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; //= copy
cp.async.commit_group;
mov.u32 %r7, 0;
next: cp.async.cg.shared.global [%r9], [%rd1], 16; cp.async.commit_group;
cp.async.wait_group 2; //= wait
bar.sync 0;
ld.shared.u32 %r10, [%r4]; //! PTX302 copy wait
bar.sync 0; xor.b32 %r4, %r4, %r9; xor.b32 %r9, %r4, %r9; xor.b32 %r4, %r4, %r9;
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;
cp.async.wait_group 0;""",
    ),
    Case(
        "a ring that leaves the newest group in flight reads the slot that is full",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group;
mov.u32 %r7, 0;
next: cp.async.cg.shared.global [%r9], [%rd1], 16; cp.async.commit_group;
cp.async.wait_group 1; bar.sync 0; ld.shared.u32 %r10, [%r4];
bar.sync 0; xor.b32 %r4, %r4, %r9; xor.b32 %r9, %r4, %r9; xor.b32 %r4, %r4, %r9;
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;
cp.async.wait_group 0;""",
    ),
    Case(
        "a wait for bulk groups does not cover cp.async",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; //= copy
cp.async.commit_group; cp.async.bulk.wait_group 0;
ld.shared.u32 %r10, [%r4]; //! PTX302 copy wait
cp.async.wait_group 0; //= wait""",
    ),
    Case(
        "a wait in code that is not here may cover the copy",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; call.uni elsewhere;
ld.shared.u32 %r10, [%r4];""",
        before=".extern .func elsewhere;",
        undecided=("PTX300", "PTX301", "PTX302"),
    ),
    Case(
        "a wait in a function of this module covers the copy",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; call.uni settle;
ld.shared.u32 %r10, [%r4];""",
        before=".func settle { cp.async.wait_group 0; ret; }",
        undecided=("PTX621",),
    ),
    Case(
        "a wait after a branch on data leaves the read undecided",
        """ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 0; cp.async.cg.shared.global [%r4], [%rd1], 16;
cp.async.commit_group; @%p3 bra there; bra.uni read; there: cp.async.wait_group 0;
read: ld.shared.u32 %r11, [%r4]; cp.async.wait_group 0;""",
        undecided=("PTX302",),
    ),
    Case(
        "a wait that hangs on an integer parameter is missing for some of its values",
        """setp.gt.u32 %p3, %r6, 100; cp.async.cg.shared.global [%r4], [%rd1], 16; //= copy
cp.async.commit_group; @%p3 cp.async.wait_group 0;
ld.shared.u32 %r11, [%r4]; //! PTX302 copy wait
cp.async.wait_group 0; //= wait""",
    ),
    Case(
        "a wait that hangs on an integer parameter is there where the copy is",
        """setp.gt.u32 %p3, %r6, 100; @%p3 cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group;
@%p3 cp.async.wait_group 0; ld.shared.u32 %r11, [%r4]; cp.async.wait_group 0;""",
    ),
)

#: Each lane copies the whole tile, and waits for its own copy only.
COPIES_OF_A_WARP = """mov.u32 %r7, 0;
next: {} fence.proxy.async.shared::cta; bar.warp.sync -1;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; //= copy
cp.async.bulk.commit_group; bar.warp.sync -1;
cp.async.bulk.wait_group.read 0; //= wait
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;"""

REUSED = (
    Case(
        "a source may be written again in the iteration after its wait",
        """mov.u32 %r7, 0;
next: bar.sync 0; st.shared.u32 [%r4], %r7; fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra skip;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 2048;
cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
skip: add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;""",
    ),
    Case(
        "a source may not be written again while one group is left pending",
        """mov.u32 %r7, 0;
next: bar.sync 0;
st.shared.u32 [%r4], %r7; //! PTX303 copy wait
fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra skip;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 2048; //= copy
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 1; //= wait
skip: add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;
@%p1 cp.async.bulk.wait_group.read 0;""",
    ),
    Case(
        "lanes that execute the next write together have all waited for their copies",
        COPIES_OF_A_WARP.format("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r7};"),
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "a lane that writes by itself may be ahead of another one's wait",
        COPIES_OF_A_WARP.format("st.shared.u32 [%r4], %r7; //! PTX303 copy wait\n"),
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "the last copies are left to the end of the kernel without a word under the isa policy",
        """bar.sync 0; @!%p1 bra end;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
cp.async.bulk.global.shared::cta.bulk_group [%rd2+512], [%r8], 512; cp.async.bulk.commit_group;
end:""",
    ),
    Case(
        "the last copies are warned of under the strict policy",
        """bar.sync 0; @!%p1 bra end;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r8], 512; //? PTX303
cp.async.bulk.commit_group;
end:""",
        policy="strict",
    ),
    Case(
        "a thread that waits for none of its copies leaves them pending",
        """bar.sync 0; @!%p1 bra end;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; //! PTX303
cp.async.bulk.commit_group;
end:""",
    ),
    Case(
        "a wait that leaves the only copy pending is not enough",
        """bar.sync 0; @!%p1 bra end;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; //! PTX303 wait
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 1; //= wait
end:""",
    ),
    Case(
        "a wait before the first copy waits for none of them",
        """bar.sync 0; @!%p1 bra end;
cp.async.bulk.wait_group.read 0;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; //! PTX303
cp.async.bulk.commit_group;
end:""",
    ),
    Case(
        "a wait in a loop that ends early waits for the copies that earlier iterations would have started",
        """@!%p1 bra end; mov.u32 %r7, 0;
next: cp.async.bulk.wait_group.read 0;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; cp.async.bulk.commit_group;
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 1; @%p3 bra next;
end:""",
    ),
    Case(
        "a wait before the first copy does not cover those of a loop",
        """@!%p1 bra end; mov.u32 %r7, 0; cp.async.bulk.wait_group.read 0;
next: cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; //! PTX303
cp.async.bulk.commit_group;
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;
end:""",
    ),
    Case(
        "a wait in a function that is called after the copy counts",
        """@!%p1 bra end; cp.async.bulk.wait_group.read 0;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; cp.async.bulk.commit_group; call settle;
end:""",
        before=".func settle { cp.async.bulk.wait_group.read 0; ret; }",
    ),
    Case(
        "a store into the destination of a copy in flight races with it",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; //= copy
cp.async.commit_group;
st.shared.u32 [%r4], %r1; //! PTX303 copy
cp.async.wait_group 0;""",
    ),
    Case(
        "a store into the destination after the wait does not",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;
st.shared.u32 [%r4], %r1;""",
    ),
)

_TWO_MBARRIERS = """@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
@%p1 mbarrier.init.shared::cta.b64 [%r5+8], 1; bar.sync 0;"""
_FILL = """@{thread} mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], 1024;
@{thread} cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{into}], [%rd1], 1024, [{bar}];"""
_FIRST = _FILL.format(thread="%p1", bar="%r5", into="%r2") + " //= first"
_POLL = "{0}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [{1}], 0; @!%p3 bra {0};"
_BOTH_DONE = f"{_POLL.format('one', '%r5')} {_POLL.format('two', '%r5+8')} ld.shared.u32 %r10, [%r4];"


def _two_bulk_copies(name: str, between: str, thread: str, *, wrong: bool) -> Case:
    """Thread 0 fills 1024 bytes, and a thread fills the last 512 of them and more. between: code between the two."""
    second = _FILL.format(thread=thread, bar="%r5+8", into="%r2+512") + (" //! PTX304 first" if wrong else "")
    return Case(name, "\n".join((_TWO_MBARRIERS, _FIRST, between, second, _BOTH_DONE)))


def _signal_by_two_threads(wait: str) -> str:
    """Thread 32 signals thread 64, which signals thread 0. wait: what thread 32 waits for before."""
    return f"""@%p1 mbarrier.init.shared::cta.b64 [%r5+16], 1;
@%p1 mbarrier.init.shared::cta.b64 [%r5+24], 1; bar.sync 0;
setp.eq.u32 %p4, %r1, 64; @%p2 bra first; @%p4 bra second; @%p1 bra third; bra join;
first: {wait} mbarrier.arrive.shared::cta.b64 _, [%r5+16]; bra join;
second: {_POLL.format("ready", "%r5+16")} mbarrier.arrive.shared::cta.b64 _, [%r5+24]; bra join;
third: {_POLL.format("freed", "%r5+24")}
join:"""


def _copy_of_each_warp(name: str, stride: int, mark: str = "", undecided: tuple[str, ...] = ()) -> Case:
    """The first thread of each warp fills 512 bytes on its own mbarrier. stride: the distance of the destinations."""
    return Case(
        name,
        f"""shr.u32 %r10, %r1, 5; and.b32 %r11, %r1, 31; setp.eq.u32 %p4, %r11, 0; mad.lo.u32 %r12, %r10, 8, %r5;
@%p4 mbarrier.init.shared::cta.b64 [%r12], 1; bar.sync 0; mad.lo.u32 %r13, %r10, {stride}, %r2;
@!%p4 bra join; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r12], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%rd1], 512, [%r12]; {mark}
join: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r12], 0; @!%p3 bra join;
bar.sync 0; ld.shared.u32 %r14, [%r4];""",
        undecided=undecided,
    )


OVERLAPPING = (
    _copy_of_each_warp(
        "each warp fills bytes of its own",
        512,
        undecided=("PTX621",),
    ),
    _copy_of_each_warp("each warp fills bytes of the next one", 256, "//! PTX304"),
    _two_bulk_copies("bulk copies of two mbarriers into the same bytes", "", "%p1", wrong=True),
    _two_bulk_copies("a barrier does not complete a bulk copy", "bar.sync 0;", "%p1", wrong=True),
    _two_bulk_copies("a bulk copy of another thread into the same bytes", "", "%p2", wrong=True),
    _two_bulk_copies("a bulk copy of another thread after a barrier", "bar.sync 0;", "%p2", wrong=True),
    _two_bulk_copies("a bulk copy after the wait for the first one", _POLL.format("zero", "%r5"), "%p1", wrong=False),
    _two_bulk_copies("a bulk copy of another thread that has waited", _POLL.format("zero", "%r5"), "%p2", wrong=False),
    _two_bulk_copies(
        "a bulk copy of another thread after the wait of the first one and a barrier",
        f"@!%p1 bra join; {_POLL.format('zero', '%r5')} join: bar.sync 0;",
        "%p2",
        wrong=False,
    ),
    _two_bulk_copies(
        "a bulk copy after a signal by two threads, of which the first one has waited",
        _signal_by_two_threads(_POLL.format("zero", "%r5")),
        "%p1",
        wrong=False,
    ),
    _two_bulk_copies(
        "a bulk copy after a signal by two threads, of which none has waited",
        _signal_by_two_threads(""),
        "%p1",
        wrong=True,
    ),
    Case(
        "the same place, half of it again in the same group",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; //= first
cp.async.ca.shared.global [%r4+8], [%rd1], 8; //! PTX304 first
cp.async.commit_group; cp.async.wait_group 0;""",
    ),
    Case(
        "the copies that are never closed are one group, too",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; //= first
cp.async.cg.shared.global [%r4], [%rd1+512], 16; //! PTX304 first
cp.async.wait_all;""",
    ),
    Case(
        "a copy with ignore-src writes zeros to the same address",
        """setp.eq.u32 %p3, %r1, %r1;
cp.async.cg.shared.global [%r4], [%rd1], 16; //= first
cp.async.cg.shared.global [%r4], [%rd1], 16, %p3; //! PTX304 first
cp.async.commit_group; cp.async.wait_group 0;""",
    ),
    Case(
        "of three each later one overlaps the first that has its bytes",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; //= first
cp.async.ca.shared.global [%r4+8], [%rd1], 8; //! PTX304 first
cp.async.ca.shared.global [%r4+8], [%rd1], 8; //! PTX304 first
cp.async.commit_group; cp.async.wait_group 0;""",
    ),
    Case(
        "bytes that the second has beyond the first are met by the third",
        """cp.async.ca.shared.global [%r4], [%rd1], 8; //= first
cp.async.cg.shared.global [%r4], [%rd1], 16; //! PTX304 first //= second
cp.async.ca.shared.global [%r4+8], [%rd1], 8; //! PTX304 second
cp.async.commit_group; cp.async.wait_group 0;""",
    ),
    Case(
        "the other half is another place",
        """cp.async.ca.shared.global [%r4], [%rd1], 8;
cp.async.ca.shared.global [%r4+8], [%rd1], 8;
cp.async.commit_group; cp.async.wait_group 0;""",
    ),
    Case(
        "two groups without a wait between them may write in either order",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group;
cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;""",
        undecided=("PTX304",),
    ),
    Case(
        "two groups with a wait between them write in their order",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;
cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;""",
    ),
    Case(
        "two groups of which the wait leaves the second one pending are in order with a third one",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group;
cp.async.cg.shared.global [%r4+2048], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 1;
cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;""",
    ),
    Case(
        "a wait for all of them closes a group",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.wait_all;
cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.wait_all;""",
    ),
    Case(
        "code that is not here may close a group",
        """cp.async.cg.shared.global [%r4], [%rd1], 16; call.uni elsewhere;
cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;""",
        before=".extern .func elsewhere;",
        undecided=("PTX300", "PTX301", "PTX304"),
    ),
)

_TO_GLOBAL = """st.shared.u32 [%r4], %r6; fence.proxy.async.shared::cta; bar.sync 0; @!%p1 bra {target};
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 512; //= copy
cp.async.bulk.commit_group;"""
_SOURCES, _WRITES = "cp.async.bulk.wait_group.read 0;", "cp.async.bulk.wait_group 0;"


def _read_back(name: str, *lines: str, target: str = "end", undecided: tuple[str, ...] = ()) -> Case:
    """Thread 0 copies words to global memory. lines: waits, and a load. target: where other threads go."""
    return Case(name, "\n".join((_TO_GLOBAL.format(target=target), *lines, "end:")), undecided=undecided)


_AT_ARGUMENT = "and.b32 %r10, %r6, 127; mul.wide.u32 %rd3, %r10, 4; add.u64 %rd4, %rd2, %rd3;"
_AT_THREAD = "join: bar.sync 0; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3;"
READ_BACK = (
    _read_back(
        "the end of the reads of a source is not that of the writes",
        f"{_SOURCES} //= wait",
        "ld.global.u32 %r11, [%rd2]; //! PTX302 copy wait",
        _WRITES,
    ),
    _read_back("the words are read after the wait for the writes", _WRITES, "ld.global.u32 %r11, [%rd2+508];"),
    _read_back("other words are read", _SOURCES, "ld.global.u32 %r11, [%rd2+512];"),
    Case(
        "a word is read before the copy",
        f"ld.global.u32 %r11, [%rd2];\n{_TO_GLOBAL.format(target='end')} {_WRITES}\nend:",
        undecided=("PTX302",),
    ),
    _read_back(
        "nothing waits before the load",
        "ld.global.u32 %r11, [%rd2]; //! PTX302 copy wait",
        f"{_WRITES} //= wait",
    ),
    _read_back(
        "an argument decides which word is read",
        _SOURCES,
        f"{_AT_ARGUMENT} ld.global.u32 %r11, [%rd4];",
        undecided=("PTX302",),
    ),
    _read_back("an argument decides the word after the wait", _WRITES, f"{_AT_ARGUMENT} ld.global.u32 %r11, [%rd4];"),
    _read_back(
        "other threads read after a barrier",
        f"{_SOURCES} //= wait",
        f"{_AT_THREAD}\nld.global.u32 %r11, [%rd4]; //! PTX302 copy wait",
        target="join",
    ),
    _read_back(
        "other threads read after the wait and a barrier",
        _WRITES,
        f"{_AT_THREAD} ld.global.u32 %r11, [%rd4];",
        target="join",
    ),
    _read_back(
        "the last thread to count reads a sum before it is written",
        f"{_SOURCES} //= wait",
        "fence.acq_rel.gpu; atom.add.acq_rel.gpu.global.u32 %r12, [%rd1], 1;",
        "ld.global.u32 %r11, [%rd2]; //! PTX302 copy wait",
    ),
)

_MATRICES = """.reg .f32 %f<5>;
shr.u32 %r20, %r2, 4; cvt.u64.u32 %rd5, %r20; or.b64 %rd6, %rd5, 68719542272; add.u64 %rd7, %rd6, 128;
mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
st.shared.v4.b32 [%r4+2048], {%r1, %r1, %r1, %r1};"""
_MULTIPLY = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd6, %rd7, 0, 1, 1, 0, 0;"

OFFSET = "ld.global.u32 %r20, [%rd1]; and.b32 %r20, %r20, 4080; add.u32 %r21, %r2, %r20; add.u32 %r22, %r8, %r20;"
COPY_SOMEWHERE = f"{OFFSET} cp.async.cg.shared.global [%r21], [%rd1], 16; cp.async.commit_group;"
DONE = "cp.async.wait_group 0;"

_ONE_THREAD = ".reqntid 1, 1, 1"

UNKNOWN_ADDRESSES = (
    Case(
        "a copy to an unknown place of the variable that is read before the wait",
        f"{COPY_SOMEWHERE} ld.shared.u32 %r10, [tile]; {DONE}",
        bounds=_ONE_THREAD,
        undecided=("PTX302",),
    ),
    Case("the read after the wait", f"{COPY_SOMEWHERE} {DONE} ld.shared.u32 %r10, [tile];", bounds=_ONE_THREAD),
    Case(
        "the read after the wait, of bytes that other threads copy",
        f"{COPY_SOMEWHERE} {DONE} ld.shared.u32 %r10, [tile];",
        undecided=("PTX302", "PTX621"),
    ),
    Case(
        "a read at an unknown place of the variable before the wait for a copy to a known one",
        f"""{OFFSET} cp.async.cg.shared.global [%r2], [%rd1], 16; cp.async.commit_group;
ld.shared.u32 %r10, [%r21]; {DONE}""",
        bounds=_ONE_THREAD,
        undecided=("PTX302",),
    ),
    Case("another variable", f"{COPY_SOMEWHERE} ld.shared.u32 %r10, [other]; {DONE}"),
    Case("an unknown place of another variable", f"{COPY_SOMEWHERE} ld.shared.u32 %r10, [%r22]; {DONE}"),
    Case(
        "the bytes after the copy, at an offset from the same unknown",
        f"{COPY_SOMEWHERE} ld.shared.u32 %r10, [%r21+16]; {DONE}",
    ),
    Case(
        "bytes of the copy, at an offset from the same unknown",
        f"{COPY_SOMEWHERE} ld.shared.u32 %r10, [%r21+12]; {DONE}",
        bounds=_ONE_THREAD,
        undecided=("PTX302",),
    ),
    Case(
        "a copy to an unknown place of the other CTA",
        f"""{OFFSET} @%p1 mbarrier.init.shared::cta.b64 [%r5], 1; fence.mbarrier_init.release.cluster;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512;
barrier.cluster.arrive; barrier.cluster.wait;
mov.u32 %r23, %cluster_ctarank; xor.b32 %r23, %r23, 1;
mapa.shared::cluster.u32 %r24, %r21, %r23; mapa.shared::cluster.u32 %r25, %r5, %r23; mov.u32 %r26, 1;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r24], %r26, [%r25];
ld.shared.u32 %r10, [tile];
wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;""",
        undecided=("PTX302", "PTX304"),
        bounds=".reqntid 128, 1, 1 .reqnctapercluster 2, 1, 1",
    ),
)

CASES = (
    Case(
        "only CTAs later in the grid read a copy without a wait",
        """mov.u32 %r10, %ctaid.y; setp.eq.u32 %p3, %r10, 0; @%p3 bra end;
cp.async.cg.shared.global [%r4], [%rd1], 16; //= copy
cp.async.commit_group;
ld.shared.b32 %r11, [%r4]; //! PTX302 copy wait
cp.async.wait_group 0; //= wait
end:""",
        target="sm_80",
    ),
    Case(
        "only CTAs later in the grid read a copy after the wait",
        """mov.u32 %r10, %ctaid.y; setp.eq.u32 %p3, %r10, 0; @%p3 bra end;
cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;
ld.shared.b32 %r11, [%r4];
end:""",
        target="sm_80",
    ),
    Case(
        "the last rows of a matrix are in groups that only another warp waited for",
        f"""{_MATRICES}
cp.async.cg.shared.global [%r4], [%rd1], 16; //= copy
cp.async.commit_group; setp.lt.u32 %p3, %r1, 32;
@%p3 cp.async.wait_group 0;
fence.proxy.async.shared::cta; bar.sync 0; wgmma.fence.sync.aligned;
{_MULTIPLY} //! PTX302 copy
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [%rd2], %f1;""",
    ),
    Case(
        "the last rows of a matrix are in groups that every warp waited for",
        f"""{_MATRICES}
cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;
fence.proxy.async.shared::cta; bar.sync 0; wgmma.fence.sync.aligned;
{_MULTIPLY}
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [%rd2], %f1;""",
    ),
    *NEVER_COMMITTED,
    *READ_BEFORE_WAIT,
    *UNKNOWN_ADDRESSES,
    *REUSED,
    *OVERLAPPING,
    *READ_BACK,
)
