"""Delays change neither the findings of the linter nor the results of the reference machine."""

from __future__ import annotations

import re
from collections import Counter
from math import prod
from pathlib import Path

import numpy
import pytest

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.diagnostics import Verdict
from ptxkit.emulator import RunBudget
from ptxkit.linter import lint
from ptxkit.stress.delay_instrument import DelayedModule, NoDelaysError, insert_delays
from ptxkit.stress.delay_plan import choose_plan
from ptxkit.stress.delay_sites import find_sites
from ptxkit.stress.disturbing_kernels import FILL_PATTERN
from ptxkit.syntax import parse, print_module
from ptxkit.syntax.tree import Declaration, Module
from ptxkit.testing.corpus.launch_table import LAUNCHES_FILE, load_launch_table
from ptxkit.testing.hardware.emulator_vs_device import launch_of_request
from ptxkit.testing.oracles.ptxas import installed_ptxas

KERNELS = sorted(LAUNCHES_FILE.parent.glob("*.ptx"))
LINTED = [
    each
    for each in KERNELS
    if each.name.split(".")[0]
    in {
        *("bulk_reduce_add", "cp_async_mbarrier", "dsmem_copy", "hand_cluster_relaxed", "hand_double_buffer"),
        *("hand_tensor_maps", "multicast_cluster", "ring_one_producer", "tcgen05_product", "wgmma_st_shared"),
    }
]
"""Kernels of each kind of synchronization; the linter needs a minute for all of them with delays."""

SMALL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .shared .align 4 .b8 s[128];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    st.shared.u32 [s], %r1;
    bar.sync 0;
    ld.shared.u32 %r2, [s];
    st.global.u32 [%rd1], %r2;
    ret;
}
"""


UNFINISHED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .pred %p<2>;
    .shared .align 16 .b8 s[128];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd2, %r1, 256;
    add.s64 %rd1, %rd1, %rd2;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.u32 %r2, %r2, %r3;
    st.shared.u32 [%r2], %r1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 128;
    @%p1 cp.async.bulk.commit_group;
    ret;
}
"""


def codes(verdict: Verdict) -> list[Counter[str]]:
    return [Counter(each.code for each in verdict.diagnostics), Counter(each.code for each in verdict.undecided)]


@pytest.mark.parametrize("path", LINTED, ids=lambda each: each.name)
def test_the_linter_has_the_same_findings_and_questions_about_a_kernel_with_delays(path: Path) -> None:
    text = path.read_text("utf-8")
    assert codes(lint(insert_delays(parse(text), poisons=False).text)) == codes(lint(text))


@pytest.mark.parametrize("path", KERNELS, ids=lambda each: each.name)
def test_a_kernel_with_delays_has_the_same_results_on_the_machine(path: Path) -> None:
    """The last thread of each CTA writes over shared memory, which is no race either."""
    text = path.read_text("utf-8")
    delayed = insert_delays(parse(text))
    plain = with_variables_of(delayed.text, text)
    for request in load_launch_table().requests_for(text, path.name):
        launch, _ = launch_of_request(request, text, numpy.random.default_rng(0))
        runs = [launch.emulate(plain, races=False, budget=RunBudget(seconds=60.0))]
        runs.append(launch.emulate(delayed.text, races=False, budget=RunBudget(seconds=60.0)))
        poisoned = with_header(delayed, 0, 0, 0, 0, threads_of(launch, text), launch.shared)
        runs.append(launch.emulate(poisoned, budget=RunBudget(seconds=60.0)))
        for each in runs:
            # A lane may act for its warp, which the machine infers from releases: that at the exit is another one.
            assert {finding.code for finding in each.findings} <= {"PTX507"}
            assert not each.unsupported_reason
            assert not each.incomplete_reason
            for number, array in runs[0].outputs.items():
                assert numpy.asarray(array).tobytes() == numpy.asarray(each.outputs[number]).tobytes()


def with_header(delayed: DelayedModule, *words: int) -> str:
    """Returns the text with the first words of a plan in the variable."""
    declared = re.search(rf"{delayed.plan}\[\d+\]", delayed.text)
    assert declared is not None
    return f"{delayed.text[: declared.end()]} = {{{', '.join(map(str, words))}}}{delayed.text[declared.end() :]}"


def with_variables_of(delayed: str, text: str) -> str:
    """Returns a text with the variables in global memory of the other: results may have the addresses of arrays."""
    added = [
        each
        for each in parse(delayed).items
        if isinstance(each, Declaration) and each.space == "global" and "ptxkit_stress" in each.declarators[0].name
    ]
    module = parse(text)
    place = module.items.index(next(module.functions()))
    return print_module(Module((*module.items[:place], *added, *module.items[place:])))


def threads_of(launch: DeviceLaunch, text: str) -> int:
    function = next(each for each in parse(text).functions() if each.name == launch.name)
    fixed = function.directive("reqntid")
    block = launch.block if launch.block is not None else tuple(map(int, fixed.operands)) if fixed else 0
    return prod(block) if isinstance(block, tuple) else block


def test_the_last_thread_writes_over_shared_memory_that_a_pending_copy_reads() -> None:
    """The faulty kernel does not wait for its store, which the policy `late` executes at the end."""
    made = insert_delays(parse(UNFINISHED))
    launch = DeviceLaunch("k", 2, 32, (numpy.zeros(128, numpy.uint32),))
    outputs = [
        launch.emulate(text, policy="late", races=False).outputs[0].tolist()
        for text in (made.text, with_header(made, 0, 0, 0, 0, 32, 0))
    ]
    assert outputs[0] == [*range(32), *[0] * 32, *range(32), *[0] * 32]
    assert outputs[1].count(FILL_PATTERN) == 64


def test_variables_that_hold_mbarriers_are_not_written() -> None:
    text = next(each for each in KERNELS if each.name.startswith("hand_bulk_tile")).read_text("utf-8")
    made = insert_delays(parse(text)).text
    assert "st.volatile.shared.u32 [tile+" in made
    assert "st.volatile.shared.u32 [bar+" not in made


def test_nothing_is_written_at_the_exit_if_a_thread_can_exit_in_a_function() -> None:
    assert "_exits[" in insert_delays(parse(SMALL)).text
    leaving = ".func leave() { exit; }\n.visible .entry"
    assert "_exits[" not in insert_delays(parse(SMALL.replace(".visible .entry", leaving, 1))).text


def test_a_predicated_exit_counts_the_threads_that_leave() -> None:
    guarded = SMALL.replace("    bar.sync 0;", "    setp.gt.u32 %p1, %r1, 3;\n    @!%p1 exit;\n    bar.sync 0;")
    made = insert_delays(parse(guarded.replace(".reg .b64", ".reg .pred %p<2>;\n.reg .b64")))
    assert "setp.ne.and.u32 %ptxkit_stress_last, %ptxkit_stress_threads, 0, !%p1;" in made.text


def test_ptxas_accepts_all_kernels_with_delays() -> None:
    ptxas = installed_ptxas()[0]
    for path in KERNELS:
        module = parse(path.read_text("utf-8"))
        assert ptxas.refusal(insert_delays(module).text, module.targets[0]) is None, path.name


def test_the_sites_are_the_shared_and_global_accesses_and_the_synchronization() -> None:
    found = find_sites(parse(SMALL))
    assert [(each.line, each.text) for each in found] == [
        (11, "st.shared.u32 [s], %r1;"),
        (12, "bar.sync 0;"),
        (13, "ld.shared.u32 %r2, [s];"),
        (14, "st.global.u32 [%rd1], %r2;"),
    ]


def test_no_delay_separates_the_operations_of_a_wgmma_group() -> None:
    text = next(each for each in KERNELS if each.name.startswith("wgmma_st_shared")).read_text("utf-8")
    opcodes = {each.text.split()[0].rstrip(";") for each in find_sites(parse(text))}
    assert any(each.startswith("wgmma.fence") for each in opcodes)
    assert any(each.startswith("wgmma.wait_group") for each in opcodes)
    assert not any(each.startswith(("wgmma.mma_async", "wgmma.commit_group")) for each in opcodes)


def test_the_names_of_the_module_are_not_reused() -> None:
    text = SMALL.replace(".reg .b64", ".reg .b32 %ptxkit_stress_a;\n.reg .b64")
    made = insert_delays(parse(text))
    assert made.plan not in text
    assert ".reg .b32 %ptxkit_stress_a;" in made.text
    assert codes(lint(insert_delays(parse(text), poisons=False).text)) == codes(lint(text))


def test_a_kernel_of_several_dimensions_numbers_its_warps_by_all_of_them() -> None:
    assert "%ntid.x" not in insert_delays(parse(SMALL)).text
    assert "%ntid.x" in insert_delays(parse(SMALL.replace("%tid.x", "%tid.y"))).text


def test_shared_variables_are_moved_unless_the_module_may_need_all_shared_memory() -> None:
    assert "_space[4]" in insert_delays(parse(SMALL)).text
    assert "_space[4]" not in insert_delays(parse(SMALL.replace("s[128]", "s[48000]"))).text
    launch_sized = ".extern .shared .align 16 .b8 dynamic[];\n.visible .entry"
    with_dynamic = SMALL.replace(".visible .entry", launch_sized).replace("[s]", "[dynamic]")
    assert "_space[4]" not in insert_delays(parse(with_dynamic)).text


@pytest.mark.parametrize(
    ("change", "printed"),
    [
        ((".target sm_90", ".target sm_60"), "nanosleep"),
        ((".version 8.0", ".version 6.0"), "nanosleep"),
    ],
)
def test_a_module_without_nanosleep_is_refused(change: tuple[str, str], printed: str) -> None:
    with pytest.raises(NoDelaysError, match=printed):
        insert_delays(parse(SMALL.replace(*change)))


def test_a_module_without_sites_is_refused() -> None:
    with pytest.raises(NoDelaysError, match="no access"):
        insert_delays(parse(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"))


def test_the_words_of_a_plan_fill_the_variable_of_the_module() -> None:
    from random import Random

    made = insert_delays(parse(SMALL))
    plan = choose_plan(Random(3), len(made.sites))
    words = plan.words(len(made.sites), 64, 512)
    assert f".u32 {made.plan}[{len(words)}];" in made.text
    assert words[:4].tolist() == [plan.seed, plan.warp_factor, plan.cta_factor, plan.prefetched]
    assert words[4:8].tolist() == [64 * plan.poisons, 512, 0, 0]
    for number, each in plan.delays.items():
        assert words[4 * number + 8 : 4 * number + 12].tolist() == [each.mask, each.salt, each.shift, each.choice]
