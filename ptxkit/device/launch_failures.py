"""Errors of launches that the driver rejects: the kernel, its geometry, its arguments, and what the verifier left open.

The description is collected only after a failure, so its cost does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.device.arrays import is_array, view_device_array
from ptxkit.device.cuda_libraries import import_driver
from ptxkit.device.errors import ArgumentError, LaunchError
from ptxkit.device.geometry import Geometry
from ptxkit.device.tensormap import TensorMap

if TYPE_CHECKING:
    from ptxkit.device.loaded_kernel import Loaded

_STICKY_STATUSES = (700, 702, 714, 715, 716, 717, 718, 719)
"""Status codes of failed kernels: illegal address, timeout, stack, instruction, alignment, space, counter, failure."""


def make_refused_launch_error(
    loaded: Loaded, geometry: Geometry, stream: int, arguments: Sequence[object], status: int
) -> LaunchError:
    """Returns the error of a launch that the driver rejected, or of an earlier kernel that failed."""
    lines = [f"kernel {loaded.signature.name!r} was not launched: {describe_status(status)}"]
    if status in _STICKY_STATUSES:
        lines.append(
            "that is the error of a kernel that ran before on this device: launch with wait=True to see of which"
        )
    return LaunchError("\n  ".join([*lines, *_describe_launch(loaded, geometry, stream, arguments)]))


def make_kernel_failure_error(
    loaded: Loaded, geometry: Geometry, stream: int, arguments: Sequence[object], status: int
) -> LaunchError:
    """Returns the error of a kernel that failed while the launch waited for it."""
    lines = [f"kernel {loaded.signature.name!r} failed: {describe_status(status)}"]
    return LaunchError("\n  ".join([*lines, *_describe_launch(loaded, geometry, stream, arguments)]))


def describe_status(status: int) -> str:
    """Returns the driver's name and description of a status code."""
    try:
        result: Any = import_driver().CUresult(status)
    except ValueError:
        return f"status {status} of the driver"
    return f"{result.name} ({error_string(result)})"


def error_string(result: Any) -> str:
    """Returns the driver's description of a status code."""
    text: bytes | None = import_driver().cuGetErrorString(result)[1]
    return "" if text is None else text.decode()


def _describe_launch(loaded: Loaded, geometry: Geometry, stream: int, arguments: Sequence[object]) -> list[str]:
    parameters = loaded.signature.arguments
    return [
        f"{geometry}; stream {stream:#x} of {loaded.device.name}",
        *(f"{each.name} = {_describe_argument(value)}" for each, value in zip(parameters, arguments, strict=True)),
        _summarize_undecided(loaded.undecided),
    ]


def _describe_argument(value: object) -> str:
    if isinstance(value, TensorMap):
        tensor = value.tensor
        return f"tensor map of .{tensor.element} {tensor.extents} at {tensor.address:#x}, box {value.box}"
    if not is_array(value):
        return repr(value)[:80]
    try:
        view = view_device_array(value, "an array")
    except ArgumentError as error:
        return str(error)
    return f"array of {view.elements}, shape {view.shape}, at {view.address:#x}"


def _summarize_undecided(undecided: Sequence[str] | None) -> str:
    """Returns a summary of the properties that the verifier could not decide, with each rule once."""
    if undecided is None:
        return "the kernel was not verified"
    if not undecided:
        return "the verifier left nothing open"
    rules: dict[str, list[str]] = {}
    for each in undecided:
        code, _, reason = each.partition(": ")
        rules.setdefault(code, []).append(reason)
    lines = [
        f"  {code}: {reasons[0]}" + (f", and {len(reasons) - 1} more" if len(reasons) > 1 else "")
        for code, reasons in sorted(rules.items())
    ]
    return "\n  ".join(["the verifier could not decide:", *lines])
