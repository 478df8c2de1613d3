"""PTX624: threads wait for a flag in global memory, and the flag may not order the data; or nothing orders the CTAs.

What it does
    Finds loops that poll a word of global memory, the instructions that write it, and the weak accesses of one buffer
    before these and after the loop. Something is missing where a path from an access to the flag has no release, or a
    path from the poll to an access has no acquire, in a scope that includes both threads; where other threads than the
    one that sets or polls the flag access the data and a path has no barrier; and where the poll is weak, or the flag
    is written in a narrower scope or another size. It is reported if two CTAs, which are executed, certainly access the
    same bytes and nothing may order them, and left open otherwise. At a barrier of the grid, by which CTAs exchange
    data, it is a warning if only some arguments or loaded data select the same bytes. If the kernel does not write the
    flag, every store and every read of global memory may be of the data.

    Weak loads of bytes that another CTA of the grid stores are reported without a flag, too, if no release in one CTA
    and acquire in the other one may order them, and only positions and arguments decide both. The store must depend on
    the number of the CTA: the kernel is then taken to be launched with several CTAs.

Why it matters
    A spin on a relaxed or volatile flag orders nothing but the flag itself. The data that are read after it may be the
    old ones.

Example
    wait: ld.relaxed.gpu.global.b32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra wait;
    ld.global.b32 %r2, [%rd2];

Use instead
    wait: ld.acquire.gpu.global.b32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra wait;
    ld.global.b32 %r2, [%rd2];

ISA section
    "Release and Acquire Patterns", "Causality Order", "Morally strong operations". Catalogue: MB17.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.cta_pair_order import CtaRaceSearch
from ptxkit.analysis.memory.cta_races import find_cta_races
from ptxkit.analysis.memory.flag_synchronization import FlagFault, find_flag_faults
from ptxkit.diagnostics import Message, Severity
from ptxkit.diagnostics.catalogue import memory_words, ptx6xx
from ptxkit.rules.absence_proofs import prove_no_flag
from ptxkit.rules.model import Finding, Observation, OpenObligation, Rule
from ptxkit.rules.obligation_sites import is_global_access, sites_of

#: What must select the same bytes.
_WHEN = {"": "", "arguments": memory_words.WITH_SOME_ARGUMENTS(), "data": memory_words.WITH_SOME_DATA()}


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Checks each poll of global memory, and the accesses of two CTAs that no flag is about."""
    search = CtaRaceSearch(kernel.explorer)
    launch = kernel.explorer.launch
    unknown = "" if launch.is_exact or launch.is_limit else "block"
    faults = list(find_flag_faults(search))
    for store, load in () if any(fault.race for fault in faults) else find_cta_races(search):
        yield Observation((store, load), 0, True, _grid_finding(store, load))
    for fault in faults:
        if fault.race is not None:
            yield Observation((fault.step, fault.other), 0, True, _finding(fault))
        else:
            others = () if fault.other is fault.step else (fault.other,)
            yield OpenObligation(fault.step, _reason(fault), "" if fault.is_external else unknown, others=others)


def _reason(fault: FlagFault) -> Message:
    match fault.kind:
        case "weak-poll":
            return memory_words.POLL_IS_WEAK()
        case "no-acquire":
            return memory_words.NO_ACQUIRE_AFTER_POLL(scope=fault.scope)
        case "no-release":
            return memory_words.NO_RELEASE_BEFORE_FLAG(scope=fault.scope)
        case "no-barrier-after-poll":
            return memory_words.NO_BARRIER_AFTER_POLL()
        case "no-barrier-before-signal":
            return memory_words.NO_BARRIER_BEFORE_FLAG()
        case "no-signal":
            return memory_words.NO_FLAG_AFTER_STORE()
        case "scope":
            return memory_words.FLAG_SCOPE_TOO_NARROW(scope=fault.scope)
    return memory_words.FLAG_SIZE_DIFFERS()


def _finding(fault: FlagFault) -> Finding:
    """Returns the finding about a fault that leads to a race."""
    assert fault.race is not None
    scope = {"scope": fault.scope}
    when = _WHEN[fault.condition]
    store, access = fault.race
    own = fault.step if fault.kind in ("no-acquire", "no-barrier-after-poll") else fault.other
    conflicting = access if own is store else store
    after = (conflicting, memory_words.ACCESS_OF_OTHER_CTA()), (fault.other, memory_words.POLL_OF_FLAG())
    before = (
        (fault.other, memory_words.ACCESS_BEFORE_FLAG()),
        (conflicting, memory_words.ACCESS_OF_OTHER_CTA()),
    )
    match fault.kind:
        case "no-acquire":
            message, labels = (
                memory_words.UNORDERED_AFTER_POLL(when=when, missing=memory_words.MISSING_ACQUIRE(**scope)),
                after,
            )
            advice = memory_words.ACQUIRE_AFTER_POLL(**scope)
        case "no-barrier-after-poll":
            message, labels = (
                memory_words.UNORDERED_AFTER_POLL(when=when, missing=memory_words.MISSING_BARRIER()),
                after,
            )
            advice = memory_words.BARRIER_AFTER_POLL()
        case "no-release":
            message, labels = (
                memory_words.UNORDERED_BEFORE_FLAG(when=when, missing=memory_words.MISSING_RELEASE(**scope)),
                before,
            )
            advice = memory_words.RELEASE_BEFORE_FLAG(**scope)
        case "no-barrier-before-signal":
            message, labels = (
                memory_words.UNORDERED_BEFORE_FLAG(when=when, missing=memory_words.MISSING_BARRIER()),
                before,
            )
            advice = memory_words.BARRIER_BEFORE_FLAG()
        case "no-signal":
            return _grid_finding(*fault.race)
        case "weak-poll":
            return _flag_finding(fault, memory_words.POLL_RACE(), memory_words.WRITE_OF_FLAG())
        case _:
            why = memory_words.SCOPE_IS_NARROWER(**scope) if fault.kind == "scope" else memory_words.SIZES_DIFFER()
            return _flag_finding(fault, memory_words.FLAG_RACE(why=why), memory_words.POLL_OF_FLAG())
    severity = Severity.WARNING if fault.condition else None
    properties = {"space": "global", **scope}
    return Finding(fault.step, message, labels, advice, severity, properties=properties, lacks=(fault.race,))


def _grid_finding(store: Step, load: Step) -> Finding:
    return Finding(
        primary=load,
        message=memory_words.NOTHING_ORDERS_CTAS(),
        labels=((store, memory_words.ACCESS_OF_OTHER_CTA()),),
        help=memory_words.ORDER_CTAS(),
        properties={"space": "global", "scope": "gpu"},
        group_key=store,
        lacks=((store, load),),
    )


def _flag_finding(fault: FlagFault, message: Message, label: Message) -> Finding:
    labels = ((fault.other, label),)
    return Finding(fault.step, message, labels, memory_words.ACCESS_FLAG_EQUALLY(), properties={"space": "global"})


RULE = Rule(ptx6xx.FLAG_UNORDERED, check, sites=sites_of(is_global_access), prove=prove_no_flag)
