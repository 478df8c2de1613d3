"""Measures the time of a kernel on the GPU with events.

Before each launch, a large buffer is overwritten: the kernel finds nothing of its data in the L2 cache, and the GPU is
busy until the host has enqueued the events and the launch, so that the time of the host is not measured.

Source: CUDA Driver API, "Event Management".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxkit.device.cuda_libraries import check_status, import_driver
from ptxkit.device.device_memory import DeviceArray
from ptxkit.device.limits import MAX_TIMED_LAUNCHES, MAX_TIMED_SECONDS, MIN_TIMED_LAUNCHES, OVERWRITTEN_BYTES

_MILLISECOND = 1e-3


def time_launches(stream: int, launch: Callable[[], None], reset: Callable[[], None]) -> tuple[float, ...]:
    """Returns the time of each of many launches in seconds, from an event before it to one after it.

    `launch` launches the kernel on the stream, and `reset` is called before each launch, so that all of them find the
    same data. Raises `DeviceError` if a launch fails.
    """
    api = import_driver()
    overwritten = DeviceArray((OVERWRITTEN_BYTES,), np.dtype(np.uint8))
    events = [_create_event(api) for _ in range(2)]
    times: list[float] = []
    try:
        while len(times) < MIN_TIMED_LAUNCHES or (len(times) < MAX_TIMED_LAUNCHES and sum(times) < MAX_TIMED_SECONDS):
            reset()
            check_status(api.cuMemsetD8Async(overwritten.address, 0, OVERWRITTEN_BYTES, stream), "clearing the cache")
            check_status(api.cuEventRecord(events[0], stream), "recording an event")
            launch()
            check_status(api.cuEventRecord(events[1], stream), "recording an event")
            check_status(api.cuEventSynchronize(events[1]), "waiting for the kernel")
            result = api.cuEventElapsedTime(*events)
            check_status(result, "reading the time")
            times.append(float(result[1]) * _MILLISECOND)
    finally:
        for each in events:
            api.cuEventDestroy(each)
    return tuple(times)


def _create_event(api: Any) -> Any:
    result = api.cuEventCreate(0)
    check_status(result, "creating an event")
    return result[1]
