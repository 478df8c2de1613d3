"""Violations on paths that data in memory decide: data that only the host writes are an input, as arguments are.

A relation between two words may be a property on which the kernel relies, and the analysis may not choose it.
"""

from __future__ import annotations

from tests.rules.support import Case

_WORD = "ld.global.u32 %r20, [%rd1]; setp.eq.u32 %p4, %r20, 0;"
_COPY = "cp.async.cg.shared.global [%r4], [%rd2], 16;"
#: A copy whose commit no thread executes, although a path has it.
_LOST = f"{_COPY} setp.ne.u32 %p7, %r1, %r1; @%p7 cp.async.commit_group; cp.async.wait_group 0;"
_INIT = "@%p1 mbarrier.init.shared::cta.b64 [%r5], {}; //= init\nbar.sync 0;"
_ARRIVE = "mbarrier.arrive.shared::cta.b64 _, [%r5];"
_WAIT = "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], %r21;"
#: A loop with a barrier, with a word as the number of iterations.
_ROUNDS = """{1} mov.u32 %r22, 0;
{0}: bar.sync 1, 128; add.u32 %r22, %r22, 1; setp.lt.u32 %p4, %r22, %r20; @%p4 bra {0};"""
_TWO_ROLES = "setp.lt.u32 %p5, %r1, 32; @%p5 bra first; {} bra end; first: {}\nend:"
_FIRST_WORD, _SECOND_WORD = "ld.global.u32 %r20, [%rd1];", "ld.global.u32 %r20, [%rd1+4];"

#: A counter that is increased up to zero, from the negative of a word.
_UP_TO_ZERO = """{0} %r21, {1}; count: add.s32 %r21, %r21, 1; setp.ne.s32 %p4, %r21, 0; @%p4 bra count;"""
_COUNTED = f"ld.global.u32 %r20, [%rd1]; {_UP_TO_ZERO.format('neg.s32', '%r20')}"

#: A CTA that is not among the first two works if its position is below the length in memory.
_ELSEWHERE = """mov.u32 %r20, %ctaid.x; setp.lt.u32 %p4, %r20, 2; @%p4 bra end;
ld.global.u32 %r21, [%rd1]; shl.b32 %r22, %r20, 6; setp.ge.u32 %p5, %r22, %r21; @%p5 bra end;"""

CASES = (
    Case(
        "a length decides whether another CTA reaches a copy without a commit",
        f"""{_ELSEWHERE} cp.async.cg.shared.global [%r4], [%rd2], 16; //! PTX301 wait
cp.async.wait_group 0; //= wait
end:""",
    ),
    Case(
        "a length decides whether another CTA reaches a copy with a commit",
        f"{_ELSEWHERE} {_COPY} cp.async.commit_group; cp.async.wait_group 0;\nend:",
    ),
    Case(
        "the kernel writes the length that decides whether another CTA reaches a copy",
        f"{_ELSEWHERE} {_LOST}\nend: st.global.u32 [%rd1+4], %r6;",
        undecided=("PTX300", "PTX301"),
    ),
    Case(
        "a counter is increased up to zero before a copy without a commit",
        f"""{_COUNTED} cp.async.cg.shared.global [%r4], [%rd2], 16; //! PTX301 wait
cp.async.wait_group 0; //= wait""",
    ),
    Case(
        "a counter is increased up to zero before a copy with a commit",
        f"{_COUNTED} {_COPY} cp.async.commit_group; cp.async.wait_group 0;",
    ),
    Case(
        "a difference that has wrapped is increased up to zero before a copy without a commit",
        f"""ld.global.u32 %r20, [%rd1]; {_UP_TO_ZERO.format("sub.s32", "1, %r20")}
cp.async.cg.shared.global [%r4], [%rd2], 16; //? PTX301 wait
cp.async.wait_group 0; //= wait""",
    ),
    Case(
        "a word decides whether a copy without a commit is reached",
        f"""{_WORD} @%p4 bra end;
cp.async.cg.shared.global [%r4], [%rd2], 16; //! PTX301 wait
cp.async.wait_group 0; //= wait
end:""",
    ),
    Case(
        "a word decides whether a copy with a commit is reached",
        f"{_WORD} @%p4 bra end; {_COPY} cp.async.commit_group; cp.async.wait_group 0;\nend:",
    ),
    Case(
        "constant memory decides whether a copy without a commit is reached",
        """ld.const.u32 %r20, [given]; setp.eq.u32 %p4, %r20, 0; @%p4 bra end;
cp.async.cg.shared.global [%r4], [%rd1], 16; //! PTX301 wait
cp.async.wait_group 0; //= wait
end: st.global.u32 [%rd2], %r20;""",
        before=".visible .const .u32 given;",
    ),
    Case(
        "a constant of the module decides whether a copy without a commit is reached",
        f"ld.const.u32 %r20, [given]; setp.eq.u32 %p4, %r20, 0; @%p4 bra end; {_LOST}\nend:",
        before=".const .u32 given = 0;",
        undecided=("PTX300", "PTX301"),
    ),
    Case(
        "the kernel writes the word",
        f"{_WORD} @%p4 bra end; {_LOST} st.global.u32 [%rd1+4], %r6;\nend:",
        undecided=("PTX300", "PTX301"),
    ),
    Case(
        "the kernel writes the word, and no path from the copy has a commit",
        f"""{_WORD} @%p4 bra end;
cp.async.cg.shared.global [%r4], [%rd2], 16; //? PTX301 wait
cp.async.wait_group 0; //= wait
st.global.u32 [%rd1+4], %r6;\nend:""",
    ),
    Case(
        "the kernel writes through the pointer of another argument",
        f"""{_WORD} @%p4 bra end;
cp.async.cg.shared.global [%r4], [%rd1], 16; //! PTX301 wait
cp.async.wait_group 0; //= wait
st.global.u32 [%rd2+4], %r6;
end:""",
    ),
    Case(
        "the address of a write may be that of the word",
        f"""{_WORD} @%p4 bra end; {_LOST}
ld.global.u64 %rd3, [%rd2]; st.global.u32 [%rd3], %r6;\nend:""",
        undecided=("PTX300", "PTX301"),
    ),
    Case(
        "two loads of one word are equal",
        f"{_WORD} ld.global.u32 %r21, [%rd1]; setp.eq.u32 %p4, %r20, %r21; @%p4 bra end; {_LOST}\nend:",
        undecided=("PTX300", "PTX301"),
    ),
    Case(
        "no number fulfills both conditions on a word",
        f"""{_WORD} @%p4 bra end; and.b32 %r21, %r20, 7; setp.lt.u32 %p4, %r21, 8; @%p4 bra end;
{_LOST}\nend:""",
        undecided=("PTX300", "PTX301"),
    ),
    Case(
        "a word decides whether all threads deadlock",
        f"""{_INIT.format(129)} {_WORD} mov.u32 %r21, 0; @%p4 bra end;
{_ARRIVE} //= arrive
wait: {_WAIT} //! PTX504 arrive init
@!%p3 bra wait;
end:""",
    ),
    Case(
        "one word is the number of barriers of both roles",
        _TWO_ROLES.format(_ROUNDS.format("next", _FIRST_WORD), _ROUNDS.format("second", _FIRST_WORD)),
        undecided=("PTX601",),
    ),
    Case(
        "different words are the numbers of barriers of two roles",
        _TWO_ROLES.format(_ROUNDS.format("next", _FIRST_WORD), _ROUNDS.format("second", _SECOND_WORD)),
        undecided=("PTX601",),
    ),
    Case(
        "an argument and a word are the numbers of barriers of two roles",
        _TWO_ROLES.format(_ROUNDS.format("next", _FIRST_WORD), _ROUNDS.format("second", "mov.u32 %r20, %r6;")),
        undecided=("PTX601",),
    ),
    Case(
        "a list of stages ends at a word that is zero",
        """next: ld.global.u32 %r20, [%rd1]; add.u64 %rd1, %rd1, 4; setp.eq.u32 %p4, %r20, 0; @%p4 bra end;
cp.async.cg.shared.global [%r4], [%rd2], 16; //= copy
cp.async.commit_group;
ld.shared.u32 %r21, [%r4]; //! PTX302 copy wait
cp.async.wait_group 0; //= wait
bra next;\nend:""",
        undecided=("PTX300",),
    ),
)
