"""The reference machine: runs a module on the CPU, under the weakest behaviour that the ISA allows.

What an instruction computes is said by the table (`means` lines, exact values of effects); the functions and actions
that these name are in `functions/` and `actions/`. No opcode is known here.

Where it is milder than the ISA, so that nothing is found which may be right: two threads that write the same to one
place are no race; of the reads of a unit of memory since its last write the first and the last are kept; memory that
was read and is handed back to another CTA by an arrival of a narrow scope, by a relaxed one where an operation read it,
or to the async proxy without a fence, is found by the strict policy only (`run(strict=True)`: PTX303 and PTX314 in
part, PTX402, PTX404 in part, PTX405, PTX406, PTX407, PTX506 in part);
multiplications of other shapes need no fence of registers between them. Of Tensor Memory, what one lane of a warp knows
counts for all of it; multiplications, copies and shifts by one thread are in order whatever their shapes; the strict
policy alone asks for tcgen05 fences in a kernel without any, and for a wait behind a load whose registers are used.
Registers that nobody wrote hold zeros, shared and local memory holds no number; `unwritten.py` asks whether that
matters.

There is one device, so a multimem address has one location. A texture has one level, no samples and no comparison.
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
"""Public name -> the module that defines it."""


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
