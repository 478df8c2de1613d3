"""PTX605: the threads that execute `setmaxnreg`, its register counts, and the steps before it."""

from __future__ import annotations

from tests.rules.support import Case

THREE, TWO, ONE = (f".reqntid {threads}, 1, 1\n.minnctapersm 1" for threads in (384, 256, 128))
GROUP = "setp.lt.u32 %p3, %r1, 128;"
DOWN, UP = "setmaxnreg.dec.sync.aligned.u32", "setmaxnreg.inc.sync.aligned.u32"

CASES = (
    Case(
        "a warpgroup releases and two request the available registers",
        f"{GROUP}\n@%p3 {DOWN} 24;\n@!%p3 {UP} 240;",
        bounds=THREE,
    ),
    Case(
        "a warpgroup releases and two request more than the available registers",
        f"{GROUP}\n@%p3 {DOWN} 32;\n@!%p3 {UP} 240; //! PTX605",
        bounds=THREE,
    ),
    Case(
        "registers that no warpgroup releases are not available",
        f"{GROUP}\n@!%p3 {UP} 176; //! PTX605",
        bounds=THREE,
    ),
    Case(
        "the registers of a thread at the start may be equal to its request",
        f"{GROUP}\n@!%p3 {UP} 168;",
        bounds=THREE,
    ),
    Case(
        "a directive declares the number of registers",
        f"{UP} 120; //! PTX605",
        bounds=".reqntid 256, 1, 1\n.maxnreg 112",
    ),
    Case("a directive declares enough registers", f"{UP} 112;", bounds=".reqntid 256, 1, 1\n.maxnreg 112"),
    Case(
        "blocks that share a multiprocessor share its registers",
        f"{UP} 136; //! PTX605",
        bounds=TWO.replace("persm 1", "persm 2"),
    ),
    Case("the size of a block does not determine it", f"{UP} 256;", bounds=".reqntid 384, 1, 1"),
    Case("without a directive the number is unknown", f"{GROUP}\n@%p3 {DOWN} 40;\n@!%p3 {UP} 256;", bounds=""),
    Case(
        "a maximum size bounds the number",
        f"{UP} 176; //! PTX605",
        bounds=".maxntid 384, 1, 1\n.minnctapersm 1",
    ),
    Case("a decrease to more than there can be", f"{DOWN} 176; //! PTX605", bounds=THREE),
    Case(
        "a decrease after a decrease is lower",
        f"{DOWN} 40; //= first\nbar.sync 0;\n{DOWN} 48; //! PTX605 first",
        bounds=ONE,
    ),
    Case("a decrease after a decrease may go further down", f"{DOWN} 48;\nbar.sync 0;\n{DOWN} 40;", bounds=ONE),
    Case(
        "an increase after an increase is higher",
        f"{DOWN} 40; bar.sync 0; {UP} 80; //= second\nbar.sync 0;\n{UP} 64; //! PTX605 second",
        bounds=ONE,
    ),
    Case(
        "a warp's own barrier does not synchronize the warpgroup",
        f"{DOWN} 40; //= first\nbar.warp.sync -1;\n{UP} 80; //! PTX605 first",
        bounds=ONE,
    ),
    Case("a barrier of the warpgroup synchronizes it", f"{DOWN} 40;\nbar.sync 3, 128;\n{UP} 80;", bounds=ONE),
    Case("setting the same number again changes nothing", f"{DOWN} 40;\n{DOWN} 40;", bounds=ONE),
    Case(
        "setting the same number again still requires a barrier under the policy strict",
        f"{DOWN} 40; //= first\n{DOWN} 40; //? PTX605 first",
        bounds=ONE,
        policy="strict",
    ),
    Case(
        "warps of a warpgroup may have roles with numbers of their own",
        f"setp.lt.u32 %p3, %r1, 32;\n@%p3 {DOWN} 24;\n@!%p3 {DOWN} 32;",
        bounds=ONE,
    ),
    Case(
        "warps of a warpgroup set the same number under the policy strict",
        f"setp.lt.u32 %p3, %r1, 32;\n@%p3 {DOWN} 24; //? PTX605\n@!%p3 {DOWN} 32;",
        bounds=ONE,
        policy="strict",
    ),
    Case(
        "the number at the start is declared under the policy strict",
        f"{DOWN} 24; //? PTX605",
        bounds="",
        policy="strict",
    ),
    Case(
        "a warp of a warpgroup that sets nothing", f"setp.lt.u32 %p3, %r1, 96;\n@%p3 {DOWN} 24; //! PTX605", bounds=ONE
    ),
    Case("an elected lane", f"elect.sync _|%p3, -1;\n@%p3 {DOWN} 24; //! PTX605", bounds=ONE),
)
