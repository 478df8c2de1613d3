"""Registers that are read where nothing has written them: rejected where that is certain, and only there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ptxkit.build import BuildError, Global, Kernel, f32, u32


class Start:
    """A kernel with two arrays and a count, the thread's number, and whether that is below the count."""

    def __init__(self) -> None:
        self.kernel = Kernel("k", threads=64, target="sm_90a")
        k = self.kernel
        self.data, self.out = k.param(Global[f32], "data"), k.param(Global[f32], "out")
        self.count = k.param(u32, "count")
        self.thread = k.ctaid.x * 64 + k.tid.x
        self.below = self.thread < self.count


def stored_after_an_if(s: Start) -> None:
    with s.kernel.if_(s.below):
        value = s.data[s.thread].load()
    s.out[s.thread].store(value * 2.0)  # here


def decided_by(s: Start) -> None:
    with s.kernel.if_(s.below):
        number = s.thread + 1
    with s.kernel.if_(number < 5):  # here
        s.out[s.thread].store(0.0)


def addressed_by(s: Start) -> None:
    with s.kernel.elect_one():
        number = s.thread * 3
    s.out[number].store(0.0)  # here


def set_under_a_guard(s: Start) -> None:
    with s.kernel.predicated(s.below):
        value = s.data[s.thread].load()
    s.out[s.thread].store(value)  # here


def set_in_two_of_three_branches(s: Start) -> None:
    k = s.kernel
    value = k.register(f32)
    with k.if_(s.below):
        k.mov_f32(1.0, into=value)
    with k.elif_(lambda: s.thread < s.count + 5):
        k.mov_f32(2.0, into=value)
    s.out[s.thread].store(value)  # here


def set_in_an_inner_branch(s: Start) -> None:
    k = s.kernel
    with k.if_(s.below):
        with k.if_(s.thread > 3):
            value = s.data[s.thread].load()
        s.out[s.thread].store(value)  # here


@pytest.mark.parametrize(
    "write",
    [
        stored_after_an_if,
        decided_by,
        addressed_by,
        set_under_a_guard,
        set_in_two_of_three_branches,
        set_in_an_inner_branch,
    ],
)
def test_a_register_that_some_threads_have_not_set_is_rejected_at_the_line_that_reads_it(
    write: Callable[[Start], None],
) -> None:
    start = Start()
    write(start)
    with pytest.raises(BuildError, match="has no value here in threads that go past") as caught:
        start.kernel.module()
    assert caught.value.location.text.endswith("# here")


def used_within(s: Start) -> None:
    with s.kernel.if_(s.below):
        value = s.data[s.thread].load()
        s.out[s.thread].store(value)


def set_in_both_branches(s: Start) -> None:
    k = s.kernel
    value = k.register(f32)
    with k.if_(s.below):
        k.mov_f32(1.0, into=value)
    with k.else_():
        k.mov_f32(2.0, into=value)
    s.out[s.thread].store(value)


def used_where_it_was_set(s: Start) -> None:
    k = s.kernel
    with k.if_(s.below):
        value = s.data[s.thread].load()
    k.cta_sync()
    with k.if_(s.below):
        s.out[s.thread].store(value)


def the_other_threads_have_gone(s: Start) -> None:
    k = s.kernel
    with k.if_(s.below):
        value = s.data[s.thread].load()
    with k.else_():
        k.exit()
    s.out[s.thread].store(value)


def select_value(s: Start) -> None:
    with s.kernel.if_(s.below):
        value = s.data[s.thread].load()
    s.out[s.thread].store(s.kernel.where(s.below, value, 0.0))


def one_lane_signals_the_others(s: Start) -> None:
    k = s.kernel
    with k.if_(k.laneid == 0):
        value = s.data[s.thread].load()
    s.out[s.thread].store(k.shfl_sync_idx_b32(value, 0, 31, 0xFFFFFFFF))


def set_in_a_loop(s: Start) -> None:
    with s.kernel.for_range(0, s.count) as index:
        value = s.data[index].load()
    s.out[s.thread].store(value)


def set_before_the_end_of_a_loop(s: Start) -> None:
    with s.kernel.loop() as loop:
        value = s.data[s.thread].load()
        loop.break_(value > 1.0)
    s.out[s.thread].store(value)


def set_in_the_first_turn(s: Start) -> None:
    k = s.kernel
    with k.for_range(0, s.count) as index:
        with k.if_(index == 0):
            value = s.data[s.thread].load()
        s.out[s.thread].store(value)


def used_under_the_guard(s: Start) -> None:
    k = s.kernel
    with k.predicated(s.below):
        value = s.data[s.thread].load()
    with k.predicated(s.below):
        s.out[s.thread].store(value)


def set_by_raw_ptx(s: Start) -> None:
    k = s.kernel
    value = k.register(f32)
    k.asm("mov.f32 {value}, 0f00000000;", value=value)
    s.out[s.thread].store(value)


def half_of_a_vector(s: Start) -> None:
    k = s.kernel
    value = k.register(f32)
    with k.if_(s.below):
        k.mov_f32(1.0, into=value)
    k.st_global_v2_f32(s.out.aligned(8), (1.0, value))


@pytest.mark.parametrize(
    "write",
    [
        used_within,
        set_in_both_branches,
        used_where_it_was_set,
        the_other_threads_have_gone,
        select_value,
        one_lane_signals_the_others,
        set_in_a_loop,
        set_before_the_end_of_a_loop,
        set_in_the_first_turn,
        used_under_the_guard,
        set_by_raw_ptx,
        half_of_a_vector,
    ],
)
def test_registers_that_may_be_set_or_may_not_matter_are_accepted(write: Callable[[Start], None]) -> None:
    start = Start()
    write(start)
    assert ".entry k" in str(start.kernel)
