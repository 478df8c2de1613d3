"""PTX211 and PTX408: accesses to global memory that other instructions access by the same pointer."""

from __future__ import annotations

from tests.rules.support import Case

_PLACE = "mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd2, %rd5;"

WRITE_TO_READ_ONLY_DATA = (
    Case(
        "a thread loads the word that it has just stored",
        f"""{_PLACE}
st.global.u32 [%rd6], %r1; //= write
ld.global.nc.u32 %r10, [%rd6]; //! PTX408 write
st.global.u32 [%rd6+4096], %r10;""",
    ),
    Case(
        "a thread loads the word that it stores later",
        f"""{_PLACE}
ld.global.nc.u32 %r10, [%rd6]; //~ PTX408 write
add.u32 %r10, %r10, 1;
st.global.u32 [%rd6], %r10; //= write""",
    ),
    Case(
        "a thread loads the word that another one stores",
        f"""{_PLACE} xor.b32 %r11, %r1, 32; mul.wide.u32 %rd7, %r11, 4; add.u64 %rd8, %rd2, %rd7;
st.global.u32 [%rd6], %r1; //= write
bar.sync 0;
ld.global.ca.nc.u32 %r10, [%rd8]; //! PTX408 write
st.global.u32 [%rd6+4096], %r10;""",
    ),
    Case(
        "a barrier orders all loads before the later stores",
        f"""{_PLACE} xor.b32 %r11, %r1, 32; mul.wide.u32 %rd7, %r11, 4; add.u64 %rd8, %rd2, %rd7;
ld.global.nc.u32 %r10, [%rd8]; //? PTX408 write
bar.sync 0;
st.global.u32 [%rd6], %r10; //= write""",
    ),
    Case(
        "an atomic operation by a generic address writes too",
        f"""{_PLACE} cvta.global.u64 %rd7, %rd6;
atom.add.u32 %r10, [%rd7], 1; //= write
ld.global.nc.u32 %r10, [%rd6]; //! PTX408 write
st.global.u32 [%rd1], %r10;""",
    ),
    Case(
        "a variable of global memory that the kernel writes",
        """@%p1 st.global.u32 [words+4], %r1; //= write
ld.global.nc.v2.u32 {%r10, %r11}, [words]; //! PTX408 write
st.global.u32 [%rd1], %r11;""",
        before=".global .align 8 .b32 words[2];",
    ),
    Case(
        "two pointers may point to the same, or not",
        "ld.global.nc.u32 %r10, [%rd1]; st.global.u32 [%rd2], %r10;",
    ),
    Case(
        "one pointer, and other bytes after it",
        f"{_PLACE} ld.global.nc.u32 %r10, [%rd6+512]; st.global.u32 [%rd6], %r10;",
    ),
    Case(
        "one pointer, and other bytes at an offset from an argument",
        f"{_PLACE} ld.global.nc.u32 %r10, [%rd6]; mul.wide.u32 %rd7, %r6, 4; add.u64 %rd7, %rd6, %rd7;\n"
        "st.global.u32 [%rd7], %r10;",
        undecided=("PTX408",),
    ),
    Case(
        "a row whose number of bytes is an argument, loaded and stored",
        f"""mul.lo.u32 %r11, %r6, 3; {_PLACE} mul.wide.u32 %rd7, %r11, 4; add.u64 %rd7, %rd6, %rd7;
ld.global.nc.u32 %r10, [%rd7]; //~ PTX408 write
st.global.u32 [%rd7], %r10; //= write""",
    ),
    Case(
        "a thread stores, only where data decide so, the word that it has loaded",
        f"""{_PLACE} ld.global.nc.u32 %r10, [%rd6]; setp.gt.s32 %p3, %r10, 0;
@%p3 bra end; st.global.u32 [%rd6], 0;
end:""",
    ),
    Case(
        "another thread also stores the word that a thread loads and stores later",
        f"""{_PLACE} xor.b32 %r11, %r1, 32; mul.wide.u32 %rd7, %r11, 4; add.u64 %rd8, %rd2, %rd7;
ld.global.nc.u32 %r10, [%rd6]; //? PTX408 write
bar.sync 0; st.global.u32 [%rd6], %r10;
bar.sync 0; st.global.u32 [%rd8], %r10; //= write""",
    ),
    Case(
        "neighbors load the word that a thread loads and stores later",
        f"""{_PLACE} ld.global.nc.u32 %r10, [%rd6]; //~ PTX408 write
ld.global.nc.u32 %r11, [%rd6+4]; //! PTX408 write
add.u32 %r10, %r10, %r11; st.global.u32 [%rd6], %r10; //= write""",
    ),
    Case(
        "a thread loads again in the next iteration the word that it stores in the previous one",
        f"""{_PLACE} mov.u32 %r12, 0;
next: ld.global.nc.u32 %r10, [%rd6]; //! PTX408 write
add.u32 %r10, %r10, 1; st.global.u32 [%rd6], %r10; //= write
add.u32 %r12, %r12, 1; setp.lt.u32 %p3, %r12, 4; @%p3 bra next;""",
    ),
    Case(
        "a thread works in place in iterations of other bytes",
        f"""{_PLACE} mov.u32 %r12, 0;
next: ld.global.nc.u32 %r10, [%rd6]; //~ PTX408 write
add.u32 %r10, %r10, 1; st.global.u32 [%rd6], %r10; //= write
add.u64 %rd6, %rd6, 512; add.u32 %r12, %r12, 1; setp.lt.u32 %p3, %r12, 4; @%p3 bra next;""",
    ),
    Case(
        "whether another thread stores anything is up to the data",
        f"""{_PLACE} xor.b32 %r11, %r1, 32; mul.wide.u32 %rd7, %r11, 4; add.u64 %rd8, %rd2, %rd7;
ld.global.nc.u32 %r10, [%rd8]; add.u64 %rd9, %rd1, %rd5; ld.global.u32 %r11, [%rd9]; setp.eq.u32 %p3, %r11, 0;
@%p3 bra end; st.global.u32 [%rd6], %r10;
end:""",
        undecided=("PTX408",),
    ),
    Case(
        "a coherent load is ordered like any",
        f"{_PLACE} st.global.u32 [%rd6], %r1; ld.global.u32 %r10, [%rd6]; st.global.u32 [%rd6], %r10;",
    ),
)

_RED = "multimem.red.relaxed.sys.global.add.u32 [%rd2], 1; //= multimem\n"

MULTIMEM_ADDRESS = (
    Case("a plain load of a multimem address", f"{_RED}ld.global.u32 %r10, [%rd2]; //! PTX211 multimem"),
    Case(
        "an atomic operation on a multimem address, by its generic form",
        f"{_RED}cvta.global.u64 %rd7, %rd2; atom.add.u32 %r10, [%rd7], 1; //! PTX211 multimem",
    ),
    Case(
        "a plain store to the rows that a thread has reduced",
        """mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd2, %rd5;
multimem.ld_reduce.relaxed.sys.global.add.u32 %r10, [%rd6]; //= multimem
st.global.u32 [%rd6], %r10; //! PTX211 multimem""",
    ),
    Case(
        "each device has an address for its own location",
        f"{_RED}ld.global.u32 %r10, [%rd1]; multimem.st.relaxed.sys.global.u32 [%rd2+4], %r10;",
    ),
    Case(
        "bytes at larger offsets from a pointer may be other data",
        f"{_RED}ld.global.u32 %r10, [%rd2+4194304]; st.global.u32 [%rd1], %r10;",
    ),
)
CASES = (*WRITE_TO_READ_ONLY_DATA, *MULTIMEM_ADDRESS)
