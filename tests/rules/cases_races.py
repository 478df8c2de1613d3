"""PTX621: unordered accesses of two warps to the same bytes; each wrong kernel with its correct twin."""

from __future__ import annotations

from tests.rules.support import Case

_COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
_EXPECT = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5],"


def _ring(*expected_and_copied: str, other_access: str = "", later: str = "") -> str:
    """One thread fills a tile repeatedly, and a warp reads it; each waits for the other."""
    filled = "\n".join(expected_and_copied)
    return f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 32;
@%p1 mbarrier.init.shared::cta.b64 [%r5+16], 1;
bar.sync 0; mov.u32 %r7, 0; mov.u32 %r10, 0; setp.ge.u32 %p3, %r1, 32; @%p3 bra read; @!%p1 bra end;
fill: xor.b32 %r11, %r10, 1;
free: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r5+8], %r11; @!%p4 bra free;
{filled}
xor.b32 %r10, %r10, 1; add.u32 %r7, %r7, 1; setp.lt.u32 %p5, %r7, %r6; @%p5 bra fill; bra.uni end;
read: {other_access}
full: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r5], %r10; @!%p4 bra full;
ld.shared.u32 %r12, [%r2];
mbarrier.arrive.shared::cta.b64 _, [%r5+8]; {later}
xor.b32 %r10, %r10, 1; add.u32 %r7, %r7, 1; setp.lt.u32 %p5, %r7, %r6; @%p5 bra full;
end:"""


def _lanes_by_mask(name: str, masks: str, *, wrong: bool, branches: bool = False) -> Case:
    """Each lane reads what the lane 16 further or back has stored. masks: those of the lower and the upper lanes.

    branches: whether the two halves of a warp wait at instructions of their own.
    """
    low, high = masks.split()
    wait = f"selp.b32 %r12, {low}, {high}, %p4; bar.warp.sync %r12;"
    if branches:
        wait = f"@%p4 bra low; bar.warp.sync {high}; bra join; low: bar.warp.sync {low}; join:"
    mark = " //! PTX621 store" if wrong else ""
    return Case(
        name,
        f"""and.b32 %r11, %r1, 31; setp.lt.u32 %p4, %r11, 16; xor.b32 %r13, %r4, 256; ld.global.u32 %r14, [%rd1];
st.shared.u32 [%r4], %r6; //= store
{wait}
ld.shared.u32 %r10, [%r13];{mark}""",
        undecided=("PTX621",) if low.startswith("%") else (),
    )


MASKS = (
    _lanes_by_mask("halves of a warp do not wait for each other", "0xffff 0xffff0000", wrong=True),
    _lanes_by_mask("halves of a warp wait in branches", "0xffff 0xffff0000", wrong=True, branches=True),
    _lanes_by_mask("one mask names both halves", "0xffffffff -1", wrong=False),
    _lanes_by_mask("one mask names both halves, in branches", "0xffffffff -1", wrong=False, branches=True),
    _lanes_by_mask("an unknown mask may name both halves", "%r14 -1", wrong=False),
)


_COUNT = "atom.global.add.u32"
_RED = "red.release.gpu.global.add.u32 [%rd1], 1;"


def _read_before_barrier(
    name: str, *, signal: str = "", later: str = "", count: str = _COUNT, wrong: bool = True
) -> Case:
    """Threads read what thread 0 stores after an atomic operation.

    signal, later: code after the read, and after the barrier. count: the atomic operation.
    """
    mark = " //! PTX621 store" if wrong else ""
    return Case(
        f"what is read without a barrier, and {name}",
        f"""@%p1 bra set;
ld.shared.u32 %r10, [%r2];{mark}
{signal} bra.uni join;
set: {count} %r10, [%rd1], 1;
st.shared.u32 [%r2], %r10; //= store
join: bar.sync 0; st.global.u32 [%rd2+8], %r10; @!%p2 bra end; {later}
end:""",
        undecided=() if wrong else ("PTX621",),
    )


#: A flag that a thread sets after a barrier does not order what another one does before it.
FLAGS = (
    _read_before_barrier("no flag is set"),
    _read_before_barrier("a flag is set after the barrier", later="st.release.gpu.global.u32 [%rd1], 7;"),
    _read_before_barrier("a volatile flag is set after the barrier", later="st.volatile.global.u32 [%rd1], 7;"),
    _read_before_barrier("each reader signals, which nothing acquires", signal=_RED),
    _read_before_barrier("each reader signals", signal=_RED, count="atom.acquire.gpu.global.add.u32", wrong=False),
)


def _exchange(name: str, between: str, *, asks: bool, read: str = "ld.shared.u32 %r14, [%r13];") -> Case:
    """Each lane stores 16 bytes, and reads those of another lane of its warp. between: code between the two."""
    return Case(
        f"lanes exchange data, and {name}",
        f"""xor.b32 %r13, %r4, 16; st.shared.v4.u32 [%r4], {{%r1, %r1, %r1, %r1}};
{between}
{read}""",
        undecided=("PTX621",) if asks else (),
    )


_SHUFFLE = "shfl.sync.idx.b32 %r12, %r1, 0, 31, -1;"
_MATRIX = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r14, %r15, %r16, %r17}, [%r13];"

#: Lanes converge at some instructions, of which the manual does not state that they order memory.
CONVERGENCE = (
    _exchange("shuffle between", _SHUFFLE, asks=True),
    _exchange("a barrier of the warp is between, too", f"{_SHUFFLE} bar.warp.sync -1;", asks=False),
    _exchange("a barrier of the CTA is between", "bar.sync 0;", asks=False),
    _exchange("a matrix instruction reads", "", asks=True, read=_MATRIX),
    _exchange("a matrix instruction reads after a barrier", "bar.warp.sync -1;", asks=False, read=_MATRIX),
)

_BOTH = (
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 128;",
    f"{_EXPECT} 128;",
    f"{_COPY} [%r2], [%rd1], 128, [%r5]; {_COPY} [%r2+128], [%rd1], 128, [%r5];",
)
#: The simulation cannot decide whether this wait passes.
_UNKNOWN = "mbarrier.test_wait.parity.shared::cta.b64 %p6, [%r5+16], %r6;"


def _wait_for_count(mark: str = "", *, by: str = "@%p1", word: str = "[%rd2]") -> str:
    """Each CTA waits for a word by loads of its own scope, after a thread has counted in some word."""
    return f"""mov.u32 %r10, %ctaid.x; setp.eq.u32 %p4, %r10, 0; ld.global.u32 %r11, [%rd1]; setp.eq.u32 %p3, %r11, 0;
selp.b64 %rd3, %rd2, %rd1, %p3;
{by} red.relaxed.gpu.global.add.u32 {word}, 1; //= count
wait: ld.relaxed.cta.global.u32 %r12, [%rd2]; {mark}
setp.lt.u32 %p5, %r12, %r6; @%p5 bra wait;"""


def _four_slots(before_the_store: str, mark: str = "") -> str:
    """Copies tiles of 32 elements round a ring of four slots, and reuses the first slot after the last tile."""
    return f"""setp.lt.u32 %p3, %r6, 128; @%p3 bra end; shr.u32 %r10, %r6, 5; mov.u32 %r11, 0; xor.b32 %r12, %r3, 2032;
next: and.b32 %r13, %r11, 3; shl.b32 %r13, %r13, 11; add.u32 %r14, %r4, %r13; add.u32 %r15, %r2, %r13;
add.u32 %r15, %r15, %r12;
cp.async.cg.shared.global [%r14], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0;
bar.sync 0;
ld.shared.b32 %r16, [%r15];
add.u32 %r11, %r11, 1; setp.lt.u32 %p4, %r11, %r10; @%p4 bra next;
{before_the_store}
st.shared.b32 [%r4], %r16; {mark}
end:"""


_OF_LOAD = "//! PTX621 load"


def _global_cases() -> tuple[Case, ...]:
    """Each thread stores a word of a buffer in global memory, and reads that of the thread of the next warp."""

    def exchange(between: str = "", mark: str = "", read: str = "ld.global.b32 %r11, [%rd5];", head: str = "") -> str:
        return f"""xor.b32 %r10, %r1, 32; mul.wide.u32 %rd3, %r1, 4; mul.wide.u32 %rd6, %r10, 4; {head}
add.u64 %rd4, %rd2, %rd3; add.u64 %rd5, %rd2, %rd6;
st.global.b32 [%rd4], %r1; //= store
{between}
{read} {mark}"""

    def update(other: str = "", mark: str = "") -> str:
        return f"""and.b32 %r10, %r1, 31; setp.lt.u32 %p3, %r1, 32;
mul.wide.u32 %rd3, %r10, 4; add.u64 %rd4, %rd2, %rd3;
ld.global.b32 %r11, [%rd4]; //= load
add.u32 %r12, %r11, 1; {other}
@%p3 st.global.b32 [%rd4], %r12; {mark}"""

    found = "//! PTX621 store"
    return (
        Case("all warps load a tile in place, and only the one that stores it uses the values", update()),
        Case(
            "all warps load a tile in place, and another warp stores what depends on the values",
            update("mul.wide.u32 %rd5, %r1, 4; add.u64 %rd5, %rd1, %rd5; st.global.b32 [%rd5], %r12;", _OF_LOAD),
        ),
        Case(
            "all warps load a tile in place, and exchange the values",
            update("shfl.sync.idx.b32 %r12, %r12, 0, 31, -1;", _OF_LOAD),
        ),
        Case("words of another warp are read from global memory without a barrier", exchange(mark=found)),
        Case("words of another warp are read from global memory after a barrier", exchange("bar.sync 0;")),
        Case("a barrier of the warp does not order another warp", exchange("bar.warp.sync -1;", found)),
        Case("the words are read from another argument", exchange(read="ld.global.b32 %r11, [%rd1];")),
        Case("each thread reads its own word", exchange(read="ld.global.b32 %r11, [%rd4];")),
        Case("an atomic updates the word that is read", exchange(read="atom.global.add.u32 %r11, [%rd5], 1;")),
        Case(
            "data decide which word is read",
            exchange(head="ld.global.b32 %r12, [%rd1]; mul.wide.u32 %rd6, %r12, 4;"),
        ),
        Case(
            "a stride that one size makes too short lets rows overlap",
            exchange(head="mad.wide.u32 %rd6, %r6, 4, %rd3; sub.u64 %rd6, %rd6, 72;"),
            undecided=("PTX621",),
        ),
        Case(
            "the block may be one warp",
            exchange(),
            bounds="",
            undecided=("PTX621",),
        ),
    )


CASES = (
    *MASKS,
    *CONVERGENCE,
    *FLAGS,
    Case(
        "the first slot of a ring is reused after a number of tiles that is no multiple of its slots",
        _four_slots("", "//! PTX621 read").replace("%r16, [%r15];", "%r16, [%r15]; //= read"),
        target="sm_80",
    ),
    Case("the first slot of a ring is reused after a barrier", _four_slots("bar.sync 0;"), target="sm_80"),
    Case(
        "bytes expected after the arrival, before any copy, belong to the phase that the readers wait for",
        _ring(*_BOTH),
        bounds=".reqntid 64, 1, 1",
    ),
    Case(
        "bytes expected after the arrival belong to its phase where phases are not simulated",
        _ring(*_BOTH, other_access=_UNKNOWN),
        bounds=".reqntid 64, 1, 1",
    ),
    Case(
        "bytes expected between the copies may follow the end of their phase",
        _ring(
            _BOTH[0],
            f"{_COPY} [%r2], [%rd1], 128, [%r5]; //= copy",
            f"{_EXPECT} 128; //! PTX503 copy",
            f"{_COPY} [%r2+128], [%rd1], 128, [%r5];",
        ),
        bounds=".reqntid 64, 1, 1",
    ),
    Case(
        "a read of the old contents after the arrival, with bytes expected after that of the producer",
        _ring(
            *_BOTH[:2],
            f"{_COPY} [%r2+128], [%rd1], 128, [%r5];",
            f"{_COPY} [%r2], [%rd1], 128, [%r5]; //! PTX621 read",
            later="ld.shared.u32 %r12, [%r2]; //= read",
        ),
        bounds=".reqntid 64, 1, 1",
    ),
    Case(
        "a barrier of half the CTA is not a phase of the barrier of all threads",
        """bar.sync 0; setp.lt.u32 %p3, %r1, 128; @!%p3 bra rest; xor.b32 %r10, %r3, 16; add.u32 %r10, %r10, %r2;
bar.sync 0, 128;
st.shared.u32 [%r4], %r6; //= write
ld.shared.u32 %r11, [%r10]; //! PTX621 write
bar.sync 0, 128; bar.sync 1; bar.sync 0; bra.uni end;
rest: bar.sync 1; bar.sync 0;
end:""",
        bounds=".reqntid 256, 1, 1",
    ),
    Case(
        "half the CTA synchronizes at another barrier",
        """bar.sync 0; setp.lt.u32 %p3, %r1, 128; @!%p3 bra rest; xor.b32 %r10, %r3, 16; add.u32 %r10, %r10, %r2;
bar.sync 0, 128;
st.shared.u32 [%r4], %r6;
bar.sync 0, 128; ld.shared.u32 %r11, [%r10];
bar.sync 0, 128; bar.sync 1; bar.sync 0; bra.uni end;
rest: bar.sync 1; bar.sync 0;
end:""",
        bounds=".reqntid 256, 1, 1",
    ),
    Case(
        "a tensor map that lanes filled is changed by one of them before they have met",
        """st.shared.u32 [%r4], %r6; //= write
@%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2], 1; //! PTX621 write
bar.warp.sync -1;""",
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "a tensor map that lanes filled is changed by one of them when they have met",
        """st.shared.u32 [%r4], %r6; bar.warp.sync -1;
@%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2], 1;
bar.warp.sync -1;""",
        bounds=".reqntid 32, 1, 1",
    ),
    Case(
        "a refill without a barrier after the read overwrites the tile that other threads read",
        """mov.u32 %r7, 0;
next: cp.async.cg.shared.global [%r4], [%rd1], 16; //! PTX621 read
cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
xor.b32 %r10, %r3, 512; add.u32 %r10, %r10, %r2;
ld.shared.u32 %r11, [%r10]; //= read
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;""",
    ),
    Case(
        "a refill after a barrier waits for the other threads' reads",
        """mov.u32 %r7, 0;
next: cp.async.cg.shared.global [%r4], [%rd1], 16; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
xor.b32 %r10, %r3, 512; add.u32 %r10, %r10, %r2; ld.shared.u32 %r11, [%r10]; bar.sync 0;
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;""",
    ),
    Case(
        "a store of the next iteration overwrites words that the other warps read",
        """xor.b32 %r10, %r3, 512; add.u32 %r10, %r10, %r2; mov.u32 %r7, 0;
next: st.shared.u32 [%r4], %r7; //! PTX621 read
bar.sync 0;
ld.shared.u32 %r11, [%r10]; //= read
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;""",
    ),
    Case(
        "a store of the next iteration may overwrite words that the thread itself has read",
        """mov.u32 %r7, 0;
next: st.shared.u32 [%r4], %r7; bar.sync 0; ld.shared.u32 %r11, [%r4];
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;""",
    ),
    Case(
        "two alternating tiles need one barrier in each iteration",
        """xor.b32 %r10, %r3, 512; mov.u32 %r7, 0;
next: and.b32 %r11, %r7, 1; shl.b32 %r11, %r11, 11; add.u32 %r12, %r4, %r11; st.shared.u32 [%r12], %r7;
bar.sync 0; add.u32 %r13, %r11, %r2; add.u32 %r13, %r13, %r10; ld.shared.u32 %r14, [%r13];
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 8; @%p3 bra next;""",
    ),
    Case(
        "words that one thread writes are read by the other warps before the barrier",
        """@%p1 st.shared.u32 [%r2], %r6; //= write
ld.shared.u32 %r10, [%r2]; //! PTX621 write""",
    ),
    Case(
        "words that one thread writes are read by the other warps after the barrier",
        "@%p1 st.shared.u32 [%r2], %r6; bar.sync 0; ld.shared.u32 %r10, [%r2];",
    ),
    Case(
        "a lane reads the word that the next one stores",
        """xor.b32 %r10, %r3, 16; add.u32 %r10, %r10, %r2;
st.shared.u32 [%r4], %r6; //= write
ld.shared.u32 %r11, [%r10]; //! PTX621 write""",
    ),
    Case(
        "a lane reads the word that the next one stores before the warp's barrier",
        """xor.b32 %r10, %r3, 16; add.u32 %r10, %r10, %r2;
st.shared.u32 [%r4], %r6; bar.warp.sync -1; ld.shared.u32 %r11, [%r10];""",
    ),
    Case(
        "a lane stores to the word that the next one still reads in the previous iteration",
        """xor.b32 %r10, %r3, 16; add.u32 %r10, %r10, %r2; mov.u32 %r7, 0;
next: st.shared.u32 [%r4], %r7; //! PTX621 read
bar.warp.sync -1;
ld.shared.u32 %r11, [%r10]; //= read
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;""",
    ),
    Case(
        "a lane stores in the other of two tiles while the next one still reads",
        """xor.b32 %r10, %r3, 16; mov.u32 %r7, 0;
next: and.b32 %r11, %r7, 1; shl.b32 %r11, %r11, 11; add.u32 %r12, %r4, %r11; st.shared.u32 [%r12], %r7;
bar.warp.sync -1; add.u32 %r13, %r11, %r2; add.u32 %r13, %r13, %r10; ld.shared.u32 %r14, [%r13];
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 8; @%p3 bra next;""",
    ),
    Case(
        "a thread reads a counter that others still add to",
        """red.shared.add.u32 [%r2], 1; //= write
ld.shared.u32 %r11, [%r2]; //! PTX621 write""",
    ),
    Case(
        "threads add to a counter, which is no race",
        "red.shared.add.u32 [%r2], 1; red.shared.add.u32 [%r2], 2;",
    ),
    Case(
        "a flag that is read as volatile is no race",
        "@%p1 st.volatile.shared.u32 [%r2], %r6; ld.volatile.shared.u32 %r10, [%r2];",
    ),
    Case(
        "order may go over a third warp",
        """@%p1 st.shared.u32 [%r2], %r6; setp.lt.u32 %p4, %r1, 64; setp.ge.u32 %p5, %r1, 32; setp.lt.u32 %p6, %r1, 96;
@!%p4 bra more; bar.sync 1, 64;
more: @!%p5 bra end; @!%p6 bra end; bar.sync 2, 64; setp.ge.u32 %p7, %r1, 64; @%p7 ld.shared.u32 %r10, [%r2];
end:""",
    ),
    Case(
        "a thread that leaves has read before the barrier of those that stay opens",
        """setp.lt.u32 %p4, %r1, 32; @!%p4 bra stay; ld.shared.u32 %r10, [%r2]; ret;
stay: bar.sync 0; st.shared.u32 [%r2], %r6;""",
    ),
    Case(
        "an atomic addition to a word that another warp sets to zero, with no barrier between",
        """xor.b32 %r10, %r3, 512; add.u32 %r10, %r10, %r2;
st.shared.u32 [%r4], 0; //= write
red.shared.add.u32 [%r10], 1; //! PTX621 write""",
    ),
    Case(
        "an atomic addition after the barrier that follows the zeroing",
        """xor.b32 %r10, %r3, 512; add.u32 %r10, %r10, %r2;
st.shared.u32 [%r4], 0; bar.sync 0; red.shared.add.u32 [%r10], 1;""",
    ),
    Case(
        "a word set to zero again that another warp adds to, with no barrier between",
        """xor.b32 %r10, %r3, 512; add.u32 %r10, %r10, %r2;
red.shared.add.u32 [%r10], 1; //= addition
st.shared.u32 [%r4], 0; //! PTX621 addition""",
    ),
    Case(
        "two threads store to one word before and after a barrier",
        "@%p1 st.shared.u32 [%r2], 1; bar.sync 0; @%p2 st.shared.u32 [%r2], 2;",
    ),
    Case(
        "two threads store to one word with no barrier between",
        "@%p1 st.shared.u32 [%r2], 1; @%p2 st.shared.u32 [%r2], 2;",
        undecided=("PTX621",),
    ),
    Case(
        "two threads store one constant to a word with no barrier between",
        "@%p1 st.shared.u32 [%r2], 1; @%p2 st.shared.u32 [%r2], 1;",
    ),
    Case(
        "all threads store their own number to one word with one instruction",
        "st.shared.u32 [%r2], %r1;",
    ),
    Case(
        "code that is not here may order anything",
        "@%p1 st.shared.u32 [%r2], %r6; call.uni elsewhere; ld.shared.u32 %r10, [%r2];",
        before=".extern .func elsewhere;",
        undecided=("PTX300", "PTX621"),
    ),
    Case(
        "a block of unknown size may be one warp",
        "@%p1 st.shared.u32 [%r2], %r6; bar.warp.sync -1; ld.shared.u32 %r10, [%r2];",
        bounds="",
        undecided=("PTX621",),
    ),
    Case(
        "both sides of a branch on data lead to a race",
        """ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 0; @%p3 bra there; bar.sync 0;
there: @%p1 st.shared.u32 [%r2], %r6; //= write
ld.shared.u32 %r11, [%r2]; //! PTX621 write""",
    ),
    Case(
        "every CTA counts in one word, each for itself",
        """mov.u32 %r10, %ctaid.x;
@%p1 atom.relaxed.cta.global.add.u32 %r11, [%rd2], 1; //! PTX622
@%p1 red.release.cta.global.add.u32 [%rd2+4], %r10; //! PTX622""",
    ),
    Case(
        "all threads of all CTAs look for the largest, each CTA for itself",
        "mov.u32 %r10, %ctaid.x; mad.lo.u32 %r10, %r10, 128, %r1;\n"
        "atom.acq_rel.cta.global.max.u32 %r11, [%rd2], %r10; //! PTX622",
    ),
    Case(
        "every CTA counts in one word, and so for all",
        "mov.u32 %r10, %ctaid.x; @%p1 atom.relaxed.gpu.global.add.u32 %r11, [%rd2], %r10;",
    ),
    Case(
        "each CTA counts in another word",
        """mov.u32 %r10, %ctaid.x; mul.wide.u32 %rd3, %r10, 4; add.u64 %rd3, %rd2, %rd3;
@%p1 atom.relaxed.cta.global.add.u32 %r11, [%rd3], 1;""",
    ),
    Case(
        "only one CTA counts",
        """mov.u32 %r10, %ctaid.x; setp.eq.u32 %p3, %r10, 0;
@%p3 atom.relaxed.cta.global.add.u32 %r11, [%rd2], 1;""",
    ),
    Case(
        "data may decide which CTA counts",
        """mov.u32 %r10, %ctaid.x; ld.global.u32 %r11, [%rd1]; setp.eq.u32 %p3, %r11, 0;
@%p3 atom.relaxed.cta.global.add.u32 %r11, [%rd2], 1;""",
        undecided=("PTX622",),
    ),
    Case(
        "data may decide in which word a CTA counts",
        """mov.u32 %r10, %ctaid.x; ld.global.u64 %rd3, [%rd1]; atom.relaxed.cta.global.add.u32 %r11, [%rd3], 1;""",
        undecided=("PTX622",),
    ),
    Case("each CTA waits for a word that all CTAs count in", _wait_for_count("//! PTX622 count")),
    Case("data may decide which CTA counts in the awaited word", _wait_for_count(by="@%p3"), undecided=("PTX622",)),
    Case("data may choose the awaited word", _wait_for_count(word="[%rd3]"), undecided=("PTX622",)),
    Case(
        "a function may count in the awaited word",
        _wait_for_count(by="{ .param .b64 a; st.param.b64 [a], %rd2; call count, (a); } @%p4"),
        before=""".func count(.param .b64 a) { .reg .b64 %rd<2>; ld.param.b64 %rd1, [a];
red.relaxed.gpu.global.add.u32 [%rd1], 1; ret; }""",
        undecided=("PTX622",),
    ),
    Case("one CTA counts in the awaited word", _wait_for_count(by="@%p4")),
    Case(
        "data may decide which CTA counts in a word next to the awaited one",
        _wait_for_count(by="@%p3", word="[%rd2+4]"),
    ),
    Case("data may decide which CTA counts in another buffer", _wait_for_count(by="@%p3", word="[%rd1]")),
    Case(
        "every CTA counts in one word in a function that may serve others",
        """mov.u32 %r10, %ctaid.x; { .param .b64 a; st.param.b64 [a], %rd2; call count, (a); }""",
        before=""".func count(.param .b64 a) { .reg .b64 %rd<2>; ld.param.b64 %rd1, [a];
red.relaxed.cta.global.add.u32 [%rd1], 1; ret; }""",
        undecided=("PTX622",),
    ),
    Case(
        "counting in shared memory by a generic address is a matter of the CTA",
        """mov.u32 %r10, %ctaid.x; mov.u64 %rd3, other; cvta.shared.u64 %rd3, %rd3; ld.global.u32 %r11, [%rd1];
setp.eq.u32 %p3, %r11, 0; @%p3 atom.relaxed.cta.add.u32 %r11, [%rd3], 1;""",
    ),
    Case(
        "a kernel that never reads its CTA number may be launched with one",
        "@%p1 atom.relaxed.cta.global.add.u32 %r11, [%rd2], 1;",
    ),
    Case(
        "counting in shared memory is a matter of the CTA",
        "mov.u32 %r10, %ctaid.x; @%p1 atom.relaxed.cta.shared.add.u32 %r11, [%r8], 1;",
    ),
    Case(
        "accesses for large problems only are executed without asynchronous operations",
        """setp.lt.u32 %p3, %r6, 4096; @%p3 bra end;
st.shared.u32 [%r4], %r1; bar.sync 0; xor.b32 %r10, %r4, 512; ld.shared.u32 %r11, [%r10]; st.global.u32 [%rd2], %r11;
end:""",
    ),
    Case(
        "accesses of either side of a condition on data are executed without asynchronous operations",
        """ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 7; xor.b32 %r10, %r4, 512; @%p3 bra second;
st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r11, [%r10]; bra end;
second: st.shared.u32 [%r4], %r6; bar.sync 0; ld.shared.u32 %r11, [%r10];
end: st.global.u32 [%rd2], %r11;""",
    ),
    *(
        Case(
            f"a race in code that only the {side} side of a condition on data reaches is a warning",
            f"""ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 7;
@{negation}%p3 bra end; //= condition
st.shared.u32 [%r4], %r1; xor.b32 %r11, %r4, 512; //= store
ld.shared.u32 %r12, [%r11]; //? PTX621 store condition
st.global.u32 [%rd2], %r12;
end:""",
        )
        for side, negation in (("true", "!"), ("false", ""))
    ),
    Case(
        "a race in a loop whose rounds and inner condition data decide is a warning",
        """ld.global.u32 %r10, [%rd1]; mov.u32 %r13, 0; xor.b32 %r11, %r4, 512;
round: setp.ge.u32 %p3, %r13, %r10; @%p3 bra end;
bar.sync 0;
ld.global.u32 %r12, [%rd1+4]; setp.eq.u32 %p4, %r12, %r13;
@%p4 bra next; //= condition
st.shared.u32 [%r4], %r1; //= store
ld.shared.u32 %r12, [%r11]; //? PTX621 store condition
st.global.u32 [%rd2], %r12;
next: add.u32 %r13, %r13, 1; bra round;
end:""",
    ),
    Case(
        "conditions on data that lead to one access each may exclude each other",
        """ld.global.u32 %r10, [%rd1]; xor.b32 %r11, %r4, 512; mov.u32 %r12, 0;
setp.lt.u32 %p3, %r10, 7; @%p3 st.shared.u32 [%r4], %r1;
setp.gt.u32 %p4, %r10, 9; @%p4 ld.shared.u32 %r12, [%r11];
st.global.u32 [%rd2], %r12;""",
        undecided=("PTX621",),
    ),
    Case(
        "a race after a branch on data that only changes a number is certain",
        """ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 7; @%p3 bra end; add.u32 %r10, %r10, 1;
end: st.shared.u32 [%r4], %r10; //= store
xor.b32 %r11, %r4, 512; ld.shared.u32 %r12, [%r11]; //! PTX621 store
st.global.u32 [%rd2], %r12;""",
    ),
    *_global_cases(),
    Case(
        "a turn is taken at barriers whose last arrival no thread awaits",
        """setp.ge.u32 %p3, %r1, 64; shl.b32 %r10, %r1, 4; and.b32 %r10, %r10, 1023; add.u32 %r10, %r2, %r10;
@%p3 bra second;
bar.sync 1, 128; st.shared.u32 [%r10], %r1; ld.shared.u32 %r11, [%r10]; bar.arrive 2, 128;
bar.sync 1, 128; bar.arrive 2, 128; bra end;
second: bar.arrive 1, 128; bar.sync 2, 128; st.shared.u32 [%r10], %r1; bar.arrive 1, 128;
bar.sync 2, 128; bar.arrive 1, 128;
end:""",
    ),
    Case(
        "the turn is given before the load, at barriers whose last arrival no thread awaits",
        """setp.ge.u32 %p3, %r1, 64; shl.b32 %r10, %r1, 4; and.b32 %r10, %r10, 1023; add.u32 %r10, %r2, %r10;
@%p3 bra second;
bar.sync 1, 128; st.shared.u32 [%r10], %r1; bar.arrive 2, 128;
ld.shared.u32 %r11, [%r10]; //! PTX621 store
bar.sync 1, 128; bar.arrive 2, 128; bra end;
second: bar.arrive 1, 128; bar.sync 2, 128;
st.shared.u32 [%r10], %r1; //= store
bar.arrive 1, 128; bar.sync 2, 128; bar.arrive 1, 128;
end:""",
    ),
)
