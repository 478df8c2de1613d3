"""Proves by the schedules of the threads that the phases of mbarriers end as their waits and copies need it.

Source: PTX ISA, "Phase of the mbarrier object", "Tracking asynchronous operations by the mbarrier object".
"""

from __future__ import annotations

from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.diagnostics.obligation import LaunchNeed
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import STEP_LINES, Evidence, LaunchNeeds
from ptxkit.rules.obligation_sites import Site


def prove_bytes(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX503 that each phase waits for as many bytes as the copies transfer that belong to it."""
    return by_schedules(proofs) if proofs.intervals.counts_bytes(site.step) else None


def prove_phases(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:  # noqa: ARG001 (of the kernel)
    """Proves for PTX501, PTX504, PTX505 and PTX601 that mbarriers and barriers are used as their phases need it."""
    return by_schedules(proofs) if proofs.intervals.follows_phases else None


def by_schedules(proofs: FunctionProofs) -> Evidence | LaunchNeeds:
    """Returns the evidence for what the schedules show, or the size of the block for which they show it."""
    launch = launch_config_of(proofs.program)
    if launch.is_exact:
        steps = proofs.intervals.phase_steps
        return Evidence("phases", obligation_words.FOLLOWED_PHASES(lines=STEP_LINES), steps)
    sizes = zip("xyz", launch.block, strict=True)
    return tuple(LaunchNeed(f"%ntid.{axis}", "extent", amount=size) for axis, size in sizes)
