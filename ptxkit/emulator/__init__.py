"""The reference machine: executes a module on the CPU with the weakest behavior that the ISA allows.

The results of an instruction are defined by the table (`means` lines, exact values of effects); the functions and
actions that these lines name are in `core/functions/` and `actions/`. This package contains no list of opcodes.

The machine is more permissive than the ISA where a finding could be a false alarm. Two threads that write the same
value to one location do not race. Only the strict policy (`run(strict=True)`) reports memory that was read and is
released to another CTA by an arrival of a narrow scope, by a relaxed arrival if an operation read it, or to the async
proxy without a fence (PTX303 and PTX314 in part, PTX402, PTX404 in part, PTX405, PTX406, PTX407, PTX506 in part). wgmma
operations of different shapes need no register fence between them. For Tensor Memory, the machine treats the lanes of a
warp as one thread; multiplications, copies and shifts by one thread are ordered whatever their shapes are; only the
strict policy requires tcgen05 fences in a kernel without any, and a wait after a load whose registers are used.
Uninitialized registers hold zeros, and uninitialized shared and local memory holds NaN patterns;
`driver/uninitialized_dependence.py` determines whether results depend on them.

All reads of a unit of memory since its last write are candidates for a race: the shadow memory keeps the first and the
last, and `races/read_log.py` those in between. Of several weak reads by the same thread, the first and the last
suffice.

There is one device, so a multimem address has one location. A texture has one level, one sample for each element and no
comparison function.

Input: a module, a launch and a seed. Output: the final arrays, and the violations of a run. It imports `syntax`, `isa`
and `semantics`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxkit.emulator.core.findings import InvalidLaunchError, Violation, Witness
    from ptxkit.emulator.driver.runner import POLICIES, RunBudget, RunResult, run
    from ptxkit.emulator.state.tensor_maps import TensorMapArgument
    from ptxkit.emulator.state.textures import Sampler, Surface, Texture

__all__ = [
    "POLICIES",
    "RunBudget",
    "Violation",
    "InvalidLaunchError",
    "RunResult",
    "Sampler",
    "Surface",
    "TensorMapArgument",
    "Texture",
    "Witness",
    "run",
]

_HOMES = {
    "POLICIES": "driver.runner",
    "RunBudget": "driver.runner",
    "Violation": "core.findings",
    "InvalidLaunchError": "core.findings",
    "RunResult": "driver.runner",
    "Sampler": "state.textures",
    "Surface": "state.textures",
    "TensorMapArgument": "state.tensor_maps",
    "Texture": "state.textures",
    "Witness": "core.findings",
    "run": "driver.runner",
}
"""The module that defines each public name."""


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
