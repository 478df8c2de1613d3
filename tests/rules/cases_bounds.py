"""PTX207: accesses beyond the bounds of the variable from which their address is computed."""

from __future__ import annotations

from tests.rules.support import Case

_ROUNDS = """
rounds: st.shared.u32 [%r11], %r1;
add.u32 %r11, %r11, 4; sub.u32 %r10, %r10, 1; setp.eq.u32 %p3, %r10, 0; @%p3 bra done; bra rounds;
done:"""
_RETURNS = """.func (.param .b32 result) same(.param .b32 number)
{ .reg .b32 %v; ld.param.b32 %v, [number]; st.param.b32 [result], %v; ret; }"""


def _rows(name: str, count: str, registers: str, *, wrong: bool) -> Case:
    """A warp loads the rows of matrices, 32 bytes apart, from a variable of 256 bytes."""
    mark = " //? PTX207" if wrong else ""
    body = f"""and.b32 %r10, %r1, 31; shl.b32 %r10, %r10, 5; mov.u32 %r11, small; add.u32 %r11, %r11, %r10;
ldmatrix.sync.aligned.m8n8.{count}.shared.b16 {{{registers}}}, [%r11];{mark}"""
    return Case(
        name, f".shared .align 16 .b8 small[256]; .shared .align 16 .b8 large[1024];\n{body}", bounds=".reqntid 32"
    )


CASES = (
    _rows("eight lanes name rows inside the variable", "x1", "%r12", wrong=False),
    _rows("sixteen lanes name rows of which half are beyond the variable", "x2", "%r12, %r13", wrong=True),
    Case(
        "data decide an offset inside the variable",
        "ld.global.u32 %r10, [%rd1]; and.b32 %r10, %r10, 0x1ffc; add.u32 %r11, %r2, %r10; ld.shared.u32 %r12, [%r11];",
    ),
    Case(
        "data decide an offset that may be outside the variable",
        "ld.global.u32 %r10, [%rd1]; and.b32 %r10, %r10, 0x3ffc; add.u32 %r11, %r2, %r10; ld.shared.u32 %r12, [%r11];",
        undecided=("PTX207",),
    ),
    Case(
        "an argument decides how often a loop of known length leaves the variable",
        """mov.u32 %r10, 0;
next: setp.ge.u32 %p3, %r10, %r6; @%p3 bra end; mov.u32 %r11, %r2; mov.u32 %r12, 0;
row: ld.shared.u32 %r13, [%r11]; add.u32 %r11, %r11, 4096; add.u32 %r12, %r12, 1;
setp.le.u32 %p4, %r12, 2; @%p4 bra row;
add.u32 %r10, %r10, 1; bra next;
end:""",
        undecided=("PTX207",),
    ),
    Case(
        "the last word of a variable is within it",
        "ld.shared.u32 %r10, [tile+8188]; ld.shared.u32 %r11, [%r2+8188];",
    ),
    Case(
        "an access across the end of a variable",
        """ld.shared.v2.b32 {%r10, %r11}, [odd+16];
ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [odd+16]; //! PTX207""",
        before=".shared .align 16 .b8 odd[24];",
    ),
    Case(
        "an access across the end of a variable is a doubt if data that cancel contribute to its address",
        """ld.global.u32 %r10, [%rd1]; and.b32 %r11, %r10, 15; and.b32 %r12, %r10, 15; xor.b32 %r11, %r11, %r12;
mov.u32 %r13, odd; add.u32 %r13, %r13, %r11; ld.shared.v2.b32 {%r10, %r11}, [%r13+16];
ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r13+16];""",
        before=".shared .align 16 .b8 odd[24];",
        undecided=("PTX205", "PTX207"),
    ),
    Case(
        "an access across the end of a variable is a doubt if data decide whether it is executed",
        """mov.u32 %r13, odd; ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 0;
@%p3 ld.shared.v2.b32 {%r10, %r11}, [%r13+16]; @%p3 ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r13+16];""",
        before=".shared .align 16 .b8 odd[24];",
        undecided=("PTX207",),
    ),
    Case(
        "an access that begins at the end of a shared variable may access launch-sized memory",
        "ld.shared.u32 %r10, [tile+8192]; //? PTX207",
    ),
    Case(
        "an access before a variable",
        "sub.u32 %r10, %r2, 4;\nst.shared.u32 [%r10], %r1; //! PTX207",
    ),
    Case(
        "a copy whose last bytes are beyond the end",
        """add.u32 %r11, %r2, 8176; @!%p1 bra end;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r11], 16; mov.u32 %r10, 32;
cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r11], %r10; //! PTX207
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
end:""",
    ),
    Case(
        "the last of the block's threads exceeds the end",
        """shl.b32 %r10, %r1, 6; add.u32 %r11, %r2, %r10;
st.shared.u32 [%r11+128], %r1; //? PTX207""",
    ),
    Case(
        "the launch decides the number of threads where the kernel does not declare it",
        "shl.b32 %r10, %r1, 6; add.u32 %r11, %r2, %r10; st.shared.u32 [%r11+128], %r1;",
        bounds="",
        undecided=("PTX207",),
    ),
    Case(
        "the first thread is there in every launch",
        "shl.b32 %r10, %r1, 6; add.u32 %r11, %r2, %r10;\nst.shared.u32 [%r11+-4], %r1; //! PTX207",
        bounds="",
    ),
    Case(
        "all threads stay within",
        "shl.b32 %r10, %r1, 6; add.u32 %r11, %r2, %r10; st.shared.u32 [%r11+60], %r1;",
    ),
    Case(
        "a guard keeps the threads that would go past the end",
        """shl.b32 %r10, %r1, 6; add.u32 %r11, %r2, %r10; setp.lt.u32 %p3, %r1, 126;
@%p3 st.shared.u32 [%r11+128], %r1;""",
    ),
    Case(
        "an argument decides the offset",
        "mad.lo.u32 %r10, %r6, 16384, %r2; st.shared.u32 [%r10+8], %r1;",
    ),
    Case(
        "an argument decides whether a thread executes the access",
        "setp.gt.u32 %p3, %r6, 4;\n@%p3 st.shared.u32 [tile+-4], %r1;",
        undecided=("PTX207",),
    ),
    Case(
        "the last CTA of a cluster sends beyond the variable of another one",
        """barrier.cluster.arrive; barrier.cluster.wait;
mov.u32 %r10, %cluster_ctarank; mapa.shared::cluster.u32 %r11, %r5, 0; mad.lo.u32 %r11, %r10, 8, %r11;
@%p1 st.shared::cluster.u64 [%r11+8], %rd1; //? PTX207
barrier.cluster.arrive; barrier.cluster.wait;""",
        bounds=".reqntid 128, 1, 1\n.reqnctapercluster 4, 1, 1",
    ),
    Case(
        "the last CTA of a cluster has no next one",
        """barrier.cluster.arrive; barrier.cluster.wait;
mov.u32 %r10, %cluster_ctarank; add.u32 %r10, %r10, 1;
mapa.shared::cluster.u32 %r11, %r5, %r10;
@%p1 st.shared::cluster.u64 [%r11], %rd1; //! PTX206
barrier.cluster.arrive; barrier.cluster.wait;""",
        bounds=".reqntid 128, 1, 1\n.reqnctapercluster 4, 1, 1",
    ),
    Case(
        "each CTA of a cluster sends to its own word of another one",
        """barrier.cluster.arrive; barrier.cluster.wait;
mov.u32 %r10, %cluster_ctarank; mapa.shared::cluster.u32 %r11, %r5, 0; mad.lo.u32 %r11, %r10, 8, %r11;
@%p1 st.shared::cluster.u64 [%r11], %rd1;
barrier.cluster.arrive; barrier.cluster.wait;""",
        bounds=".reqntid 128, 1, 1\n.reqnctapercluster 4, 1, 1",
    ),
    Case(
        "an argument decides whether all threads execute the access",
        "setp.gt.u32 %p3, %r6, 0; @!%p3 bra end;\nst.shared.u32 [tile+-4], %r1; //? PTX207\nend:",
    ),
    Case(
        "an unknown function decides how often a loop is repeated, and from where",
        """mov.u32 %r12, %r1; { .param .b32 v; .param .b32 w; types: .callprototype (.param .b32 _) _ (.param .b32 _);
st.param.b32 [v], %r6; call (w), %rd1, (v), types; ld.param.b32 %r10, [w]; }
setp.gt.u32 %p3, %r10, 0; @%p3 bra rest; add.u32 %r12, %r12, 128;
rest: shl.b32 %r11, %r12, 2; add.u32 %r11, %r11, %r2;
more: st.shared.u32 [%r11+8192], %r1; add.u32 %r11, %r11, 512; add.u32 %r10, %r10, 128;
setp.lt.u32 %p3, %r10, 384; @%p3 bra more;""",
        undecided=("PTX207", "PTX300", "PTX621"),
    ),
    Case(
        "an unrolled loop reaches the access only with larger arguments",
        """setp.lt.u32 %p3, %r6, 4; @%p3 bra end; st.shared.u32 [tile+8184], %r1; st.shared.u32 [tile+8192], %r1;
end:""",
        undecided=("PTX207",),
    ),
    Case(
        "threads of all blocks exceed the end in steps of the block",
        """mov.u32 %r12, %ntid.x; mov.u32 %r10, %r1;
more: shl.b32 %r11, %r10, 2; add.u32 %r11, %r11, %r2;
st.shared.u32 [%r11+6144], %r1; //? PTX207
add.u32 %r10, %r10, %r12; setp.lt.u32 %p3, %r10, 513; @%p3 bra more;""",
        bounds="",
    ),
    Case(
        "threads of all blocks fill a variable in steps of the block",
        """mov.u32 %r12, %ntid.x; mov.u32 %r10, %r1;
more: shl.b32 %r11, %r10, 2; add.u32 %r11, %r11, %r2; st.shared.u32 [%r11+6144], %r1;
add.u32 %r10, %r10, %r12; setp.lt.u32 %p3, %r10, 512; @%p3 bra more;""",
        bounds="",
    ),
    Case(
        "an argument that is compared with the number of the thread may keep threads within bounds",
        "shl.b32 %r10, %r1, 7; add.u32 %r11, %r2, %r10; setp.lt.u32 %p3, %r1, %r6; @%p3 st.shared.u32 [%r11], %r1;",
        undecided=("PTX207",),
    ),
    Case(
        "the first round of a loop whose length is an argument exceeds the end",
        """mov.u32 %r10, %r2; mov.u32 %r11, 0; setp.eq.u32 %p3, %r6, 0; @%p3 bra end;
more: st.shared.u32 [%r10+-64], %r1; //? PTX207
add.u32 %r10, %r10, 64; add.u32 %r11, %r11, 1; setp.lt.u32 %p3, %r11, %r6; @%p3 bra more;
end:""",
    ),
    Case(
        "an address is inside its variable only after the offset is added in 32 bits",
        "sub.u32 %r10, %r2, 8192; st.shared.u32 [%r10+8192], %r1;",
    ),
    Case(
        "a branch on an argument decides whether a thread executes the access",
        """setp.gt.u32 %p3, %r6, 4; @!%p3 bra end; st.shared.u32 [%r2+9000], %r1;
end:""",
        undecided=("PTX207",),
    ),
    Case(
        "code after a branch on an argument is executed on both sides",
        """setp.gt.u32 %p3, %r6, 4; @!%p3 bra end; st.shared.u32 [%r2], %r1;
end: sub.u32 %r10, %r2, 8;
st.shared.u32 [%r10+4], %r1; //! PTX207""",
    ),
    Case(
        "a loop whose trip count is an argument may end in time",
        """mov.u32 %r10, %r2; mov.u32 %r11, 0;
more: st.shared.u32 [%r10+8000], %r1; add.u32 %r10, %r10, 64; add.u32 %r11, %r11, 1;
setp.lt.u32 %p3, %r11, %r6; @%p3 bra more;""",
    ),
    Case(
        "a loop of known length exceeds the end",
        """mov.u32 %r10, %r2; mov.u32 %r11, 0;
more: @%p1 st.shared.u32 [%r10+8000], %r1; //? PTX207
add.u32 %r10, %r10, 64; add.u32 %r11, %r11, 1; setp.lt.u32 %p3, %r11, 5; @%p3 bra more;""",
    ),
    Case(
        "a loop of known length stays within",
        """mov.u32 %r10, %r2; mov.u32 %r11, 0;
more: @%p1 st.shared.u32 [%r10+8000], %r1;
add.u32 %r10, %r10, 64; add.u32 %r11, %r11, 1; setp.lt.u32 %p3, %r11, 3; @%p3 bra more;""",
    ),
    Case(
        "a definition that an argument chooses",
        """setp.gt.u32 %p3, %r6, 4; mov.u32 %r10, 0; @%p3 mov.u32 %r10, 9000; add.u32 %r10, %r10, %r2;
st.shared.u32 [%r10], %r1;""",
        undecided=("PTX207",),
    ),
    Case(
        "launch-sized memory has no known end, but the variables before it have",
        "ld.shared.u32 %r10, [tile+8192]; mov.u32 %r11, more; st.shared.u32 [%r11+100000], %r10; //? PTX207",
        before=".extern .shared .align 16 .b8 more[];",
    ),
    Case(
        "a table of constants and a variable in global memory end where they are declared to",
        """ld.const.u32 %r10, [table+12]; st.global.u32 [words+4], %r10;
ld.const.u32 %r10, [table+16]; //! PTX207
mov.u64 %rd5, words; add.u64 %rd5, %rd5, 8;
st.global.u32 [%rd5], %r10; //! PTX207
ld.global.u32 %r10, [%rd5+-12]; //! PTX207""",
        before=".const .b32 table[4] = {1, 2, 3, 4}; .global .b32 words[2];",
    ),
    Case(
        "a variable that another module may define can be larger than declared here",
        "ld.global.u32 %r10, [far+16]; ld.global.u32 %r10, [weak+16];",
        before=".extern .global .b32 far[4]; .weak .global .b32 weak[4];",
    ),
    Case(
        "memory of the thread itself",
        """{ .local .align 8 .b8 mine[16]; mov.u64 %rd5, mine; cvta.local.u64 %rd6, %rd5;
st.local.u64 [%rd5+8], %rd1; st.u64 [%rd6+8], %rd1;
st.local.u64 [%rd5+16], %rd1; //! PTX207
st.u64 [%rd6+16], %rd1; //! PTX207
}""",
    ),
    Case(
        "an mbarrier needs eight bytes",
        """@%p1 mbarrier.init.shared.b64 [bars+24], 1;
@%p1 mbarrier.init.shared.b64 [bars+32], 1; //? PTX207
""",
    ),
    Case(
        "a copy that a predicate may switch off",
        """setp.gt.u32 %p3, %r6, 4; add.u32 %r10, %r2, 8192;
cp.async.cg.shared.global [%r10], [%rd1], 16; //? PTX207
cp.async.wait_all;""",
    ),
    Case(
        "rows of lanes whose address does not count may lie anywhere",
        """add.u32 %r10, %r2, 8064; mad.lo.u32 %r11, %r1, 16, %r10; mov.u32 %r12, %laneid; setp.lt.u32 %p3, %r1, 32;
@!%p3 bra end; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r13}, [%r11];
end:""",
    ),
    Case(
        "the last threads are in the next variable",
        """{ .shared .align 16 .b8 few[256]; .shared .align 16 .b8 next[4096];
mov.u32 %r10, few; add.u32 %r10, %r10, %r3;
st.shared.u32 [%r10], %r1; //? PTX207
setp.lt.u32 %p3, %r1, 16; @%p3 st.shared.u32 [%r10], %r1;
mov.u32 %r11, next; add.u32 %r12, %r11, %r3; st.shared.u32 [%r12], %r1;
}""",
        undecided=("PTX621",),
    ),
    Case(
        "threads that have different variables",
        """{ .shared .align 16 .b8 few[1024]; .shared .align 16 .b8 next[4096]; mov.u32 %r10, few; mov.u32 %r11, next;
setp.lt.u32 %p3, %r1, 64; selp.u32 %r12, %r10, %r11, %p3; add.u32 %r12, %r12, %r3; st.shared.u32 [%r12], %r1; }""",
    ),
    Case(
        "the number of threads is not declared, and only those of half a warp are within bounds",
        """{ .shared .align 16 .b8 few[256]; .shared .align 16 .b8 next[4096];
mov.u32 %r10, few; add.u32 %r10, %r10, %r3;
st.shared.u32 [%r10], %r1; //? PTX207
}""",
        bounds="",
    ),
    Case(
        "an address computed from one variable that is in another",
        """ld.shared.u32 %r10, [tile+9000]; //? PTX207
add.u32 %r11, %r2, 9000; bar.sync 0;
@%p1 st.shared.u32 [%r11], %r1; //? PTX207
sub.u32 %r12, %r8, 4096; bar.sync 0;
@%p1 st.shared.u32 [%r12], %r1; //! PTX207""",
    ),
    Case(
        "all threads of a block are in another variable than the one whose address they have",
        """add.u32 %r11, %r4, 8704;
st.shared.v4.u32 [%r11], {%r1, %r1, %r1, %r1}; //? PTX207""",
    ),
    Case(
        "a later iteration of a loop accesses the next variable",
        """mov.u32 %r10, %r2; mov.u32 %r11, 0;
more: @%p1 st.shared.u32 [%r10], %r1; //? PTX207
add.u32 %r10, %r10, 8448; add.u32 %r11, %r11, 1; setp.lt.u32 %p3, %r11, 2; @%p3 bra more;""",
    ),
    Case(
        "one register has the addresses of two variables in turn",
        """mov.u32 %r10, %r2; st.shared.u32 [%r10+4], %r1; mov.u32 %r10, %r8; st.shared.u32 [%r10+4], %r1;
selp.u32 %r11, %r2, %r8, %p1; bar.sync 0; ld.shared.u32 %r12, [%r11+8]; sub.u32 %r13, %r8, %r2; add.u32 %r13, %r13, %r2;
ld.shared.u32 %r12, [%r13+8];""",
    ),
    Case(
        "a variable of the thread's own that leads into the next one",
        """{ .local .align 8 .b8 mine[16]; .local .align 8 .b8 more[16]; mov.u64 %rd5, mine; cvta.local.u64 %rd6, %rd5;
st.local.u64 [%rd5+8], %rd1; st.local.u64 [more], %rd1;
st.u64 [%rd6+144], %rd1; //! PTX207
}""",
    ),
    *(
        Case(
            f"{what} decides how often a loop is executed",
            f"""{load}
add.u32 %r11, %r2, 8188; {_ROUNDS}""",
            before=f"{_RETURNS} .const .u32 rounds = 1;",
            undecided=undecided,
        )
        for what, load, undecided in (
            ("constant memory, which the host may write,", "ld.const.u32 %r10, [rounds];", ()),
            (
                "a parameter variable with data",
                "mov.u32 %r12, %clock; { .param .b32 v; st.param.b32 [v], %r12; ld.param.b32 %r10, [v]; }",
                (),
            ),
            (
                "a called function with an argument",
                "{ .param .b32 v; .param .b32 w; st.param.b32 [v], %r6; call (w), same, (v); ld.param.b32 %r10, [w]; }",
                ("PTX621",),
            ),
            (
                "an unknown function",
                """mov.u64 %rd3, same;
{ .param .b32 v; .param .b32 w; types: .callprototype (.param .b32 _) _ (.param .b32 _);
st.param.b32 [v], 1; call (w), %rd3, (v), types; ld.param.b32 %r10, [w]; }""",
                ("PTX300", "PTX621"),
            ),
        )
    ),
    Case(
        "a called function with a constant decides how often a loop is executed",
        f"""{{ .param .b32 v; .param .b32 w; st.param.b32 [v], 2; call (w), same, (v); ld.param.b32 %r10, [w]; }}
add.u32 %r11, %r2, 8188; {_ROUNDS.replace("%r1;", "%r1; //? PTX207")}""",
        before=_RETURNS,
    ),
)
