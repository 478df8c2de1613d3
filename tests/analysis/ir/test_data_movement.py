"""The data that an instruction moves, by its effects only."""

from __future__ import annotations

import pytest

from ptxkit import parse
from ptxkit.analysis.ir.data_movement import DataMovement, data_movement_of
from ptxkit.analysis.ir.program import flatten
from ptxkit.model.transfer import Unit

MBAR = ".mbarrier::complete_tx::bytes"


def route(line: str) -> DataMovement | None:
    registers = ".reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<9>; .reg .f32 %f<9>;"
    module = parse(f".version 9.4\n.target sm_100a\n.address_size 64\n.entry k()\n{{\n{registers}\n{line}\nret;\n}}\n")
    step = flatten(module, module.function("k")).steps[0]
    assert step.match is not None, line
    return data_movement_of(step)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cp.async.ca.shared.global [%r1], [%rd1], 8;", ("copy", "global", "shared::cta", Unit.LDGSTS, "cp.async")),
        (
            f"cp.async.bulk.shared::cluster.global{MBAR} [%r1], [%rd1], 64, [%r2];",
            ("copy", "global", "shared::cluster", Unit.BULK, "mbarrier"),
        ),
        (
            f"cp.async.bulk.shared::cluster.shared::cta{MBAR} [%r1], [%r3], 64, [%r2];",
            ("copy", "shared::cta", "shared::cluster", Unit.BULK, "mbarrier"),
        ),
        (
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 64;",
            ("reduction", "shared::cta", "global", Unit.BULK, "bulk"),
        ),
        (
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1, %r2}], [%r3];",
            ("copy", "shared::cta", "global", Unit.TENSOR, "bulk"),
        ),
        (
            "cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1, {%r1, %r2}];",
            ("prefetch", "global", "L2", Unit.TENSOR, "nothing"),
        ),
        (
            f"st.async.shared::cluster{MBAR}.u32 [%r1], %r2, [%r3];",
            ("copy", "registers", "shared::cluster", Unit.REMOTE, "mbarrier"),
        ),
        (
            f"red.async.relaxed.cluster.shared::cluster{MBAR}.add.u32 [%r1], %r2, [%r3];",
            ("reduction", "registers", "shared::cluster", Unit.REMOTE, "mbarrier"),
        ),
        (
            "st.async.release.gpu.global.u32 [%rd1], %r1;",
            ("copy", "registers", "global", Unit.REMOTE, "nothing"),
        ),
        (
            f"clusterlaunchcontrol.try_cancel.async.shared::cta{MBAR}.b128 [%r1], [%r2];",
            ("response", "response", "shared::cta", Unit.SCHEDULER, "mbarrier"),
        ),
        (
            "tcgen05.cp.cta_group::1.128x256b [%r1], %rd1;",
            ("copy", "shared::cta", "tensor", Unit.TENSOR_CORE, "tcgen05"),
        ),
        (
            "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];",
            ("copy", "tensor", "registers", Unit.TENSOR_CORE, "tcgen05.ld"),
        ),
        (
            "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};",
            ("copy", "registers", "tensor", Unit.TENSOR_CORE, "tcgen05.st"),
        ),
    ],
)
def test_a_transfer_has_a_route(line: str, expected: tuple[str, str, str, Unit, str]) -> None:
    found = route(line)
    assert found is not None
    assert (found.operation, found.source, found.destination, found.unit, found.completion) == expected


@pytest.mark.parametrize(
    "line",
    [
        "ld.global.u32 %r1, [%rd1];",
        "st.shared.u32 [%r1], %r2;",
        "atom.global.add.u32 %r1, [%rd1], 1;",
        "cp.async.commit_group;",
        "cp.async.bulk.wait_group 0;",
        "mbarrier.init.shared.b64 [%r1], 1;",
        "fence.proxy.async;",
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r3, %p1;",
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r2], %rd2, %r3, %p1;",
    ],
)
def test_computation_synchronization_and_synchronous_accesses_have_none(line: str) -> None:
    assert route(line) is None
