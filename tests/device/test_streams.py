"""The stream of a launch: a given one, or the current one of the library of the arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ptxkit.device import LaunchError, Signature, TensorMap, argument_marshaller, streams
from ptxkit.device.arrays import view_device_array
from ptxkit.device.signature import Argument
from ptxkit.device.streams import _FINDERS, current_stream, get_torch_stream_function, make_stream_wait, stream_handle
from ptxkit.device.tensormap import make_tensor
from tests.device.test_arguments import Fake


class Tensor:
    """A tensor of PyTorch with its device."""

    def __init__(self, device: int) -> None:
        self._device = device

    def get_device(self) -> int:
        return self._device


class Parameter(Tensor):
    """A derived class."""


class Array:
    """An array of CuPy."""


Tensor.__module__ = "torch"
Array.__module__, Array.__name__ = "cupy._core.core", "ndarray"


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    torch = SimpleNamespace(_C=SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 70 + device))
    cupy = SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=80)))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    get_torch_stream_function.cache_clear()
    for kind in (Tensor, Parameter, Array):
        monkeypatch.delitem(_FINDERS, kind, raising=False)
    yield
    get_torch_stream_function.cache_clear()


def map_of(array: Any) -> TensorMap:
    return TensorMap(make_tensor(Fake(shape=(8, 64)), None), (32, 8), 128, "tiled", bytes(128), array)


@pytest.mark.parametrize(
    ("arguments", "handle"),
    [
        ((3, Tensor(1), Tensor(0)), 71),
        ((Parameter(0),), 70),
        ((Tensor(-1), Array()), 80),
        ((map_of(Tensor(1)),), 71),
        ((map_of(Fake()), map_of(Array())), 80),
        ((Fake(), 1, "text"), 0),
        ((), 0),
    ],
)
def test_the_current_stream_is_that_of_the_first_array_with_a_library(arguments: tuple[Any, ...], handle: int) -> None:
    for _ in range(2):
        assert current_stream(arguments) == handle


def test_an_older_pytorch_returns_its_stream_as_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimpleNamespace(current_stream=lambda device: SimpleNamespace(cuda_stream=90 + device))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(_C=SimpleNamespace(), cuda=cuda))
    get_torch_stream_function.cache_clear()
    assert current_stream((Tensor(2),)) == 92


class Standard:
    """A stream of any library in the interface of cuda.core."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 5


@pytest.mark.parametrize(
    ("stream", "handle"), [(SimpleNamespace(cuda_stream=3), 3), (SimpleNamespace(ptr=4), 4), (Standard(), 5)]
)
def test_streams_of_any_library_are_accepted(stream: object, handle: int) -> None:
    assert stream_handle(stream) == handle


@pytest.mark.parametrize("stream", [object(), 3, None])
def test_other_objects_are_rejected(stream: object) -> None:
    with pytest.raises(LaunchError, match="a stream of"):
        stream_handle(stream)


class Events:
    """The driver's events, as far as a stream waits for them."""

    CUevent_flags = SimpleNamespace(CU_EVENT_DISABLE_TIMING=SimpleNamespace(value=2))

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.status = SimpleNamespace(name="CUDA_SUCCESS")

    def __getattr__(self, name: str) -> Any:
        def call(*values: object) -> tuple[object, ...]:
            self.calls.append((name, *values))
            return (self.status, 99) if name == "cuEventCreate" else (self.status,)

        return call


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Events:
    found = Events()
    monkeypatch.setattr(streams, "import_driver", lambda: found)
    return found


WAITED = [("cuEventCreate", 2), ("cuEventRecord", 99, 5), ("cuStreamWaitEvent", 7, 99, 0), ("cuEventDestroy", 99)]


def test_a_stream_waits_for_the_work_of_another(events: Events) -> None:
    make_stream_wait(5, 7)
    assert events.calls == WAITED


def test_a_stream_does_not_wait_for_itself(events: Events) -> None:
    for producer, stream in ((5, 5), (1, 0), (0, 1), (0, 0)):
        make_stream_wait(producer, stream)
    assert events.calls == []


class Named(Fake):
    """An array with a pending stream."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return super().__cuda_array_interface__ | {"stream": 5}


def test_a_launch_waits_for_the_stream_of_an_array(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(argument_marshaller, "get_current_context", lambda: 1)
    signature = Signature("k", (Argument("data", "u64", "global", "f32"), Argument("n", "u32")))
    run = argument_marshaller.ArgumentMarshaller(signature, 0, 1).compile_function((), {})
    run(7, (Named(), 3))
    assert events.calls == WAITED
    events.calls.clear()
    run(5, (Named(), 3))
    run(7, (Fake(), 3))
    assert events.calls == []


def test_an_array_is_inspected_without_waiting(events: Events) -> None:
    assert view_device_array(Named(), "an array").address == 0x1000
    assert events.calls == []


@pytest.mark.parametrize(("given", "asked"), [(None, -1), (0, 1), (7, 7)])
def test_dlpack_is_requested_for_the_stream(given: int | None, asked: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    class View:
        """The wrapper of an array in `cuda.core`."""

        ptr, shape, strides, dtype, readonly, is_device_accessible = 0x1000, (8,), None, np.dtype("f4"), False, True

        @classmethod
        def from_any_interface(cls, value: object, stream_ptr: int) -> type[View]:
            seen.append(stream_ptr)
            return cls

    monkeypatch.setitem(sys.modules, "cuda.core.utils", SimpleNamespace(StridedMemoryView=View))
    exported = SimpleNamespace(__dlpack_device__=lambda: (2, 0), __dlpack__=None)
    assert view_device_array(exported, "an array", given).address == 0x1000
    assert seen == [asked]
