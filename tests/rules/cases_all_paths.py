"""Races after branches over data: where all paths have them, and where data may prevent them."""

from __future__ import annotations

from tests.rules.support import Case

#: A loop of as many rounds as a word in memory states.
_LOOP = """ld.global.u32 %r11, [%rd1]; mov.u32 %r12, 0;
loop: setp.ge.u32 %p3, %r12, %r11; @%p3 bra done; {0} add.u32 %r12, %r12, 1; bra loop;
done:"""
_BRANCH = "ld.global.u32 %r11, [%rd1]; setp.eq.u32 %p3, %r11, 0; @%p3 bra past; {0}\npast:"
_STORE = "@%p1 st.shared.u32 [%r2], %r6;"
_WRONG = f"{_STORE} //= write\n{{0}}ld.shared.u32 %r10, [%r2]; //! PTX621 write"
#: Two conditions of addresses that a host passes.
_ADDRESSES = """and.b64 %rd3, %rd1, 15; setp.eq.u64 %p3, %rd3, 0; and.b64 %rd4, %rd2, 15; setp.eq.u64 %p4, %rd4, 0;"""

WRONG = (
    Case("the number of rounds before is unknown", f"{_LOOP.format('nanosleep.u32 20;')} {_WRONG.format('')}"),
    Case("the rounds before have a barrier", f"{_LOOP.format('bar.sync 0;')} {_WRONG.format('')}"),
    Case("data decide whether threads wait before both", f"{_BRANCH.format('bar.sync 0;')} {_WRONG.format('')}"),
    Case("a branch between both orders nothing", _WRONG.format(_BRANCH.format("nanosleep.u32 20;"))),
    Case(
        "the threads of a warp meet between both",
        f"{_LOOP.format('nanosleep.u32 20;')} {_WRONG.format('bar.warp.sync -1; ')}",
    ),
    Case(
        "the read is of what the bytes held before",
        f"""{_LOOP.format("nanosleep.u32 20;")} ld.shared.u32 %r10, [%r2]; //= read
@%p2 st.shared.u32 [%r2], %r6; //! PTX621 read""",
    ),
    Case(
        "the alignment of an address decides about both",
        f"""{_ADDRESSES} @%p3 bra past; {_STORE} //= write
ld.shared.u32 %r10, [%r2]; //! PTX621 write
past:""",
    ),
)

#: Loaded data decide whether a thread exchanges two words.
_EXCHANGE = """ld.shared.u32 %r10, [%r4]; ld.shared.u32 %r11, [%r4+4]; setp.gt.u32 %p3, %r10, %r11;
@!%p3 bra past; //= condition
st.shared.u32 [%r4], %r11; st.shared.u32 [%r4+4], %r10; //= write
past:"""
_LOAD_WORDS = "ld.global.u32 %r10, [%rd1]; st.shared.u32 [%r4], %r10; st.shared.u32 [%r4+4], %r6; bar.sync 0;"

CONDITIONAL = (
    Case(
        "data decide whether the bytes are written",
        """ld.global.u32 %r11, [%rd1]; setp.eq.u32 %p3, %r11, 0;
@%p3 bra past; //= condition
@%p1 st.shared.u32 [%r2], %r6; //= write
past: ld.shared.u32 %r10, [%r2]; //? PTX621 write condition""",
    ),
    Case(
        "data decide about a guarded store",
        """ld.global.u32 %r11, [%rd1]; setp.eq.u32 %p3, %r11, %r1;
@%p3 st.shared.u32 [%r2], %r6; //= write //= condition
ld.shared.u32 %r10, [%r2]; //? PTX621 write condition""",
    ),
    Case(
        "data decide whether a thread exchanges two words",
        f"""{_LOAD_WORDS} {_EXCHANGE} xor.b32 %r12, %r4, 512; ld.shared.u32 %r13, [%r12+4]; //? PTX621 write condition
bar.sync 0;""",
    ),
)

RIGHT = (
    Case(
        "a barrier follows the exchange of two words",
        f"{_LOAD_WORDS} {_EXCHANGE} bar.sync 0; xor.b32 %r12, %r4, 512; ld.shared.u32 %r13, [%r12+4];",
    ),
    Case(
        "a thread that has exchanged waits before it reads",
        f"{_BRANCH.format(_STORE + ' bar.sync 0;')} ld.shared.u32 %r10, [%r2];",
    ),
    Case(
        "the alignment of an address decides whether threads wait between both",
        f"{_ADDRESSES} {_STORE} @%p3 bra past; bar.sync 0;\npast: ld.shared.u32 %r10, [%r2];",
        undecided=("PTX621",),
    ),
    Case(
        "two words decide about both accesses",
        f"""{_BRANCH.format(_STORE)} ld.global.u32 %r12, [%rd1+4]; setp.ne.u32 %p4, %r12, 0; @%p4 bra end;
ld.shared.u32 %r10, [%r2];
end:""",
        undecided=("PTX621",),
    ),
    Case(
        "two conditions of data lead to the write",
        _BRANCH.format(
            "ld.global.u32 %r12, [%rd1+4]; setp.ne.u32 %p4, %r12, 0; @%p4 bra past; @%p1 st.shared.u32 [%r2], %r6;"
        )
        + " ld.shared.u32 %r10, [%r2];",
        undecided=("PTX621",),
    ),
    Case(
        "a clock decides whether the bytes are written",
        f"mov.u32 %r11, %clock; setp.eq.u32 %p3, %r11, 0; @%p3 bra past; {_STORE}\npast: ld.shared.u32 %r10, [%r2];",
        undecided=("PTX621",),
    ),
    Case("a barrier follows the rounds", f"{_LOOP.format('')} {_STORE} bar.sync 0; ld.shared.u32 %r10, [%r2];"),
    Case(
        "the rounds are between both",
        f"{_STORE} {_LOOP.format('bar.sync 0;')} ld.shared.u32 %r10, [%r2];",
        undecided=("PTX621",),
    ),
    Case(
        "data decide whether threads wait between both",
        f"{_STORE} {_BRANCH.format('bar.sync 0;')} ld.shared.u32 %r10, [%r2];",
        undecided=("PTX621",),
    ),
    Case(
        "the number of rounds decides the address",
        f"{_LOOP.format('add.u32 %r2, %r2, 4;')} {_STORE} ld.shared.u32 %r10, [tile+32];",
        undecided=("PTX621",),
    ),
    Case(
        "the alignment of two addresses decides about both",
        f"{_ADDRESSES} @%p3 bra past; {_STORE}\npast: @%p4 bra end; ld.shared.u32 %r10, [%r2];\nend:",
        undecided=("PTX621",),
    ),
    Case(
        "each thread of a warp waits for an mbarrier in between",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0; {_LOOP.format("")} {_STORE}
@%p1 mbarrier.arrive.shared::cta.b64 %rd7, [%r5];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait; ld.shared.u32 %r10, [%r2];""",
    ),
)
