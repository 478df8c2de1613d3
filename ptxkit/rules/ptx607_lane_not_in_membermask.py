"""PTX607: a lane executes a warp-level instruction whose member mask does not include it.

What it does
    Finds `bar.warp.sync`, `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync` and `elect.sync` executed by a lane
    whose bit is not set in the member mask, if neither data nor arguments determine the mask and the executing lanes.
    If loaded data or unknown values may determine them, the question is left open.

Why it matters
    The behavior is undefined: the lane may not wait for the others, may receive any value, and any lane may be
    elected.

Example
    bar.warp.sync 0x0000fffe;

Use instead
    bar.warp.sync 0xffffffff;

ISA section
    "bar.warp.sync", "shfl.sync", "vote.sync", "match.sync", "redux.sync", "elect.sync". Catalogue: BR6, BR7.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.diagnostics.catalogue import fix_titles, ptx6xx
from ptxkit.isa.effects import Barrier
from ptxkit.rules.execution_proofs import prove_member_mask
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, replace_constant
from ptxkit.rules.obligation_sites import is_a, sites_of
from ptxkit.rules.operand_agreement import observe_operand_violations

ALL_LANES = 0xFFFF_FFFF
"""The mask of all lanes of a warp."""


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks every mask of lanes that is known as a number."""
    certainty = kernel.explorer.input_independence

    def is_decided(misfit: OperandViolation, *, by_block: bool) -> bool | None:
        step = misfit.step
        if misfit.kind != "member" or step.match is None:
            return False
        if not certainty.program.contains(step):
            return False if by_block else None
        mask = step.operand(misfit.role)
        in_every_launch = misfit.is_in_every_launch and certainty.is_input_independent(step, mask)
        if by_block:
            return not in_every_launch and certainty.is_input_independent(step, mask, given_block=True)
        if in_every_launch or certainty.depends_on_data(step, mask):
            return in_every_launch or None
        is_fixed = misfit.is_in_every_launch and certainty.has_fixed_value(step, mask)
        return is_fixed and not certainty.may_argument_select_threads(step)

    yield from observe_operand_violations(kernel, lambda misfit: is_decided(misfit, by_block=False), _finding)
    for observed in observe_operand_violations(kernel, lambda misfit: is_decided(misfit, by_block=True), _finding):
        step = observed.step if isinstance(observed, OpenObligation) else observed.key[0]
        yield OpenObligation(step, ptx6xx.LANE_MAY_NOT_EXIST(), "block")


def _finding(misfit: OperandViolation) -> Finding:
    return Finding(
        primary=misfit.step,
        message=ptx6xx.LANE_NOT_IN_MASK(lane=misfit.value, mask=misfit.required),
        help=ptx6xx.ADD_LANE_TO_MASK(bit=1 << misfit.value),
        properties={"lane": misfit.value, "mask": misfit.required},
        fixes=tuple(
            FixCandidate(fix_titles.NAME_LANES(mask=mask), changes, safe=False)
            for mask in (misfit.required | 1 << misfit.value, ALL_LANES)
            if (changes := replace_constant(misfit.step, misfit.required, mask))
        ),
    )


RULE = Rule(ptx6xx.LANE_NOT_IN_MEMBERMASK, check, sites=sites_of(is_a(Barrier, level="warp")), prove=prove_member_mask)
