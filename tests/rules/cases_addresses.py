"""PTX201, PTX202, PTX205, PTX206, PTX208: addresses and numbers that their instruction does not accept."""

from __future__ import annotations

from tests.rules.support import Case

_GRID = "mov.u32 %r10, %ctaid.x; mov.u32 %r11, %nctaid.x;"
_CANCELED = """mul.lo.u32 %r12, %r10, %r11; mul.lo.u32 %r13, %r11, %r10;
sub.u32 %r12, %r12, %r13; add.u32 %r12, %r12, {};"""
_INTO = "add.u32 %r14, %r4, %r12; cp.async.cg.shared.global [%r14], [%rd1], 16; cp.async.wait_all;"
_FROM = """mul.wide.u32 %rd5, %r10, {}; add.u64 %rd6, %rd1, %rd5;
cp.async.cg.shared.global [%r4], [%rd6], 16; cp.async.wait_all;"""


def _in_grid(name: str, body: str, *, wrong: bool) -> Case:
    return Case(f"in the grid, {name}", f"{_GRID} {body}", undecided=("PTX205",) if wrong else ())


CTAS = (
    _in_grid("registers cancel and leave 8 bytes", f"{_CANCELED.format(8)} {_INTO}", wrong=True),
    _in_grid("registers cancel and leave 16 bytes", f"{_CANCELED.format(16)} {_INTO}", wrong=False),
    _in_grid("the odd CTAs are 8 bytes off", f"bfi.b32 %r12, %r10, 0, 3, 1; {_INTO}", wrong=True),
    _in_grid("the odd CTAs are 16 bytes off", f"bfi.b32 %r12, %r10, 0, 4, 1; {_INTO}", wrong=False),
    _in_grid("CTAs read 24 bytes apart", _FROM.format(24), wrong=True),
    _in_grid("CTAs read 48 bytes apart", _FROM.format(48), wrong=False),
    _in_grid(
        "the CTAs that are 8 bytes off do not read",
        f"setp.ne.u32 %p4, %r10, 0; @%p4 bra end; {_FROM.format(24)} end:",
        wrong=False,
    ),
)

CASES = (
    *CTAS,
    Case(
        "a generic address moved by a thread's index is generic still",
        """mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; mul.wide.u32 %rd7, %r1, 4; add.u64 %rd8, %rd6, %rd7;
ld.shared.u32 %r10, [%rd8]; //! PTX201""",
    ),
    Case(
        "a box of a tensor begins at a multiple of 128 bytes",
        """mov.u64 %rd5, map; cvta.const.u64 %rd5, %rd5; mov.u32 %r10, 0; @!%p1 bra end;
cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd5, {%r10}], [%r2]; add.u32 %r11, %r2, 64;
add.u32 %r12, %r2, 8;
cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd5, {%r10}], [%r11]; //? PTX205
cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd5, {%r10}], [%r12]; //! PTX205
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
end:""",
        before=".const .align 64 .b8 map[128];",
    ),
    Case(
        "an offset moved by a thread's index is an offset still",
        """mov.u64 %rd5, tile; mul.wide.u32 %rd7, %r1, 4; add.u64 %rd8, %rd5, %rd7; ld.shared.u32 %r10, [%rd8];""",
    ),
    Case(
        "an offset moved by a thread's index is no generic address",
        """mov.u64 %rd5, tile; mul.wide.u32 %rd7, %r1, 4; add.u64 %rd8, %rd5, %rd7;
st.u32 [%rd8], %r1; //! PTX202""",
    ),
    Case(
        "a generic address moved by a thread's index serves a store without a space",
        """mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; mul.wide.u32 %rd7, %r1, 4; add.u64 %rd8, %rd6, %rd7;
st.u32 [%rd8], %r1;""",
    ),
    Case(
        "an address from a call may be of any kind",
        """{ .param .b64 r; call.uni (r), elsewhere, (); ld.param.b64 %rd5, [r]; } ld.shared.u32 %r10, [%rd5];
ld.u32 %r10, [%rd5];""",
        undecided=("PTX300",),
        before=".extern .func (.param .b64 result) elsewhere;",
    ),
    Case(
        "an address that is loaded may be of any kind",
        "ld.global.u64 %rd5, [%rd1]; ld.u32 %r10, [%rd5]; st.global.u32 [%rd5], %r10;",
    ),
    Case(
        "an integer parameter used as an offset is the caller's affair",
        "add.u32 %r10, %r2, %r6; ld.shared.u32 %r11, [%r10];",
    ),
    Case(
        "a wrong address in a branch that no thread takes is not an error",
        """mov.u64 %rd5, tile; setp.gt.u32 %p3, %r1, 5000; @!%p3 bra end; ld.u32 %r10, [%rd5];
end:""",
    ),
    Case(
        "a wrong address in a branch that one thread takes is an error",
        """mov.u64 %rd5, tile; @!%p2 bra end;
ld.u32 %r10, [%rd5]; //! PTX202
end:""",
    ),
    Case(
        "a wrong address in a branch that small sizes take is an error",
        """setp.gt.u32 %p3, %r6, 100; @%p3 bra end; mov.u64 %rd5, tile;
mul.wide.u32 %rd6, %r1, 4; add.u64 %rd7, %rd5, %rd6;
ld.u32 %r10, [%rd7]; //! PTX202
end:""",
    ),
    Case(
        "an address that depends on a size is left to the caller in a branch that small sizes take",
        """setp.gt.u32 %p3, %r6, 100; @%p3 bra end; cvt.u64.u32 %rd5, %r2;
cvt.u64.u32 %rd6, %r6; add.u64 %rd7, %rd5, %rd6;
ld.u32 %r10, [%rd7];
end:""",
    ),
    Case(
        "a generic address cut to 32 bits in one thread is no offset",
        """mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; cvt.u32.u64 %r10, %rd6;
@%p1 st.shared.u32 [%r10], %r1; //! PTX201""",
    ),
    Case(
        "an offset cut to 32 bits in one thread is one still",
        "mov.u64 %rd5, tile; cvt.u32.u64 %r10, %rd5;\n@%p1 st.shared.u32 [%r10], %r1;",
    ),
    Case(
        "an offset moved by a thread's index is no address in global memory",
        """mov.u64 %rd5, tile; mul.wide.u32 %rd7, %r1, 4; add.u64 %rd8, %rd5, %rd7;
st.global.u32 [%rd8], %r1; //! PTX208""",
    ),
    Case(
        "a converted pointer moved by a thread's index is no offset in shared memory",
        """mul.wide.u32 %rd7, %r1, 4; add.u64 %rd8, %rd1, %rd7;
st.shared.u32 [%rd8+16], %r1; //! PTX208""",
    ),
    Case(
        "a converted pointer that was loaded is no offset in shared memory either",
        """ld.global.u64 %rd5, [%rd1]; cvta.to.global.u64 %rd6, %rd5; st.global.u32 [%rd6], %r1;
ld.shared.u32 %r10, [%rd6]; //! PTX208""",
    ),
    Case(
        "a conversion proves nothing about the value before it",
        "ld.global.u64 %rd5, [%rd1]; cvta.to.global.u64 %rd6, %rd5; ld.shared.u32 %r10, [%rd5];",
    ),
    Case(
        "one of two conversions, selected by an unknown, may be of any kind",
        """ld.global.u64 %rd5, [%rd1]; cvta.to.global.u64 %rd6, %rd5; cvta.to.shared.u64 %rd7, %rd5;
isspacep.shared %p3, %rd5; selp.b64 %rd8, %rd7, %rd6, %p3; @%p3 ld.shared.u32 %r10, [%rd8];""",
    ),
    Case(
        "a pointer that `isspacep` tests remains generic with its conversions",
        """ld.global.u64 %rd5, [%rd1]; cvta.to.local.u64 %rd6, %rd5; mul.wide.u32 %rd7, %r1, 4;
add.u64 %rd8, %rd6, %rd7; add.u64 %rd9, %rd5, %rd7; isspacep.local %p3, %rd5;
@%p3 ld.local.u32 %r10, [%rd8];
@!%p3 ld.relaxed.sys.u32 %r10, [%rd9];""",
    ),
    Case(
        "two conversions of one pointer are addresses in two spaces",
        """ld.global.u64 %rd5, [%rd1]; cvta.to.shared.u64 %rd6, %rd5; cvta.to.global.u64 %rd7, %rd5;
mul.wide.u32 %rd10, %r1, 4; add.u64 %rd8, %rd6, %rd10; add.u64 %rd9, %rd7, %rd10;
isspacep.shared %p3, %rd5; @%p3 ld.shared.u32 %r10, [%rd8]; @!%p3 ld.global.u32 %r10, [%rd9];""",
    ),
    Case(
        "a second test of the same object answers as the first",
        """ld.global.u64 %rd5, [%rd1]; isspacep.shared %p3, %rd5; cvta.to.shared.u64 %rd6, %rd5;
@%p3 bra near; mov.u64 %rd7, %rd5; bra.uni then;
near: mov.u64 %rd7, %rd6;
then: add.u64 %rd9, %rd5, 64; isspacep.shared %p4, %rd9; @%p4 ld.shared.u32 %r12, [%rd7+64]; @%p4 bra end;
ld.u32 %r12, [%rd7+64];
end:""",
    ),
    Case(
        "an address that is of the wrong kind only on a path that is guessed is a doubt",
        """ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 1; cvt.u64.u32 %rd5, %r2; cvta.shared.u64 %rd6, %rd5;
selp.b32 %r11, 1, 0, %p3; @%p3 bra far; mov.u64 %rd7, %rd5; bra.uni then;
far: mov.u64 %rd7, %rd6;
then: setp.eq.u32 %p4, %r11, 0; @%p4 bra near; ld.u32 %r12, [%rd7]; bra.uni end;
near: ld.shared.u32 %r12, [%rd7];
end:""",
        undecided=("PTX202",),
    ),
    Case(
        "an offset that a loop over a size advances is a doubt on a path that data decide",
        """ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 1; mov.u32 %r11, 0; mov.u32 %r12, %r2;
more: add.u32 %r12, %r12, 4; add.u32 %r11, %r11, 1; setp.lt.u32 %p4, %r11, %r6; @%p4 bra more;
@%p3 bra far; bar.sync 0; bra.uni then;
far: bar.sync 0;
then: cvt.u64.u32 %rd5, %r12; ld.u32 %r13, [%rd5];""",
        undecided=("PTX202",),
    ),
    Case(
        "an address that is of the wrong kind on every path is wrong on one that is guessed",
        """ld.global.u32 %r10, [%rd1]; setp.ne.u32 %p3, %r10, 1; @%p3 bra end; cvt.u64.u32 %rd5, %r2;
more: ld.u32 %r11, [%rd5]; //! PTX202
add.u64 %rd5, %rd5, 4; add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 7; @%p4 bra more;
end:""",
    ),
    Case(
        "a difference of pointers moves an offset",
        """sub.u64 %rd7, %rd2, %rd1; mov.u64 %rd5, tile; add.u64 %rd8, %rd5, %rd7; ld.shared.u32 %r10, [%rd8];""",
    ),
    Case(
        "an mbarrier at a pointer to global memory is an error",
        "@%p1 mbarrier.init.b64 [%rd1], 1; //! PTX208",
    ),
    Case(
        "a variable in constant memory has no generic address before it is converted",
        """mov.u64 %rd5, fixed; cvta.const.u64 %rd6, %rd5; ld.const.u32 %r10, [%rd5]; ld.u32 %r11, [%rd6];
ld.u32 %r10, [%rd5]; //! PTX202
ld.global.u32 %r10, [%rd6]; //! PTX201""",
        before=".const .align 4 .u32 fixed = 3;",
    ),
    Case(
        "a kernel parameter is part of global memory",
        """mov.u64 %rd5, n; cvta.param.u64 %rd6, %rd5; ld.u32 %r10, [%rd6]; cvta.to.global.u64 %rd7, %rd6;
ld.global.u32 %r10, [%rd7];""",
    ),
    Case(
        "the second thread's address may be the misaligned one",
        """shl.b32 %r10, %r1, 2; add.u32 %r11, %r2, %r10;
ld.shared.v2.u32 {%r12, %r13}, [%r11]; //! PTX205""",
    ),
    Case(
        "a thread that does not execute the access may have any address",
        """shl.b32 %r10, %r1, 2; add.u32 %r11, %r2, %r10; setp.eq.u32 %p3, %r1, 6;
@%p3 ld.shared.v2.u32 {%r12, %r13}, [%r11];""",
    ),
    Case(
        "a thread that executes it may not",
        """shl.b32 %r10, %r1, 2; add.u32 %r11, %r2, %r10; setp.eq.u32 %p3, %r1, 5;
@%p3 ld.shared.v2.u32 {%r12, %r13}, [%r11]; //! PTX205""",
    ),
    Case(
        "lanes whose addresses `ldmatrix` does not use may have any",
        """and.b32 %r10, %r1, 31; shr.u32 %r12, %r10, 3; mad.lo.u32 %r11, %r10, 16, %r2; add.u32 %r11, %r11, %r12;
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r12}, [%r11];""",
    ),
    Case(
        "each lane whose address `ldmatrix` uses provides that of a row",
        """and.b32 %r10, %r1, 31; shr.u32 %r12, %r10, 3; mad.lo.u32 %r11, %r10, 16, %r2; add.u32 %r11, %r11, %r12;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r12, %r13}, [%r11]; //! PTX205""",
    ),
    Case(
        "rows of 8 bytes are misaligned by lane, whatever decides how often they are loaded",
        """mov.u32 %r7, 0; and.b32 %r10, %r1, 31; mad.lo.u32 %r11, %r10, 24, %r2;
next: setp.ge.u32 %p3, %r7, %r6; @%p3 bra end;
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r12, %r13, %r14, %r15}, [%r11]; //! PTX205
add.u32 %r7, %r7, 1; bra next; end:""",
    ),
    Case(
        "the second row is misaligned where `ldmatrix` does not use all lanes",
        """and.b32 %r10, %r1, 31; mad.lo.u32 %r11, %r10, 24, %r2;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r12, %r13}, [%r11]; //! PTX205""",
    ),
    Case(
        "the third thread is off its alignment, where the first two are not",
        """shr.u32 %r10, %r1, 1; mad.lo.u32 %r11, %r10, 8, %r2;
ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r11]; //! PTX205""",
    ),
    Case(
        "two threads with one pointer are apart by less than the alignment that both need",
        """shr.u32 %r10, %r1, 1; mul.wide.u32 %rd5, %r10, 8; add.u64 %rd6, %rd1, %rd5;
ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd6]; //! PTX205 load //= load""",
    ),
    Case(
        "threads that do not execute the access may have any address",
        """and.b32 %r10, %r1, 3; setp.eq.u32 %p3, %r10, 0; shl.b32 %r10, %r1, 2; add.u32 %r11, %r2, %r10;
@%p3 ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r11];""",
    ),
    Case(
        "data decide whether threads with a misaligned address execute the access",
        """shr.u32 %r10, %r1, 1; mad.lo.u32 %r11, %r10, 8, %r2; shl.b32 %r10, %r1, 2; cvt.u64.u32 %rd5, %r10;
add.u64 %rd5, %rd1, %rd5; ld.global.u32 %r10, [%rd5]; setp.eq.u32 %p3, %r10, 0; @%p3 bra end;
ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r11];
end:""",
        undecided=("PTX205",),
    ),
    Case(
        "a generic address is as aligned as the place it points to",
        """cvt.u64.u32 %rd5, %r4; cvta.shared.u64 %rd6, %rd5; ld.v4.u32 {%r12, %r13, %r14, %r15}, [%rd6];
ld.v4.u32 {%r12, %r13, %r14, %r15}, [%rd6+8]; //! PTX205""",
    ),
    Case(
        "an mbarrier needs 8 bytes",
        "@%p1 mbarrier.init.shared.b64 [%r5+4], 1; //! PTX205",
    ),
    Case(
        "the distance of two accesses that depends on the caller is the caller's affair",
        """mul.wide.u32 %rd5, %r6, 4; add.u64 %rd6, %rd1, %rd5; ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd1];
ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd6];""",
    ),
    Case(
        "of two accesses at unknown offsets, one may be executed where the other one is not",
        """ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 0; @%p3 bra lower;
ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd1]; bra end;
lower: ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd1+4];
end:""",
    ),
    Case(
        "an array for words under vectors of them is worth a warning",
        """mov.u32 %r10, words;
ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r10]; //? PTX205""",
        before=".shared .align 4 .b8 words[256];",
    ),
    Case(
        "launch-sized memory for words under vectors of them is silent",
        "mov.u32 %r10, words; ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r10];",
        before=".extern .shared .align 4 .b8 words[];",
    ),
    Case(
        "launch-sized memory for words under vectors of them is worth a strict warning",
        """mov.u32 %r10, words;
ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r10]; //? PTX205""",
        before=".extern .shared .align 4 .b8 words[];",
        policy="strict",
    ),
    Case(
        "an address whose alignment is tested is aligned where the test succeeds",
        """mov.u32 %r10, words; and.b32 %r11, %r10, 15; setp.ne.u32 %p3, %r11, 0; @%p3 bra slow;
cp.async.cg.shared.global [%r10], [%rd1], 16; cp.async.wait_all;
slow:""",
        before=".shared .align 4 .b8 words[256];",
    ),
    Case(
        "a size that is rounded down is a multiple",
        """mul.lo.u32 %r10, %r6, 4; and.b32 %r10, %r10, -16;
@%p1 cp.async.bulk.prefetch.L2.global [%rd1], %r10;""",
    ),
    Case(
        "a size that follows a parameter is the caller's affair",
        "mul.lo.u32 %r10, %r6, 4; @%p1 cp.async.bulk.prefetch.L2.global [%rd1], %r10;",
    ),
    Case(
        "an impossible size is not a misalignment",
        """mov.u32 %r10, 40;
@%p1 cp.async.bulk.prefetch.L2.global [%rd1], %r10; //! PTX206""",
    ),
    Case(
        "a number that is the same on all paths, in a register that the size of the grid is in elsewhere",
        """mov.u32 %r10, %nctaid.x; st.global.u32 [%rd2], %r10; mov.u32 %r10, 24;
@%p1 cp.async.bulk.prefetch.L2.global [%rd1], %r10; //! PTX206""",
    ),
    Case(
        "a multiple of 16 in a register that the size of the grid is in elsewhere",
        """mov.u32 %r10, %nctaid.x; st.global.u32 [%rd2], %r10; mov.u32 %r10, 32;
@%p1 cp.async.bulk.prefetch.L2.global [%rd1], %r10;""",
    ),
    Case(
        "a count that follows a block of unknown size is the launch's affair",
        """mov.u32 %r10, %ntid.x; add.u32 %r10, %r10, -128; @%p1 mbarrier.init.shared.b64 [%r5], %r10;""",
        bounds="",
    ),
    Case(
        "a count that follows a block of known size is not",
        """mov.u32 %r10, %ntid.x; add.u32 %r10, %r10, -128;
@%p1 mbarrier.init.shared.b64 [%r5], %r10; //! PTX206""",
    ),
    Case(
        "a symbol in global memory is aligned as it is declared to be",
        """mov.u64 %rd5, words; ld.global.v2.b32 {%r10, %r11}, [%rd5+8];
ld.global.v2.b32 {%r10, %r11}, [%rd5+4]; //! PTX205""",
        before=".global .align 8 .b32 words[8];",
    ),
    Case(
        "an argument decides how far two addresses by one pointer are apart",
        """setp.gt.u32 %p3, %r6, 20; @%p3 bra end; mul.wide.u32 %rd5, %r6, 8; add.u64 %rd6, %rd2, %rd5;
st.global.v4.u32 [%rd2], {%r1, %r1, %r1, %r1}; st.global.v4.u32 [%rd6], {%r1, %r1, %r1, %r1};
setp.gt.u32 %p3, %r6, 7; @%p3 bra end; st.shared.u32 [%r4], %r1; end:""",
        undecided=("PTX205",),
    ),
    Case(
        "both addresses by one pointer follow an argument",
        """setp.gt.u32 %p3, %r6, 20; @%p3 bra end; mul.wide.u32 %rd5, %r6, 8; add.u64 %rd6, %rd2, %rd5;
st.global.v4.u32 [%rd6], {%r1, %r1, %r1, %r1}; //= first
st.global.v4.u32 [%rd6+8], {%r1, %r1, %r1, %r1}; //! PTX205 first
setp.gt.u32 %p3, %r6, 7; @%p3 bra end; st.shared.u32 [%r4], %r1; end:""",
    ),
    Case(
        "data decide whether a vector is aligned",
        """ld.global.u32 %r10, [%rd2+64]; mul.wide.u32 %rd5, %r10, 8; add.u64 %rd6, %rd1, %rd5;
ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd6];""",
        undecided=("PTX205",),
    ),
    Case(
        "data select one of aligned vectors",
        """ld.global.u32 %r10, [%rd2+64]; mul.wide.u32 %rd5, %r10, 16; add.u64 %rd6, %rd1, %rd5;
ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd6];""",
    ),
    Case(
        "data select one of rows of a length that is an argument",
        """ld.global.u32 %r10, [%rd2+64]; mul.lo.u32 %r10, %r10, %r6;
mul.wide.u32 %rd5, %r10, 8; add.u64 %rd6, %rd1, %rd5;
ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd6];""",
    ),
    Case(
        "a bulk copy from an address in memory",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0; @!%p1 bra wait; ld.global.u64 %rd5, [%rd1];
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 64;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd5], 64, [%r5];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;""",
        undecided=("PTX205",),
    ),
    Case(
        "two addresses by one pointer that are apart after a condition on data",
        """ld.global.u32 %r10, [%rd2]; setp.gt.u32 %p4, %r10, 7; @%p4 bra done; st.global.u32 [%rd2+16], %r1; done:
ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd1]; ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd1+4];""",
        undecided=("PTX205",),
    ),
    Case(
        "an offset that only one argument leads to, before a condition on data",
        """setp.ne.u32 %p4, %r6, 19; @%p4 bra done; add.u32 %r10, %r2, %r3; cvt.u64.u32 %rd5, %r10;
st.u32 [%rd5], %r1; //! PTX202
ld.global.u32 %r11, [%rd2]; setp.gt.u32 %p4, %r11, 7; @%p4 bra done; st.global.u32 [%rd2+16], %r1; done:""",
    ),
    Case(
        "an offset that only one argument leads to, after a condition on data",
        """ld.global.u32 %r11, [%rd2]; setp.gt.u32 %p4, %r11, 7; @%p4 bra next; st.global.u32 [%rd2+16], %r1; next:
setp.ne.u32 %p4, %r6, 19; @%p4 bra done; add.u32 %r10, %r2, %r3; cvt.u64.u32 %rd5, %r10; st.u32 [%rd5], %r1; done:""",
        undecided=("PTX202",),
    ),
    Case(
        "a number that follows an integer parameter is the caller's affair in a function, too",
        """{ .param .b32 a; st.param.b32 [a], %r6; call read, (a); }""",
        before=".func read(.param .b32 a) { .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.shared.u32 %r2, [%r1]; ret; }",
    ),
    Case(
        "an offset that a function computes where only one argument leads",
        """setp.ne.u32 %p4, %r6, 19; @%p4 bra done; { .param .b32 a, b; st.param.b32 [a], %r3; call (b), in_tile, (a);
ld.param.b32 %r10, [b]; } ld.global.u32 %r11, [%r10]; //! PTX208
cvt.u64.u32 %rd5, %r10; st.u32 [%rd5], %r1; //! PTX202
done:""",
        before=""".shared .align 16 .b8 all[2048];
.func (.param .b32 b) in_tile(.param .b32 a) {
.reg .b32 %r<4>; ld.param.u32 %r1, [a]; mov.u32 %r2, all; add.u32 %r1, %r1, %r2; st.param.b32 [b], %r1; ret; }""",
    ),
    Case(
        "a number that a function computes from an integer parameter is the caller's affair",
        """setp.ne.u32 %p4, %r6, 19; @%p4 bra done; { .param .b32 a, b; st.param.b32 [a], %r6; call (b), next, (a);
ld.param.b32 %r10, [b]; } cvt.u64.u32 %rd5, %r10; st.u32 [%rd5], %r1; done:""",
        before=""".func (.param .b32 b) next(.param .b32 a) {
.reg .b32 %r<4>; ld.param.u32 %r1, [a]; add.u32 %r1, %r1, 1; st.param.b32 [b], %r1; ret; }""",
    ),
)
