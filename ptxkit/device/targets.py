"""What code is compiled for, so that a device runs it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ptxkit.device.errors import DeviceError
from ptxkit.isa.targets import has_features_of, parse_target

_REAL_TARGET = re.compile(r"sm_[1-9]\d{1,2}[af]?")
"""nvJitLink ends the process at numbers of one digit; `compute_90` is no chip that machine code is for."""


def check_target(target: str) -> None:
    """`DeviceError` where this is no target that machine code can be made for, whatever the compiler's release."""
    if not _REAL_TARGET.fullmatch(target):
        raise DeviceError(f"{target!r} is not a target for machine code; say for example 'sm_90a'")


def device_target(capability: tuple[int, int]) -> str:
    """The target of a device, with its architecture-specific instructions where it has any: `sm_90a` of (9, 0)."""
    major, minor = capability
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def target_for(targets: Sequence[str], device: str) -> str:
    """What code that says these `.target`s is compiled for, to run on a device: the device's own `device_target`.

    Machine code of an older chip would not run there. `DeviceError` where the device lacks what a target promises:
    `sm_100a` promises the instructions of that very chip, `sm_100f` those of its family, `sm_100` of all later ones.
    Source: PTX ISA, "PTX Module Directives: .target".
    """
    there = parse_target(device)
    for word in targets:
        wanted = parse_target(word)
        if wanted is not None and (there is None or not has_features_of(there, word)):
            raise DeviceError(f"code for {word} does not run on this GPU, which is {device.rstrip('af')}")
    return device
