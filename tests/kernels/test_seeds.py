"""The seed programs: each in CUDA C++ and with the builder, clean, accepted by ptxas, and copied by the stated unit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptxkit import lint
from ptxkit.build import Kernel, VerificationError, verify_assembled
from ptxkit.device import compile as compile_kernel
from ptxkit.file_survey import survey_transfers
from ptxkit.kernels import seeds
from ptxkit.kernels.kernel_check import CheckedKernel
from ptxkit.kernels.seeds.barrier_copy import barrier_copy
from ptxkit.kernels.seeds.barrier_life import expected_trace
from ptxkit.kernels.seeds.cluster_write import rotate_ctas
from ptxkit.kernels.seeds.dropping_out import sum_by_halves
from ptxkit.kernels.seeds.multicast import expected_multiples
from ptxkit.kernels.seeds.seed_cases import CHECKED_SEEDS
from ptxkit.kernels.seeds.split_barrier import expected_sums
from ptxkit.kernels.seeds.tile_folding import TILE, fold_tiles
from ptxkit.source import SourceFile
from tests.build.support import assert_ptxas_accepts
from tests.corpus.support import CORPUS, SEED_UNITS, assemble, seed_programs, units
from tests.kernels.removal import positions, without

ROOT = Path(__file__).resolve().parents[2]
TWINS = seed_programs()
each_twin = pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
each_seed = pytest.mark.parametrize("subject", CHECKED_SEEDS, ids=lambda subject: subject.build.__name__)

#: The finding where an instruction is removed, wherever it is.
REMOVALS = [
    ("plain_staging", "bar.sync", {"PTX621"}),
    ("group_copy", "cp.async.wait_all", {"PTX302"}),
    ("barrier_copy", "mbarrier.expect_tx", {"PTX503"}),
    ("split_barrier", "mbarrier.test_wait", {"PTX621"}),
    ("producer_consumer", "mbarrier.test_wait", {"PTX621"}),
    ("producer_consumer", "bar.sync", {"PTX501"}),
    ("pipeline_one_stage", "mbarrier.test_wait", {"PTX302", "PTX621"}),
    ("pipeline_two_stages", "cp.async.mbarrier.arrive", {"PTX302"}),
    ("pipeline_roles", "mbarrier.test_wait", {"PTX302", "PTX505"}),
    ("bulk_both_ways", "mbarrier.try_wait", {"PTX302"}),
    ("bulk_both_ways", "fence.proxy.async", {"PTX401"}),
    ("bulk_both_ways", "cp.async.bulk.commit_group", {"PTX301"}),
    ("bulk_both_ways", "cp.async.bulk.wait_group", {"PTX303"}),
    ("tensor_tile", "fence.proxy.async", {"PTX401"}),
    ("tensor_tile", "mbarrier.arrive.expect_tx", {"PTX503"}),
    ("multicast", "mbarrier.try_wait", {"PTX302"}),
    ("dropping_out", "mbarrier.arrive_drop", {"PTX504"}),
]


def build_seed(name: str) -> Kernel:
    """Returns the program with the builder, for the target of its twin."""
    program, _, target = name.partition(".")
    if program == "barrier_copy":
        return barrier_copy(target=target)
    made: Kernel = getattr(seeds, program)()
    return made


@each_twin
def test_ptxas_compiles_the_output_of_nvcc(path: Path, tmp_path: Path) -> None:
    done = assemble(path, tmp_path)
    assert done.returncode == 0, done.stderr


@each_twin
def test_it_describes_itself_and_the_rules_it_observes(path: Path) -> None:
    header = [line for line in path.read_text().splitlines() if line.startswith("//")]
    assert any(line.startswith("// Keeps: ") for line in header)


@each_seed
def test_the_builders_kernel_is_verified_clean(subject: CheckedKernel) -> None:
    assert subject.build().verify().diagnostics == ()


@each_seed
def test_ptxas_and_nvjitlink_accept_the_builders_kernel(subject: CheckedKernel, tmp_path: Path) -> None:
    assert_ptxas_accepts(str(subject.build()), tmp_path)
    assert compile_kernel(subject.build(), verify=False).code.startswith(b"\x7fELF")


@each_seed
def test_its_cases_have_integer_numbers_of_ctas_and_elements(subject: CheckedKernel) -> None:
    cases = list(subject.cases(1, np.random.default_rng(1)))
    assert len(cases) > 1
    assert all(case.expected.size and np.prod(case.grid) > 0 for case in cases)


@pytest.mark.parametrize(("name", "wanted"), SEED_UNITS.items())
def test_the_builders_kernel_copies_by_the_unit_of_the_program(name: str, wanted: set[str]) -> None:
    assert (CORPUS / "seeds" / f"{name}.ptx").exists()
    found = survey_transfers(SourceFile("seed.ptx", str(build_seed(name)))).kernels
    assert found is not None
    assert units(found) == wanted


def test_a_wait_without_the_arrival_that_returns_its_token_is_rejected() -> None:
    kernel = seeds.barrier_life()
    verdicts = [lint(without(kernel, place).module) for place in positions(kernel, "mbarrier.arrive")]
    assert len(verdicts) == 11
    assert all(any(found.code == "PTX504" for found in verdict.diagnostics) for verdict in verdicts)


@pytest.mark.parametrize(("program", "opcode", "codes"), REMOVALS)
def test_without_one_of_its_waits_it_is_rejected(program: str, opcode: str, codes: set[str]) -> None:
    kernel: Kernel = getattr(seeds, program)()
    places = positions(kernel, opcode)
    assert places
    for place in places:
        with pytest.raises(VerificationError) as caught:
            verify_assembled(without(kernel, place), kernel.name)
        assert codes & {found.code for found in caught.value.diagnostics}


def test_a_cluster_barrier_comes_before_another_ctas_memory() -> None:
    kernel = seeds.cluster_write()
    first = positions(kernel, "barrier.cluster")[:2]
    with pytest.raises(VerificationError) as caught:
        verify_assembled(without(kernel, *first), kernel.name)
    assert {found.code for found in caught.value.diagnostics} == {"PTX611"}


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_a_copy_that_a_barrier_tracks_is_correct_on_either_target(target: str, tmp_path: Path) -> None:
    kernel = barrier_copy(target=target)
    assert kernel.verify().diagnostics == ()
    assert_ptxas_accepts(str(kernel), tmp_path, target)


@pytest.mark.parametrize("program", ["launch_sized", "cluster_write", "split_barrier"])
def test_no_shared_address_is_converted(program: str) -> None:
    kernel: Kernel = getattr(seeds, program)()
    assert "cvta" not in str(kernel)


def test_each_program_exists_twice_and_in_the_documentation() -> None:
    programs = {subject.build.__name__ for subject in CHECKED_SEEDS}
    assert programs == set(seeds.__all__) == {path.name.split(".")[0] for path in TWINS}
    assert programs == {path.stem for path in (CORPUS / "seeds" / "src").glob("*.cu")}
    page = (ROOT / "docs/howto/build-kernels.md").read_text("utf-8")
    for program in programs:
        for link in (f"ptxkit/kernels/seeds/{program}.py", f"corpus/seeds/src/{program}.cu"):
            assert (ROOT / link).exists()
            assert f"`{link}`" in page


def test_a_folded_tile_contains_the_sums_of_opposites() -> None:
    source = np.arange(2 * TILE, dtype=np.float32)
    assert fold_tiles(source).tolist() == [TILE - 1] * TILE + [3 * TILE - 1] * TILE


def test_a_barriers_trace_counts_down_three_times() -> None:
    downwards = [4, 0, 3, 0, 2, 0, 1, 1]
    assert expected_trace(np.array([7.5], np.float32)).tolist() == [*downwards, *downwards, *downwards[2:], 7.5]


def test_a_sum_by_halves_is_the_sum() -> None:
    assert sum_by_halves(np.arange(512, dtype=np.float32)).tolist() == [255 * 128, 255 * 128 + 256 * 256]


def test_each_cta_of_a_cluster_receives_the_data_of_the_one_before_it() -> None:
    source = np.repeat(np.arange(8, dtype=np.float32), 256)
    assert rotate_ctas(source)[::256].tolist() == [3, 0, 1, 2, 7, 4, 5, 6]


def test_each_cta_of_a_cluster_writes_its_multiple_of_the_tile() -> None:
    source = np.repeat(np.array([1, 5], np.float32), TILE)
    assert expected_multiples(source)[::TILE].tolist() == [1, 2, 5, 10]


def test_a_tile_is_squared_and_added_to_its_opposites() -> None:
    source = np.arange(256, dtype=np.float32)
    assert expected_sums(source)[:3].tolist() == [255, 255, 257]
