"""The lowest `.version` and `.target` under which every instruction of a kernel is legal.

A gate has alternatives; the target is chosen first (the lowest that satisfies one alternative of every gate), then the
lowest version that goes with it. Nothing goes below `FLOOR`.

Source: PTX ISA, "PTX Module Directives: .version, .target", "Release Notes".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ptxkit.isa.forms import Gate
from ptxkit.isa.targets import Target, is_satisfied, parse_target, unmet_gates

_FIRST_VERSIONS: dict[str, tuple[int, int]] = {
    "sm_75": (6, 3),
    "sm_80": (7, 0),
    "sm_86": (7, 1),
    "sm_87": (7, 4),
    "sm_88": (9, 0),
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
    "sm_107": (9, 4),
    "sm_107a": (9, 4),
    "sm_107f": (9, 4),
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
"""The table's targets from sm_75 on, with the versions that first had them; a kernel of which another process chose the
instructions is built without loading the table. A test holds the two together."""


FLOOR_VERSION = (6, 3)
"""The oldest target that CUDA 13 compiles for is sm_75, and this its first version. Below sm_70 the threads of a warp
were scheduled together, and PTX of such a target keeps that promise on newer machines: a lower `.target` would change
what a kernel means."""


def parse_supported_target(word: str) -> Target:
    """`sm_90a` as a `Target`; ValueError for anything else, and for what CUDA 13 does not compile for any more."""
    target = parse_target(word) if isinstance(word, str) else None
    if target is None or word not in _FIRST_VERSIONS:
        raise ValueError(f"{word!r} is not a target from sm_75 on; say for example 'sm_90a'")
    return target


def generality_key(target: Target) -> tuple[int, int]:
    """The order of targets: by number, and of one number plain before `f` before `a`."""
    return target.number, ("", "f", "a").index(target.suffix)


def infer_lowest_target(gates: Iterable[Gate], target: Target | None = None) -> tuple[tuple[int, int], Target]:
    """(version, target) for all gates together; with `target` given, only the version is looked for.

    ValueError, naming the gate, where no known target (or not the one given) satisfies every gate.
    """
    distinct = tuple({gate.alternatives: gate for gate in gates}.values())
    failed: Gate | None = None
    for choice in [target] if target is not None else _all_targets():
        version = max(FLOOR_VERSION, _FIRST_VERSIONS[str(choice)])
        for gate in distinct:
            needed = [option.version for option in gate.alternatives if is_satisfied(option, None, choice)]
            if not needed:
                failed = gate
                break
            version = max(version, min(needed))
        else:
            if not unmet_gates(distinct, version, choice):  # an instruction may also be gone from some version on
                return version, choice
    subject = failed.subject if failed else "an instruction"
    raise ValueError(f"{subject} is not available on " + (str(target) if target else "any target with the others"))


@cache
def _all_targets() -> tuple[Target, ...]:
    return tuple(sorted(map(parse_supported_target, _FIRST_VERSIONS), key=generality_key))
