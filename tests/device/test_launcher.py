"""Launching: refusals without a GPU, and real runs with one."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.device import ArgumentError, DeviceError, LaunchError, check_device, device_target, launch, launcher, load
from ptxkit.device.launcher import Loaded
from ptxkit.device.memory import DeviceArray, to_device, use_device
from ptxkit.device.signature import Argument, Signature
from ptxkit.kernels import bulk_add_one
from tests.device.conftest import reason


@pytest.mark.skipif(reason() is None, reason="this machine has a GPU")
def test_without_a_gpu_launching_says_so_in_one_sentence() -> None:
    for attempt in (check_device, lambda: load(bulk_add_one()), lambda: launch(None, bulk_add_one(), grid=1)):
        with pytest.raises(DeviceError, match="so kernels can be compiled but not launched") as caught:
            attempt()
        assert "\n" not in str(caught.value)


def test_the_target_of_a_device_has_its_own_features() -> None:
    assert device_target((9, 0)) == "sm_90a"
    assert device_target((10, 3)) == "sm_103a"
    assert device_target((8, 6)) == "sm_86"


class Limits:
    """A device's properties, as far as a launch reads them."""

    name = "a device"
    device_id = 0

    class properties:  # noqa: N801
        max_shared_memory_per_block_optin = 1000


class FakeKernel:
    """A kernel as cuda.core shows it."""

    handle = 5


def loaded(**options: Any) -> Loaded:
    return Loaded(Signature("k", (), **options), FakeKernel(), Limits())


@pytest.mark.parametrize(
    ("kernel", "options", "message"),
    [
        (loaded(), {}, "'k' fixes no block; give block="),
        (loaded(threads=(32, 1, 1)), {"block": 64}, r"is written for \(32, 1, 1\) threads, not 64"),
        (
            loaded(dynamic_shared=100),
            {"shared": 99, "block": 1},
            "needs 100 bytes of launch-sized shared memory, not 99",
        ),
        (loaded(), {"shared": 1001, "block": 1}, "1001 bytes of shared memory; a device gives a CTA at most 1000"),
        (loaded(), {"block": 1}, "a stream of cuda.core, PyTorch or CuPy is needed, not object"),
    ],
)
def test_a_launch_that_cannot_be_is_refused_before_the_driver(
    kernel: Loaded, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(LaunchError, match=message):
        kernel.launch(object(), grid=1, **options)


def test_arguments_are_checked_before_the_driver() -> None:
    kernel = Loaded(Signature("k", (Argument("n", "u32"),)), FakeKernel(), Limits())
    with pytest.raises(ArgumentError, match="takes 1 argument"):
        kernel.launch(FakeStream(), grid=1, block=1)


class FakeStream:
    """A stream as PyTorch shows it."""

    cuda_stream = 77


@dataclass
class Submitted:
    """A launch as the driver gets it, with its parameters read back as words of 32 bits."""

    kernel: int
    words: list[int]
    stream: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] | None
    shared: int


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[Submitted]:
    found: list[Submitted] = []

    def submit(kernel: int, parameters: int, *rest: Any) -> tuple[FakeStatus]:
        (first,) = (ctypes.c_void_p * 1).from_address(parameters)
        words = [] if first is None else [ctypes.c_uint32.from_address(first).value]
        found.append(Submitted(kernel, words, *rest))
        return (FakeStatus(),)

    monkeypatch.setattr(launcher, "submit", submit)
    return found


class FakeStatus:
    """The driver's answer where all went well."""

    name = "CUDA_SUCCESS"


def test_a_launch_hands_geometry_stream_and_arguments_to_the_driver(submitted: list[Submitted]) -> None:
    signature = Signature("k", (Argument("n", "u32"),), threads=(32, 2, 1), dynamic_shared=64)
    Loaded(signature, FakeKernel(), Limits()).launch(FakeStream(), 7, grid=(4, 2), cluster=2)
    assert submitted == [Submitted(5, [7], 77, (4, 2, 1), (32, 2, 1), (2, 1, 1), 64)]


def test_a_kernel_for_a_cluster_is_launched_without_asking_for_one(submitted: list[Submitted]) -> None:
    kernel = Loaded(Signature("k", (), threads=(32, 1, 1), cluster=(2, 1, 1)), FakeKernel(), Limits())
    kernel.launch(FakeStream(), grid=4)
    kernel.launch(FakeStream(), grid=4, cluster=2)
    assert [each.cluster for each in submitted] == [None, None]
    with pytest.raises(LaunchError, match=r"for clusters of \(2, 1, 1\), not 4"):
        kernel.launch(FakeStream(), grid=4, cluster=4)


def test_an_empty_grid_is_not_launched(submitted: list[Submitted]) -> None:
    loaded(threads=(32, 1, 1)).launch(FakeStream(), grid=0)
    loaded(threads=(32, 1, 1)).launch(FakeStream(), grid=(3, 0))
    assert submitted == []


def test_more_than_48_kilobytes_are_asked_of_the_driver(
    submitted: list[Submitted], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(Loaded, "_allow", lambda _, size: asked.append(size))
    monkeypatch.setattr(Limits.properties, "max_shared_memory_per_block_optin", 100_000)
    for size in (48 * 1024, 48 * 1024 + 4):
        loaded(threads=(32, 1, 1)).launch(FakeStream(), grid=1, shared=size)
    assert asked == [48 * 1024 + 4]
    assert [each.shared for each in submitted] == [48 * 1024, 48 * 1024 + 4]


def scale(shared_elements: int = 0) -> Kernel:
    """data[i] = data[i] * factor, through launch-sized shared memory where some is asked for."""
    k = Kernel("scale", threads=64)
    data = k.param(Global[f32], "data")
    n, factor = k.param(u32, "n"), k.param(f32, "factor")
    i = k.ctaid.x * 64 + k.tid.x
    with k.if_(i < n):
        value = data[i].load() * factor
        if shared_elements:
            tile = k.dynamic_shared(f32, shared_elements)
            tile[k.tid.x + (shared_elements - 64)].store(value)
            value = tile[k.tid.x + (shared_elements - 64)].load()
        data[i].store(value)
    return k


@pytest.mark.device
@pytest.mark.parametrize("shared_elements", [0, 1024, 50 * 1024])
def test_a_kernel_runs_with_any_amount_of_shared_memory(shared_elements: int) -> None:
    host = np.arange(1000, dtype=np.float32)
    data = to_device(host)
    stream = use_device().create_stream()
    launch(stream, scale(shared_elements), data, 1000, 3.0, grid=16)
    stream.sync()
    assert np.array_equal(data.to_host(), host * np.float32(3))


@pytest.mark.device
def test_streams_and_arrays_of_pytorch_are_taken() -> None:
    torch = pytest.importorskip("torch")
    data = torch.arange(1000, dtype=torch.float32, device="cuda")
    launch(torch.cuda.current_stream(), scale(), data, 1000, 2.0, grid=16)
    torch.cuda.synchronize()
    assert torch.equal(data.cpu(), torch.arange(1000, dtype=torch.float32) * 2)
    with pytest.raises(ArgumentError, match=r"points to \.f32"):
        launch(torch.cuda.current_stream(), scale(), data.to(torch.bfloat16), 1000, 2.0, grid=16)


@pytest.mark.device
def test_arrays_of_cupy_are_taken() -> None:
    cupy = pytest.importorskip("cupy")
    data = cupy.arange(1000, dtype=cupy.float32)
    launch(cupy.cuda.get_current_stream(), scale(), data, 1000, 2.0, grid=16)
    assert np.array_equal(data.get(), np.arange(1000, dtype=np.float32) * 2)


@pytest.mark.device
def test_an_empty_grid_runs_nothing() -> None:
    data: DeviceArray = to_device(np.ones(4, np.float32))
    launch(use_device().create_stream(), scale(), data, 0, 3.0, grid=0)
    assert np.array_equal(data.to_host(), np.ones(4, np.float32))
