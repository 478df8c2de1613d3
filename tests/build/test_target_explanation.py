"""Every raise of the version and the target is explained, with the line that causes it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptxkit.build import Global, Kernel, f16, f32, u32
from tests.build.support import marked_line


def test_each_cause_of_the_target_is_explained_with_its_line() -> None:
    k = Kernel("k", threads=32)
    half = k.param(f16, "half")
    largest = k.max(half, 0.5)  # halves
    k.max(largest, half)
    k.cluster_sync()  # a cluster
    found = k.explain_target()
    assert (found.version, found.target, found.is_chosen) == ((8, 0), "sm_90", False)
    assert [each.target for each in found.causes] == sorted((each.target for each in found.causes), reverse=True)
    by_subject = {each.subject: each for each in found.causes}
    assert by_subject["max.f16"].location == marked_line("halves")
    assert by_subject["max.f16"].requirement == "PTX 7.0 and sm_80"
    assert by_subject["barrier.cluster.wait.acquire.aligned"].location == marked_line("a cluster")
    assert str(found).splitlines()[0] == ".version 8.0 and .target sm_90"
    assert f"{marked_line('halves')}: max.f16 needs PTX 7.0 and sm_80" in str(found)


def test_special_registers_and_raw_ptx_are_causes() -> None:
    k = Kernel("k", cluster=2)
    k.asm("fence.proxy.async;")
    k.special("%cluster_ctarank")
    requirements = {each.subject for each in k.explain_target().causes}
    assert requirements >= {"fence.proxy", ".reqnctapercluster", "%cluster_ctarank"}


def test_the_text_states_that_nothing_raises_the_target_or_who_names_it() -> None:
    plain = Kernel("k")
    plain.param(u32, "n") + 1
    assert plain.explain_target().causes == ()
    assert "nothing needs more" in str(plain.explain_target())
    assert "sm_90a, which the kernel names" in str(Kernel("k", target="sm_90a").explain_target())


@given(st.lists(st.sampled_from(("max_f16", "cluster_arrive", "redux", "tanh", "fence", "ld_v8")), max_size=4))
def test_the_causes_together_give_the_target(names: list[str]) -> None:
    k = Kernel("k")
    half, number, data = k.param(f16, "half"), k.param(u32, "n"), k.param(Global[f32], "data", align=32)
    for name in names:
        {
            "max_f16": lambda: k.max(half, half),
            "cluster_arrive": k.cluster_arrive,
            "redux": lambda: k.redux_sync_add(number, -1),
            "tanh": lambda: k.tanh(half),
            "fence": k.fence_proxy_async,
            "ld_v8": lambda: data.load(8),
        }[name]()
    found, module = k.explain_target(), k.module()
    assert (found.version, (found.target,)) == (module.version, module.targets)
    floor = Kernel("floor").explain_target()
    highest = max([(int(each.target[3:]), each.target) for each in found.causes], default=(75, floor.target))
    assert highest[1] == found.target
    assert max([each.version for each in found.causes], default=floor.version) <= found.version
