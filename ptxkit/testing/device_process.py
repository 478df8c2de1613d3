"""Kernels on the GPU of this machine, in a process of their own: one that hangs or breaks the device costs only that.

A kernel that faults leaves a context in which nothing runs any more; a kernel that hangs cannot be ended otherwise. So
the process is ended, and a new one goes on behind that kernel.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeAlias

import numpy as np

from ptxkit.device import Cubin, NoDeviceError
from ptxkit.records import dataclass

START_SECONDS = 120.0
"""Until a new process has the device."""


@dataclass(frozen=True, slots=True)
class DeviceLaunch:
    """One launch of a kernel of a cubin. arguments: arrays for pointers, numbers as they are."""

    name: str
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...] | None
    arguments: tuple[Any, ...]


Outputs: TypeAlias = Mapping[int, Any]
"""The arrays among the arguments as the kernel left them, by the argument's number."""

Answer: TypeAlias = Outputs | str
"""The outputs, or why there are none."""

Serve: TypeAlias = Callable[[Connection], None]


class DeviceProcess:
    """A process that launches. seconds: how long a kernel may take. Use it in a `with`.

    serve: what runs in the process: sends a line, empty where it is ready; then takes (cubin, launches) again and
    again, and sends an `Answer` for each launch. After an answer that is a line of text it ends.
    """

    def __init__(self, seconds: float = 20.0, serve: Serve | None = None) -> None:
        self._seconds = seconds
        self._serve = serve or serve_device
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def __enter__(self) -> DeviceProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def run(self, cubin: Cubin | None, launches: Sequence[DeviceLaunch]) -> list[Answer]:
        """An answer for each launch. Raises NoDeviceError where there is no GPU."""
        answers: list[Answer] = []
        while len(answers) < len(launches):
            connection = self._begun()
            waiting = launches[len(answers) :]
            connection.send((cubin, tuple(waiting)))
            for _ in waiting:
                answer = self._answer(connection)
                answers.append(answer)
                if isinstance(answer, str):
                    self.end()
                    break
        return answers

    def begin(self) -> None:
        """Starts the process, which otherwise the first launch does. Raises NoDeviceError where there is no GPU."""
        self._begun()

    def _begun(self) -> Connection:
        if self._connection is not None:
            return self._connection
        context = multiprocessing.get_context("spawn")
        mine, other = context.Pipe()
        self._process = context.Process(target=self._serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._connection = mine
        said = mine.recv() if mine.poll(START_SECONDS) else "the device does not answer"
        if said:
            self.end()
            raise NoDeviceError(said)
        return mine

    def _answer(self, connection: Connection) -> Answer:
        try:
            if not connection.poll(self._seconds):
                return f"hangs: no end within {self._seconds:g} s"
            answer: Answer = connection.recv()
        except (EOFError, OSError):
            return "the process broke down"
        return answer

    def end(self) -> None:
        """Ends the process; the next launch begins another."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None


def serve_device(connection: Connection) -> None:
    """What runs in the process."""
    from ptxkit.device import use_device

    try:
        stream = use_device().create_stream()
    except NoDeviceError as error:
        connection.send(str(error) or "no GPU")
        return
    connection.send("")
    while True:
        try:
            cubin, launches = connection.recv()
        except EOFError:
            return
        for each in launches:
            try:
                answer: Answer = _launched(cubin, each, stream)
            except Exception as error:  # whatever the driver says, nothing runs any more in this context
                answer = f"{type(error).__name__}: {error}"
            connection.send(answer)
            if isinstance(answer, str):
                return


def _launched(cubin: Cubin, launch: DeviceLaunch, stream: Any) -> Outputs:
    from ptxkit.device import load, to_device

    loaded = load(cubin, launch.name)
    arrays = {at: to_device(each) for at, each in enumerate(launch.arguments) if isinstance(each, np.ndarray)}
    given = [arrays[at].address if at in arrays else each for at, each in enumerate(launch.arguments)]
    loaded.launch(stream, *given, grid=launch.grid, block=launch.block)
    stream.sync()
    return {at: each.to_host() for at, each in arrays.items()}
