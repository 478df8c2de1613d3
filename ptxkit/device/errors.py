"""Errors of compiling, linking and launching. Each message is one sentence, followed by details if there are any."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.source_lines import Location

_UNDEFINED = re.compile(r"(?:Undefined reference to|Unresolved extern function) '([^']+)'")


class DeviceError(Exception):
    """The base class of the errors of this package."""


class NoDeviceError(DeviceError):
    """There is no GPU, or no driver for it."""


class MissingLibraryError(DeviceError, ImportError):
    """A CUDA library or program that the step needs is not installed. remedy: the command that installs it."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(f"{message}; {remedy}" if remedy else message)
        self.message, self.remedy = message, remedy


class ArgumentError(DeviceError, TypeError):
    """An argument does not fit the kernel's parameter."""


class TensorMapError(DeviceError, ValueError):
    """A tensor map that the driver's encoder would reject: `field` has `value`, and violates `rule`."""

    def __init__(self, field: str, value: object, rule: str) -> None:
        self.field, self.value, self.rule = field, value, rule
        super().__init__(f"tensor map: {field} is {value}; {'it ' if rule.startswith('must') else ''}{rule}")


class LaunchError(DeviceError):
    """The kernel or the device does not allow the geometry or the memory of a launch."""


class OtherContextError(LaunchError):
    """Another context is current than the one in which a kernel was bound, which must be bound again."""


class LinkError(DeviceError):
    """Inputs cannot be linked: a name is undefined, defined twice, or declared differently."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """A line of the compiler's log, with the line of the PTX, from 1, and the user's line if a kernel was built."""

    message: str
    line: int | None = None
    ptx: str = ""
    location: Location | None = None

    def __str__(self) -> str:
        if self.line is None:
            return self.message
        parts = [f"ptx:{self.line}: {self.message}", f"    {self.ptx}"]
        if self.location is not None:
            parts.insert(0, f"{self.location}: {self.location.text}")
        return "\n  ".join(parts)


class CompileError(DeviceError):
    """The compiler rejected the module. `complaints` holds its log with the lines of the PTX and the user's lines, and
    `undefined_names` the functions and variables that another module must define.
    """

    def __init__(self, name: str, target: str, complaints: Sequence[Complaint]) -> None:
        self.complaints = tuple(complaints)
        self.undefined_names = tuple(dict.fromkeys(_UNDEFINED.findall("\n".join(each.message for each in complaints))))
        text = "\n".join(f"  {complaint}" for complaint in self.complaints)
        super().__init__(f"{name} does not compile for {target}:\n{text}")
