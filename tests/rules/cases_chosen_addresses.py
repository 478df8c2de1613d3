"""Accesses at addresses that loaded data decide: with some data another thread uses the bytes, or with none."""

from __future__ import annotations

from tests.rules.support import Case

#: A word for each thread, which the kernel only reads.
_DATA = "mul.wide.u32 %rd10, %r1, 4; add.s64 %rd10, %rd1, %rd10; ld.global.u32 %r10, [%rd10]; //= load\n"
_BYTE = _DATA.replace("ld.global.u32", "ld.global.u8")
_CONSTANT = _DATA.replace("ld.global.u32", "ld.global.nc.u32")
_BIN = "and.b32 %r11, %r10, 127; shl.b32 %r11, %r11, 2; add.u32 %r11, %r2, %r11;"
_BIN_OF_BYTE = "mad.lo.u32 %r11, %r10, 4, %r2;"
_OWN_WORD = "shl.b32 %r13, %r1, 2; add.u32 %r13, %r2, %r13;"
_CLEAR = f"{_OWN_WORD} st.shared.u32 [%r13], 0;"
_COUNT = "atom.shared.add.u32 %r12, [%r11], 1;"
#: The bin is in a column of the thread: words that are 128 words apart.
_COLUMN = "and.b32 %r11, %r10, 15; shl.b32 %r11, %r11, 9; add.u32 %r11, %r13, %r11;"
#: The bins of the warp.
_BINS_OF_WARP = """shr.u32 %r14, %r1, 5; shl.b32 %r14, %r14, 7; add.u32 %r14, %r2, %r14;
and.b32 %r11, %r10, 31; shl.b32 %r11, %r11, 2; add.u32 %r11, %r14, %r11;"""

WRONG = (
    Case(
        "threads count before all bins are cleared",
        f"{_DATA}{_BIN} {_CLEAR} //= write\n{_COUNT} //? PTX621 write load",
    ),
    Case(
        "threads read the counts before all threads have counted",
        f"""{_DATA}{_BIN} {_CLEAR} bar.sync 0; {_COUNT} //= write
ld.shared.u32 %r15, [%r13]; //? PTX621 write load""",
    ),
    Case(
        "the type of the load limits the bin",
        f"{_BYTE}{_BIN_OF_BYTE} {_CLEAR} //= write\n{_COUNT} //? PTX621 write load",
    ),
    Case(
        "the words are in memory that no thread writes",
        f"{_CONSTANT}{_BIN} {_CLEAR} //= write\n{_COUNT} //? PTX621 write load",
    ),
)

RIGHT = (
    Case("all bins are cleared before threads count", f"{_DATA}{_BIN} {_CLEAR} bar.sync 0; {_COUNT}"),
    Case(
        "each thread counts in its own column",
        f"{_DATA}{_CLEAR} {_COLUMN} ld.shared.u32 %r12, [%r11]; add.u32 %r12, %r12, 1; st.shared.u32 [%r11], %r12;",
        undecided=("PTX621",),
    ),
    Case(
        "each warp counts in its own bins",
        f"{_DATA}{_BINS_OF_WARP} {_CLEAR} bar.warp.sync -1; {_COUNT}",
        undecided=("PTX621",),
    ),
    Case(
        "nothing limits the bin",
        f"{_DATA}{_BIN_OF_BYTE} {_CLEAR} {_COUNT}",
        undecided=("PTX207", "PTX621"),
    ),
    Case(
        "data decide whether a thread counts",
        f"{_DATA}{_BIN} {_CLEAR} setp.lt.u32 %p3, %r10, 128; @!%p3 bra end; {_COUNT}\nend:",
        undecided=("PTX621",),
    ),
    Case(
        "the kernel writes the words itself",
        f"st.global.u32 [%rd1+64], %r1; {_DATA}{_BIN} {_CLEAR} {_COUNT}",
        undecided=("PTX621",),
    ),
    Case(
        "a bin is a word in shared memory",
        f"st.shared.u32 [%r9], %r1; ld.shared.u32 %r10, [%r9]; {_BIN} {_CLEAR} {_COUNT}",
        undecided=("PTX621",),
    ),
    Case(
        "each thread puts its word in its place",
        f"{_DATA}{_BIN} st.shared.u32 [%r11], %r10; bar.sync 0; {_OWN_WORD} ld.shared.u32 %r15, [%r13];",
    ),
    Case(
        "the places of both accesses are loaded",
        f"{_DATA}{_BIN} st.shared.u32 [%r11], %r10; shr.u32 %r10, %r10, 8; {_BIN} ld.shared.u32 %r15, [%r11];",
        undecided=("PTX621",),
    ),
    Case(
        "all threads count atomically",
        f"{_DATA}{_BIN} {_CLEAR} bar.sync 0; {_COUNT} red.shared.add.u32 [%r13], 1;",
    ),
)
