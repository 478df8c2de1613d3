"""Compares `.version` and `.target` with the requirements of instructions.

A target is a number and a suffix: `sm_90` has the features of all later targets; `sm_90a` has features of that
architecture only; `sm_100f` has features that the later chips of its family share.
"""

from __future__ import annotations

import re
from functools import cache

from ptxkit.diagnostics.catalogue.ptx8xx import RequiredHeading
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.forms import Gate, Requirement
from ptxkit.syntax.tree import is_architecture

# Chips that share family-specific features, the first being the one the family is named after.
# Source: PTX ISA, ".target"; sm_101 was renamed sm_110 in PTX 9.0.
_FAMILIES = ((100, 103, 107), (110, 101), (120, 121))
_TARGET = re.compile(r"sm_(\d+)([af]?)")
_FIRST_NUMBER = re.compile(r"0*(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Target:
    """`sm_100a`: number 100, suffix `a`; the suffix is `a`, `f` or empty. texmode: of the module, if it states one."""

    number: int
    suffix: str = ""
    texmode: str = "unified"

    def __str__(self) -> str:
        return f"sm_{self.number}{self.suffix}"


def canonical_target(word: str) -> str | None:
    """Returns the target as which ptxas reads a `.target` word: `sm_90a` for `compute_90a`, `sm_x090a` and `sm_90fxa`,
    or None.

    The number is the first one in the word, the suffix its last letter, so that `sm_90abc` is `sm_90`. Whether there is
    such a target is not checked.
    """
    number = _FIRST_NUMBER.search(word) if is_architecture(word) else None
    suffix = word[-1] if word.endswith(("a", "f")) else ""
    return f"sm_{number[1]}{suffix}" if number else None


@cache
def parse_target(word: str) -> Target | None:
    """Returns the target of a `.target` word, or None for another word (`texmode_unified`, a misspelling)."""
    match = _TARGET.fullmatch(word)
    return Target(int(match[1]), match[2]) if match else None


def has_features_of(target: Target, wanted: str) -> bool:
    """Returns whether `target` has the features of `wanted`, a target with a suffix such as `sm_90a` or `sm_100f`."""
    needed = parse_target(wanted)
    if needed is None:
        return False
    if needed.suffix == "f":
        return target.suffix in ("a", "f") and _same_family(target.number, needed.number)
    if needed.suffix == "a":
        return (target.number, target.suffix) == (needed.number, needed.suffix)
    return target.number >= needed.number


def _same_family(number: int, base: int) -> bool:
    family = next((family for family in _FAMILIES if base in family), (base,))
    return number in family and (number >= base or base in (101, 110))


def is_satisfied(requirement: Requirement, version: tuple[int, int] | None, target: Target | None) -> bool:
    """Returns whether a module's version and target meet one requirement; missing directives count as met."""
    if version is not None and version < requirement.version:
        return False
    if version is not None and requirement.before is not None and version >= requirement.before:
        return False
    if target is None:
        return True
    if requirement.below is not None and target.number >= requirement.below:
        return False
    if requirement.texmode and requirement.texmode != target.texmode:
        return False
    if requirement.families:
        return any(has_features_of(target, family) for family in requirement.families)
    return target.number >= requirement.minimum


def unmet_gates(gates: tuple[Gate, ...], version: tuple[int, int] | None, target: Target | None) -> list[Gate]:
    """Returns the gates that a version and a target do not satisfy."""
    return [gate for gate in gates if not any(is_satisfied(each, version, target) for each in gate.alternatives)]


def suggest_target(gates: list[Gate], version: tuple[int, int] | None, target: Target | None) -> RequiredHeading:
    """Returns the smallest `.version` and `.target` that satisfy gates: for each gate the alternative that changes
    least.
    """
    chosen = [min(gate.alternatives, key=lambda each: _change_cost(each, version, target)) for gate in gates]
    parts = [f"a `.version` before {before[0]}.{before[1]}" for before in {each.before for each in chosen} if before]
    parts += [f"a `.target` before sm_{below}" for below in {each.below for each in chosen} if below]
    parts += [f"`.target texmode_{mode}`" for mode in {each.texmode for each in chosen} if mode]
    newest = max(each.version for each in chosen)
    least_version = least_target = None
    if newest > (version or (1, 0)):
        least_version = f"{newest[0]}.{newest[1]}"
        parts.append(f"`.version {least_version}`")
    families = next((each.families for each in chosen if each.families), ())
    minimum = max(each.minimum for each in chosen)
    if families and not (target and any(has_features_of(target, family) for family in families)):
        least_target = f"{families[0]}"
        parts.append(f"`.target {least_target}`" + "".join(f" or `{family}`" for family in families[1:]))
    elif not families and minimum > (target.number if target else 0):
        least_target = f"sm_{minimum}"
        parts.append(f"`.target {least_target}` or later")
    return RequiredHeading(" and ".join(parts), least_version, least_target)


def _change_cost(requirement: Requirement, version: tuple[int, int] | None, target: Target | None) -> tuple[int, ...]:
    """Returns the size of the change that a module needs to meet a requirement: first the target's family, then the
    version.
    """
    target_fits = is_satisfied(Requirement((1, 0), requirement.minimum, requirement.families), None, target)
    version_fits = version is None or version >= requirement.version
    return (not target_fits, not version_fits, *requirement.version, requirement.minimum)


def target_words(version: tuple[int, int] | None, target: Target | None) -> str:
    """Describes a module's version and target, as far as it states them."""
    parts = [f"`.version {version[0]}.{version[1]}`"] if version else []
    return " and ".join([*parts, f"`.target {target}`"] if target else parts)
