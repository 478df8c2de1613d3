"""PTX209: generic addresses outside the window that their instruction requires."""

from __future__ import annotations

from tests.rules.support import Case

MINE = ".local .align 8 .b8 mine[16]; mov.u64 %rd5, mine; cvta.local.u64 %rd6, %rd5; "
SHARED = "mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; "

CASES = (
    Case("an atomic operation on shared memory", f"{SHARED} atom.add.u32 %r10, [%rd6], 1;"),
    Case("an atomic operation on the thread's own memory", MINE + "\natom.add.u32 %r10, [%rd6], 1; //! PTX209"),
    Case("one without a result", MINE + "\nred.add.u32 [%rd6+8], 1; //! PTX209"),
    Case(
        "ordered accesses are to memory that other threads can access",
        MINE + "ld.u32 %r10, [%rd6]; ld.volatile.u32 %r10, [%rd6];\nld.relaxed.gpu.u32 %r10, [%rd6]; //! PTX209\n"
        "st.release.gpu.u32 [%rd6], %r10; //! PTX209",
    ),
    Case(
        "ordered accesses by a pointer that was given",
        "ld.param.u64 %rd5, [in]; ld.acquire.gpu.u32 %r10, [%rd5]; atom.add.u32 %r10, [%rd5], 1;",
    ),
    Case(
        "constant memory has no atomic operations",
        "mov.u64 %rd5, table; cvta.const.u64 %rd6, %rd5; ld.u32 %r10, [%rd6];\n"
        "atom.add.u32 %r10, [%rd6], 1; //! PTX209",
        before=".const .b32 table[4] = {1, 2, 3, 4};",
    ),
    Case(
        "a matrix is loaded from shared memory",
        SHARED + "ldmatrix.sync.aligned.m8n8.x4.b16 {%r10, %r11, %r12, %r13}, [%rd6];\ncvta.global.u64 %rd7, %rd1;\n"
        "ldmatrix.sync.aligned.m8n8.x4.b16 {%r10, %r11, %r12, %r13}, [%rd7]; //! PTX209",
    ),
    Case(
        "a multimem address is one in global memory",
        SHARED + "ld.param.u64 %rd7, [in]; multimem.red.relaxed.sys.add.u32 [%rd7], 1;\n"
        "multimem.red.relaxed.sys.add.u32 [%rd6], 1; //! PTX209",
    ),
    Case(
        "st.bulk clears shared memory",
        SHARED + "st.bulk.weak [%rd6], 16, 0;\nst.bulk.weak [%rd1], 16, 0; //! PTX209",
        target="sm_100a",
    ),
    Case(
        "a hint for global memory is of no use elsewhere and does no harm",
        MINE + "ld.L1::no_allocate.u32 %r10, [%rd6];",
    ),
    Case(
        "the conversion of a shared address is restored",
        f"{SHARED} cvta.to.shared.u64 %rd7, %rd6; ld.shared.u32 %r10, [%rd7];",
    ),
    Case(
        "an address in global memory has no place in the shared window",
        """cvta.global.u64 %rd5, %rd1;
cvta.to.shared.u64 %rd6, %rd5; //= made
ld.shared.u32 %r10, [%rd6+8]; //! PTX209 made""",
    ),
    Case(
        "an offset is no generic address",
        """mov.u64 %rd5, tile;
cvta.to.shared.u64 %rd6, %rd5; //= made
ld.shared.u32 %r10, [%rd6]; //! PTX209 made""",
    ),
    Case(
        "a generic address is not converted again",
        """mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5;
cvta.shared.u64 %rd7, %rd6; //= made
ld.u32 %r10, [%rd7]; //! PTX209 made""",
    ),
    Case(
        "an address in global memory is not converted as one in shared memory",
        """cvta.to.global.u64 %rd5, %rd1;
cvta.shared.u64 %rd6, %rd5; //= made
st.u32 [%rd6+8], %r1; //! PTX209 made""",
    ),
    Case(
        "an offset in the memory of the thread is not converted as one in shared memory",
        """.local .align 8 .b8 mine[16]; mov.u64 %rd5, mine;
cvta.shared.u64 %rd6, %rd5; //= made
st.u32 [%rd6], %r1; //! PTX209 made""",
    ),
    Case(
        "a generic address in global memory is equal to the address there",
        "cvta.to.global.u64 %rd5, %rd1; cvta.global.u64 %rd6, %rd5; cvta.global.u64 %rd7, %rd6; st.u32 [%rd7], %r1;",
    ),
    Case(
        "a generic address in shared memory is not converted as one in global memory",
        f"""{SHARED}
cvta.global.u64 %rd7, %rd6; //= made
st.u32 [%rd7], %r1; //! PTX209 made""",
    ),
    Case(
        "half of a generic address is no offset in shared memory",
        """mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; cvt.u32.u64 %r10, %rd6; cvt.u64.u32 %rd7, %r10;
cvta.shared.u64 %rd8, %rd7; //= made
st.u32 [%rd8], %r1; //! PTX209 made""",
    ),
    Case(
        "another conversion does not define what the first one did not accept",
        """mov.u64 %rd5, tile;
cvta.to.shared.u64 %rd6, %rd5; //= made
add.u64 %rd6, %rd6, 8; cvta.shared.u64 %rd7, %rd6;
st.u32 [%rd7], %r1; //! PTX209 made""",
    ),
    Case(
        "an undefined address that nothing uses does no harm",
        "cvta.global.u64 %rd5, %rd1; cvta.to.shared.u64 %rd6, %rd5;",
    ),
    Case(
        "memory of the thread is not in the shared window",
        MINE
        + """
cvta.to.shared.u64 %rd7, %rd6; //= made
st.shared.u32 [%rd7], %r1; //! PTX209 made""",
    ),
    Case(
        "a pointer that was given may be one to anything",
        "ld.param.u64 %rd5, [in]; cvta.to.shared.u64 %rd6, %rd5; ld.shared.u32 %r10, [%rd6];",
    ),
    Case(
        "a thread that tests first executes only defined accesses",
        """cvta.global.u64 %rd5, %rd1; isspacep.shared %p3, %rd5; cvta.to.shared.u64 %rd6, %rd5;
@%p3 ld.shared.u32 %r10, [%rd6]; @!%p3 ld.global.u32 %r10, [%rd5];""",
    ),
    Case(
        "a thread that tests a loaded address first executes only defined accesses",
        """ld.global.u64 %rd3, [%rd1]; cvta.to.global.u64 %rd5, %rd3; isspacep.shared %p3, %rd5;
cvta.to.shared.u64 %rd6, %rd5; @%p3 ld.shared.u32 %r10, [%rd6]; @!%p3 ld.global.u32 %r10, [%rd5];""",
    ),
    Case(
        "the window of kernel parameters is inside that of global memory",
        "mov.b64 %rd5, n; cvta.param.u64 %rd6, %rd5; cvta.to.global.u64 %rd7, %rd6; ld.global.u32 %r10, [%rd7];\n"
        "ld.relaxed.gpu.u32 %r10, [%rd6];",
    ),
)
