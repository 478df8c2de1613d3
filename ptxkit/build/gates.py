"""The lowest `.version` and `.target` under which every instruction of a kernel is legal.

A gate has alternatives; the target is chosen first (the lowest that satisfies one alternative of every gate), then the
lowest version that goes with it. Nothing goes below `FLOOR`.

Source: PTX ISA, "PTX Module Directives: .version, .target", "Release Notes".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ptxkit.isa.forms import Gate, Requirement

_TARGET = re.compile(r"sm_(\d+)([af]?)")

_FIRST_VERSIONS: dict[str, tuple[int, int]] = {
    "sm_75": (6, 3),
    "sm_80": (7, 0),
    "sm_86": (7, 1),
    "sm_87": (7, 4),
    "sm_89": (7, 8),
    "sm_90": (7, 8),
    "sm_90a": (8, 0),
    "sm_100": (8, 6),
    "sm_100a": (8, 6),
    "sm_100f": (8, 8),
    "sm_101": (8, 6),
    "sm_101a": (8, 6),
    "sm_101f": (8, 8),
    "sm_103": (8, 8),
    "sm_103a": (8, 8),
    "sm_103f": (8, 8),
    "sm_110": (9, 0),
    "sm_110a": (9, 0),
    "sm_110f": (9, 0),
    "sm_120": (8, 7),
    "sm_120a": (8, 7),
    "sm_120f": (8, 8),
    "sm_121": (8, 8),
    "sm_121a": (8, 8),
    "sm_121f": (8, 8),
}


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """`sm_90a` as (90, "a"): the order is that of generality, plain before `f` before `a`."""

    number: int
    rank: int = 0
    """0 plain, 1 family-specific (`f`), 2 architecture-specific (`a`)."""

    @property
    def word(self) -> str:
        return f"sm_{self.number}{('', 'f', 'a')[self.rank]}"

    @property
    def first_version(self) -> tuple[int, int]:
        """The PTX version that introduced the target."""
        return _FIRST_VERSIONS.get(self.word, FLOOR_VERSION)


FLOOR_VERSION = (6, 3)
FLOOR_TARGET = Target(75)
"""The oldest target that CUDA 13 compiles for. Below sm_70 the threads of a warp were scheduled together, and PTX of
such a target keeps that promise on newer machines: a lower `.target` would change what a kernel means."""


def parse_target(word: str) -> Target:
    """`sm_90a` as a `Target`; ValueError for anything else."""
    match = _TARGET.fullmatch(word)
    if match is None:
        raise ValueError(f"{word!r} is no target; say for example 'sm_90a'")
    return Target(int(match[1]), {"": 0, "f": 1, "a": 2}[match[2]])


def lowest(gates: Iterable[Gate], target: Target | None = None) -> tuple[tuple[int, int], Target]:
    """(version, target) for all gates together; with `target` given, only the version is looked for.

    ValueError, naming the gate, where no known target (or not the one given) satisfies every gate.
    """
    distinct = {gate.alternatives: gate for gate in gates}.values()
    choices = [target] if target is not None else _all_targets()
    failed: Gate | None = None
    for choice in choices:
        version = max(FLOOR_VERSION, choice.first_version)
        for gate in distinct:
            needed = [option.version for option in gate.alternatives if serves(choice, option)]
            if not needed:
                failed = gate
                break
            version = max(version, min(needed))
        else:
            return version, choice
    where = target.word if target is not None else "no known target"
    raise ValueError(f"{failed.subject if failed else 'an instruction'} is not available on {where}")


def serves(target: Target, requirement: Requirement) -> bool:
    """Whether code for `target` meets the requirement's target part."""
    if not requirement.families:
        return target.number >= requirement.minimum
    return any(_in_family(target, parse_target(family)) for family in requirement.families)


def _in_family(target: Target, family: Target) -> bool:
    """`sm_100a` needs itself; `sm_100f` is served by `f` and `a` targets of its ten, from its number on."""
    if family.rank == 1:
        return target.rank >= 1 and target.number // 10 == family.number // 10 and target.number >= family.number
    if family.rank == 2:
        return target == family
    return target.number >= family.number


def _all_targets() -> list[Target]:
    found = [parse_target(word) for word in _FIRST_VERSIONS]
    return sorted(found)
