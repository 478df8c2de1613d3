"""Proves that no instruction of a kernel can be the other one of a pair that a rule is about.

The bytes that an instruction accesses are those of each alternative of its address. Two instructions are apart if no
alternative of the one overlaps one of the other, whichever threads and CTAs execute them. Accesses of unknown size
count to the end of their variable, since each access is inside it (PTX207).

Source: PTX ISA, "State Spaces: Shared State Space", "Addresses as Operands", "mapa".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.abstract_values import GENERIC, Alternative, Base
from ptxkit.analysis.abstract_interpretation.returning_calls import is_sole_function
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.isa.effects import Access, Effect
from ptxkit.rules.address_proofs import is_certain, is_own, largest_size
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Evidence, Prover
from ptxkit.rules.obligation_sites import (
    EffectTest,
    Site,
    is_remote,
    may_touch_shared,
    subject_of,
    writes_shared,
)

_DYNAMIC = "dynamic"
"""The name of the shared memory that the launch sizes: all variables of open length begin at its start."""

_Bytes: TypeAlias = tuple[object, int, int | None]
"""A variable, the first byte, and the end; None if it is that of the variable."""


def proves_apart(about: EffectTest, partner: EffectTest) -> Prover:
    """Returns the proof that no instruction with a partner effect accesses the bytes of a site.

    about: the effects of the site's instruction that count. The instruction itself may be its own partner.
    """
    return partial(_prove_apart, about, partner)


def _prove_apart(about: EffectTest, partner: EffectTest, proofs: FunctionProofs, site: Site) -> Evidence | None:
    if not is_sole_function(proofs.program):
        return None
    own = _bytes_of(proofs, site.step, [e for e in site.step.effects if about(e) and subject_of(e) == site.subject])
    if own is None:
        return None
    for step, effects in _with_effects(proofs.program, partner):
        others = _bytes_of(proofs, step, effects)
        if others is None or any(_overlap(first, second) for first in own for second in others):
            return None
    sources = proofs.values.sources_of(site.step, site.step.operand(site.subject))
    return Evidence("apart", obligation_words.APART(), sources)


def prove_no_conflict(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX621 that no instruction writes the bytes of a read, and that none accesses those of a write.

    It proves nothing of accesses that are of global memory by their form.
    """
    if not any(may_touch_shared(each) and subject_of(each) == site.subject for each in site.step.effects):
        return None
    is_write = any(writes_shared(each) and subject_of(each) == site.subject for each in site.step.effects)
    return _prove_apart(may_touch_shared, may_touch_shared if is_write else writes_shared, proofs, site)


def prove_map_of_host(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX403 that a tensor map is a parameter or a constant, which only the host writes."""
    uses = [e for e in site.step.effects if isinstance(e, Access) and e.proxy == "tensormap" and e.kind == "read"]
    if not any(subject_of(each) == site.subject for each in uses):
        return None
    value = proofs.values.value_at(site.step, site.step.operand(site.subject))
    is_fixed = value and all(e.base is not None and e.base.space in ("param", "const") and is_certain(e) for e in value)
    return Evidence("base", obligation_words.MAP_OF_HOST()) if is_fixed else None


def prove_own_cta(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX611 and PTX612 that an operand is in the shared memory of the executing CTA, and of no other."""
    effects = [each for each in site.step.effects if is_remote(each) and subject_of(each) == site.subject]
    if not effects or not all(_is_own_cta(proofs, site.step, each) for each in effects):
        return None
    return Evidence("base", obligation_words.OWN_CTA())


def prove_separate_ctas(proofs: FunctionProofs, site: Site) -> Evidence | None:  # noqa: ARG001 (a fact about the kernel)
    """Proves for PTX404 and PTX506 that no instruction of the kernel accesses the shared memory of another CTA."""
    if not is_sole_function(proofs.program):
        return None
    for step, effects in _with_effects(proofs.program, _may_leave_cta):
        if not all(_is_own_cta(proofs, step, each) for each in effects):
            return None
    return Evidence("no other", obligation_words.SEPARATE_CTAS())


def _with_effects(program: Program, wanted: EffectTest) -> Iterator[tuple[Step, list[Effect]]]:
    for step in program.effectful_steps:
        effects = [each for each in step.effects if wanted(each)]
        if effects:
            yield step, effects


def _may_leave_cta(effect: Effect) -> bool:
    is_generic = isinstance(effect, Access) and effect.space == "generic" and effect.via == "address"
    return is_remote(effect) or is_generic


def _is_own_cta(proofs: FunctionProofs, step: Step, effect: Effect) -> bool:
    """Returns whether an effect is about the shared memory of the executing CTA, or about no shared memory."""
    operand = step.operand(subject_of(effect))
    if operand is None or getattr(effect, "multicast", None) is not None:
        return False
    value = proofs.values.value_at(step, operand)
    return bool(value) and all(is_own(each) for each in value)


def _bytes_of(proofs: FunctionProofs, step: Step, effects: list[Effect]) -> list[_Bytes] | None:
    """Returns the bytes of shared memory that some effects of a step access; None if they are unknown."""
    found: list[_Bytes] = []
    for effect in effects:
        operand = step.operand(subject_of(effect))
        if operand is None or not isinstance(effect, Access) or effect.via != "address":
            return None
        size = largest_size(proofs, step, effect.size)
        for each in proofs.values.value_at(step, operand):
            touched = _bytes_at(each, size)
            if touched is None:
                return None
            found.extend(touched)
    return found


def _bytes_at(each: Alternative, size: int | None) -> list[_Bytes] | None:
    base = each.base
    if base is None or not is_certain(each) or base.kind == "converted":
        return None
    if base.kind == "argument":
        # The host cannot pass an address of shared memory as a generic or global one.
        return [] if each.window in ("", GENERIC, "global") else None
    variable = base.variable
    if variable is None or base.space != "shared":
        return [] if variable is not None else None
    low, high = each.known_offsets
    extent = variable.fixed_size
    end = None if size is None else high + size
    if low < 0 or (extent is not None and (high if end is None else end) > extent):
        return None
    return [(variable_key(base), low, end if end is not None else extent)]


def variable_key(base: Base) -> object:
    """Returns what two bases share if their addresses are of the same variable, or of dynamic shared memory."""
    return _DYNAMIC if base.variable is not None and base.variable.is_open else base


def _overlap(first: _Bytes, second: _Bytes) -> bool:
    if first[0] != second[0]:
        return False
    return (second[2] is None or first[1] < second[2]) and (first[2] is None or second[1] < first[2])
