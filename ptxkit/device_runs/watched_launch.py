"""One launch on the GPU in a watched process, with what is known of a failure, and its time if that is requested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptxkit.device import Cubin, DeviceError, LaunchError, device_target, load, to_device, use_device
from ptxkit.device.cuda_libraries import check_status, import_driver
from ptxkit.device.launch_failures import describe_status
from ptxkit.device.launch_timing import time_launches
from ptxkit.device.streams import stream_handle
from ptxkit.device_runs.device_arguments import arrays_in_memory, read_back, upload_parameter
from ptxkit.device_runs.device_launch import DeviceLaunch, Outputs
from ptxkit.device_runs.device_process import DeviceProcess, DeviceReady, Serve
from ptxkit.device_runs.printed_output import captured_output
from ptxkit.fast_dataclasses import dataclass
from ptxkit.processes.child_process import ParentChannel


@dataclass(frozen=True, slots=True)
class WatchedLaunch:
    """A launch, and whether its time is measured."""

    launch: DeviceLaunch
    is_timed: bool = False


@dataclass(frozen=True, slots=True)
class WatchedResult:
    """The arrays after the first launch, and what it printed. seconds: the time of each further launch with the same
    arguments.
    """

    outputs: Outputs
    seconds: tuple[float, ...] = ()
    printed: str = ""


def launch_watched(
    make: Callable[[str], Cubin], wanted: WatchedLaunch, seconds: float, serve: Serve | None = None
) -> WatchedResult | str:
    """Returns the result of a launch, or why none exists: the kernel failed, or did not end within `seconds`.

    make: compiles for the target of the GPU (`device_target`). seconds: of the process that launches, in which all
    launches must end; it is killed then. serve: the function that runs in that process. Raises NoDeviceError, and the
    errors of `make`.
    """
    with DeviceProcess(seconds, serve or serve_launch) as process:
        cubin = make(process.target)
        answer: WatchedResult | str = process.exchange(cubin, [wanted])[0]
    return answer


def serve_launch(channel: ParentChannel) -> None:
    """The process that launches: it sends `DeviceReady`, and the result of one launch."""
    try:
        device = use_device()
        stream = device.create_stream()
    except DeviceError as error:
        channel.send(str(error))
        return
    channel.send(DeviceReady(device_target(device.compute_capability)))
    cubin, (wanted,) = channel.receive()
    try:
        with captured_output() as printed:
            answer: WatchedResult | str = _launch(cubin, wanted, stream, printed)
    except Exception as error:  # after any error of the driver, nothing can run in this context
        answer = str(error) if isinstance(error, DeviceError) else f"{type(error).__name__}: {error}"
    channel.send(answer)


def _launch(cubin: Cubin, wanted: WatchedLaunch, stream: Any, printed: Callable[[], str]) -> WatchedResult:
    launch, handle = wanted.launch, stream_handle(stream)
    loaded = load(cubin, launch.name)
    bound = loaded.bind(launch.grid, launch.block, launch.cluster, launch.shared or None)
    there: dict[int, Any] = {}
    parameters = loaded.signature.arguments
    given = [upload_parameter(each, to, there) for each, to in zip(launch.arguments, parameters, strict=True)]
    bound.run(handle, given)
    (status,) = import_driver().cuStreamSynchronize(handle)
    if int(status):
        raise LaunchError(describe_status(int(status)))
    left = {at: found for at, each in enumerate(launch.arguments) if (found := read_back(each, there)) is not None}
    text = printed()
    if not wanted.is_timed:
        return WatchedResult(left, (), text)
    copies = [(array, to_device(host)) for host, array in arrays_in_memory(launch.arguments, there)]

    def reset() -> None:
        for array, initial in copies:
            if array.nbytes:
                result = import_driver().cuMemcpyDtoDAsync(array.address, initial.address, array.nbytes, handle)
                check_status(result, "copying the initial data")

    return WatchedResult(left, time_launches(handle, lambda: bound.run(handle, given), reset), text)
