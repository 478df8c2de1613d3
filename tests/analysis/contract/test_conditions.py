"""Each kind of condition: the launches that satisfy it run without an error, and one that does not fails."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.model.launch_contract import BlockLimits, ConditionScope, ProposedLaunch
from tests.analysis.contract.support import conditions_of, contract_of, run_kernel, sentences_of, text_of

POINTER = ".param .u64 p"
BULK = """
.shared .align 128 .b8 tile[256]; .shared .align 8 .b64 bar;
ld.param.u64 %rd1, [p]; SHIFT
SIZE
mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, bar; mov.u32 %r3, tile;
@%p1 bra $wait;
mbarrier.init.shared::cta.b64 [%r2], 1;
fence.proxy.async.shared::cta;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r5;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], %r5, [%r2];
$wait: bar.sync 0;
$again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
@!%p2 bra $again;
"""


def bulk_copy(shift: str = "", size: str = "mov.u32 %r5, 64;", parameters: str = POINTER) -> str:
    return text_of(BULK.replace("SHIFT", shift).replace("SIZE", size), parameters=parameters)


def test_a_bulk_copy_needs_an_aligned_pointer() -> None:
    [condition] = conditions_of(bulk_copy())
    assert condition.sentence == "Parameter 0, `p`, must be a multiple of 16 bytes."
    assert condition.scope is ConditionScope.LAUNCH
    data = numpy.zeros(64, numpy.uint32)
    assert run_kernel(bulk_copy(), data).is_clean
    assert [each.code for each in run_kernel(bulk_copy("add.u64 %rd1, %rd1, 8;"), data).findings] == ["PTX205"]


def test_an_offset_of_the_kernel_is_part_of_the_condition() -> None:
    assert sentences_of(bulk_copy("add.u64 %rd1, %rd1, 24;")) == [
        "Parameter 0, `p`, must be 8 more than a multiple of 16 bytes."
    ]


def test_a_size_must_be_a_multiple_of_16() -> None:
    text = bulk_copy(size="ld.param.u32 %r5, [n];", parameters=f"{POINTER}, .param .u32 n")
    assert "Parameter 1, `n`, must be a multiple of 16." in sentences_of(text)
    data = numpy.zeros(64, numpy.uint32)
    assert run_kernel(text, data, 48).is_clean
    assert [each.code for each in run_kernel(text, data, 40).findings] == ["PTX206"]


def test_a_number_of_elements_is_a_multiple_of_a_part_of_16() -> None:
    size = "ld.param.u32 %r6, [n]; shl.b32 %r5, %r6, 2;"
    text = bulk_copy(size=size, parameters=f"{POINTER}, .param .u32 n")
    assert "Parameter 1, `n`, must be a multiple of 4." in sentences_of(text)
    data = numpy.zeros(64, numpy.uint32)
    assert run_kernel(text, data, 12).is_clean
    assert [each.code for each in run_kernel(text, data, 13).findings] == ["PTX206"]


def test_a_condition_of_a_line_that_arguments_guard_names_the_line() -> None:
    text = text_of(
        """
        ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra $end;
        ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
        $end:
        """,
        parameters=f"{POINTER}, .param .u32 n",
    )
    [condition] = conditions_of(text)
    assert condition.scope is ConditionScope.LINE
    assert condition.sentence == ("Where this line is executed, parameter 0, `p`, must be a multiple of 16 bytes.")
    data = numpy.zeros(64, numpy.uint32)
    assert run_kernel(text.replace("[p];", "[p]; add.u64 %rd1, %rd1, 4;"), data, 0).is_clean


@pytest.mark.parametrize(
    "address",
    [
        "ld.param.u64 %rd2, [q]; add.u64 %rd1, %rd1, %rd2;",
        "and.b64 %rd1, %rd1, -16;",
        "ld.global.u64 %rd1, [%rd1];",
        "setp.ne.u64 %p1, %rd1, 0; @%p1 add.u64 %rd1, %rd1, 8;",
    ],
)
def test_nothing_follows_from_an_address_that_is_not_the_pointer_plus_a_known_multiple(address: str) -> None:
    text = text_of(
        f"ld.param.u64 %rd1, [p]; {address} ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd1];",
        parameters=f"{POINTER}, .param .u64 q",
    )
    assert conditions_of(text) == []


def test_a_part_of_a_structure_is_named_by_its_offset() -> None:
    text = text_of(
        "ld.param.u64 %rd1, [s+8]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
        parameters=".param .align 8 .b8 s[16]",
    )
    assert sentences_of(text) == ["Byte 8 of parameter 0, `s`, must be a multiple of 16 bytes."]


def test_a_declared_alignment_is_a_declared_condition() -> None:
    text = text_of(
        "ld.param.u64 %rd1, [p]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
        parameters=".param .u64 .ptr .global .align 16 p",
    )
    assert conditions_of(text) == []
    assert [each.sentence for each in contract_of(text).conditions] == [
        "The block must have exactly 32 threads.",
        "Parameter 0, `p`, must be a multiple of 16 bytes.",
    ]


DYNAMIC = ".extern .shared .align 16 .b8 smem[];"


def test_dynamic_shared_memory_reaches_to_the_last_certain_access() -> None:
    text = text_of(
        """
        mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 4; mov.u32 %r2, smem; add.u32 %r2, %r2, %r1;
        st.shared.u32 [%r2+512], %r1;
        """,
        before=DYNAMIC,
    )
    assert sentences_of(text) == ["The launch must provide at least 1012 bytes of dynamic shared memory."]
    assert run_kernel(text, shared=1012).is_clean
    assert [each.code for each in run_kernel(text, shared=1008).findings] == ["PTX207"]


def test_dynamic_shared_memory_of_an_unknown_block_is_that_of_the_first_thread() -> None:
    text = text_of(
        """
        mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 4; mov.u32 %r2, smem; add.u32 %r2, %r2, %r1;
        st.shared.u32 [%r2+512], %r1;
        """,
        before=DYNAMIC,
        bounds="",
    )
    assert sentences_of(text) == ["The launch must provide at least 516 bytes of dynamic shared memory."]


def test_an_access_at_an_index_from_data_needs_no_bytes() -> None:
    text = text_of(
        """
        ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; mov.u32 %r2, smem; add.u32 %r2, %r2, %r1;
        st.shared.u32 [%r2+512], %r1;
        """,
        parameters=POINTER,
        before=DYNAMIC,
    )
    assert conditions_of(text) == []


def test_an_mbarrier_and_a_bulk_copy_align_the_start_of_dynamic_shared_memory() -> None:
    text = text_of(
        "mov.u32 %r2, smem; mbarrier.init.shared::cta.b64 [%r2+64], 1;",
        before=".extern .shared .align 4 .b8 smem[];",
    )
    assert sentences_of(text) == [
        "The launch must provide at least 72 bytes of dynamic shared memory.",
        "Dynamic shared memory must begin at a multiple of 8 bytes.",
    ]


REMOTE = """
.shared .align 8 .b64 word; mov.u32 %r1, %tid.x; mov.u32 %r2, word; mapa.shared::cluster.u32 %r3, %r2, RANK;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
setp.eq.u32 %p1, %r1, 0; mov.u32 %r4, %cluster_ctarank; setp.eq.and.u32 %p1, %r4, 0, %p1;
@%p1 st.shared::cluster.u32 [%r3], %r1;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
"""


def test_a_constant_rank_needs_a_cluster_that_has_it() -> None:
    text = text_of(REMOTE.replace("RANK", "2"))
    assert sentences_of(text) == ["The cluster must have at least 3 CTAs."]
    assert run_kernel(text, grid=4, cluster=4).is_clean
    assert run_kernel(text, grid=2, cluster=2).findings != ()


def test_rank_0_and_a_declared_cluster_that_is_large_enough_need_nothing() -> None:
    assert sentences_of(text_of(REMOTE.replace("RANK", "0"))) == []
    declared = text_of(REMOTE.replace("RANK", "2"), bounds=".reqntid 32\n.reqnctapercluster 4")
    assert sentences_of(declared) == []


def test_a_mask_of_a_multicast_needs_a_cluster_that_has_its_highest_cta() -> None:
    text = bulk_copy(size="mov.u32 %r5, 64; mov.u16 %h1, 9;").replace(
        "mbarrier::complete_tx::bytes [%r3], [%rd1], %r5, [%r2];",
        "mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%rd1], %r5, [%r2], %h1;",
    )
    assert "The cluster must have at least 4 CTAs." in sentences_of(text)


ROLES = """
.shared .align 8 .b64 bar; mov.u32 %r2, bar; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra $ready;
mbarrier.init.shared::cta.b64 [%r2], 64;
$ready: bar.sync 0;
mbarrier.arrive.shared::cta.b64 _, [%r2];
$again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
@!%p2 bra $again;
"""


def test_the_count_of_an_mbarrier_excludes_numbers_of_threads() -> None:
    text = text_of(ROLES, bounds="")
    excess, missing = (each.requirement for each in conditions_of(text))
    assert isinstance(excess, BlockLimits)
    assert isinstance(missing, BlockLimits)
    assert (missing.failing, missing.possible, missing.code) == ((32,), (64,), "PTX504")
    assert missing.clause() == (
        "the block must not have 32 threads, with which PTX504 occurs; no error occurs with 64, and no other number "
        "was tried"
    )
    assert excess.failing == (96, 128, 192, 256, 512, 1024)
    for size in (32, 64, 128):
        outcome = run_kernel(text, block=size)
        assert outcome.is_clean == (size == 64), size
        assert bool(outcome.findings) == (size in (*excess.failing, *missing.failing)), size


NAMED = """
mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 64; @%p1 bra $end;
bar.sync 1, 64;
$end: bar.sync 0;
"""


def test_a_named_barrier_excludes_blocks_that_are_too_small() -> None:
    text = text_of(NAMED, bounds="")
    [condition] = conditions_of(text)
    assert condition.scope is ConditionScope.LAUNCH
    assert condition.sentence.startswith("The block must not have 32 threads, with which PTX601 occurs; no error ")
    assert condition.requirement.is_broken_by(ProposedLaunch(block=(32, 1, 1)))
    assert not condition.requirement.is_broken_by(ProposedLaunch(block=(64, 1, 1)))
    assert not run_kernel(text, block=32).is_clean
    assert run_kernel(text, block=64).is_clean
    assert run_kernel(text, block=128).is_clean


def test_a_declared_block_is_not_tried() -> None:
    declared = contract_of(text_of(ROLES, bounds=".reqntid 64"))
    assert [each.sentence for each in declared.conditions] == ["The block must have exactly 64 threads."]


def test_declared_limits_of_block_and_cluster() -> None:
    text = text_of("", bounds=".maxntid 16, 8\n.maxclusterrank 8")
    assert [each.sentence for each in contract_of(text).conditions] == [
        "The block must have at most 128 threads.",
        "The cluster must have at most 8 CTAs.",
    ]


MAPS = """
.shared .align 128 .b8 tile[2048]; .shared .align 8 .b64 bar; mov.u64 %rd1, map; cvta.param.u64 %rd1, %rd1;
mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, bar; mov.u32 %r3, tile; mov.u32 %r4, 0;
@%p1 bra $wait;
mbarrier.init.shared::cta.b64 [%r2], 1;
fence.proxy.async.shared::cta;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 2048;
cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r3], [%rd1, {%r4, %r4}], [%r2];
$wait: bar.sync 0;
$again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
@!%p2 bra $again;
"""


def test_a_tensor_map_has_the_dimensions_of_the_copy_and_the_expected_bytes() -> None:
    from ptxkit.emulator import TensorMapArgument

    text = text_of(MAPS, parameters=".param .align 64 .b8 map[128]")
    assert sentences_of(text) == [
        "Parameter 0, `map`, must be a 2-dimensional tensor map in tiled mode, for loads, with boxes of 2048 bytes."
    ]
    array = numpy.zeros((64, 64), numpy.float32)
    assert run_kernel(text, TensorMapArgument.tiled(array, box=(32, 16))).is_clean
    assert not run_kernel(text, TensorMapArgument.tiled(array, box=(32, 8))).is_clean
    line = run_kernel(text, TensorMapArgument.tiled(numpy.zeros(4096, numpy.float32), box=(256,)))
    assert [str(each.message) for each in line.findings] == [
        "a copy of 2 dimensions uses a tensor map of 1: pass a map of as many dimensions"
    ]


def test_the_address_of_a_tensor_map_must_be_a_multiple_of_64() -> None:
    text = text_of(
        MAPS.replace("mov.u64 %rd1, map; cvta.param.u64 %rd1, %rd1;", "ld.param.u64 %rd1, [map];"),
        parameters=".param .u64 map",
    )
    assert sentences_of(text) == [
        "Parameter 0, `map`, must be a multiple of 64 bytes.",
        "Parameter 0, `map`, must be the address of a 2-dimensional tensor map in tiled mode, for loads, "
        "with boxes of 2048 bytes.",
    ]


GRID_BARRIER = """
ld.param.u64 %rd1, [p]; mov.u32 %r5, %nctaid.x; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra $end;
red.release.gpu.global.add.u32 [%rd1], 1;
$spin: ld.acquire.gpu.global.u32 %r2, [%rd1];
setp.ne.u32 %p2, %r2, %r5; @%p2 bra $spin;
$end:
"""


def test_a_barrier_of_the_grid_needs_all_ctas_at_the_same_time() -> None:
    [condition] = conditions_of(text_of(GRID_BARRIER, parameters=POINTER))
    assert condition.sentence == (
        "Where this line is executed, the CTAs for which this line waits must be resident at the same time as the "
        "waiting one."
    )


def test_a_flag_that_another_kernel_sets_needs_no_residency() -> None:
    text = text_of(GRID_BARRIER.replace("red.release.gpu.global.add.u32 [%rd1], 1;", ""), parameters=POINTER)
    assert conditions_of(text) == []
