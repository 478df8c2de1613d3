"""Operations on multimem addresses: one device has one location, so each operation is equivalent to a plain one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.emulator import run

KERNEL = """.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 out) {{
 .reg .b64 %d<10>; .reg .b32 %r<24>; .reg .f32 %f<16>; .reg .b16 %h<8>;
 .shared .align 16 .b8 tile[64];
 ld.param.u64 %d0, [x]; ld.param.u64 %d1, [out];
 mov.u32 %r0, tile; mov.b32 %r1, 7; mov.b32 %f0, 0f40000000; mov.b64 %d5, 1;
 {body}
 ret;
}}
"""


def outputs(body: str, values: Any, version: str = "8.6", target: str = "sm_100a") -> Any:
    text = KERNEL.format(body=body, version=version, target=target)
    found = run(text, "k", block=1, arguments=[values, np.zeros(16, np.uint32)])
    assert not found.unsupported_reason, found.unsupported_reason
    assert not found.findings, found.findings
    return found.outputs


@pytest.mark.parametrize("operation", ["add", "min", "max"])
def test_a_reducing_load_returns_the_contents(operation: str) -> None:
    values = np.arange(5, 21, dtype=np.uint32)
    body = f"multimem.ld_reduce.global.{operation}.u32 %r2, [%d0+4]; st.global.u32 [%d1], %r2; "
    body += f"multimem.ld_reduce.acquire.gpu.global.{operation}.v2.f16x2 {{%r3, %r4}}, [%d0+8]; "
    body += f"st.global.v2.u32 [%d1+8], {{%r3, %r4}}; multimem.ld_reduce.global.{operation}.e4m3x4 %r5, [%d0+16]; "
    body += f"st.global.u32 [%d1+4], %r5; multimem.ld_reduce.global.{operation}.f16x2 {{%r5}}, [%d0+20]; "
    body += "st.global.u32 [%d1+16], %r5;"
    assert outputs(body, values)[1][:5].tolist() == [6, 9, 7, 8, 10]


def test_stores_and_reductions_change_the_contents() -> None:
    values = np.zeros(8, np.float32)
    body = "multimem.st.global.f32 [%d0], %f0; multimem.st.release.sys.global.v4.f32 [%d0+16], {%f0, %f0, %f0, %f0}; "
    body += "multimem.st.global.f32 [%d0+4], {%f0}; multimem.red.relaxed.sys.global.add.f32 [%d0+4], %f0; "
    body += "multimem.red.global.add.v2.f32 [%d0+16], {%f0, %f0};"
    assert outputs(body, values)[0].tolist() == [2, 4, 0, 0, 4, 4, 2, 2]
    words = np.full(4, 5, np.uint32)
    body = "multimem.red.global.max.u32 [%d0], %r1; multimem.red.global.xor.b32 [%d0+4], %r1; "
    body += "multimem.st.global.u32 [%d0+8], %r1;"
    assert outputs(body, words)[0].tolist() == [7, 2, 7, 5]


def test_a_bulk_copy_and_a_bulk_reduction_write_the_one_location() -> None:
    body = "st.shared.v4.b32 [%r0], {%r1, %r1, %r1, %r1}; fence.proxy.async.shared::cta; "
    body += "multimem.cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r0], 16; "
    body += "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0+16], [%r0], 16; "
    body += "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
    found = outputs(body, np.full(12, 3, np.uint32), "9.1")[0]
    assert found.tolist() == [7] * 4 + [10] * 4 + [3] * 4


def test_asynchronous_stores_and_additions_complete() -> None:
    body = "multimem.st.async.release.gpu.global.u32 [%d0], %r1; "
    body += "multimem.red.async.release.gpu.global.add.u64 [%d0+8], %d5;"
    found = outputs(body, np.array([3, 0, 9, 0], np.uint32), "9.3")[0]
    assert found.tolist() == [7, 0, 10, 0]
