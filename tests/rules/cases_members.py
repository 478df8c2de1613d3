"""PTX607: masks that do not name an executing lane; PTX206 of barriers' numbers; PTX602 of uncertain participants."""

from __future__ import annotations

from tests.rules.support import Case

_LOWER = "mov.u32 %r10, %laneid; setp.lt.u32 %p3, %r10, 16;"
_BROADCAST = "shfl.sync.idx.b32 %r12, %r10, 0, 31, -1;"

#: Lanes wait for those that execute the same instruction with the same mask.
MEETINGS = (
    Case(
        "half of the lanes wait at another instruction",
        f"""{_LOWER} @!%p3 bra end;
shfl.sync.bfly.b32 %r11, %r10, 1, 31, -1; //! PTX601 other
end: {_BROADCAST} //= other""",
    ),
    Case(
        "half of the lanes wait at an instruction of another kind",
        f"""{_LOWER} @!%p3 bra end;
bar.warp.sync -1; //! PTX601 other
end: vote.sync.ballot.b32 %r12, %p1, -1; //= other""",
    ),
    Case(
        "half of the lanes execute the same barrier elsewhere",
        f"{_LOWER} @!%p3 bra end; bar.warp.sync -1;\nend: bar.warp.sync -1;",
    ),
    Case(
        "the others execute the same instruction elsewhere",
        f"{_LOWER} @!%p3 bra upper; {_BROADCAST} bra end;\nupper: {_BROADCAST}\nend: nanosleep.u32 0;",
    ),
    Case(
        "half of the lanes name themselves",
        f"{_LOWER} @!%p3 bra end; shfl.sync.bfly.b32 %r11, %r10, 1, 31, 0xffff;\nend: {_BROADCAST}",
    ),
    Case(
        "half of the lanes name one more",
        f"""{_LOWER} @!%p3 bra end;
shfl.sync.bfly.b32 %r11, %r10, 1, 31, 0x1ffff; //! PTX601 other
end: {_BROADCAST} //= other""",
    ),
    Case(
        "a guard divides the lanes at one of two instructions",
        f"""{_LOWER}
@%p3 shfl.sync.bfly.b32 %r11, %r10, 1, 31, -1; //! PTX601 other
{_BROADCAST} //= other""",
    ),
    Case(
        "a guard selects whole warps",
        f"setp.lt.u32 %p3, %r1, 64; mov.u32 %r10, 1; @%p3 shfl.sync.bfly.b32 %r11, %r10, 1, 31, -1; {_BROADCAST}",
    ),
    Case("a guard leaves lanes out that exit", f"{_LOWER} @%p3 {_BROADCAST}"),
    Case(
        "a guard divides the lanes at a matrix instruction",
        f"""{_LOWER}
@%p3 stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {{%r10}}; //! PTX603""",
    ),
)

CASES = (
    *MEETINGS,
    Case("all lanes are in the mask", "bar.warp.sync 0xffffffff; vote.sync.any.pred %p3, %p1, -1;"),
    Case("the upper half of the warp is not in the mask", "bar.warp.sync 0xffff; //! PTX607"),
    Case(
        "a branch keeps the upper half away",
        "mov.u32 %r10, %laneid; setp.ge.u32 %p3, %r10, 16; @%p3 bra end; bar.warp.sync 0xffff;\nend:",
    ),
    Case(
        "a branch keeps too few away",
        """mov.u32 %r10, %laneid; setp.ge.u32 %p3, %r10, 17; @%p3 bra end;
shfl.sync.idx.b32 %r11, %r10, 0, 31, 0xffff; //! PTX607
end:""",
    ),
    Case("a guard names one lane", "@%p1 bar.warp.sync 1; mov.u32 %r10, 1; @%p1 redux.sync.add.u32 %r11, %r10, %r10;"),
    Case(
        "each lane names itself",
        "mov.u32 %r10, %lanemask_eq; match.any.sync.b32 %r11, %r1, %r10;",
    ),
    Case(
        "each lane names those below it",
        "mov.u32 %r10, %lanemask_lt;\nmatch.any.sync.b32 %r11, %r1, %r10; //! PTX607",
    ),
    Case(
        "the lanes that are there name each other",
        "setp.gt.u32 %p3, %r6, %r1; @!%p3 bra end; activemask.b32 %r10; bar.warp.sync %r10;\nend:",
    ),
    Case(
        "an argument decides which threads execute it",
        "setp.ge.u32 %p3, %r1, %r6; @%p3 bra end; bar.warp.sync 0xffff;\nend:",
    ),
    Case(
        "an argument decides how often all threads execute it",
        """mov.u32 %r10, 0;
next: setp.ge.u32 %p3, %r10, %r6; @%p3 bra end; elect.sync _|%p4, 0xffff; //! PTX607
add.u32 %r10, %r10, 1; bra next;
end:""",
    ),
    Case(
        "data decide which threads execute it",
        "ld.global.u32 %r10, [%rd1]; setp.ge.u32 %p3, %r10, 3; @%p3 bra end; bar.warp.sync 0xffff;\nend:",
        undecided=("PTX607",),
    ),
    Case(
        "data decide whether the lanes in the mask execute it",
        """ld.global.u32 %r10, [%rd1]; setp.ge.u32 %p3, %r10, 3; @%p3 bra end;
mov.u32 %r11, %laneid; setp.ge.u32 %p4, %r11, 16; @%p4 bra end; bar.warp.sync 0xffff;\nend:""",
    ),
    Case("blocks of each usual size have a second lane", "bar.warp.sync 1; //? PTX607", bounds=""),
    Case("each block has a first lane", "bar.warp.sync 0xfffffffe; //! PTX607", bounds=""),
    Case(
        "there are sixteen barriers",
        "mov.u32 %r10, 15; bar.sync %r10; mov.u32 %r11, 16;\nbar.sync %r11; //! PTX206",
    ),
    Case(
        "warps synchronize as a whole",
        "mov.u32 %r10, 128; bar.sync 1, %r10; mov.u32 %r11, 100;\nbarrier.sync 2, %r11; //! PTX206",
    ),
    Case("how many there are may be the launch's affair", "mov.u32 %r10, %ntid.x; bar.sync 1, %r10;", bounds=""),
    Case("half of the threads complete a barrier", "bar.sync 1, 64;", undecided=("PTX602",)),
    Case("all threads complete a barrier with their number", "bar.sync 1, 128;"),
    Case("each warp completes a barrier without others", "bar.sync 1, 32; bar.sync 1, 32;"),
    Case("two warps complete each of two barriers", "shr.u32 %r10, %r1, 6; add.u32 %r10, %r10, 1; bar.sync %r10, 64;"),
    Case(
        "half of the threads wait for the other half",
        "setp.ge.u32 %p3, %r1, 64; @%p3 bra wait; bar.arrive 1, 128; bra end;\nwait: bar.sync 1, 128;\nend:",
    ),
    Case(
        "three warps arrive and one waits, but two are counted",
        """shr.u32 %r10, %r1, 5; setp.eq.u32 %p3, %r10, 3; @%p3 bra wait; bar.arrive 1, 64; bra end;
wait: bar.sync 1, 64;\nend:""",
        undecided=("PTX602",),
    ),
    Case(
        "two halves meet one after the other, in an order that another barrier fixes",
        """setp.ge.u32 %p3, %r1, 64; @%p3 bra later; bar.sync 1, 64; bar.sync 0; bra end;
later: bar.sync 0; bar.sync 1, 64;\nend:""",
    ),
)
