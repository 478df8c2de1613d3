"""Kernels on the GPU of this machine in a separate process, so that a kernel that hangs or fails affects only that
process.

After a fault no kernel can run in the same context, and a kernel that hangs can only be ended with its process. So the
process is ended, and a new one continues after that kernel.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ptxkit.device import Cubin, NoDeviceError
from ptxkit.emulator import RunBudget, RunResult, run
from ptxkit.emulator.driver.uninitialized_dependence import UninitializedDependence, find_uninitialized_dependence
from ptxkit.emulator.state.tensor_maps import TensorMapArgument
from ptxkit.fast_dataclasses import dataclass
from ptxkit.processes.child_process import ParentChannel
from ptxkit.processes.supervised_process import ProcessLostError, ProcessTimeoutError, SupervisedProcess
from ptxkit.syntax import parse
from ptxkit.testing.limits import DEVICE_START_SECONDS
from ptxkit.testing.oracles.session import current_session


@dataclass(frozen=True, slots=True)
class DeviceLaunch:
    """One launch of a kernel. arguments: as for `ptxkit.emulator.run`; the same array twice is one buffer.

    shared: bytes of launch-sized shared memory.
    """

    name: str
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...] | None
    arguments: tuple[Any, ...]
    cluster: int | tuple[int, ...] | None = None
    shared: int = 0

    def emulate(self, text: str, **more: Any) -> RunResult:
        """Runs the same launch on the reference machine. more: as for `ptxkit.emulator.run`.

        By default the run is limited to the remaining budget of the test (`OracleSession`), and at most to the usual
        budget.
        """
        judging, usual = current_session(), RunBudget()
        left = judging.remaining_seconds()
        if "budget" in more or left is None or left >= usual.seconds:
            return run(text, self.name, **self._options(), **more)
        found = run(text, self.name, **self._options(), budget=RunBudget(seconds=left), **more)
        judging.is_truncated = judging.is_truncated or (
            bool(found.incomplete_reason and not found.findings) and judging.remaining_seconds() == 0
        )
        return found

    def uninitialized_dependence(self, text: str) -> UninitializedDependence:
        """Returns the differences in the results on the machine if uninitialized registers and memory hold other
        bits.
        """
        return find_uninitialized_dependence(parse(text), self.name, **self._options())

    def _options(self) -> dict[str, Any]:
        given = ("grid", "block", "cluster", "shared", "arguments")
        return {name: getattr(self, name) for name in given}


Outputs: TypeAlias = Mapping[int, Any]
"""The arrays among the arguments after the kernel has run, by the argument's number; for a table, a list of them."""

DeviceResult: TypeAlias = Outputs | str
"""The outputs, or the reason why none exist."""


@dataclass(frozen=True, slots=True)
class DeviceReady:
    """The first message of a process that has a GPU. target: the target to compile for (`device_target`)."""

    target: str


Serve: TypeAlias = Callable[[ParentChannel], None]


class DeviceProcess:
    """A process that launches kernels. seconds: of its processor time, for one kernel. gpu: the index among the visible
    GPUs.

    It can be used as a context manager; otherwise it ends with the process that started it.

    serve: the function that runs in the process. It sends `DeviceReady`, or a line with the reason of a failure; then
    it receives (cubin, launches) repeatedly, and sends a `DeviceResult` for each launch. After a result that is a line
    of text it ends.
    """

    def __init__(self, seconds: float = 20.0, serve: Serve | None = None, gpu: int = 0) -> None:
        self._seconds = seconds
        self._serve = serve or serve_device
        self._gpu = gpu
        self._process: SupervisedProcess | None = None
        self._target = ""

    def __enter__(self) -> DeviceProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def run(self, cubin: Cubin | None, launches: Sequence[DeviceLaunch]) -> list[DeviceResult]:
        """Returns a result for each launch. Raises NoDeviceError if there is no GPU."""
        answers: list[DeviceResult] = []
        while len(answers) < len(launches):
            process = self._ensure_started()
            waiting = launches[len(answers) :]
            process.send((cubin, tuple(waiting)))
            for _ in waiting:
                answer = self._receive_result(process)
                answers.append(answer)
                if isinstance(answer, str):
                    self.end()
                    break
        return answers

    @property
    def target(self) -> str:
        """The target of code for this GPU. Raises NoDeviceError if none exists."""
        if not self._target:
            self._ensure_started()
        return self._target

    def begin(self) -> None:
        """Starts the process, which the first launch does otherwise. Raises NoDeviceError if there is no GPU."""
        self._ensure_started()

    def _ensure_started(self) -> SupervisedProcess:
        if self._process is not None:
            return self._process
        process = self._process = SupervisedProcess(_serve_on_gpu, self._serve, self._gpu, captures_errors=False)
        try:
            with process.time_limit(DEVICE_START_SECONDS):
                reply = process.receive()
        except ProcessTimeoutError:
            reply = "the device does not answer"
        except ProcessLostError as lost:
            reply = f"the process of the device ended with {lost}"
        if not isinstance(reply, DeviceReady):
            self.end()
            raise NoDeviceError(reply)
        self._target = reply.target
        return process

    def _receive_result(self, process: SupervisedProcess) -> DeviceResult:
        try:
            with process.time_limit(self._seconds):
                answer: DeviceResult = process.receive()
        except ProcessTimeoutError:
            return f"hangs: no end within {self._seconds:g} s"
        except ProcessLostError:
            return "the process broke down"
        return answer

    def end(self) -> None:
        """Ends the process. The next launch starts another one."""
        process, self._process = self._process, None
        if process is not None:
            process.close()


def count_gpus() -> int:
    """Returns how many GPUs a process may use, as far as this is known without opening one; at least one."""
    named = os.environ.get(VISIBLE)
    if named is not None:
        return max(1, len([each for each in named.split(",") if each.strip()]))
    return max(1, len(list(Path("/dev").glob("nvidia[0-9]*"))))


VISIBLE = "CUDA_VISIBLE_DEVICES"


def _serve_on_gpu(channel: ParentChannel, serve: Serve, gpu: int) -> None:
    """Runs `serve` in the process, on one GPU."""
    named = [each for each in os.environ.get(VISIBLE, "").split(",") if each.strip()]
    os.environ[VISIBLE] = named[gpu] if gpu < len(named) else str(gpu)
    os.environ.setdefault("CUDA_CACHE_DISABLE", "1")  # the driver's compiler would cache every kernel
    serve(channel)


def serve_device(channel: ParentChannel) -> None:
    """The main loop of the process."""
    from ptxkit.device import device_target, use_device

    try:
        device = use_device()
        stream = device.create_stream()
    except NoDeviceError as error:
        channel.send(str(error) or "no GPU")
        return
    channel.send(DeviceReady(device_target(device.compute_capability)))
    while True:
        cubin, launches = channel.receive()
        for each in launches:
            try:
                answer: DeviceResult = _launch(cubin, each, stream)
            except Exception as error:  # after any error of the driver, nothing can run in this context
                answer = f"{type(error).__name__}: {error}"
            channel.send(answer)
            if isinstance(answer, str):
                return


def _launch(cubin: Cubin, launch: DeviceLaunch, stream: Any) -> Outputs:
    from ptxkit.device import load

    loaded = load(cubin, launch.name)
    there: dict[int, Any] = {}
    given = [_device_argument(each, there) for each in launch.arguments]
    loaded.launch(
        stream,
        *given,
        grid=launch.grid,
        block=launch.block,
        cluster=launch.cluster,
        shared=launch.shared or None,
    )
    stream.sync()
    return {at: left for at, each in enumerate(launch.arguments) if (left := _read_back(each, there)) is not None}


def _read_back(argument: Any, there: Mapping[int, Any]) -> Any:
    """Returns the contents of an argument's array, or of each array of a table, or None if it is not an array."""
    if isinstance(argument, list):
        return [_read_back(each, there) for each in argument]
    array = _host_array(argument)
    return None if array is None else there[id(array)].to_host()


def _host_array(argument: Any) -> np.ndarray[Any, Any] | None:
    array = argument.array if isinstance(argument, TensorMapArgument) else argument
    return array if isinstance(array, np.ndarray) else None


def _device_argument(argument: Any, there: dict[int, Any]) -> Any:
    """Returns the argument of the launch. there: arrays on the device, by the identity of the host arrays."""
    from ptxkit.device import to_device

    if isinstance(argument, list):
        return to_device(
            np.frombuffer(b"".join(_table_entry(_device_argument(each, there)) for each in argument), np.uint8)
        )
    array = _host_array(argument)
    if array is None:
        return argument
    if id(array) not in there:
        there[id(array)] = to_device(array)
    found = there[id(array)]
    return _encode_map(argument, found) if isinstance(argument, TensorMapArgument) else found


def _table_entry(passed: Any) -> bytes:
    """Returns the entry of an array or a map in a table: an address, or the bytes of the map."""
    data = getattr(passed, "data", None)
    return data if isinstance(data, bytes) else int(passed.address).to_bytes(8, "little")


def _encode_map(argument: TensorMapArgument, array: Any) -> Any:
    """Encodes a tensor map with the driver."""
    from ptxkit.device import TensorMap as DeviceMap

    layout = argument.fields
    filled: dict[str, Any] = {"element": layout.element, "swizzle": layout.swizzle, "interleave": layout.interleave}
    filled |= {"oob_fill": layout.fill, "element_strides": layout.steps}
    if layout.mode == "tiled":
        return DeviceMap.tiled(array, box=layout.box, **filled)
    filled |= {"channels": layout.channels, "pixels": layout.pixels}
    return DeviceMap.im2col(array, lower=layout.lower, upper=layout.upper, **filled)
