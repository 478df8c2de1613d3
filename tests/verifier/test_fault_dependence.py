"""The faults of the kernel itself, and those of the arguments that were inferred for it."""

from __future__ import annotations

import pytest

from ptxkit.diagnostics import Severity
from ptxkit.results import FileResult, Status
from ptxkit.source import SourceFile
from ptxkit.verifier import VerifyRequest, parse_argument, verify_source

HEAD = """.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 n) DIRECTIVES
{
	.reg .pred %p<4>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	.shared .align 128 .b8 tile[256];
	.shared .align 8 .b64 bar;
	mov.u32 %r1, %tid.x;
	setp.eq.u32 %p1, %r1, 0;
	mov.u32 %r2, tile;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r3, [n];
"""
PAIR = ".reqntid 64 .reqnctapercluster 2"


def verify_text(body: str, directives: str = PAIR, **request: object) -> FileResult:
    text = HEAD.replace("DIRECTIVES", directives) + body + "\n\tret;\n}\n"
    return verify_source(SourceFile("k.ptx", text), VerifyRequest(schedules=2, **request))  # type: ignore[arg-type]


def find_all(result: FileResult) -> dict[str, str]:
    return {each.code: each.severity for each in result.diagnostics if "witness" in each.properties}


MAPA = """	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	mov.u32 %r4, %cluster_ctarank;
	RANK
	mapa.shared::cluster.u32 %r5, %r2, %r4;
	@%p1 st.shared::cluster.u32 [%r5], %r1;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;"""
GENERIC = "\tmov.u64 %rd2, tile;\n\tmapa.u64 %rd3, %rd2, 0;\n\t@%p1 st.u32 [%rd3], %r1;"
MAP = """	mov.u32 %r4, bar;
	@%p1 mbarrier.init.shared.b64 [%r4], 1;
	mov.u64 %rd2, tile;
	cvta.shared.u64 %rd2, %rd2;
	mov.u32 %r5, 0;
	@%p1 cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r5}], [%r4];"""


BOX = """	mov.u64 %rd2, map;
	cvta.param.u64 %rd2, %rd2;
	mov.u32 %r4, bar;
	mov.u32 %r5, 0;
	@%p1 mbarrier.init.shared.b64 [%r4], 1;
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 128;
	bar.sync 0;
	@%p1 cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r5}], [%r4];
WAIT:
	mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0;
	@!%p3 bra WAIT;
"""
COPIED_MAP = """	mov.u32 %r4, bar;
	@%p1 mbarrier.init.shared.b64 [%r4], 1;
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 128;
	setp.lt.u32 %p2, %r1, 32;
	mul.wide.u32 %rd4, %r1, 4;
	mov.u64 %rd3, map;
	add.u64 %rd5, %rd3, %rd4;
	mov.u64 %rd6, COPY;
	add.u64 %rd6, %rd6, %rd4;
	@%p2 ld.param.u32 %r7, [%rd5];
	@%p2 st.STATE.u32 [%rd6], %r7;
	bar.sync 0;
	MOVE
	mov.u32 %r5, 0;
	@%p1 cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r5}], [%r4];
WAIT:
	mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0;
	@!%p3 bra WAIT;"""
IN_GLOBAL = COPIED_MAP.replace("COPY", "%rd1").replace("STATE", "global")
IN_SHARED = COPIED_MAP.replace("COPY", "copy").replace("STATE", "shared")
IN_SHARED = "\t.shared .align 128 .b8 copy[128];\n\tmov.u32 %r6, copy;\n" + IN_SHARED
FENCES = (
    "fence.proxy.tensormap::generic.release.gpu; bar.sync 0; fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;"
)
REPLACE = "@%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r6], 0, 128; bar.sync 0;"
MOVE = "@%p2 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r6], 128;"


@pytest.mark.parametrize(
    ("body", "misses_fence"),
    [
        (IN_GLOBAL.replace("MOVE", ""), True),
        (IN_GLOBAL.replace("MOVE", FENCES), False),
        (IN_SHARED.replace("MOVE", MOVE + "bar.sync 0;"), True),
        (IN_SHARED.replace("MOVE", MOVE + FENCES), False),
        (IN_SHARED.replace("MOVE", REPLACE + MOVE + FENCES), False),
    ],
)
def test_a_map_that_the_kernel_copies_from_a_parameter_is_inferred_and_its_uses_are_checked(
    body: str, misses_fence: bool
) -> None:
    result = verify_text(body, ".reqntid 64")
    assert result.runs[0].arguments[0].startswith("map=f16 256 in boxes of 64")
    assert result.runs[0].whole
    assert ("PTX403" in find_all(result)) == misses_fence


def test_a_given_map_is_not_an_inferred_one() -> None:
    body = BOX.replace("bar.sync 0;", "st.global.u32 [%rd1], %r1;\n\tbar.sync 0;")  # all threads write one word
    given = verify_text(body, ".reqntid 64", arguments=dict([parse_argument("map=f16[256]:box=64")]))
    assert "PTX621" in find_all(given)
    assert "PTX621" not in find_all(verify_text(body, ".reqntid 64"))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (MAPA.replace("RANK", "add.u32 %r4, %r4, 1;"), "PTX207"),
        (BOX + MAPA.replace("RANK", "add.u32 %r4, %r4, 1;"), "PTX207"),  # where boxes are inferred as well
        (GENERIC, "PTX202"),
        (MAP, "PTX208"),
        ("\t@%p1 st.shared.u32 [%r2+2], %r3;", "PTX205"),
        ("\t@%p1 bar.sync %r2, 64;", "PTX206"),
    ],
)
def test_a_fault_that_no_argument_decides_is_an_error(body: str, code: str) -> None:
    result = verify_text(body)
    assert find_all(result).get(code) == Severity.ERROR
    assert result.runs[0].whole


@pytest.mark.parametrize(
    "body",
    [
        MAPA.replace("RANK", "mov.u32 %r4, %r3;"),  # a rank that the host gives
        MAPA.replace("RANK", "mov.u32 %r4, %nctaid.x;"),
        "\tadd.u32 %r4, %r2, %r3;\n\t@%p1 st.shared.u32 [%r4+4096], %r1;",
        "\tsetp.gt.u32 %p2, %r3, 4;\n\t@%p2 st.shared.u32 [%r2+4096], 1;",  # n decides whether it is executed
        "\tsetp.gt.u32 %p2, %r3, 4;\n\t@%p2 add.u32 %r2, %r2, 4096;\n\t@%p1 st.shared.u32 [%r2], %r1;",
        "\tld.global.u32 %r4, [%rd1];\n\tadd.u32 %r2, %r2, %r4;\n\tst.shared.u32 [%r2+4096], %r1;",
        "\tst.u32 [%rd1+0x7000000], %r1;",
    ],
)
def test_a_fault_that_an_argument_or_memory_decides_is_not_an_error_of_the_kernel(body: str) -> None:
    result = verify_text(body)
    assert Severity.ERROR not in find_all(result).values()
    assert any("9" in each for each in result.runs[0].arguments)


@pytest.mark.parametrize(
    ("place", "directives"),
    [
        ("%r1", ""),  # the first threads are within the tile
        ("%r1", ".maxntid 128"),
        ("%r6", ".reqntid 64"),
    ],
)
def test_a_fault_that_the_block_or_grid_size_decides_depends_on_the_inference(place: str, directives: str) -> None:
    body = f"\tmov.u32 %r6, %ctaid.x;\n\tmad.lo.u32 %r5, {place}, 320, %r2;\n\tst.shared.u8 [%r5], 1;"
    assert find_all(verify_text(body.replace("320", "5"), directives)) == {}
    assert Severity.ERROR not in find_all(verify_text(body, directives)).values()


MULTICAST = """	.reg .pred %p9;
	mov.u32 %r4, bar;
	@%p1 mbarrier.init.shared.b64 [%r4], 1;
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 32;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	mov.u16 %h1, 3;
	@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd1], 16,
		[%r4], %h1;
filled:
	mbarrier.try_wait.parity.shared.b64 %p9, [%r4], 0;
	@!%p9 bra filled;
	st.global.u32 [%rd1+4096], 1;"""


@pytest.mark.parametrize("body", [MULTICAST, MAPA.replace("RANK", "mov.u32 %r4, 1;")])
def test_a_fault_that_another_cta_of_the_cluster_would_prevent_is_a_question_without_a_cluster(body: str) -> None:
    body = "\t.reg .b16 %h<2>;\n" + body
    alone = verify_text(body, ".reqntid 64")
    assert alone.status is Status.UNDECIDED
    assert find_all(verify_text(body, ".reqntid 64 .reqnctapercluster 1")).keys() & {"PTX206", "PTX207"}
    assert find_all(verify_text(body, ".reqntid 64", grid=(2,))).keys() & {
        "PTX206",
        "PTX207",
    }  # a grid without clusters


def test_a_fault_of_an_inferred_cluster_depends_on_the_inference() -> None:
    result = verify_text(MAPA.replace("RANK", "add.u32 %r4, %r4, 1;"), ".reqntid 64")
    assert Severity.ERROR not in find_all(result).values()
