"""Proves that no instruction of a kernel can be the other one of a pair that a rule is about.

The bytes that an instruction accesses are those of each alternative of its address. Two instructions are apart if no
alternative of the one overlaps one of the other, whichever threads and CTAs execute them.

Source: PTX ISA, "State Spaces: Shared State Space", "Addresses as Operands", "mapa".
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ptxkit.analysis.abstract_interpretation.abstract_values import AbstractValue
from ptxkit.analysis.abstract_interpretation.returning_calls import is_sole_function
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.intervals.accessed_bytes import bytes_of, is_certain
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.isa.effects import Access, Effect
from ptxkit.rules.address_proofs import is_derived_from_shared, is_own
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Evidence, Prover
from ptxkit.rules.obligation_sites import (
    EffectTest,
    Site,
    is_remote,
    subject_of,
)
from ptxkit.syntax.tree import Operand

#: The special registers whose values are those of the threads of one CTA.
_WITHIN_CTA = ("%tid", "%ntid", "%laneid", "%warpid", "%nwarpid", "%lanemask")


def proves_apart(about: EffectTest, partner: EffectTest) -> Prover:
    """Returns `prove_apart` for these effects."""
    return partial(prove_apart, about, partner)


def prove_apart(about: EffectTest, partner: EffectTest, proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves that no instruction with a partner effect accesses the bytes of a site.

    about: the effects of the site's instruction that count. The instruction itself may be its own partner.
    """
    if not is_sole_function(proofs.program):
        return None
    own = bytes_of(
        proofs.values, site.step, [e for e in site.step.effects if about(e) and subject_of(e) == site.subject]
    )
    if own is None:
        return None
    for step, effects in _with_effects(proofs.program, partner):
        others = bytes_of(proofs.values, step, effects)
        if others is None or any(first.overlap(second) for first in own for second in others):
            return None
    sources = proofs.values.sources_of(site.step, site.step.operand(site.subject))
    return Evidence("apart", obligation_words.APART(), sources)


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
    if isinstance(effect, Access) and effect.space == "generic" and effect.via == "address":
        return effect.proxy != "tensormap"  # no tensor map is in shared memory
    return is_remote(effect)


def _is_own_cta(proofs: FunctionProofs, step: Step, effect: Effect) -> bool:
    """Returns whether an effect is about the shared memory of the executing CTA, or about no shared memory."""
    operand = step.operand(subject_of(effect))
    if operand is None or getattr(effect, "multicast", None) is not None:
        return False
    value = proofs.values.value_at(step, operand)
    return bool(value) and (
        all(is_own(each) for each in value) or _is_part_of_shared(proofs.program, step, operand, value)
    )


def _is_part_of_shared(program: Program, step: Step, operand: Operand, value: AbstractValue) -> bool:
    """Returns whether an address is that of a shared variable plus an integer, which PTX207 demands to be inside it.

    The integer must depend only on constants and the position of the thread in its CTA, since another one, such as the
    number of the CTA, may lead to another CTA.
    """
    leaves = program.analysis(Dependence).sources_of(step, operand)
    is_local = all(
        leaf.kind == "variable" or (leaf.kind == "special" and leaf.name.startswith(_WITHIN_CTA)) for leaf in leaves
    )
    return is_local and all(is_derived_from_shared(each) for each in value)
