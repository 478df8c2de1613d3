"""Asynchronous copies, barriers and multiplications: lines that an assembler accepts, and lines that it rejects.

Each line is checked with ptxkit and the newest ptxas, with PTX 9.4 unless the line specifies otherwise.
"""

from __future__ import annotations

import pytest

from ptxkit.isa.harness_module import harness_module
from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.oracles.ptxas import installed_ptxas

BULK = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
TENSOR = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
MMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f32_1, %f32_2, %f32_3, %f32_4}, %b64_1, %b64_2"
COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
BITS = "s32.b1.b1.s32 {%s32_1, %s32_2}, {%b32_1}, {%b32_2}, {%s32_3, %s32_4};"
F32 = "{%f32_1, %f32_2, %f32_3, %f32_4}"
TF32 = f"f32.tf32.tf32.f32 {F32}, {{%b32_1, %b32_2, %b32_3, %b32_4}}, {{%b32_1, %b32_2}}, {F32};"

ACCEPTED = [
    ("sm_90", "cp.async.cg.shared.global [%b32_1], [%b64_1], 16;"),
    ("sm_90", "cp.async.ca.shared.global [%b32_1], [%b64_1], 4, 2;"),
    ("sm_90", f"{BULK} [%b32_1], [%b64_1], 1048560, [%b32_2];"),
    ("sm_90", f"{BULK}.multicast::cluster [%b32_1], [%b64_1], 16, [%b32_2], 65535;"),
    ("sm_90", f"{TENSOR} [%b32_1], [%b64_1, {{%b32_3, %b32_4}}], [%b32_2];"),
    ("sm_100a", f"{TENSOR}.cta_group::2 [%b32_1], [%b64_1, {{%b32_3, 0}}], [%b32_2];"),
    ("sm_90a", "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%b32_1], 4, %b32_2;"),
    ("sm_90", "mbarrier.arrive.shared::cta.b64 _, [%b32_1], 1;"),
    ("sm_90", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%b32_1];"),
    ("sm_90", "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %pred_1, [%b32_1], 1, 100;"),
    ("sm_90", "fence.proxy.tensormap::generic.acquire.gpu [%b64_1], 128;"),
    ("sm_90", "fence.acquire.sync_restrict::shared::cluster.cluster;"),
    ("sm_90a", f"{MMA}, 1, -1, 1, 0, 1;"),
    ("sm_90a", "wgmma.wait_group.sync.aligned 7;"),
    ("sm_100a", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%b32_1], 512;"),
    ("sm_100a", "tcgen05.ld.sync.aligned.16x128b.x1.b32 {%b32_1, %b32_2}, [%b32_3];"),
    ("sm_100a", f"{COMMIT}.multicast::cluster.b64 [%b32_1], 3;"),
    ("sm_100a", "fabric.submit;"),
    (
        "sm_90",
        f"mma.sync.aligned.m16n8k8.row.col.{TF32}",
    ),
    (
        "sm_90",
        f"wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.{BITS}",
    ),
    (
        "sm_90",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f64_1, %f64_5}, {%f64_2}, {%f64_3}, {%f64_4, %f64_1};",
    ),
]

REFUSED = [
    ("sm_90", "cp.async.cg.shared.global [%b32_1], [%b64_1], 8;", "`.cg` copies 16 bytes"),
    ("sm_90", "cp.async.ca.shared.global [%b32_1], [%b64_1], 4, 5;", "more bytes than there are"),
    ("sm_90", "cp.async.ca.global.shared [%b32_1], [%b64_1], 4;", "state spaces keep their order"),
    ("sm_90", f"{BULK} [%b32_1], [%b64_1], 8, [%b32_2];", "sizes are multiples of 16"),
    ("sm_90", f"{BULK} [%b32_1], [%b64_1], %f32_1, [%b32_2];", "a size is an integer"),
    ("sm_90", f"{BULK}.multicast::cluster [%b32_1], [%b64_1], 16, [%b32_2], 65536;", "a mask of 16 bits"),
    ("sm_90", f"{BULK}.multicast::cluster [%b32_1], [%b64_1], 16, [%b32_2];", "a multicast needs a mask"),
    ("sm_90", f"{TENSOR} [%b32_1], [%b64_1, {{%b32_3}}], [%b32_2];", "two dimensions, two coordinates"),
    ("sm_90", f"{TENSOR}.cta_group::2 [%b32_1], [%b64_1, {{%b32_3, 0}}], [%b32_2];", "pairs of CTAs came later"),
    ("sm_90a", "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%b32_1], 5, %b32_2;", "five dimensions"),
    ("sm_90a", "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%b32_1], 2;", "two ways to fill"),
    ("sm_90", "mbarrier.arrive.shared::cta.b64 _, [%b32_1], 0;", "at least one arrival"),
    ("sm_90", "mbarrier.arrive.shared::cluster.b64 %b64_1, [%b32_1];", "a remote barrier gives no state"),
    ("sm_90", "fence.proxy.tensormap::generic.acquire.gpu [%b64_1], 64;", "a tensor map has 128 bytes"),
    ("sm_90a", f"{MMA}, 1, 0, 1, 0, 1;", "a factor is 1 or -1"),
    ("sm_90a", f"{MMA}, 1, -1, 1, 0, 2;", "transposed or not"),
    ("sm_100a", f"{MMA}, 1, -1, 1, 0, 1;", "only on sm_90a"),
    ("sm_90a", "wgmma.wait_group.sync.aligned -1;", "no negative number of groups"),
    ("sm_100a", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%b32_1], 48;", "powers of two"),
    ("sm_100", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%b32_1], 512;", "not on a target for all"),
    ("sm_100a", "tcgen05.ld.sync.aligned.16x128b.x1.b32 {%b32_1}, [%b32_3];", "two words for each repetition"),
    ("sm_100a", f"{COMMIT}.multicast::cluster.b64 [%b32_1], 65536;", "a mask of 16 bits"),
    ("sm_90", "fabric.submit;", "came with sm_100"),
    (
        "sm_90",
        f"mma.sync.aligned.m16n8k8.col.row.{TF32}",
        "A by rows, B by columns",
    ),
    (
        "sm_90",
        f"wmma.mma.popc.xor.sync.aligned.row.col.m8n8k128.{BITS}",
        "first the operation, then the count",
    ),
]


def refusal_by_ptxas(text: str, target: str) -> str | None:
    newest, *_ = installed_ptxas()
    return newest.refusals([harness_module([text], (9, 4), target)], target).get(0)


@pytest.mark.parametrize(("target", "text"), ACCEPTED)
def test_a_correct_line_is_accepted(target: str, text: str) -> None:
    assert ptxkit_refusal(harness_module([text], (9, 4), target)) is None
    assert refusal_by_ptxas(text, target) is None


@pytest.mark.parametrize(("target", "text"), [pytest.param(*line, id=why) for *line, why in REFUSED])
def test_a_wrong_line_is_rejected(target: str, text: str) -> None:
    assert ptxkit_refusal(harness_module([text], (9, 4), target)) is not None
    assert refusal_by_ptxas(text, target) is not None
