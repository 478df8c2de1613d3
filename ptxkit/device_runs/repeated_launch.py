"""Launches a kernel again and again, in a process that a tool such as compute-sanitizer watches."""

from __future__ import annotations

import faulthandler
import pickle
import time
from pathlib import Path

from ptxkit.device import Cubin, load, use_device
from ptxkit.device_runs.device_arguments import upload_parameter
from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.device_runs.limits import WATCHED_LAUNCH_SECONDS


def write_job(path: Path, cubin: Cubin, launch: DeviceLaunch, seconds: float) -> None:
    """Writes the file that `launch_repeatedly` reads. seconds: from the end of the first launch on."""
    path.write_bytes(pickle.dumps((cubin, launch, seconds)))


def launch_repeatedly(path: str) -> None:
    """Launches the kernel of a job with fresh arrays until its seconds have passed. Raises the errors of the driver.

    The process ends if a launch hangs.
    """
    cubin, launch, seconds = pickle.loads(Path(path).read_bytes())
    stream = use_device().create_stream()
    kernel = load(cubin, launch.name)
    deadline: float | None = None
    while deadline is None or time.monotonic() < deadline:
        there: dict[int, object] = {}
        pairs = zip(launch.arguments, kernel.signature.arguments, strict=True)
        given = [upload_parameter(value, parameter, there) for value, parameter in pairs]
        extents = {"grid": launch.grid, "block": launch.block, "cluster": launch.cluster}
        faulthandler.dump_traceback_later(WATCHED_LAUNCH_SECONDS, exit=True)
        kernel.launch(stream, *given, **extents, shared=launch.shared or None)
        stream.sync()
        faulthandler.cancel_dump_traceback_later()
        deadline = deadline or time.monotonic() + seconds
