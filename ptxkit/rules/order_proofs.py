"""Proves with barrier intervals that the accesses of a pair are ordered, or are of different bytes.

Source: PTX ISA, "bar, barrier", "Conflict and Data-races", "cp.async.wait_group / cp.async.wait_all", "Proxies".
"""

from __future__ import annotations

from functools import partial

from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import STEP_LINES, Evidence, Prover
from ptxkit.rules.obligation_sites import EffectTest, Site, subject_of
from ptxkit.rules.partner_proofs import prove_apart


def proves_order(about: EffectTest, partner: EffectTest) -> Prover:
    """Returns the proof that each access with a partner effect is ordered with those of a site, or apart from them.

    about: the effects of the site's instruction that count.
    """
    return partial(prove_order, about, partner)


def prove_order(about: EffectTest, partner: EffectTest, proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves that each access with a partner effect is ordered with those of a site, or apart from them."""
    if not any(about(each) and subject_of(each) == site.subject for each in site.step.effects):
        return None
    return prove_apart(about, partner, proofs, site) or _prove_by_intervals(about, partner, proofs, site)


def _prove_by_intervals(about: EffectTest, partner: EffectTest, proofs: FunctionProofs, site: Site) -> Evidence | None:
    pairs = proofs.intervals.unordered_pairs(site.step)
    if pairs is None or any(about(own.effect) and partner(other.effect) for own, other in pairs):
        return None
    return _order_evidence(proofs)


def prove_fenced(about: EffectTest, partner: EffectTest, proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX401 that a proxy fence is between each write of the bytes of a site and the read there.

    about, partner: the effects of the reads, and those of the writes, which must be ordered by the barriers.
    """
    if proofs.intervals.unfenced_writes(site.step):
        return None
    return _prove_by_intervals(about, partner, proofs, site)


def _order_evidence(proofs: FunctionProofs) -> Evidence:
    if proofs.intervals.phase_steps:
        return Evidence("ordered", obligation_words.ORDERED_BY_PHASES(lines=STEP_LINES), proofs.intervals.phase_steps)
    barriers = tuple(proofs.intervals.barriers)
    words = obligation_words.ORDERED(lines=STEP_LINES) if barriers else obligation_words.SEPARATE_THREADS()
    return Evidence("ordered", words, barriers)
