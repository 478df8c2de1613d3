"""The project's kernels: verified clean, accepted by ptxas, and rejected when a fence or wait is removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ptxkit import Severity
from ptxkit.build import BuildValueError, Kernel, VerificationError, verify_assembled
from ptxkit.device import compile as compile_kernel
from ptxkit.emulator import TensorMapArgument, run
from ptxkit.kernels import (
    async_copy,
    bulk_add_one,
    bulk_copy,
    cluster_histogram,
    halo_exchange,
    layer_norm,
    reduction,
    row_softmax,
    saxpy,
    transpose,
)
from ptxkit.kernels.bulk_add_one import ctas
from ptxkit.kernels.kernel_cases import CHECKED_KERNELS, CheckedKernel, draw_sizes
from ptxkit.kernels.limits import MAX_RANDOM_ELEMENTS
from ptxkit.kernels.transpose import tiles
from tests.build.support import assert_ptxas_accepts, instructions
from tests.kernels.removal import positions, with_replaced, without

KERNELS: list[Callable[[], Kernel]] = [
    *(async_copy, bulk_add_one, bulk_copy, transpose, row_softmax, layer_norm),
    *(saxpy, reduction, halo_exchange, cluster_histogram),
]

REMOVALS = [
    (async_copy, "cp.async.wait_group", "PTX302"),
    (async_copy, "cp.async.commit_group", "PTX302"),
    (bulk_add_one, "mbarrier.init", "PTX501"),
    (bulk_add_one, "mbarrier.arrive.expect_tx", "PTX503"),
    (bulk_add_one, "mbarrier.try_wait", "PTX302"),
    (bulk_add_one, "fence.proxy.async", "PTX401"),
    (bulk_add_one, "cp.async.bulk.commit_group", "PTX301"),
    (bulk_add_one, "cp.async.bulk.wait_group", "PTX303"),
    (bulk_copy, "mbarrier.init", "PTX501"),
    (bulk_copy, "mbarrier.try_wait", "PTX302"),
    (bulk_copy, "cp.async.bulk.wait_group.read", "PTX303"),
    (transpose, "mbarrier.init", "PTX501"),
    (transpose, "mbarrier.try_wait", "PTX302"),
    (transpose, "fence.proxy.async", "PTX401"),
    (row_softmax, "bar.sync", "PTX621"),
    (layer_norm, "bar.sync", "PTX621"),
    (saxpy, "cp.async.wait_group", "PTX302"),
    (saxpy, "cp.async.commit_group", "PTX302"),
    (halo_exchange, "mbarrier.init", "PTX501"),
    (halo_exchange, "mbarrier.arrive.expect_tx", "PTX503 or PTX504"),
    (halo_exchange, "barrier.cluster.arrive", "PTX613"),
    (halo_exchange, "bar.sync", "PTX621"),
    (cluster_histogram, "barrier.cluster.arrive", "PTX613"),
    (cluster_histogram, "fence.proxy.async", "PTX401"),
    (cluster_histogram, "cp.async.bulk.commit_group", "PTX301"),
    (cluster_histogram, "cp.async.bulk.wait_group", "PTX303"),
]


@pytest.mark.parametrize("build", KERNELS)
def test_the_verifier_finds_nothing(build: Callable[[], Kernel]) -> None:
    assert build().verify().diagnostics == ()


@pytest.mark.parametrize("build", KERNELS)
def test_ptxas_and_nvjitlink_accept_it(build: Callable[[], Kernel], tmp_path: Path) -> None:
    assert_ptxas_accepts(str(build()), tmp_path)
    assert compile_kernel(build(), verify=False).code.startswith(b"\x7fELF")


@pytest.mark.parametrize(("build", "opcode", "code"), REMOVALS)
def test_without_one_of_its_fences_or_waits_it_is_rejected(build: Callable[[], Kernel], opcode: str, code: str) -> None:
    kernel = build()
    places = positions(kernel, opcode)
    assert places
    for place in places:
        with pytest.raises(VerificationError) as caught:
            verify_assembled(without(kernel, place), kernel.name)
        assert set(code.split(" or ")) & {found.code for found in caught.value.diagnostics}
        assert all(found.severity is Severity.ERROR for found in caught.value.diagnostics)
        assert all(blame.location is not None for blame in caught.value.blames)


def test_a_step_that_does_not_wait_for_its_halo_is_rejected() -> None:
    kernel = halo_exchange()
    waits = positions(kernel, "mbarrier.try_wait")
    assert len(waits) == 6  # left and right, of an even, an odd and a last step
    for place in waits[:4]:
        with pytest.raises(VerificationError, match="PTX505"):
            verify_assembled(without(kernel, place), kernel.name)


def test_a_missing_barrier_of_the_last_cta_only_is_not_proven() -> None:
    kernel = reduction()
    first, second = positions(kernel, "bar.sync")
    with pytest.raises(VerificationError, match="PTX621"):
        verify_assembled(without(kernel, first), kernel.name)
    verdict = verify_assembled(without(kernel, second), kernel.name)
    assert [undecided.code for undecided in verdict.undecided] == ["PTX621"]


def test_removing_nothing_leaves_it_clean() -> None:
    kernel = bulk_add_one()
    assert verify_assembled(without(kernel), kernel.name).diagnostics == ()


def test_waiting_for_too_few_groups_is_rejected() -> None:
    kernel = async_copy()
    (place,) = positions(kernel, "cp.async.wait_group")
    (wait,) = [each for each in instructions(kernel.module()) if each.opcode == "cp.async.wait_group"]
    (count,) = wait.operands
    weaker = replace(wait, operands=(replace(count, value=2, text="2"),))  # type: ignore[type-var]
    with pytest.raises(VerificationError):
        verify_assembled(with_replaced(kernel, place, weaker), kernel.name)


@pytest.mark.parametrize("build", KERNELS)
def test_only_tensor_maps_are_converted_between_address_spaces(build: Callable[[], Kernel]) -> None:
    kernel = build()
    maps = sum(parameter.tensor is not None for parameter in kernel.parameters)
    assert str(kernel).count("cvta.") == str(kernel).count("cvta.param") == maps


@pytest.mark.parametrize("build", [row_softmax, layer_norm])
def test_the_length_of_a_row_must_be_divisible_by_its_threads(build: Callable[[int], Kernel]) -> None:
    with pytest.raises(BuildValueError, match="not 1000"):
        build(1000)
    assert build(2048).verify().diagnostics == ()


@pytest.mark.parametrize("subject", CHECKED_KERNELS, ids=lambda subject: subject.build.__name__)
def test_every_case_has_the_elements_that_its_kernel_writes(subject: CheckedKernel) -> None:
    cases = list(subject.cases(1, np.random.default_rng(1)))
    assert len(cases) > 1
    assert all(
        np.prod(case.grid) > 0 and case.expected.dtype.itemsize == case.source.dtype.itemsize == 4 for case in cases
    )
    assert all(case.initial_target is None or case.initial_target.size == case.expected.size for case in cases)
    if subject.build not in (reduction, cluster_histogram):
        assert all(case.expected.size == case.source.size for case in cases)


def test_the_grid_covers_every_element_and_no_more() -> None:
    assert [ctas(count) for count in (0, 1, 1024, 1025)] == [0, 1, 1, 2]


def test_the_sizes_to_check_are_of_all_magnitudes() -> None:
    sizes = draw_sizes(200, np.random.default_rng(1))
    assert min(sizes) < 100
    assert MAX_RANDOM_ELEMENTS >= max(sizes) > MAX_RANDOM_ELEMENTS // 10
    assert {subject.build for subject in CHECKED_KERNELS} == set(KERNELS)


@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (68, 132), (4, 200), (196, 68)])
def test_a_matrix_is_transposed_on_the_reference_machine(rows: int, columns: int) -> None:
    kernel = transpose()
    source = np.random.default_rng(6).random((rows, columns), np.float32)
    forms = [each.tensor for each in kernel.parameters[:2]]
    maps = [
        TensorMapArgument.tiled(each, box=form.box, swizzle=form.swizzle)
        for each, form in zip((source, np.zeros((columns, rows), np.float32)), forms, strict=True)
        if form is not None
    ]
    grid = tiles(rows, columns)
    found = run(kernel.module(), kernel.name, grid=grid, arguments=[*maps, np.uint32(rows)], policy="random")
    assert found.is_clean, (found.findings, found.incomplete_reason, found.unsupported_reason)
    assert np.array_equal(found.outputs[1].view(np.float32).reshape(columns, rows), source.T)
