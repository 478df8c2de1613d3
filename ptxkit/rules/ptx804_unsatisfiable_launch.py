"""PTX804: no launch satisfies what two instructions need of one parameter.

What it does
    Finds two instructions that each launch executes and that need different values of the same parameter: a tensor map
    of other dimensions or of another mode, or a number with another remainder, such as the sizes of two bulk copies. It
    reports nothing if arguments or data decide whether an instruction is executed, or if the kernel modifies its tensor
    maps. `ptxkit contract` lists all conditions on launches.

Why it matters
    Whatever the host passes, one of the two instructions is undefined or faults.

Example
    mov.b64 %rd1, map;
    cvta.param.u64 %rd1, %rd1;
    cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r3, %r4}], [%r5];
    cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r3, %r4, %r6}], [%r5];

Use instead
    mov.b64 %rd1, map;
    cvta.param.u64 %rd1, %rd1;
    mov.b64 %rd2, other_map;
    cvta.param.u64 %rd2, %rd2;
    cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r3, %r4}], [%r5];
    cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r3, %r4, %r6}], [%r5];

ISA section
    "cp.async.bulk.tensor", "cp.async.bulk".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.contract.contradictions import Contradiction, find_contradictions
from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx8xx
from ptxkit.isa.effects import Access, Barrier, Effect
from ptxkit.model.launch_contract import TensorMapUse
from ptxkit.rules.absence_proofs import prove_satisfiable
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import sites_of


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Compares what each pair of instructions needs of one parameter."""
    if kernel.scenarios:
        for each in find_contradictions(kernel):
            if each.is_certain:
                yield Observation((each.second[0], None), 0, exact=True, finding=_make_finding(each))
            else:
                yield OpenObligation(each.second[0], ptx8xx.CONTRADICTION_IF_EXECUTED())


def _make_finding(found: Contradiction) -> Finding:
    (first, _), (second, _) = found.first, found.second
    return Finding(
        primary=second,
        message=_describe(found),
        labels=((first, ptx8xx.OTHER_CONDITION()),),
        help=ptx8xx.PASS_TWO_ARGUMENTS(),
        properties={"parameter": found.second[1].parameter.symbol},
    )


def _describe(found: Contradiction) -> Message:
    (_, other), (_, own) = found.first, found.second
    if isinstance(own, TensorMapUse) and isinstance(other, TensorMapUse):
        return ptx8xx.MAPS_DIFFER(
            parameter=own.parameter, rank=own.rank, mode=own.mode, other_rank=other.rank, other_mode=other.mode
        )
    assert not isinstance(own, TensorMapUse)
    assert not isinstance(other, TensorMapUse)
    return ptx8xx.REMAINDERS_DIFFER(
        parameter=own.parameter,
        remainder=own.remainder,
        divisor=own.divisor,
        other_remainder=other.remainder,
        other_divisor=other.divisor,
    )


def _needs_a_parameter(effect: Effect) -> bool:
    """Returns whether an effect may need a parameter to have one of few values."""
    if isinstance(effect, Access):
        return effect.via == "tensormap" or effect.proxy == "async"
    return isinstance(effect, Barrier) and effect.threads is not None


RULE = Rule(ptx8xx.UNSATISFIABLE_LAUNCH, check, sites=sites_of(_needs_a_parameter), prove=prove_satisfiable)
