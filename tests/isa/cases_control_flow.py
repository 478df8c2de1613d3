"""Control flow, the stack and others: accepted operands, and rejected ones that are similar."""

from __future__ import annotations

from tests.isa.pairs import Gated, Pair

SM_90A = ((9, 5), "sm_90a")

PAIRS = [
    Pair("a branch targets a label", "bra.uni target;", "bra %b64_1;"),
    Pair("to one", "bra target;", "bra target, target;"),
    Pair("an indexed one to those of a list", "brx.idx %u32_1, targets_;", "brx.idx %u32_1, target;"),
    Pair("the index has 32 bits", "brx.idx.uni %b32_1, targets_;", "brx.idx.uni %b64_1, targets_;"),
    Pair("idx is part of the name", "brx.idx.uni %b32_1, targets_;", "brx.uni.idx %b32_1, targets_;"),
    Pair("a function may be called by its name only", "call callee;", "call callee_in;"),
    Pair("its arguments are in parentheses", "call callee_in, (%b32_1);", "call callee_in, %b32_1;"),
    Pair("so do its results", "call (%b32_1), callee_out, ();", "call %b32_1, callee_out, ();"),
    Pair("a result may not be left out", "call (%b32_1), callee_in_out, (3);", "call callee_in_out, (3);"),
    Pair("a pointer needs a declared target space", "call %b64_1, (), prototype_callee;", "call %b64_1, ();"),
    Pair("by functions or a prototype", "call %b64_1, functions_callee;", "call %b64_1, targets_;"),
    Pair("a pointer is a register", "call %b64_1, prototype_callee;", "call 64, prototype_callee;"),
    Pair("a return has no value", "ret.uni;", "ret %b32_1;"),
    Pair("the thread's end is uniform or not", "exit;", "exit.uni;"),
    Pair("there are sixteen events", "pmevent 15;", "pmevent 16;"),
    Pair("and a mask of them", "pmevent.mask 0xFFFF;", "pmevent.mask 0x10000;"),
    Pair("of constants", "pmevent 3 + 4;", "pmevent WARP_SZ;"),
    Pair("a time is unsigned", "nanosleep.u32 %b32_1;", "nanosleep.s32 %s32_1;"),
    Pair(
        "registers are in groups of eight",
        "setmaxnreg.inc.sync.aligned.u32 40;",
        "setmaxnreg.inc.sync.aligned.u32 44;",
        *SM_90A,
    ),
    Pair("more or fewer of them", "setmaxnreg.dec.sync.aligned.u32 24;", "setmaxnreg.sync.aligned.u32 24;", *SM_90A),
    Pair("memory is aligned to a power of two", "alloca.u64 %u64_1, 16, 256;", "alloca.u64 %u64_1, 16, 48;"),
    Pair("up to 8 MiB", "alloca.u64 %u64_1, 16, 1 << 23;", "alloca.u64 %u64_1, 16, 1 << 24;"),
]

GATED = [
    Gated("alloca.u64 %u64_1, 16;", (7, 3), "sm_75", ((7, 2), "sm_75")),
    Gated("setmaxnreg.inc.sync.aligned.u32 40;", (8, 0), "sm_90a", ((9, 4), "sm_90")),
]

TOLERATED = [
    "call (%b32_1), callee_out;",
    "ret.uni.uni;",
    "pmevent.rank 3;",
]
