"""The effects of instructions in the table: the facts on which every analysis is based."""

from __future__ import annotations

import pytest

from ptxkit.isa import table
from ptxkit.isa.binding import bind_form
from ptxkit.isa.effects import (
    Access,
    AsyncRegisters,
    Barrier,
    CommitGroup,
    Control,
    Effect,
    Home,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierTrack,
    MbarrierWait,
    MemoryFence,
    Prefetch,
    ProxyFence,
    RegisterFence,
    Value,
    WaitGroup,
)
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.instance_generator import instances
from tests.isa.support import effects, match

MBAR = ".mbarrier::complete_tx::bytes"


def accesses(text: str) -> list[Access]:
    return [effect for effect in effects(text) if isinstance(effect, Access)]


@pytest.mark.parametrize(
    ("text", "access"),
    [
        ("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", Access("read", "global", "a", ConstantExpr(16))),
        ("ld.u8 %r1, [%rd1];", Access("read", "generic", "a", ConstantExpr(1))),
        ("ld.shared.b64 %rd1, [%r1];", Access("read", "shared::cta", "a", ConstantExpr(8))),
        ("ld.volatile.global.u32 %r1, [%rd1];", Access("read", "global", "a", ConstantExpr(4), order="volatile")),
        (
            "ld.acquire.gpu.u32 %r1, [%rd1];",
            Access("read", "generic", "a", ConstantExpr(4), order="acquire", scope="gpu"),
        ),
        (
            "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];",
            Access("read", "global", "a", ConstantExpr(4), order="relaxed", scope="sys"),
        ),
        ("ld.param.u64 %rd1, [p];", Access("read", "param", "a", ConstantExpr(8))),
        ("st.shared::cluster.u32 [%r1], %r2;", Access("write", "shared::cluster", "a", ConstantExpr(4))),
        (
            "st.release.sys.global.u32 [%rd1], %r2;",
            Access("write", "global", "a", ConstantExpr(4), order="release", scope="sys"),
        ),
        (
            "atom.shared.add.u32 %r1, [%r2], 1;",
            Access("update", "shared::cta", "a", ConstantExpr(4), order="relaxed", scope="gpu"),
        ),
        (
            "red.release.gpu.global.add.u64 [%rd1], %rd2;",
            Access("update", "global", "a", ConstantExpr(8), order="release", scope="gpu"),
        ),
        ("st.bulk.shared::cta [%r1], 64, 0;", Access("write", "shared::cta", "a", OperandRole("n"))),
    ],
)
def test_plain_accesses_have_their_kind_and_space(text: str, access: Access) -> None:
    assert accesses(text) == [access]


def test_cp_async_is_a_generic_copy_that_its_group_completes() -> None:
    read, write = accesses("cp.async.cg.shared.global [%r1], [%rd1], 16, %r2;")
    assert read == Access("read", "global", "s", OperandRole("z"), completion="cp.async")
    assert write == Access("write", "shared::cta", "d", OperandRole("n"), completion="cp.async")


def test_a_bulk_load_goes_through_the_async_proxy_and_completes_on_its_mbarrier() -> None:
    found = effects(f"cp.async.bulk.shared::cluster.global{MBAR} [%r1], [%rd1], 64, [%r2];")
    common = {"proxy": "async", "completion": "mbarrier", "barrier": "bar"}
    assert found == (
        Access("read", "global", "s", OperandRole("n"), **common),
        Access("write", "shared::cluster", "d", OperandRole("n"), **common),
        MbarrierComplete("bar", OperandRole("n"), space="shared::cluster"),
        Home("bar", "same", "d"),
    )


def test_a_bulk_store_completes_with_its_group() -> None:
    read, write = accesses("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64;")
    assert (read.space, read.proxy, read.completion) == ("shared::cta", "async", "bulk")
    assert (write.space, write.proxy, write.completion) == ("global", "async", "bulk")


def test_the_box_of_a_tensor_load_is_unknown_and_its_map_is_read_by_the_tensormap_proxy() -> None:
    found = effects(f"cp.async.bulk.tensor.2d.shared::cluster.global.tile{MBAR} [%r1], [%rd1, {{%r2, %r3}}], [%r4];")
    by_map, by_tensor, write, complete, home = found
    assert isinstance(by_map, Access)
    assert (by_map.proxy, by_map.size) == ("tensormap", ConstantExpr(128))
    assert isinstance(by_tensor, Access)
    assert (by_tensor.via, by_tensor.proxy, by_tensor.space, by_tensor.size) == ("tensormap", "async", "global", None)
    assert write == Access("write", "shared::cluster", "d", None, "async", "mbarrier", "bar")
    assert complete == MbarrierComplete("bar", None, space="shared::cluster")
    assert home == Home("bar", "same", "d")


def test_a_multicast_names_its_mask() -> None:
    text = f"cp.async.bulk.shared::cluster.global{MBAR}.multicast::cluster [%r1], [%rd1], 64, [%r2], %h1;"
    assert {getattr(effect, "multicast", None) for effect in effects(text)} == {None, "mask"}


def test_wgmma_reads_descriptors_through_the_async_proxy_and_updates_registers() -> None:
    registers = ", ".join(f"%f{index}" for index in range(4))
    text = f"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{registers}}}, %rd1, %rd2, %p1, 1, 1, 0, 0;"
    found = effects(text)
    assert AsyncRegisters("update", "d", "wgmma") in found
    read = {"proxy": "async", "completion": "wgmma", "via": "descriptor"}
    for matrix, rows in (("a", 64), ("b", 8)):
        shape = {"rows": ConstantExpr(rows), "width": ConstantExpr(2), "transposed": OperandRole(f"trans_{matrix}")}
        assert Access("read", "shared::cta", f"{matrix}desc", **read, **shape) in found
    assert match(text).results == ("d",)


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("cp.async.commit_group;", CommitGroup("cp.async")),
        ("cp.async.bulk.commit_group;", CommitGroup("bulk")),
        ("wgmma.commit_group.sync.aligned;", CommitGroup("wgmma")),
        ("cp.async.wait_group 2;", WaitGroup("cp.async", OperandRole("n"))),
        ("cp.async.wait_all;", WaitGroup("cp.async", ConstantExpr(0), commits=True)),
        ("cp.async.bulk.wait_group.read 0;", WaitGroup("bulk", OperandRole("n"), read_only=True)),
        ("fence.proxy.async;", ProxyFence("async")),
        ("fence.proxy.async.shared::cta;", ProxyFence("async", ("shared::cta",))),
        (
            "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
            ProxyFence("async", ("shared::cluster",), "acquire", "cluster"),
        ),
        (
            "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;",
            ProxyFence("tensormap", (), "acquire", "gpu", "a"),
        ),
        ("fence.acq_rel.gpu;", MemoryFence("acq_rel", "gpu")),
        ("membar.gl;", MemoryFence("sc", "gpu")),
        ("fence.mbarrier_init.release.cluster;", MemoryFence("release", "cluster", "mbarrier.init")),
        ("bar.sync 1, 64;", Barrier("cta", "sync", OperandRole("a"), OperandRole("b"), aligned=True)),
        ("barrier.sync 0;", Barrier("cta", "sync", OperandRole("a"))),
        ("barrier.cluster.arrive.relaxed;", Barrier("cluster", "arrive", order="relaxed")),
        ("barrier.cluster.wait.aligned;", Barrier("cluster", "wait", order="acquire", aligned=True)),
        ("bar.warp.sync 0xffffffff;", Barrier("warp", "sync", OperandRole("mask"))),
        ("mbarrier.init.shared.b64 [%r1], 32;", MbarrierInit("bar", OperandRole("count"))),
        ("mbarrier.expect_tx.shared.b64 [%r1], 64;", MbarrierExpect("bar", OperandRole("tx"))),
        ("mbarrier.arrive.shared.b64 %rd1, [%r1];", MbarrierArrive("bar", ConstantExpr(1), state="state")),
        ("mbarrier.arrive.shared.b64 %rd1, [%r1], 3;", MbarrierArrive("bar", OperandRole("count"), state="state")),
        (
            "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r1], 64;",
            MbarrierArrive("bar", ConstantExpr(1), OperandRole("tx"), scope="cluster", space="shared::cluster"),
        ),
        ("cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];", MbarrierTrack("bar", True)),
        (
            "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;",
            MbarrierWait("bar", "phase", "parity", "d", True),
        ),
        (
            "mbarrier.test_wait.acquire.cluster.shared.b64 %p1, [%r1], %rd2;",
            MbarrierWait("bar", "state", "state", "d", False, scope="cluster"),
        ),
        ("wgmma.fence.sync.aligned;", RegisterFence("wgmma")),
        ("cp.async.bulk.prefetch.L2.global [%rd1], 64;", Prefetch("L2", "global", "s", OperandRole("n"), "async")),
        (
            "st.async.release.gpu.global.u32 [%rd1], %r1;",
            Access("write", "global", "a", ConstantExpr(4), completion="nothing", order="release", scope="gpu"),
        ),
        ("bra done;", Control("branch", "target")),
        ("exit;", Control("exit")),
        (
            "cvta.to.shared.u64 %rd1, %rd2;",
            Value("d", CallExpr("from_generic", (ConstantExpr("shared::cta"), OperandRole("a")))),
        ),
        ("add.s32 %r1, %r2, 4;", Value("d", CallExpr("add", (ConstantExpr(32), OperandRole("a"), OperandRole("b"))))),
        ("mov.u32 %r1, %tid.x;", Value("d", CallExpr("copy", (ConstantExpr(32), OperandRole("a"))))),
    ],
)
def test_one_effect_has_its_fields(text: str, effect: Effect) -> None:
    assert effects(text) == (effect,)


def test_elect_sets_its_predicate_in_one_lane() -> None:
    found = match("elect.sync %r1|%p1, -1;")
    assert Value("p", CallExpr("elected", ())) in found.effects
    assert set(found.results) == {"d", "p"}


def test_a_bound_expression_contains_operands_and_constants_only() -> None:
    from random import Random

    known, random = table(), Random(1)
    for name in known.names:
        for form in known.forms(name):
            for each in instances(form, known.value_gates, random, 1):
                for effect in each.match.effects:
                    for value in _expressions(effect):
                        _assert_closed(value, set(each.match.roles), each.text)


def test_every_role_that_an_effect_names_is_an_operand() -> None:
    from random import Random

    known, random = table(), Random(2)
    fields = ("address", "barrier", "state", "phase", "result", "unless", "multicast", "target", "operand")
    for name in known.names:
        for form in known.forms(name):
            for each in instances(form, known.value_gates, random, 1):
                named = {getattr(effect, field, None) for effect in each.match.effects for field in fields}
                assert named - {None} <= set(each.match.roles), each.text


def test_binding_does_not_expand_other_choices() -> None:
    form = table().forms("wgmma")[0]
    chosen = {slot.name: slot.values[0] for slot in form.modifiers}
    assert len(bind_form(form, chosen, {})) == 1


def _expressions(effect: Effect) -> list[Expression]:
    values = [getattr(effect, name) for name in effect.__slots__]
    return [value for value in values if isinstance(value, ConstantExpr | OperandRole | CallExpr)]


def _assert_closed(value: Expression, roles: set[str], text: str) -> None:
    if isinstance(value, OperandRole):
        assert value.name in roles, text
    elif isinstance(value, CallExpr):
        assert value.function not in ("modifier", "let", "default", "present", "case"), text
        for argument in value.arguments:
            _assert_closed(argument, roles, text)


def test_a_tensor_prefetch_reads_the_map_and_fetches_the_box() -> None:
    assert effects("cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1, {%r1, %r2}];") == (
        Access("read", "generic", "map", ConstantExpr(128), proxy="tensormap"),
        Prefetch("L2", "global", "map", proxy="async", via="tensormap"),
    )


def test_a_multimem_copy_writes_at_a_multimem_address_and_a_plain_one_does_not() -> None:
    tail = "async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64;"
    assert [each.via for each in accesses(f"multimem.cp.{tail}")] == ["address", "multimem"]
    assert [each.via for each in accesses(f"cp.{tail}")] == ["address", "address"]
