"""The lowest `.version` and `.target` under which every instruction of a kernel is legal.

A gate has alternatives. The lowest target that satisfies one alternative of every gate is selected first, then the
lowest version that supports it. No version and target below `FLOOR` is selected.

Source: PTX ISA, "PTX Module Directives: .version, .target", "Release Notes".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ptxkit.fast_dataclasses import replace
from ptxkit.isa.forms import Gate
from ptxkit.isa.targets import Target, is_satisfied, parse_target, unmet_gates
from ptxkit.isa.wording import describe_gate

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
"""The table's targets from sm_75 on, with the first versions that support them, so that a kernel whose forms are cached
is built without loading the table. A test compares them with the table.
"""


FLOOR_VERSION = (6, 3)
"""The oldest target that CUDA 13 supports is sm_75, and this is the first version that supports it. Below sm_70 the
threads of a warp are scheduled together, and PTX for such a target keeps that guarantee on newer machines: a lower
`.target` would change the meaning of a kernel.
"""


def parse_supported_target(word: str) -> Target:
    """Parses a target such as `sm_90a`. Raises `ValueError` for other text, and for targets that CUDA 13 does not
    support.
    """
    target = parse_target(word) if isinstance(word, str) else None
    if target is None or word not in _FIRST_VERSIONS:
        raise ValueError(f"{word!r} is not a target from sm_75 on; use for example 'sm_90a'")
    return target


def generality_key(target: Target) -> tuple[int, int]:
    """Returns the sort key of targets: by number, and for the same number without a suffix before `f` before `a`."""
    return target.number, ("", "f", "a").index(target.suffix)


def infer_lowest_target(gates: Iterable[Gate], target: Target | None = None) -> tuple[tuple[int, int], Target]:
    """Returns the lowest version and target that satisfy all gates. If `target` is given, only the version is selected.

    Raises `ValueError`, which names a gate, if no known target (or not the given one) satisfies all gates.
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
            if not unmet_gates(distinct, version, choice):  # an instruction may also be removed in a later version
                return version, choice
    if failed is None:
        raise ValueError("an instruction is not available on any version")
    where = str(target) if target else "any target with the others"
    raise ValueError(
        f"{failed.subject} is not available on {where}: it needs {describe_gate(replace(failed, subject=''))}"
    )


@cache
def _all_targets() -> tuple[Target, ...]:
    return tuple(sorted(map(parse_supported_target, _FIRST_VERSIONS), key=generality_key))
