"""A replacement of the GPU for `ptxkit run`: a process that runs the kernel on the reference machine, or fails."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from ptxkit.device_runs.device_process import DeviceReady
from ptxkit.device_runs.watched_launch import WatchedResult
from ptxkit.processes.child_process import ParentChannel

BEHAVIOR = "PTXKIT_TEST_GPU"
"""The variable for what the process does: `works`, `differs`, `fails`, `hangs`, `dies` or `none`."""
FOLDER = "PTXKIT_TEST_GPU_FOLDER"
"""The variable for the folder with the number of the process (`pid`) and a file that states that it hangs (`hangs`)."""


def serve(channel: ParentChannel) -> None:
    """Sends what `ptxkit.device_runs.watched_launch.serve_launch` sends."""
    behavior, folder = os.environ[BEHAVIOR], Path(os.environ[FOLDER])
    (folder / "pid").write_text(str(os.getpid()))
    if behavior == "none":
        channel.send("no GPU here")
        return
    channel.send(DeviceReady("sm_90a"))
    cubin, (wanted,) = channel.receive()
    if behavior == "hangs":
        (folder / "hangs").touch()
        time.sleep(600)
    if behavior == "dies":
        return
    if behavior == "fails":
        channel.send("CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)")
        return
    emulated = wanted.launch.emulate(cubin.ptx, races=False)
    outputs = dict(emulated.outputs)
    if behavior == "differs":
        outputs[1] = outputs[1].copy()
        outputs[1].reshape(-1).view(np.uint32)[[5, 9]] = 0x7FC00001
    channel.send(WatchedResult(outputs, (2e-6, 4e-6, 9e-6) if wanted.is_timed else (), "".join(emulated.printed_texts)))
