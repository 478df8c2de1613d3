"""The table of transfers: each column compared with correct kernels whose text determines the lines.

`tests/corpus/test_compilers.py` checks for all of them whether each transfer is waited for.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxkit import parse
from ptxkit.analysis.inventory.transfer_table import collect_transfers
from ptxkit.model.transfer import Completion, Fence, Transfer, TransferTable, Unit, Wait
from tests.analysis.support import module_of

CORPUS = Path(__file__).resolve().parents[3] / "corpus"


class Kernel:
    """A file of the corpus: its rows, and its lines by their contents."""

    def __init__(self, name: str) -> None:
        self.text = (CORPUS / name).read_text("utf-8")
        self.table: TransferTable = collect_transfers(parse(self.text, name))

    def rows(self, function: str = "") -> list[Transfer]:
        return [row for kernel in self.table.kernels if function in ("", kernel.name) for row in kernel.transfers]

    def lines(self, pattern: str) -> list[int]:
        """Returns the numbers of the lines that match a pattern, without comments."""
        lines = (line.partition("//")[0] for line in self.text.splitlines())
        return [number for number, line in enumerate(lines, 1) if re.search(pattern, line)]

    def line(self, pattern: str) -> int:
        (found,) = self.lines(pattern)
        return found


def rows_of(body: str, **more: str) -> list[Transfer]:
    """Returns the rows of a kernel with that body."""
    (kernel,) = collect_transfers(module_of(body, **more)).kernels
    return list(kernel.transfers)


def route(row: Transfer) -> tuple[str, str, str, Unit, int | None]:
    return row.operation, row.source, row.destination, row.unit, row.size.number


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cp_async_one_stage.sm_80", {("copy", "global", "shared", Unit.LDGSTS, 16)}),
        ("bulk_rows.sm_90a", {("copy", "global", "shared", Unit.BULK, 256)}),
        (
            "bulk_add_one.sm_90",
            {("copy", "global", "shared", Unit.BULK, 4096), ("copy", "shared", "global", Unit.BULK, 4096)},
        ),
        ("bulk_reduce_add.sm_90", {("reduction", "shared", "global", Unit.BULK, 1024)}),
        ("dsmem_copy.sm_90", {("copy", "shared", "cluster", Unit.BULK, 1024)}),
        ("st_async_exchange.sm_90", {("copy", "registers", "cluster", Unit.REMOTE, 4)}),
        ("multicast_cluster.sm_90a", {("copy", "global", "cluster", Unit.TENSOR, None)}),
        ("ring_setmaxnreg.sm_90a", {("copy", "global", "shared", Unit.TENSOR, None)}),
        ("stmatrix_tma_store.sm_90a", {("copy", "shared", "global", Unit.TENSOR, None)}),
        ("cluster_launch_control.sm_100a", {("response", "response", "shared", Unit.SCHEDULER, 16)}),
    ],
)
def test_each_transfer_has_its_route_unit_and_bytes(name: str, expected: set[object]) -> None:
    rows = [row for row in Kernel(f"kernels/{name}.ptx").rows() if row.unit != Unit.PLAIN]
    assert {route(row) for row in rows} == expected


def test_tensor_memory_is_copied_to_registers_by_the_tensor_core() -> None:
    kernel = Kernel("kernels/tcgen05_product.sm_100a.ptx")
    (row,) = [row for row in kernel.rows() if row.unit == Unit.TENSOR_CORE]
    assert route(row) == ("copy", "tensor", "registers", Unit.TENSOR_CORE, 128)
    assert row.waits == (Wait(kernel.line(r"tcgen05\.wait::ld")),)


def test_the_map_determines_the_box_of_each_tensor_rank() -> None:
    rows = Kernel("kernels/tensor_copies.sm_90a.ptx").rows()
    assert {(row.unit, row.size.number, row.size.depends_on) for row in rows if row.unit != Unit.PLAIN} == {
        (Unit.TENSOR, None, "the box of the tensor map")
    }


def test_a_group_is_closed_and_waited_for_with_groups_pending() -> None:
    kernel = Kernel("kernels/hand_double_buffer.sm_80.ptx")
    first, second = kernel.rows()
    newer_pending, last = Wait(kernel.line(r"wait_group 1"), pending=1), Wait(kernel.line(r"wait_group 0"), pending=0)
    assert (first.completion.mechanism, first.completion.object) == ("group", None)
    assert [first.completion.lines, second.completion.lines] == [(line,) for line in kernel.lines(r"commit_group")]
    assert first.waits == (newer_pending,)
    assert second.waits == (newer_pending, last)


def test_wait_all_closes_the_group_itself() -> None:
    kernel = Kernel("kernels/cp_async_wait_all.sm_80.ptx")
    row = kernel.rows()[0]
    line = kernel.line(r"cp\.async\.wait_all")
    assert (row.completion, row.waits) == (Completion("group", None, (line,)), (Wait(line, 0),))


def test_an_arrival_makes_an_mbarrier_track_the_copies_before_it() -> None:
    kernel = Kernel("kernels/cp_async_mbarrier.sm_80.ptx")
    arrive, wait = kernel.line(r"cp\.async\.mbarrier\.arrive"), kernel.line(r"(try|test)_wait")
    copies = [row for row in kernel.rows() if row.unit == Unit.LDGSTS]
    assert {row.completion for row in copies} == {Completion("mbarrier", "bar", (arrive,))}
    assert {row.waits for row in copies} == {(Wait(wait),)}


def test_a_bulk_load_is_waited_for_on_its_mbarrier_by_the_threads_that_use_it() -> None:
    kernel = Kernel("kernels/ring_one_producer.sm_90.ptx")
    (row,) = [row for row in kernel.rows() if row.unit == Unit.BULK]
    consumers = kernel.lines(r"try_wait")[-1:]
    assert row.completion == Completion("mbarrier", "full[0..3]")
    assert [wait.line for wait in row.waits] == consumers


def test_a_bulk_store_is_waited_for_until_its_source_is_read() -> None:
    kernel = Kernel("kernels/bulk_add_one.sm_90.ptx")
    row = kernel.rows()[-1]
    assert row.completion == Completion("bulk group", None, (kernel.line(r"bulk\.commit_group"),))
    assert row.waits == (Wait(kernel.line(r"wait_group\.read"), 0, reads_only=True),)


def test_a_bulk_store_after_generic_writes_names_the_fence_and_a_write() -> None:
    kernel = Kernel("kernels/bulk_add_one.sm_90.ptx")
    (fence,) = kernel.rows()[-1].fences
    assert (fence.line, fence.between) == (kernel.line(r"fence\.proxy\.async"), "generic and async")
    assert fence.other in kernel.lines(r"st\.shared")


def test_a_missing_fence_is_shown_in_the_table() -> None:
    text = (CORPUS / "kernels/bulk_add_one.sm_90.ptx").read_text("utf-8").replace("fence.proxy.async", "//")
    (table,) = collect_transfers(parse(text, "k.ptx")).kernels
    assert [fence.line for fence in table.transfers[-1].fences] == [None]


def test_copies_that_matrix_instructions_read_name_their_fence() -> None:
    kernel = Kernel("compilers/triton/matmul_s3.sm_90a.ptx")
    copies = [row for row in kernel.rows() if row.unit == Unit.LDGSTS]
    fence = kernel.line(r"fence\.proxy\.async")
    assert {tuple(each.line for each in row.fences) for row in copies} == {(fence,)}


def test_loads_by_the_bulk_engine_need_no_fence() -> None:
    assert {row.fences for row in Kernel("kernels/wgmma_tma.sm_90a.ptx").rows() if row.unit == Unit.TENSOR} == {()}


def test_a_changed_tensor_map_names_the_fence_that_acquires_it() -> None:
    kernel = Kernel("kernels/tensormap_replace.sm_90a.ptx")
    (row,) = [row for row in kernel.rows() if row.unit == Unit.TENSOR]
    acquire = kernel.line(r"fence\.proxy\.tensormap::generic\.acquire")
    assert row.fences == (Fence(acquire, "tensormap"),)


def test_a_fence_for_another_tensor_map_is_not_named() -> None:
    acquire = "fence.proxy.tensormap::generic.acquire.gpu [%%rd1+%d], 128;\n"
    copy = "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%%rd%d, {%%r2}], [%%r1];\n"
    head = ".shared .align 128 .b8 tile[128]; mov.u32 %r1, tile; ld.param.u64 %rd1, [p]; add.s64 %rd2, %rd1, 128;\n"
    tail = "mov.u32 %r2, 0; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
    text = head + acquire % 0 + acquire % 128 + copy % 1 + copy % 2 + tail
    first, second = ([fence.line for fence in row.fences] for row in rows_of(text, parameters=".param .u64 p"))
    assert len(first) == len(second) == 1
    assert second[0] == first[0] + 1


def test_a_copy_that_may_fill_with_zeros_has_that_number() -> None:
    some, none, unknown, ignored = rows_of(
        ".shared .align 16 .b8 tile[64]; ld.param.u64 %rd1, [p]; mov.u32 %r1, tile; setp.eq.u32 %p1, %r9, 0;"
        "cp.async.ca.shared.global [%r1], [%rd1], 16, 12; cp.async.ca.shared.global [%r1+16], [%rd1], 16, 16;"
        "cp.async.ca.shared.global [%r1+32], [%rd1], 16, %r2; cp.async.ca.shared.global [%r1+48], [%rd1], 16, %p1;",
        parameters=".param .u64 p",
    )
    assert [row.size.zeros for row in (some, none, unknown, ignored)] == [4, 0, None, None]


COPY = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], {size}, [%r2];"
BULK = (
    ".shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bar; ld.param.u64 %rd1, [p]; ld.param.u32 %r3, [n];"
    "mov.u32 %r1, tile; mov.u32 %r2, bar; mov.u32 %r4, %ntid.x; shl.b32 %r5, %r4, 4; mov.u32 %r6, 512;"
)


@pytest.mark.parametrize(
    ("size", "bounds", "number", "words"),
    [
        ("64", "", 64, ""),
        ("%r6", "", 512, ""),
        ("%r3", "", None, "by n"),
        ("%r5", "", None, "by %ntid.x"),
        ("%r5", ".reqntid 32", 512, ""),
    ],
)
def test_bytes_are_a_number_only_where_no_launch_can_change_it(
    size: str, bounds: str, number: int | None, words: str
) -> None:
    (row,) = rows_of(BULK + COPY.format(size=size), bounds=bounds, parameters=".param .u64 p, .param .u32 n")
    assert (row.size.number, row.size.depends_on) == (number, words)


def test_a_prefetch_goes_to_the_cache_and_has_no_completion() -> None:
    (row,) = rows_of("cp.async.bulk.prefetch.L2.global [%rd1], 64;")
    assert route(row) == ("prefetch", "global", "L2", Unit.BULK, 64)
    assert row.completion == Completion("nothing")


def test_a_copy_at_a_multimem_address_is_marked_and_a_plain_one_is_not() -> None:
    tail = "async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64;"
    module = f".shared .align 16 .b8 t[64]; mov.u32 %r1, t; multimem.cp.{tail} cp.{tail}"
    assert [row.destination for row in rows_of(module)] == ["multimem", "global"]


def test_unreached_code_is_listed_as_such() -> None:
    guarded = "mov.u32 %r1, 0; setp.ne.u32 %p1, %r1, 0; @!%p1 bra done; {copy} done: ret;"
    (row,) = rows_of(guarded.format(copy="cp.async.bulk.prefetch.L2.global [%rd1], 64;"))
    assert not row.reached
    (row,) = rows_of("cp.async.bulk.prefetch.L2.global [%rd1], 64;")
    assert row.reached


def test_an_uncalled_function_has_a_separate_table() -> None:
    function = ".func f() { .reg .b64 %rd<3>; cp.async.bulk.prefetch.L2.global [%rd1], 64; ret; }"
    kernel, other = collect_transfers(module_of("ret;", before=function)).kernels
    assert (kernel.name, kernel.transfers) == ("k", ())
    assert (other.name, other.kind, [row.reached for row in other.transfers]) == ("f", "func", [False])


def test_a_called_function_belongs_to_the_kernel() -> None:
    function = ".func f() { .reg .b64 %rd<3>; cp.async.bulk.prefetch.L2.global [%rd1], 64; ret; }"
    (kernel,) = collect_transfers(module_of("call f;", before=function)).kernels
    assert [row.reached for row in kernel.transfers] == [True]


def test_a_built_module_is_listed_by_the_lines_of_its_text() -> None:
    module = module_of("cp.async.bulk.prefetch.L2.global [%rd1], 64;")
    built = type(module)(module.items)
    (kernel,) = collect_transfers(built).kernels
    (row,) = kernel.transfers
    assert "prefetch" in str(built).splitlines()[row.line - 1]
