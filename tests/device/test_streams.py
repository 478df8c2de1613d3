"""The stream of a launch: one that is given, or the current one of the library that the arrays are from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ptxkit.device import LaunchError, TensorMap
from ptxkit.device.streams import _FINDERS, current_stream, stream_handle, torch_stream
from ptxkit.device.tensormap import tensor_of
from tests.device.test_arguments import Fake


class Tensor:
    """A tensor of PyTorch, which knows where it is."""

    def __init__(self, device: int) -> None:
        self._device = device

    def get_device(self) -> int:
        return self._device


class Parameter(Tensor):
    """A class that somebody derived."""


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
    torch_stream.cache_clear()
    for kind in (Tensor, Parameter, Array):
        monkeypatch.delitem(_FINDERS, kind, raising=False)
    yield
    torch_stream.cache_clear()


def map_of(array: Any) -> TensorMap:
    return TensorMap(tensor_of(Fake(shape=(8, 64)), None), (32, 8), 128, "tiled", bytes(128), array)


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


def test_an_older_pytorch_gives_its_stream_as_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimpleNamespace(current_stream=lambda device: SimpleNamespace(cuda_stream=90 + device))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(_C=SimpleNamespace(), cuda=cuda))
    torch_stream.cache_clear()
    assert current_stream((Tensor(2),)) == 92


class Standard:
    """A stream as cuda.core takes any library's."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 5


@pytest.mark.parametrize(
    ("stream", "handle"), [(SimpleNamespace(cuda_stream=3), 3), (SimpleNamespace(ptr=4), 4), (Standard(), 5)]
)
def test_streams_of_any_library_are_taken(stream: object, handle: int) -> None:
    assert stream_handle(stream) == handle


@pytest.mark.parametrize("stream", [object(), 3, None])
def test_nothing_else_is(stream: object) -> None:
    with pytest.raises(LaunchError, match="a stream of"):
        stream_handle(stream)
