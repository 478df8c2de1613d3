"""One launch of a kernel, in a form that a GPU and the reference machine execute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ptxkit.emulator import RunResult, run
from ptxkit.emulator.driver.uninitialized_dependence import UninitializedDependence, find_uninitialized_dependence
from ptxkit.fast_dataclasses import dataclass
from ptxkit.syntax import parse


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
        """Runs the same launch on the reference machine. more: as for `ptxkit.emulator.run`."""
        return run(text, self.name, **self._options(), **more)

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
