"""Compilation targets for devices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ptxkit.device.errors import DeviceError
from ptxkit.isa.targets import has_features_of, parse_target

_REAL_TARGET = re.compile(r"sm_[1-9]\d{1,2}[af]?")
"""nvJitLink aborts the process for numbers of one digit. `compute_90` is no target of machine code."""


def check_target(target: str) -> None:
    """Raises `DeviceError` if machine code can be generated for this target by no release of the compiler."""
    if not _REAL_TARGET.fullmatch(target):
        raise DeviceError(f"{target!r} is not a target for machine code; use for example 'sm_90a'")


def device_target(capability: tuple[int, int]) -> str:
    """Returns the target of a device, with its architecture-specific instructions if it has any: `sm_90a` for (9,
    0).
    """
    major, minor = capability
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def target_for(targets: Sequence[str], device: str) -> str:
    """Returns the target that code with these `.target`s is compiled for, to run on a device with target `device`.

    Machine code of an older architecture would not run on it. Raises `DeviceError` if the device does not support a
    `.target`: `sm_100a` needs exactly this architecture, `sm_100f` its family, and `sm_100` it or a later one. Source:
    PTX ISA, "PTX Module Directives: .target".
    """
    there = parse_target(device)
    for word in targets:
        wanted = parse_target(word)
        if wanted is not None and (there is None or not has_features_of(there, word)):
            raise DeviceError(f"code for {word} does not run on this GPU, which is {device.rstrip('af')}")
    return device


def common_target(targets: Iterable[str]) -> str | None:
    """Returns the least of some `.target`s on which code for each of them runs, or None if no such target exists."""
    words = sorted({word for word in targets if _REAL_TARGET.fullmatch(word)}, key=lambda word: (len(word), word))
    for word in words:
        target = parse_target(word)
        if target is not None and all(has_features_of(target, each) for each in words):
            return word
    return None
