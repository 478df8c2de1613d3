"""Kernels on the GPU of this machine in a separate process, so that a kernel that hangs or fails affects only that
process.

After a fault no kernel can run in the same context, and a kernel that hangs can only be ended with its process. So the
process is ended, and a new one continues after that kernel.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ptxkit.device import Cubin, NoDeviceError, device_target, load, use_device
from ptxkit.device_runs.device_arguments import read_back, upload_argument
from ptxkit.device_runs.device_launch import DeviceLaunch, DeviceResult, Outputs
from ptxkit.device_runs.limits import DEVICE_START_SECONDS
from ptxkit.fast_dataclasses import dataclass
from ptxkit.processes.child_process import ParentChannel
from ptxkit.processes.supervised_process import ProcessLostError, ProcessTimeoutError, SupervisedProcess

HANGS = "hangs: "
"""The beginning of the result of a kernel that did not end in time."""


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
    it receives (subject, parts) repeatedly, such as a cubin and launches, and sends a result for each part. After a
    result that is a line of text it ends.
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
        return self.exchange(cubin, launches)

    def exchange(self, subject: object, parts: Sequence[object], *, stops_at_failure: bool = False) -> list[Any]:
        """Sends what `serve` expects, and returns a result for each part. Raises NoDeviceError if there is no GPU.

        stops_at_failure: whether the result of the first part that fails is the last one.
        """
        answers: list[Any] = []
        while len(answers) < len(parts):
            process = self._ensure_started()
            waiting = parts[len(answers) :]
            process.send((subject, tuple(waiting)))
            for _ in waiting:
                answer = self._receive_result(process)
                answers.append(answer)
                if isinstance(answer, str):
                    self.end()
                    if stops_at_failure:
                        return answers
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

    def _receive_result(self, process: SupervisedProcess) -> Any:
        try:
            with process.time_limit(self._seconds):
                return process.receive()
        except ProcessTimeoutError:
            return f"{HANGS}no end within {self._seconds:g} s"
        except ProcessLostError:
            return "the process broke down"

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
    loaded = load(cubin, launch.name)
    there: dict[int, Any] = {}
    given = [upload_argument(each, there) for each in launch.arguments]
    loaded.launch(
        stream,
        *given,
        grid=launch.grid,
        block=launch.block,
        cluster=launch.cluster,
        shared=launch.shared or None,
    )
    stream.sync()
    return {at: left for at, each in enumerate(launch.arguments) if (left := read_back(each, there)) is not None}
