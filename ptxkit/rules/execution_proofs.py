"""Proves what rules demand of the threads that execute an instruction together, on all paths and for all data.

Source: PTX ISA, "bar, barrier", "barrier.cluster", "bar.warp.sync", "Warp-level Matrix Instructions: wgmma.mma_async",
"Parallel Synchronization and Communication Instructions: shfl.sync".
"""

from __future__ import annotations

from ptxkit.analysis.abstract_interpretation.abstract_values import integers_in
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.check_operands import constant_of
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.isa.effects import Barrier, CtaGroup
from ptxkit.isa.expressions import Expression, OperandRole
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Evidence
from ptxkit.rules.obligation_sites import Site
from ptxkit.syntax.constants import WARP_SIZE

_ALL_LANES = (1 << WARP_SIZE) - 1


def prove_whole_warp(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX603 that all lanes of a warp execute an instruction together."""
    return _uniform(proofs, site.step)


def prove_whole_warpgroup(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX315 that all warps of whole warpgroups execute an instruction together."""
    launch = launch_config_of(proofs.program)
    is_whole = launch.is_exact and launch.threads % (4 * WARP_SIZE) == 0
    return _uniform(proofs, site.step) if is_whole else None


def prove_barrier(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX601 that all threads of a barrier arrive at it.

    The threads must not wait for each other elsewhere: all threads must execute the other barriers, too.
    """
    levels = {effect.level for effect in site.step.effects if isinstance(effect, Barrier)} | {"cta", "cluster"}
    barriers = [
        (step, effect)
        for step in proofs.program.effectful_steps
        for effect in step.effects
        if isinstance(effect, Barrier) and effect.level in levels
    ]
    return _uniform(proofs, site.step) if all(_is_whole(proofs, *each) for each in barriers) else None


def prove_member_mask(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX607 that the mask of an instruction includes each lane."""
    step = site.step
    masks = [effect.number for effect in step.effects if isinstance(effect, Barrier)]
    if masks and all(_has_all_lanes(proofs, step, mask) for mask in masks):
        return Evidence("range", obligation_words.ALL_LANES())
    return None


def _has_all_lanes(proofs: FunctionProofs, step: Step, mask: Expression | None) -> bool:
    if constant_of(step, mask) is not None or not isinstance(mask, OperandRole):
        return constant_of(step, mask) in (_ALL_LANES, -1)
    held = integers_in(proofs.values.value_at(step, step.operand(mask.name)))
    return held is not None and held.unsigned[:2] == (_ALL_LANES, _ALL_LANES)


def prove_one_cta_group(proofs: FunctionProofs, site: Site) -> Evidence | None:  # noqa: ARG001 (one kind of proof)
    """Proves for PTX702 that all instructions of a kernel have the same number of CTAs in their group."""
    program = proofs.program
    sizes = {each.ctas for step in program.effectful_steps for each in step.effects if isinstance(each, CtaGroup)}
    is_known = program.is_kernel and all(each.is_fully_matched for each in program.functions)
    return (
        Evidence("no other", obligation_words.ONE_CTA_GROUP(count=sizes.pop()))
        if is_known and len(sizes) == 1
        else None
    )


def _uniform(proofs: FunctionProofs, step: Step) -> Evidence | None:
    return Evidence("uniform", obligation_words.UNIFORM()) if proofs.execution.in_cta(step) else None


def _is_whole(proofs: FunctionProofs, step: Step, effect: Barrier) -> bool:
    """Returns whether all threads for which a barrier may wait execute it equally often."""
    launch, execution = launch_config_of(proofs.program), proofs.execution
    if effect.level == "cluster":
        return execution.in_cluster(step)
    if effect.level == "warp":
        is_full = launch.is_exact and launch.threads % WARP_SIZE == 0
        return is_full and _has_all_lanes(proofs, step, effect.number) and execution.in_cta(step)
    is_known = effect.number is None or constant_of(step, effect.number) is not None
    of_all = effect.threads is None or (launch.is_exact and constant_of(step, effect.threads) == launch.threads)
    return effect.action == "sync" and is_known and of_all and execution.in_cta(step)
