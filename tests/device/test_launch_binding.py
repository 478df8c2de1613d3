"""`kernel[grid, block](...)`: bound once for each context and state of the kernel, and looked up after that."""

from __future__ import annotations

from typing import Any

import pytest

from ptxkit.build import BuildTypeError, Global, Kernel, f32
from ptxkit.device import LaunchError, OtherContextError, Signature, launch_binding, launch_failures
from ptxkit.device.launch_binding import Launch, Launcher
from tests.device.test_arguments import Fake
from tests.device.test_loaded_kernel import FakeKernel, FakeStream, Limits


class Bound:
    """A bound kernel that only records its calls."""

    def __init__(self, maker: Maker, geometry: tuple[Any, ...]) -> None:
        self.maker, self.geometry = maker, geometry
        self.loaded = maker

        self.context = maker.context

    def run(self, stream: int | None, arguments: tuple[Any, ...]) -> None:
        if self.context != self.maker.context:
            raise OtherContextError
        self.maker.ran.append((stream, *arguments))


class Maker:
    """A kernel on a device."""

    device, kernel, signature, undecided = Limits(), FakeKernel(), Signature("k", ()), None

    def __init__(self) -> None:
        self.bound: list[tuple[Any, ...]] = []
        self.ran: list[tuple[Any, ...]] = []
        self.context = 1

    def bind(self, *geometry: Any) -> Bound:
        self.bound.append(geometry)
        return Bound(self, geometry)


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> Maker:
    found = Maker()
    monkeypatch.setattr(Launcher, "load", lambda kernel: found)
    return found


def kernel() -> Kernel:
    k = Kernel("k", threads=32)
    k.param(Global[f32], "data")[k.tid.x].store(1.0)
    assert str(k)
    return k


def test_a_kernel_is_bound_once_for_each_geometry(maker: Maker) -> None:
    k, data = kernel(), Fake()
    for _ in range(3):
        k[4](data)
        k[4, 32](data)
        k.launch(FakeStream(), grid=4, cluster=2, shared=16)(data)
    assert maker.bound == [(4, None, None, None), (4, 32, None, None), (4, None, 2, 16)]
    assert maker.ran == [(None, data), (None, data), (77, data)] * 3
    assert k[4] is k[4]


def test_a_kernel_that_changed_or_another_context_binds_again(maker: Maker) -> None:
    k = kernel()
    k[4](Fake())
    k.bar_sync(0)
    k[4](Fake())
    k[4](Fake())
    assert len(maker.bound) == 2
    maker.context = 2
    k[4](Fake())
    k[4](Fake())
    assert len(maker.bound) == 3
    assert len(maker.ran) == 5


def test_a_binding_that_fails_is_tried_again(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    k = kernel()
    k[4](Fake())
    maker.context = 2
    monkeypatch.setattr(Launcher, "load", lambda kernel: pytest.fail("no device"))
    for _ in range(2):
        with pytest.raises(pytest.fail.Exception, match="no device"):
            k[4](Fake())


def test_an_invalid_geometry_is_an_error_at_the_callers_line() -> None:
    for wrong in ("4", 1.5, (4, "32")):
        with pytest.raises(BuildTypeError, match="integers or tuples of integers"):
            kernel()[wrong]
    with pytest.raises(BuildTypeError, match="integers or tuples of integers"):
        kernel().launch(grid=[4])  # type: ignore[arg-type]


def test_a_failed_synchronous_launch_names_the_kernel(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    statuses = iter((0, 700))

    class Driver:
        @staticmethod
        def cuStreamSynchronize(stream: int) -> tuple[int]:  # noqa: N802
            assert stream == 77
            return (next(statuses),)

    monkeypatch.setattr(launch_binding, "import_driver", Driver)
    monkeypatch.setattr(launch_failures, "error_string", lambda result: "its words")
    launch: Launch = kernel().launch(FakeStream(), grid=4, wait=True)
    launch()
    with pytest.raises(LaunchError, match="kernel 'k' failed: CUDA_ERROR_ILLEGAL_ADDRESS"):
        launch()
