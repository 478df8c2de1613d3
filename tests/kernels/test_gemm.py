"""The GEMM: clean in all its variants, without spills, and rejected where a fence or wait is removed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from ptxkit import Severity
from ptxkit.build import BuildValueError, Kernel, VerificationError, verify_assembled
from ptxkit.device import ArgumentError
from ptxkit.emulator import TensorMapArgument
from ptxkit.kernels import gemm
from ptxkit.kernels.gemm_config import CONSUMERS, THREADS
from ptxkit.kernels.gemm_schedule import encode_schedule
from ptxkit.kernels.matmul import Matmul
from ptxkit.syntax.tree import Integer
from tests.build.programs import as_bits
from tests.build.support import instructions, opcodes, ptxas
from tests.kernels.removal import positions, without

VARIANTS = [
    {},
    {"cluster": 1},
    {"by_columns": True},
    {"by_columns": True, "cluster": 1},
    {"element": "e4m3"},
    {"element": "e4m3", "cluster": 1},
    {"element": "e4m3", "precise": True},
    {"element": "e4m3", "precise": True, "cluster": 1},
]


def build(variant: dict[str, object]) -> Kernel:
    return gemm(**variant)  # type: ignore[arg-type]


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_variant_is_clean(variant: dict[str, object]) -> None:
    assert build(variant).verify().diagnostics == ()


def test_e5m2_is_linted_as_e4m3_from_which_it_differs_in_the_type_only() -> None:
    assert str(gemm("e5m2")).replace("e5m2", "e4m3") == str(gemm("e4m3"))


@pytest.mark.parametrize("variant", [*VARIANTS, {"element": "e5m2"}], ids=str)
def test_every_variant_has_its_registers(variant: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "gemm.ptx"
    path.write_text(str(build(variant)))
    command = [str(ptxas()), "-v", "-arch=sm_90a", str(path), "-o", str(tmp_path / "gemm.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert " 0 bytes spill stores, 0 bytes spill loads" in done.stderr
    assert "Used 168 registers" in done.stderr
    assert "warning" not in done.stderr  # such as that multiplications are serialized


REMOVALS = [
    ("barrier.cluster.arrive", 0, "PTX613"),
    ("barrier.cluster.arrive", 1, "PTX613"),
    ("setmaxnreg", 0, "PTX605"),
]

#: What only happens where the table of work in global memory is not empty.
REMOVALS_IN_WORK = [
    ("mbarrier.init", 0, "PTX501"),
    ("wgmma.fence", 0, "PTX312"),
    ("wgmma.wait_group", -1, "PTX311"),
    ("fence.proxy.async", 0, "PTX401"),
    ("fence.proxy.async", -1, "PTX401"),
    ("cp.async.bulk.commit_group", 0, "PTX303"),
    ("cp.async.bulk.wait_group", 2, "PTX303"),
]


@pytest.mark.parametrize(("opcode", "number", "code"), [*REMOVALS, *REMOVALS_IN_WORK])
def test_without_one_of_its_fences_or_waits_it_is_rejected(opcode: str, number: int, code: str) -> None:
    kernel = gemm()
    with pytest.raises(VerificationError) as caught:
        verify_assembled(without(kernel, positions(kernel, opcode)[number]), kernel.name)
    assert {found.code for found in caught.value.diagnostics} == {code}
    assert all(found.severity is Severity.ERROR for found in caught.value.diagnostics)


def test_the_tensor_cores_execute_four_multiplications_a_k_block() -> None:
    kernel = gemm()
    found = opcodes(kernel.module())
    blocks = 6  # the first one, four with a store, and those of the loop
    assert found.count("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16") == 4 * blocks
    assert sum(each.endswith(".multicast::cluster") for each in found) == 1
    assert not any(each.endswith(".multicast::cluster") for each in opcodes(gemm(cluster=1).module()))
    assert kernel.threads == (THREADS, 1, 1)


def test_precise_sums_restart_in_each_k_block() -> None:
    kernel = gemm("e4m3", precise=True)
    found = [each for each in instructions(kernel.module()) if each.opcode.startswith("wgmma.mma_async")]
    accumulates = [each.operands[3] for each in found]
    anew = [Integer(value, str(value)) for value in (0, 1, 1, 1)]
    assert accumulates == anew * 3  # two blocks with a store, and those of the loop
    sums = opcodes(kernel.module()).count("add.f32")
    assert sums == 64 * (2 + 1)  # of the second block, of the loop, and of the partial sums of another CTA


def test_impossible_multiplications_are_rejected() -> None:
    with pytest.raises(BuildValueError, match="bf16 or e4m3 or e5m2, not 'f16'"):
        gemm("f16")
    with pytest.raises(BuildValueError, match="1 or 2 CTAs, not 3"):
        gemm(cluster=3)
    with pytest.raises(BuildValueError, match="only along K"):
        gemm("e4m3", by_columns=True)
    with pytest.raises(BuildValueError, match="precise is for e4m3 and e5m2"):
        gemm("bf16", precise=True)


class _Matrix:
    def __init__(self, *shape: int) -> None:
        self.shape = shape


def test_a_plan_is_for_one_shape() -> None:
    plan = Matmul(300, 200, 100)
    with pytest.raises(ArgumentError, match=r"b has the shape \(100, 200\), not \(200, 100\)"):
        plan.maps(_Matrix(300, 100), _Matrix(200, 100), _Matrix(300, 200))
    assert sum(row.blocks for rows in plan.rows_of(66) for row in rows) == 2 * 1 * 5


class _Typed:
    """A matrix in device memory, in PyTorch's interface."""

    is_cuda = True

    def __init__(self, dtype: str, size: int, *shape: int) -> None:
        self.shape, self.dtype, self._size = shape, f"torch.{dtype}", size

    def element_size(self) -> int:
        return self._size

    def stride(self) -> tuple[int, ...]:
        return (self.shape[1], 1)

    def data_ptr(self) -> int:
        return 4096


_Typed.__name__, _Typed.__module__ = "Tensor", "torch"


@pytest.mark.parametrize(
    ("element", "dtype", "size"),
    [("bf16", "float16", 2), ("bf16", "float8_e4m3fn", 1), ("e4m3", "float8_e5m2", 1), ("e5m2", "float8_e4m3fn", 1)],
)
def test_matrices_of_other_types_are_rejected(element: str, dtype: str, size: int) -> None:
    plan = Matmul(16, 16, 16, element=element)
    with pytest.raises(ArgumentError, match=rf"a is a matrix of {element}, or of its bits, not of torch\.{dtype}"):
        plan.maps(*(_Typed(dtype, size, 16, 16) for _ in range(3)))


@pytest.mark.parametrize(
    ("element", "dtype", "size"),
    [("bf16", "bfloat16", 2), ("e4m3", "float8_e4m3fn", 1), ("e5m2", "float8_e5m2", 1), ("e4m3", "uint8", 1)],
)
def test_matrices_are_accepted_by_their_types_or_as_bits(element: str, dtype: str, size: int) -> None:
    plan = Matmul(16, 16, 16, element=element)
    given = _Typed(dtype, size, 16, 16)
    with pytest.raises(ArgumentError, match=r"out is a matrix of bf16, or of its bits, not of torch\.float32"):
        plan.maps(given, given, _Typed("float32", 4, 16, 16))


@pytest.mark.parametrize(("element", "cluster"), [("bf16", 1), ("bf16", 2), ("e4m3", 1), ("e5m2", 2)])
def test_products_are_correct_on_the_reference_machine(element: str, cluster: int) -> None:
    rows, columns, depth, workers = 130, 264, 208, 2 // cluster
    plan = Matmul(rows, columns, depth, element=element, cluster=cluster)
    random = np.random.default_rng(5)
    a, b = random.integers(-3, 4, (rows, depth)), random.integers(-3, 4, (columns, depth))
    out = np.zeros((rows, columns), np.uint16)
    forms = [each.tensor for each in plan.kernel.parameters[:3]]
    maps = [
        TensorMapArgument.tiled(each, box=form.box, swizzle=form.swizzle)
        for each, form in zip((as_bits(a, element), as_bits(b, element), out), forms, strict=True)
        if form is not None
    ]
    warps = workers * cluster * CONSUMERS
    room = np.zeros(warps * 32 * plan.form.sums_per_thread, np.float32)
    schedule = encode_schedule(plan.rows_of(workers)).reshape(-1)
    factors = [np.full(1, value, np.float32) for value in ((0.5, 2.0) if plan.form.is_scaled else ())]
    run = plan.kernel.emulate(workers * cluster)  # which raises where it finds anything
    run(*maps, schedule, room, np.zeros(warps, np.uint32), *factors)
    assert np.array_equal(out, as_bits(a @ b.T, "bf16"))
