"""Directives: their places, combinations and constants, and the versions and targets that have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Severity
from tests.validate.modules import Pair, accepted_by_ptxas, check, diagnostics, disagreements, errors, in_body, whole


def kernel(right: str, wrong: str, words: str, at: str = "", code: str = "PTX107", **module: str) -> Pair:
    """Returns a kernel with these directives."""
    header = ".entry k() {} {{ ret; }}"
    return Pair(header.format(right), header.format(wrong), code, words, at, **module)


def function(right: str, wrong: str, words: str, at: str = "", code: str = "PTX107", **module: str) -> Pair:
    """Returns a device function with these directives."""
    header = ".func f() {} {{ ret; }}"
    return Pair(header.format(right), header.format(wrong), code, words, at, **module)


HEADERS = [
    kernel(".maxnreg 32", ".maxnreg 0", "a constant from 1, and has 0", ".maxnreg"),
    kernel(".maxnreg 32", ".maxnreg 32, 32", "takes 1 constant, and has 2", ".maxnreg"),
    kernel(".maxnreg 32", ".maxnreg", "takes 1 constant, and has 0", ".maxnreg"),
    kernel(".maxnreg 32", ".maxnregs 32", "did you mean `.maxnreg`?", ".maxnregs"),
    kernel(".maxntid 128", ".maxntid 128, 1, 1, 1", "write `.maxntid nx, [ny], [nz]`"),
    kernel(".maxntid 128, 2, 2", ".maxntid 128, 0", "from 1, and has 0"),
    kernel(".maxntid 4294967295", ".maxntid 4294967296", "constants of 32 bits"),
    kernel(".maxntid WARP_SZ", ".maxntid warps", "takes integer constants, and has `warps`"),
    kernel(".maxntid 0x40", '.maxntid "64"', "takes integer constants"),
    kernel(".maxntid 64 .maxnreg 32", ".maxntid 64 .reqntid 32", "exclude each other", ".reqntid"),
    kernel(".reqntid 64 .maxnreg 32", ".reqntid 64 .maxntid 64", "remove `.reqntid` or `.maxntid`"),
    kernel(".maxntid 64 .minnctapersm 2", ".maxntid 64 .minnctapersm 0", "from 1, and has 0"),
    kernel(".maxntid 64 .minnctapersm 2", ".maxntid 64 .maxnctapersm 2", "a `.version` before 2.1", code="PTX801"),
    kernel(".reqnctapercluster 2, 1, 1", ".reqnctapercluster", "takes 1 to 3 constants, and has 0"),
    kernel(".reqnctapercluster 2", ".reqnctapercluster 2 .maxclusterrank 4", "exclude each other"),
    kernel(".explicitcluster", ".explicitcluster 2", "takes no constants, and has 1"),
    kernel(".maxclusterrank 8 .explicitcluster", ".maxclusterrank 8 .noreturn", "it is allowed with a device function"),
    kernel(
        ".reqntid 32 .reqnctapercluster 2 .blocksareclusters",
        ".reqntid 32 .blocksareclusters",
        "requires `.reqnctapercluster`",
    ),
    kernel(".explicitcluster", ".explicitcluster .blocksareclusters", "add `.reqntid` and `.reqnctapercluster`"),
    kernel('.pragma "nounroll";', '.pragma "used_bytes_mask 0xf";', "it is allowed in the body of a function"),
    function(".noreturn", ".noreturn .noreturn", "occurs twice", ".noreturn"),
    function(".noreturn", ".maxntid 128", "it is allowed between the header and the body of a kernel", ".maxntid"),
    function(".noreturn .abi_preserve 4", ".abi_preserve 4 .noreturn", "move it before `.abi_preserve`"),
    function(".abi_preserve 4", ".abi_preserve 4 .abi_preserve 4", "occurs twice"),
    function(".abi_preserve 4 .abi_preserve_control 2", ".abi_preserve", "takes 1 constant, and has 0"),
    function(".abi_preserve_control 11", ".abi_preserve_control 12", "from 0 to 11, and has 12"),
    function(".abi_preserve 4 .local_maxnreg 8", ".local_maxnreg 8 .abi_preserve 4", "follow all other directives"),
    function(".local_maxnreg 8", ".local_maxnreg 8 .local_maxnreg 8", "must follow all other", ".local_maxnreg"),
    function(".noreturn", ".noreturns", "did you mean `.noreturn`?"),
    Pair(".func f() .noreturn;", ".func (.param .b32 r) f() .noreturn;", "PTX107", "has no results", ".noreturn"),
    Pair(".entry k() .maxntid 4 { ret; }", ".entry k() .maxntid 4;", "PTX107", "with the declaration of a kernel"),
]

GATES = [
    kernel(".maxntid 8", ".explicitcluster", "needs `.target sm_90` or later", code="PTX801", target="sm_80"),
    kernel(".maxntid 8", ".maxclusterrank 4", "needs `.version 7.8`", code="PTX801", version="7.7", target="sm_80"),
    kernel(".maxntid 8", ".local_maxnreg 4", "needs `.version 8.8`", code="PTX801", version="8.7"),
    kernel(".maxnreg 8", ".minperctamemory 4", "needs `.version 9.4`", code="PTX801", version="9.3"),
    function("", ".noreturn", "needs `.version 6.4`", code="PTX801", version="6.3", target="sm_75"),
    function(".noreturn", ".abi_preserve 4", "needs `.version 9.0`", code="PTX801", version="8.8"),
    function(".noreturn", ".abi_preserve 4", "needs `.target sm_80` or later", code="PTX801", target="sm_75"),
    Pair(
        ".global .b32 x;",
        ".common .global .b32 x;",
        "PTX801",
        "`.common` needs `.version 5.0`",
        ".common",
        "4.3",
        "sm_53",
    ),
    Pair(".func f();", ".weak .func f();", "PTX801", "`.weak` needs `.version 3.1`", ".weak", "3.0", "sm_30"),
    Pair(".func f();", ".entry k();", "PTX801", "the declaration of a kernel needs", "k", "2.3", "sm_20"),
    Pair(".global .b32 x;", ".global .b128 x;", "PTX801", "needs `.version 8.3`", ".b128", "8.2", "sm_80"),
    Pair(".func f();", ".func f() { ret; } .func g(); .alias g, f;", "PTX801", "`.alias`", ".alias", "6.2", "sm_72"),
]

LINKAGE = [
    Pair(".visible .func f();", ".visible .visible .func f();", "PTX107", "exclude each other"),
    Pair(".weak .func f();", ".weak .extern .func f();", "PTX107", "`.weak` and `.extern` exclude each other"),
    Pair(".weak .entry k() { ret; }", ".common .entry k() { ret; }", "PTX107", "it is allowed with a .global variable"),
    Pair(".common .global .b32 x;", ".common .shared .b32 x;", "PTX107", "`.common` is not allowed", ".common"),
    Pair(".extern .entry k();", ".extern .entry k() { ret; }", "PTX110", "has a body"),
    *in_body(Pair(".global .b32 x;", ".visible .global .b32 x;", "PTX107", "in the body of a function", ".visible")),
    *in_body(Pair(".shared .b32 x[4];", ".extern .shared .b32 x[4];", "PTX107", "outside of the function", ".extern")),
]

ATTRIBUTES = [
    Pair(
        ".global .attribute(.managed) .b32 x;",
        ".shared .attribute(.managed) .b32 x;",
        "PTX107",
        "with a .global variable",
    ),
    Pair(".attribute(.managed) .global .b32 x;", ".global .attribute(.manged) .b32 x;", "PTX107", "`.managed`?"),
    Pair(
        ".global .attribute(.managed) .b32 x;",
        ".global .attribute(.managed(1)) .b32 x;",
        "PTX107",
        "takes no constants",
        ".managed",
    ),
    Pair(
        ".func .attribute(.unified_func_stub) f() { ret; }",
        ".func .attribute(.managed) f() { ret; }",
        "PTX107",
        "with a .global variable",
    ),
    Pair(
        ".entry k(.param .u64 .ptr .global .align 8 p) { ret; }",
        ".func f(.param .u64 .ptr .global p);",
        "PTX107",
        "remove it",
        ".ptr",
    ),
    Pair(
        ".entry k(.param .u64 .ptr p) { ret; }",
        ".entry k(.param .u64 .ptr .param p) { ret; }",
        "PTX107",
        "a pointer parameter cannot point to .param space",
    ),
]

PRAGMAS = [
    *in_body(
        Pair('.pragma "used_bytes_mask 0xf";', '.pragma "frequency";', "PTX107", "a constant from 1, not ``"),
        Pair('.pragma "frequency 5";', '.pragma "frequency 0";', "PTX107", "not `0`", '"frequency 0"'),
        Pair('.pragma "frequency 5", "nounroll";', '.pragma "frequency often";', "PTX107", "not `often`"),
    ),
    Pair('.pragma "nounroll";', '.pragma "frequency 5";', "PTX107", "it is allowed in the body of a function"),
    Pair(
        '.entry k() { .pragma "enable_smem_spilling"; ret; }',
        '.func k() { .pragma "enable_smem_spilling"; ret; }',
        "PTX107",
        "it is allowed in the body of a kernel",
    ),
    Pair(
        '.entry k() { .pragma "nounroll"; ret; }',
        '.entry k() { .pragma "enable_smem_spilling"; ret; }',
        "PTX801",
        "needs `.version 8.7`",
        version="8.6",
    ),
]

PROTOTYPES = [
    *in_body(
        Pair("p: .callprototype _ () .noreturn;", "p: .callprototype _ () .maxntid 1;", "PTX107", "`.callprototype`"),
        Pair(
            "p: .callprototype _ (.param .b32 _) .noreturn;",
            "p: .callprototype (.param .b32 _) _ () .noreturn;",
            "PTX107",
            "has no results",
        ),
        Pair("p: .callprototype _ (.param .b32 _);", "p: .callprototype f (.param .b32 _);", "PTX101", "is `_`"),
        Pair(
            "p: .callprototype _ (.reg .b32 _);",
            "p: .callprototype _ (.shared .b32 _);",
            "PTX108",
            "there it is .reg or .param",
        ),
    ),
]

PAIRS = [*HEADERS, *GATES, *LINKAGE, *ATTRIBUTES, *PRAGMAS, *PROTOTYPES]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.wrong)
def test_a_wrong_directive_is_an_error_and_the_correct_one_is_not(pair: Pair) -> None:
    check(pair)


def test_ptxas_agrees(tmp_path: Path) -> None:
    assert disagreements(PAIRS, tmp_path) == []


def test_a_directive_without_effect_is_a_warning() -> None:
    (found,) = diagnostics(whole(".entry k() .minnctapersm 2 { ret; }"))
    assert (found.code, found.severity) == ("PTX107", Severity.WARNING)
    assert "`.maxntid` or `.reqntid`" in found.message
    assert diagnostics(whole(".entry k() .minnctapersm 2 .reqntid 32 { ret; }")) == ()


def test_a_repeated_directive_of_a_kernel_is_a_warning(tmp_path: Path) -> None:
    text = whole(".entry k() .maxntid 64 .maxntid 32 { ret; }")
    assert [(found.code, found.severity) for found in diagnostics(text)] == [("PTX107", Severity.WARNING)]
    assert accepted_by_ptxas(text, tmp_path, 0)


def test_an_unknown_pragma_is_a_note_with_the_nearest_name() -> None:
    (found,) = diagnostics(whole('.pragma "nounrol";'))
    assert (found.severity, found.help) == (Severity.NOTE, 'did you mean "nounroll"?')
    assert diagnostics(whole('.pragma "nounroll";')) == ()


def test_the_second_of_two_directives_is_marked() -> None:
    text = whole(".entry k() .maxnreg 8 .maxnreg 0 { ret; }")
    (found,) = errors(text)
    assert found.span.start == text.rindex(".maxnreg")


@pytest.mark.parametrize(("number", "severity"), [(0x8000000000000020, Severity.WARNING), (1 << 63, Severity.ERROR)])
def test_an_assembler_reads_32_bits_of_a_negative_constant(number: int, severity: Severity, tmp_path: Path) -> None:
    text = whole(f".entry k() .maxntid {number} {{ ret; }}")
    (found,) = diagnostics(text)
    assert (found.code, found.severity) == ("PTX107", severity)
    assert accepted_by_ptxas(text, tmp_path, 0) == (severity is Severity.WARNING)
