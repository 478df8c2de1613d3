"""The names of asynchronous operations in messages."""

from __future__ import annotations

import pytest

from ptxkit import lint
from ptxkit.analysis.ir.program import ModuleContext, flatten
from ptxkit.rules.operation_nouns import operation_noun
from ptxkit.syntax import parse

HEAD = """.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p)
.reqntid 128, 1, 1
{
.reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<8>;
.shared .align 128 .b8 tile[8192];
.shared .align 8 .b8 bar[8];
"""
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %r4}, %rd1, %rd2, 1, 1, 1, 0, 0;"


@pytest.mark.parametrize(
    ("instruction", "noun"),
    [
        ("cp.async.cg.shared.global [%r1], [%rd1], 16;", "copy"),
        ("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 2048;", "copy"),
        ("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 2048, [%r2];", "copy"),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 2048;", "reduction"),
        ("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];", "store"),
        (WGMMA, "multiplication"),
        ("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;", "multiplication"),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];", "load"),
        ("tcgen05.st.sync.aligned.32x32b.x1.b32 [%r1], {%r2};", "store"),
        ("bar.sync 0;", "operation"),
    ],
)
def test_an_operation_is_named_by_its_effects(instruction: str, noun: str) -> None:
    module = parse(f"{HEAD}{instruction}\nret;\n}}\n")
    (function,) = module.functions()
    step = flatten(module, function, ModuleContext(module)).steps[0]
    assert str(operation_noun(step)) == noun


def test_an_uncommitted_multiplication_is_not_called_a_copy() -> None:
    text = f"{HEAD}mov.b64 %rd1, 4611686293338849280; mov.b64 %rd2, %rd1;\n" + "".join(
        f"mov.b32 %r{number}, 0;\n" for number in range(1, 5)
    )
    code = f"wgmma.fence.sync.aligned;\n{WGMMA}\nwgmma.wait_group.sync.aligned 0;\nret;\n}}\n"
    (found,) = (each for each in lint((text + code).replace("sm_100a", "sm_90a")).diagnostics if each.code == "PTX301")
    assert found.message.startswith("this multiplication is never committed to a group: ")
    assert found.help == (
        "add `wgmma.commit_group.sync.aligned;` after the last multiplication of a stage, in the threads that issue it"
    )
