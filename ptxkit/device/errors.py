"""What can fail between a tree and a running kernel. Each message is one sentence, then details where there are any."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.source_lines import Location


class DeviceError(Exception):
    """Any failure of this package."""


class NoDeviceError(DeviceError):
    """There is no GPU, or no driver for it."""


class MissingLibraryError(DeviceError, ImportError):
    """A CUDA library that the step needs is not installed."""


class ArgumentError(DeviceError, TypeError):
    """An argument does not fit the kernel's parameter."""


class TensorMapError(DeviceError, ValueError):
    """A tensor map that no encoder makes: `field` has `value`, and breaks `rule`."""

    def __init__(self, field: str, value: object, rule: str) -> None:
        self.field, self.value, self.rule = field, value, rule
        super().__init__(f"tensor map: {field} is {value}; {'it ' if rule.startswith('must') else ''}{rule}")


class LaunchError(DeviceError):
    """A launch whose geometry or memory the kernel or the device excludes."""


class OtherContextError(LaunchError):
    """Another context is current than the one that a kernel was bound in: it is to be bound again."""


class LinkError(DeviceError):
    """Inputs that cannot be linked: a name that none defines, or that two define, or that they see differently."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One line of the compiler's log, with the line of the PTX, from 1, and the user's, where a kernel was built."""

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
    """nvJitLink refused the module. `complaints` holds its log with the PTX lines and, where known, the user's."""

    def __init__(self, name: str, target: str, complaints: Sequence[Complaint]) -> None:
        self.complaints = tuple(complaints)
        text = "\n".join(f"  {complaint}" for complaint in self.complaints)
        super().__init__(f"{name} does not compile for {target}:\n{text}")
