"""Finds reads of global memory while a bulk copy out of shared memory may still write their bytes.

`cp.async.bulk.wait_group.read` ends only the reads of the source. The bytes of both are compared where their addresses
are made from one argument of the kernel, or from one variable, as for data races in global memory.

Source: PTX ISA, "cp.async.bulk.wait_group", "Completion Mechanisms for Asynchronous Copy Operations".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.global_memory_facts import in_global_memory
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.copy_completion import CopyStatus, copy_status_at
from ptxkit.analysis.memory.copy_reads import CopyRead
from ptxkit.analysis.symexec.access_ranges import access_range
from ptxkit.analysis.sync.async_groups import async_copies_of
from ptxkit.isa.effects import Access, Effect


def find_global_copy_reads(kernel: KernelFacts) -> Iterator[tuple[int, ScenarioFacts, CopyRead]]:
    """Yields reads that follow the start of a copy, with the number of the scenario and the facts of the accesses.

    Where the addresses are unknown, or numbers among the arguments decide them, the status is that of a guess: an
    argument may be one that the kernel does not allow. A few executions of each pair of instructions are examined.
    """
    pairs = _pairs_of_one_buffer(kernel)
    steps = {step for pair in pairs for step in pair}
    for number, facts in in_global_memory(kernel, lambda event: event.step in steps) if pairs else ():
        if facts.has_unknown_call:
            continue
        pair_budget = PairBudget(facts.budget)
        for issuer in facts.threads.values():
            copies = [
                copy for copy in async_copies_of(issuer.trace, issuer.phases) if _is_bulk_store(copy.event.effect)
            ]
            for reader in facts.threads.values() if copies else ():
                for position, event in reader.positions(Access):
                    for copy in copies if _is_read(event.effect) else ():
                        pair = (copy.event.step, event.step)
                        touched, read = access_range(copy.event), access_range(event)
                        is_apart = touched and read and not (touched[0] < read[1] and read[0] < touched[1])
                        is_earlier = reader is issuer and position < copy.position
                        if pair not in pairs or is_apart or is_earlier or not pair_budget.allow(pair):
                            continue
                        status = copy_status_at(facts, issuer, copy, reader, position)
                        if status is CopyStatus.PENDING and (pairs[pair] or not (touched and read)):
                            status = CopyStatus.GUESSED
                        if status is not CopyStatus.UNKNOWN:
                            yield number, facts, CopyRead(issuer, copy, reader, position, event, status)


def _pairs_of_one_buffer(kernel: KernelFacts) -> dict[tuple[Step, Step], bool]:
    """Returns the copies and the reads that may be of one buffer, with whether numbers decide their addresses."""
    program, pointers = kernel.program, kernel.explorer.pointers
    dependence = program.analysis(Dependence)
    copies, reads = (
        [
            (step, step.operand(effect.address))
            for step in program.own_effectful_steps
            for effect in step.effects
            if isinstance(effect, Access) and is_wanted(effect)
        ]
        for is_wanted in (_is_bulk_store, _is_read)
    )
    return {
        (copy[0], read[0]): any(dependence.depends_on_numbers(*each, pointers) for each in (copy, read))
        for copy in copies
        for read in reads
        if dependence.may_share_buffer(copy, read)
    }


def _is_bulk_store(effect: Effect) -> bool:
    """Returns whether an effect is the write of a bulk copy or reduction to an address in global memory."""
    if not isinstance(effect, Access) or effect.kind == "read":
        return False
    return (effect.completion, effect.space, effect.via) == ("bulk", "global", "address")


def _is_read(effect: Effect) -> bool:
    """Returns whether an effect is a synchronous read, but no atomic operation, that may be of global memory."""
    if not isinstance(effect, Access) or effect.kind != "read" or effect.space not in ("global", "generic"):
        return False
    return (effect.proxy, effect.completion, effect.via) == ("generic", None, "address")
