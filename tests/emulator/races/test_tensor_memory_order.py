"""The permitted accesses to Tensor Memory: the patterns of the ISA, and each with a missing step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxkit.emulator import POLICIES, run

KERNEL = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out) {{
 .reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<4>;
 .shared .align 1024 .b8 tile[8192];
 .shared .align 8 .b64 bars[2];
 .shared .align 4 .b32 place;
 ld.param.u64 %d0, [out];
 mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mul.wide.u32 %d1, %r0, 16; add.u64 %d0, %d0, %d1;
 mov.u32 %r2, tile; mov.u32 %r3, bars; add.u32 %r4, %r3, 8; mov.u32 %r5, place;
 mul.lo.u32 %r6, %r0, 64; add.u32 %r6, %r6, %r2; mov.b32 %r7, 0;
 st.shared.v4.b32 [%r6], {{%r7, %r7, %r7, %r7}}; st.shared.v4.b32 [%r6+16], {{%r7, %r7, %r7, %r7}};
 st.shared.v4.b32 [%r6+32], {{%r7, %r7, %r7, %r7}}; st.shared.v4.b32 [%r6+48], {{%r7, %r7, %r7, %r7}};
 fence.proxy.async.shared::cta;
 setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r1, 0; setp.ne.u32 %p3, %r0, %r0;
 @%p0 mbarrier.init.shared::cta.b64 [%r3], 1;
 @%p0 mbarrier.init.shared::cta.b64 [%r4], 128;
 @!%p1 bra allocated;
 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r5], 32;
 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
 bar.sync 0;
 tcgen05.fence::after_thread_sync;
 ld.shared.u32 %r8, [%r5];
 shl.b32 %r9, %r1, 21; add.u32 %r9, %r9, %r8;
 shr.u32 %r10, %r2, 4; cvt.u64.u32 %d2, %r10; or.b64 %d2, %d2, {descriptor}; add.u64 %d3, %d2, 256;
 mov.u32 %r11, {how};
 {body}
 tcgen05.fence::before_thread_sync;
 bar.sync 0;
 @!%p1 bra over;
 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r8, 32;
over:
 ret;
}}
"""
DESCRIPTOR = 1 << 46 | 256 >> 4 << 32 | 128 >> 4 << 16
HOW = 1 << 4 | 32 >> 3 << 17 | 128 >> 4 << 24
MMA = "tcgen05.mma.cta_group::1.kind::f16 [%r8], %d2, %d3, %r11, %p3;"
COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];"
AFTER, BEFORE = "tcgen05.fence::after_thread_sync;", "tcgen05.fence::before_thread_sync;"
LOAD = "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r20, %r21, %r22, %r23}, [%r9];"
STORE = "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r9], {%r0, %r0, %r0, %r0};"
WAIT_LOAD, WAIT_STORE = "tcgen05.wait::ld.sync.aligned;", "tcgen05.wait::st.sync.aligned;"
SHOW = "st.global.v4.b32 [%d0], {%r20, %r21, %r22, %r23};"


def once(text: str, name: str) -> str:
    return f"@!%p0 bra {name}; {text} {name}:"


def wait(barrier: str, name: str, order: str = "") -> str:
    return f"{name}: mbarrier.try_wait.parity{order}.shared::cta.b64 %p2, [{barrier}], 0; @!%p2 bra {name};"


def codes(*parts: str, policy: str = "eager", strict: bool = False) -> list[str]:
    text = KERNEL.format(body="\n ".join(parts), descriptor=DESCRIPTOR, how=HOW)
    found = run(text, "k", block=128, arguments=[np.zeros(512, np.uint32)], policy=policy, strict=strict)
    assert not found.unsupported_reason, found.unsupported_reason
    return [f"{each.code} {each.severity}" for each in found.findings]


RELAXED = ".relaxed.cta"


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("order", ["", RELAXED])
def test_a_product_is_loaded_after_its_commit_and_a_fence(order: str, policy: str) -> None:
    issued = once(f"{MMA} {COMMIT}", "issued")
    assert codes(issued, wait("%r3", "done", order), AFTER, LOAD, WAIT_LOAD, SHOW, policy=policy) == []
    assert codes(issued, wait("%r3", "done", order), LOAD, WAIT_LOAD, SHOW, policy=policy) == ["PTX705 error"]
    assert "PTX704 error" in codes(issued, AFTER, LOAD, WAIT_LOAD, SHOW, wait("%r3", "done", order), policy=policy)


def handed_over(*parts: str, order: str = "") -> tuple[str, ...]:
    """Accesses of warps to columns, and a product over them by the first thread after it."""
    arrive = f"mbarrier.arrive{order or '.release.cta'}.shared::cta.b64 %d4, [%r4];"
    after = once(f"{wait('%r4', 'empty', order)} {AFTER} {MMA} {COMMIT}", "issued")
    return *parts, BEFORE, arrive, after, wait("%r3", "done")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("order", ["", RELAXED])
def test_columns_are_multiplied_into_after_a_wait_for_the_accesses_of_warps(order: str, policy: str) -> None:
    assert codes(*handed_over(STORE, WAIT_STORE, LOAD, WAIT_LOAD, order=order), policy=policy) == []
    assert codes(*handed_over(STORE, order=order), policy=policy) == ["PTX706 error"]
    unread = handed_over(STORE, WAIT_STORE, LOAD, order=order)
    assert codes(*unread, WAIT_LOAD, policy=policy) == ["PTX706 error"]


def test_a_load_is_complete_where_its_registers_are_used_and_the_strict_policy_requires_a_wait() -> None:
    used = handed_over(STORE, WAIT_STORE, LOAD, SHOW)
    assert codes(*used) == []
    assert codes(*used, strict=True) == ["PTX706 warning"]
    late = (*handed_over(STORE, WAIT_STORE, LOAD), SHOW)
    assert codes(*late) == ["PTX706 error"]
    assert codes(*handed_over(STORE, WAIT_STORE, LOAD, WAIT_LOAD), SHOW, strict=True) == []


def test_only_an_arrival_orders_columns() -> None:
    alone = once(f"{MMA} {COMMIT}", "issued")
    assert codes(STORE, WAIT_STORE, "bar.sync 0;", AFTER, alone, wait("%r3", "done")) == []
    assert "PTX706 error" in codes(STORE, WAIT_STORE, alone, wait("%r3", "done"))


def test_a_warp_that_loads_columns_that_it_stored_is_warned() -> None:
    assert codes(STORE, LOAD, WAIT_LOAD, WAIT_STORE, SHOW) == ["PTX706 warning"]
    assert codes(STORE, WAIT_STORE, LOAD, WAIT_LOAD, SHOW) == []


def test_products_are_ordered_among_themselves_and_one_commit_covers_all() -> None:
    issued = once(f"{MMA} {MMA} {COMMIT}", "issued")
    assert codes(issued, wait("%r3", "done"), AFTER, LOAD, WAIT_LOAD, SHOW) == []
    late = once(f"{MMA} {COMMIT} {MMA} {COMMIT.replace('%r3', '%r4')}", "issued")
    assert "PTX704 error" in codes(late, wait("%r3", "done"), AFTER, LOAD, WAIT_LOAD, SHOW)


def witnesses(*parts: str) -> Any:
    text = KERNEL.format(body="\n ".join(parts), descriptor=DESCRIPTOR, how=HOW)
    (finding,) = run(text, "k", block=128, arguments=[np.zeros(512, np.uint32)]).findings
    return finding.witnesses


def test_a_witness_names_the_columns() -> None:
    own, other = witnesses(once(f"{MMA} {COMMIT}", "issued"), AFTER, LOAD, WAIT_LOAD, SHOW, wait("%r3", "done"))
    assert (own.action[:10], other.action[:11]) == ("tcgen05.ld", "tcgen05.mma")
    assert (own.space, own.start, own.size) == ("tensor", 0, 4)
    assert str(own) == "thread (0, 0, 0) of CTA (0, 0, 0), Tensor Memory from 0x0 on, 4 columns"


HALF = "and.b32 %r12, %r0, 31; setp.lt.u32 %p2, %r12, 16;"


@pytest.mark.parametrize(
    ("instruction", "code"),
    [
        (LOAD, "PTX707"),
        (STORE, "PTX707"),
        (WAIT_LOAD, "PTX707"),
        ("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", "PTX701"),
    ],
)
def test_a_diverged_warp_cannot_use_tensor_memory(instruction: str, code: str) -> None:
    assert f"{code} error" in codes(HALF, f"@!%p2 bra skip; {instruction} skip:")
    assert (
        codes(HALF, f"@!%p2 bra skip; mov.b32 %r13, 0; skip: bar.warp.sync -1; {instruction}", WAIT_LOAD, WAIT_STORE)
        == []
    )


def test_half_a_warp_cannot_deallocate() -> None:
    dealloc = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r8, 32;"
    assert "PTX701 error" in codes(HALF, f"@!%p2 bra skip; {dealloc} skip:")


def test_deallocated_columns_are_not_used_any_more() -> None:
    dealloc = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r8, 32;"
    text = KERNEL.format(body=f"@!%p1 bra given; {dealloc} given: bar.sync 0; {LOAD}", descriptor=DESCRIPTOR, how=HOW)
    found = run(text, "k", block=128, arguments=[np.zeros(512, np.uint32)])
    assert [each.code for each in found.findings] == ["PTX708"]
    assert "after it was deallocated" in found.findings[0].message


def test_the_allocating_warp_may_read_the_address_at_once() -> None:
    own = KERNEL.replace("tcgen05.relinquish", "ld.shared.u32 %r13, [%r5]; tcgen05.relinquish")
    other = KERNEL.replace(" bar.sync 0;\n tcgen05.fence::after_thread_sync;\n ld", " ld", 1)
    for text, wanted in ((own, []), (other, ["PTX621"])):
        filled = text.format(body="", descriptor=DESCRIPTOR, how=HOW)
        found = run(filled, "k", block=128, arguments=[np.zeros(512, np.uint32)])
        assert [each.code for each in found.findings] == wanted


@pytest.mark.parametrize(("strict", "wanted"), [(False, set()), (True, {"PTX705"})])
def test_only_the_strict_policy_demands_a_fence_after_a_synchronous_allocation(strict: bool, wanted: set[str]) -> None:
    bare = KERNEL.replace(" tcgen05.fence::after_thread_sync;\n ld", " ld", 1)
    text = bare.format(body=f"{STORE} {WAIT_STORE} {AFTER}", descriptor=DESCRIPTOR, how=HOW)
    found = run(text, "k", block=128, arguments=[np.zeros(512, np.uint32)], strict=strict)
    assert {each.code for each in found.findings} == wanted
