"""Launches: errors without a GPU, and real runs with one."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ptxkit.build import Global, Kernel, f32, u32
from ptxkit.device import (
    ArgumentError,
    DeviceError,
    LaunchError,
    OtherContextError,
    argument_marshaller,
    check_device,
    device_target,
    driver_launch,
    launch,
    launch_failures,
    load,
)
from ptxkit.device.device_memory import DeviceArray, to_device, use_device
from ptxkit.device.driver_launch import CuLaunchConfig
from ptxkit.device.loaded_kernel import Loaded
from ptxkit.device.signature import Argument, Signature
from ptxkit.kernels import bulk_add_one
from tests.device.conftest import reason
from tests.device.test_arguments import Fake


@pytest.mark.skipif(reason() is None, reason="this machine has a GPU")
def test_without_a_gpu_launching_fails_with_one_sentence() -> None:
    kernel = bulk_add_one()
    for attempt in (check_device, lambda: load(kernel), lambda: launch(None, kernel, grid=1), kernel[1]):
        with pytest.raises(DeviceError, match="so kernels can be compiled but not launched") as caught:
            attempt()
        assert "\n" not in str(caught.value)


def test_the_target_of_a_device_has_its_own_features() -> None:
    assert device_target((9, 0)) == "sm_90a"
    assert device_target((10, 3)) == "sm_103a"
    assert device_target((8, 6)) == "sm_86"


class Limits:
    """A device's properties that a launch reads."""

    name = "a device"
    device_id = 0

    class properties:  # noqa: N801
        max_shared_memory_per_block_optin = 1000


class FakeKernel:
    """A kernel in the interface of cuda.core."""

    handle = 5


def load_tile(*arguments: Argument, **options: Any) -> Loaded:
    return Loaded(Signature("k", arguments, **options), FakeKernel(), Limits())


class FakeStream:
    """A stream in the interface of PyTorch."""

    cuda_stream = 77


@dataclass
class Submitted:
    """A launch as the driver reads it, with its parameters as words of 32 bits."""

    kernel: int
    words: list[int]
    stream: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...] | None
    shared: int


class Driver:
    """Replaces the driver's function: records its arguments, and returns `status`."""

    def __init__(self) -> None:
        self.calls: list[Submitted] = []
        self.status = 0
        self.count = self.context = 1

    def __call__(self, config: Any, kernel: Any, parameters: Any, extra: None) -> int:
        found = CuLaunchConfig.from_address(config.value)
        cluster = tuple(found.attributes[0].value[:3]) if found.count else None
        places = (ctypes.c_void_p * self.count).from_address(parameters.value)
        words = [ctypes.c_uint32.from_address(place).value for place in places if place]
        shape = tuple(found.grid), tuple(found.block), cluster
        self.calls.append(Submitted(kernel.value, words, found.stream or 0, *shape, found.shared))
        return self.status


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    found = Driver()
    monkeypatch.setattr(driver_launch, "get_launch_function", lambda: found)
    monkeypatch.setattr(driver_launch, "get_kernel_function", ctypes.c_void_p)
    for place in (driver_launch, argument_marshaller):
        monkeypatch.setattr(place, "get_current_context", lambda: found.context)
    monkeypatch.setattr(Loaded, "_get_attribute", lambda *_: 0)
    monkeypatch.setattr(launch_failures, "error_string", lambda result: "its words")
    return found


@pytest.mark.parametrize(
    ("kernel", "options", "message"),
    [
        (load_tile(), {}, "'k' fixes no block; give block="),
        (load_tile(threads=(32, 1, 1)), {"block": 64}, r"is written for \(32, 1, 1\) threads, not 64"),
        (
            load_tile(dynamic_shared=100),
            {"shared": 99, "block": 1},
            "needs 100 bytes of launch-sized shared memory, not 99",
        ),
        (load_tile(), {"shared": 1001, "block": 1}, "1001 bytes of shared memory; a device gives a CTA at most 1000"),
    ],
)
def test_an_impossible_launch_is_rejected_before_the_driver(
    kernel: Loaded, options: dict[str, Any], message: str, driver: Driver
) -> None:
    with pytest.raises(LaunchError, match=message):
        kernel.launch(FakeStream(), grid=1, **options)
    assert driver.calls == []


def test_an_invalid_stream_is_rejected(driver: Driver) -> None:
    with pytest.raises(LaunchError, match=r"a stream of cuda\.core, PyTorch or CuPy is needed, not object"):
        load_tile().launch(object(), grid=1, block=1)
    load_tile().launch(FakeStream(), grid=1, block=1)
    assert len(driver.calls) == 1


def test_shared_memory_counts_with_the_kernels_declarations(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Loaded, "_get_attribute", lambda *_: 600)
    load_tile().launch(FakeStream(), grid=1, block=1, shared=400)
    with pytest.raises(LaunchError, match="1001 bytes of shared memory with the 600 that the kernel declares"):
        load_tile().launch(FakeStream(), grid=1, block=1, shared=401)
    assert len(driver.calls) == 1


def test_arguments_are_checked_before_the_driver(driver: Driver) -> None:
    kernel = load_tile(Argument("n", "u32"))
    for values in ((), (1, 2)):
        with pytest.raises(ArgumentError, match=rf"takes 1 arguments \(n\), not {len(values)}"):
            kernel.launch(FakeStream(), *values, grid=1, block=1)
    with pytest.raises(ArgumentError, match="does not fit in parameter 'n'"):
        kernel.launch(FakeStream(), -1, grid=1, block=1)
    assert driver.calls == []


def test_a_launch_passes_geometry_stream_and_arguments_to_the_driver(driver: Driver) -> None:
    driver.count = 2
    kernel = load_tile(Argument("n", "u32"), Argument("m", "s32"), threads=(32, 2, 1), dynamic_shared=64)
    kernel.launch(FakeStream(), 7, 8, grid=(4, 2), cluster=2)
    assert driver.calls == [Submitted(5, [7, 8], 77, (4, 2, 1), (32, 2, 1), (2, 1, 1), 64)]


def test_consecutive_launches_share_the_constant_fields(driver: Driver) -> None:
    kernel = load_tile(Argument("n", "u32"), threads=(32, 1, 1))
    bound = kernel.bind(1)
    assert kernel.bind(1) is bound
    for stream, value in ((77, 1), (0, 2), (78, 3)):
        bound.run(stream, (value,))
    assert [(each.stream, each.words) for each in driver.calls] == [(77, [1]), (0, [2]), (78, [3])]


def test_a_kernel_for_a_cluster_is_launched_without_a_request(driver: Driver) -> None:
    kernel = load_tile(threads=(32, 1, 1), cluster=(2, 1, 1))
    kernel.launch(FakeStream(), grid=4)
    kernel.launch(FakeStream(), grid=4, cluster=2)
    assert [each.cluster for each in driver.calls] == [None, None]
    with pytest.raises(LaunchError, match=r"for clusters of \(2, 1, 1\), not 4"):
        kernel.launch(FakeStream(), grid=4, cluster=4)


def test_an_empty_grid_is_not_launched_and_its_arguments_are_checked(driver: Driver) -> None:
    kernel = load_tile(Argument("n", "u32"), threads=(32, 1, 1))
    kernel.launch(FakeStream(), 1, grid=0)
    kernel.launch(FakeStream(), 1, grid=(3, 0))
    assert driver.calls == []
    with pytest.raises(ArgumentError, match="does not fit"):
        kernel.launch(FakeStream(), -1, grid=0)


def test_limits_of_a_launch_are_queried_from_the_driver(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []
    monkeypatch.setattr(
        Loaded, "_set_attribute", lambda _, attribute, value: asked.append((attribute.name[18:], value))
    )
    monkeypatch.setattr(Limits.properties, "max_shared_memory_per_block_optin", 100_000)
    for size in (48 * 1024, 48 * 1024 + 4):
        load_tile(threads=(32, 1, 1)).launch(FakeStream(), grid=1, shared=size)
    assert asked == [("MAX_DYNAMIC_SHARED_SIZE_BYTES", 48 * 1024 + 4)]
    asked.clear()
    for cluster in (8, 16):
        load_tile(threads=(32, 1, 1)).launch(FakeStream(), grid=32, cluster=cluster)
    assert asked == [("NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)]


def test_the_limit_of_shared_memory_is_never_lowered(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES": 0}
    seen: list[int] = []

    def allow(_: Loaded, attribute: Any, value: int) -> None:
        limits[attribute.name] = value
        seen.append(value)

    monkeypatch.setattr(Loaded, "_get_attribute", lambda _, attribute: limits.get(attribute.name, 0))
    monkeypatch.setattr(Loaded, "_set_attribute", allow)
    monkeypatch.setattr(Limits.properties, "max_shared_memory_per_block_optin", 200_000)
    kernel = load_tile(threads=(32, 1, 1))
    for size in (100_000, 60_000, 100_000, 120_000, 110_000):
        kernel.launch(FakeStream(), grid=1, shared=size)
    assert seen == [100_000, 120_000]


def test_the_tables_of_bound_launches_are_bounded(driver: Driver) -> None:
    kernel = load_tile(threads=(32, 1, 1))
    first = kernel.bind(1)
    for grid in range(2, 2000):
        kernel.bind(grid)
    assert len(kernel._bound) < 1000
    assert kernel.bind(1) is not first
    built = scale()
    for grid in range(1, 2000):
        built[grid]
    assert built.launches.launcher is not None
    assert len(built.launches.by_geometry) < 1000
    assert len(built.launches.launcher._bindings) < 1000


def test_a_failed_launch_names_its_geometry_and_arguments(driver: Driver) -> None:
    signature = Signature("k", (Argument("data", "u64", "global", "f32"), Argument("n", "u32")))
    undecided = ("PTX302: the address comes from a call (ptx:12)", "PTX302: another (ptx:13)", "PTX401: a loop (ptx:9)")
    driver.count, driver.status = 2, 1
    with pytest.raises(LaunchError) as caught:
        Loaded(signature, FakeKernel(), Limits(), undecided).launch(FakeStream(), Fake(), 7, grid=(4, 2), block=64)
    assert str(caught.value).startswith("kernel 'k' was not launched: CUDA_ERROR_INVALID_VALUE (its words)\n")
    assert str(caught.value).splitlines()[1:] == [
        "  grid (4, 2, 1), block (64, 1, 1), 0 bytes of launch-sized shared memory; stream 0x4d of a device",
        "  data = array of NumPy's f4, shape (8,), at 0x1000",
        "  n = 7",
        "  the verifier could not decide:",
        "    PTX302: the address comes from a call (ptx:12), and 1 more",
        "    PTX401: a loop (ptx:9)",
    ]


def test_another_context_is_noticed_and_not_reported_as_a_failure(driver: Driver) -> None:
    driver.count = 2
    pointer, number = Argument("data", "u64", "global", "f32"), Argument("n", "u32")
    with_pointer, without = load_tile(pointer, number).bind(1, 32), load_tile(number, number).bind(1, 32)
    with_pointer.run(0, (Fake(), 1))
    without.run(0, (1, 1))
    driver.context = 2
    for bound, values in ((with_pointer, (Fake(), 1)), (without, (1, 1))):
        with pytest.raises(OtherContextError):
            bound.run(0, values)
    assert len(driver.calls) == 2


def test_a_driver_that_rejects_another_context_is_not_reported_as_a_failure(driver: Driver) -> None:
    driver.status = 400
    bound = load_tile(Argument("data", "u64", "global", "f32")).bind(1, 32)
    known = [1, 2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver_launch, "get_current_context", known.pop)
        with pytest.raises(OtherContextError):
            bound.run(0, (Fake(),))


@pytest.mark.parametrize(
    ("undecided", "line"), [(None, "the kernel was not verified"), ((), "the verifier left nothing open")]
)
def test_a_failed_launch_reports_the_verdict_of_the_verifier(
    driver: Driver, undecided: tuple[str, ...] | None, line: str
) -> None:
    driver.status = 700
    with pytest.raises(LaunchError, match="CUDA_ERROR_ILLEGAL_ADDRESS") as caught:
        Loaded(Signature("k", ()), FakeKernel(), Limits(), undecided).launch(FakeStream(), grid=1, block=1)
    text = str(caught.value).splitlines()
    assert text[1] == (
        "  that is the error of a kernel that ran before on this device: launch with wait=True to see of which"
    )
    assert text[-1] == f"  {line}"


def scale(shared_elements: int = 0) -> Kernel:
    """data[i] = data[i] * factor, through launch-sized shared memory where some is requested."""
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
def test_streams_and_arrays_of_pytorch_are_accepted() -> None:
    torch = pytest.importorskip("torch")
    data = torch.arange(1000, dtype=torch.float32, device="cuda")
    launch(torch.cuda.current_stream(), scale(), data, 1000, 2.0, grid=16)
    torch.cuda.synchronize()
    assert torch.equal(data.cpu(), torch.arange(1000, dtype=torch.float32) * 2)
    with pytest.raises(ArgumentError, match=r"points to \.f32"):
        launch(torch.cuda.current_stream(), scale(), data.to(torch.bfloat16), 1000, 2.0, grid=16)


@pytest.mark.device
def test_arrays_of_cupy_are_accepted() -> None:
    cupy = pytest.importorskip("cupy")
    data = cupy.arange(1000, dtype=cupy.float32)
    launch(cupy.cuda.get_current_stream(), scale(), data, 1000, 2.0, grid=16)
    assert np.array_equal(data.get(), np.arange(1000, dtype=np.float32) * 2)


@pytest.mark.device
def test_an_empty_grid_runs_nothing() -> None:
    data: DeviceArray = to_device(np.ones(4, np.float32))
    launch(use_device().create_stream(), scale(), data, 0, 3.0, grid=0)
    assert np.array_equal(data.to_host(), np.ones(4, np.float32))


@pytest.mark.device
def test_geometries_that_need_less_shared_memory_keep_the_higher_limit() -> None:
    k = scale(1024)
    host = np.arange(1000, dtype=np.float32)
    data = to_device(host)
    stream = use_device().create_stream()
    for size in (100_000, 60_000, 100_000):
        k.launch(stream, grid=16, shared=size)(data, 1000, 2.0)
    stream.sync()
    assert np.array_equal(data.to_host(), host * np.float32(8))


class OfStream:
    """An array with a pending stream."""

    def __init__(self, array: DeviceArray, stream: int, *, readonly: bool = False) -> None:
        self._interface = {**array.__cuda_array_interface__, "stream": stream}
        self._interface["data"] = (array.address, readonly)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return self._interface


def slow() -> Kernel:
    """Counts for a while, and then stores one."""
    k = Kernel("slow", threads=64)
    data, turns = k.param(Global[f32], "data"), k.param(u32, "turns")
    total = k.variable(f32, 0.0)
    with k.for_range(0, turns, unroll=False):
        total += data[k.tid.x].load() * 0.0
    data[k.tid.x].store(total + 1.0)
    return k


@pytest.mark.device
def test_a_launch_waits_for_the_stream_of_an_array() -> None:
    first, second = use_device().create_stream(), use_device().create_stream()
    data = to_device(np.zeros(64, np.float32))
    writer, reader = load(slow()), load(scale())
    for _ in range(5):
        writer.launch(first, data, 2_000_000, grid=1)
        reader.launch(second, OfStream(data, int(first.handle)), 64, 3.0, grid=1)
        second.sync()
        assert (data.to_host() == 3.0).all()


@pytest.mark.device
def test_a_launch_rejects_a_read_only_array_for_output() -> None:
    data = to_device(np.zeros(64, np.float32))
    with pytest.raises(ArgumentError, match="parameter 'data' is written by the kernel, and this array is read-only"):
        load(scale()).launch(use_device().create_stream(), OfStream(data, 1, readonly=True), 64, 3.0, grid=1)


@pytest.mark.device
def test_one_kernel_is_launched_from_two_threads() -> None:
    k = scale()
    arrays = [to_device(np.ones(64, np.float32)) for _ in range(8)]

    def twice(data: DeviceArray) -> None:
        stream = use_device().create_stream()
        for _ in range(20):
            k.launch(stream, grid=1)(data, 64, 1.5)
        stream.sync()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(twice, arrays))
    assert all(np.allclose(each.to_host(), 1.5**20) for each in arrays)


@pytest.mark.device
def test_dlpack_is_requested_for_the_stream_of_the_launch() -> None:
    torch = pytest.importorskip("torch")
    asked: list[object] = []

    class Exported:
        """A tensor that implements only DLPack."""

        def __init__(self, tensor: object) -> None:
            self.tensor: Any = tensor

        def __dlpack__(self, *, stream: object = None, **options: object) -> object:
            asked.append(stream)
            return self.tensor.__dlpack__(stream=stream)

        def __dlpack_device__(self) -> object:
            return self.tensor.__dlpack_device__()

    stream = use_device().create_stream()
    tensor = torch.ones(64, dtype=torch.float32, device="cuda")
    load(scale()).launch(stream, Exported(tensor), 64, 3.0, grid=1)
    stream.sync()
    assert asked == [int(stream.handle)]
    assert bool((tensor == 3.0).all())
