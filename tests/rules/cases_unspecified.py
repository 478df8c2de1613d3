"""Faults after a division by zero, for which no launch has the sizes, and after a register without a value."""

from __future__ import annotations

from tests.rules.support import Case

#: %r21 is 25 where n is 4096, and unspecified where n is less than 1024.
_TILES = "shr.u32 %r20, %r6, 10; div.u32 %r21, 100, %r20; setp.gt.u32 %p3, %r21, {most}; @%p3 bra end;"
_COPY = "cp.async.ca.shared.global [%r4], [%rd1], 16; //= copy\n"
_READ = "ld.shared.u32 %r10, [%r4];"

CASES = (
    Case(
        "the number of tiles is zero for the first sizes",
        f"{_TILES.format(most=30)} {_COPY}{_READ} //! PTX302 copy wait\nend: cp.async.wait_all; //= wait",
    ),
    Case(
        "the number of tiles is zero for the first sizes, and the copy is awaited",
        f"{_TILES.format(most=30)} {_COPY}cp.async.wait_all; {_READ}\nend: nanosleep.u32 0;",
    ),
    Case(
        "only sizes that divide by zero may lead to a read too early",
        f"{_TILES.format(most=20)} {_COPY}{_READ}\nend: cp.async.wait_all;",
        undecided=("PTX302",),
    ),
    Case(
        "a register without a value decides about a wait",
        f"""{_COPY}selp.u32 %r20, 1, 0, %p8; setp.eq.u32 %p3, %r20, 0; @%p3 bra past; cp.async.wait_all;
past: {_READ} //! PTX302 copy wait
cp.async.wait_all; //= wait""",
    ),
    Case(
        "loaded data decide about a wait",
        f"""{_COPY}ld.global.u32 %r20, [%rd2]; setp.eq.u32 %p3, %r20, 0; @%p3 bra past; cp.async.wait_all;
past: {_READ} cp.async.wait_all;""",
        undecided=("PTX302",),
    ),
)
