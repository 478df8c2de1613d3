"""What the rules about registers of asynchronous operations share: PTX311 and PTX312 for `wgmma`, PTX316 for
`tcgen05.ld`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Program
from ptxkit.analysis.registers.async_register_uses import AsyncRegisterUses
from ptxkit.analysis.registers.register_fence_proofs import proof_of_register_fence
from ptxkit.analysis.registers.wgmma_hazards import WgmmaHazard, find_wgmma_hazards
from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.isa.effects import AsyncRegisters
from ptxkit.rules.model import STEP_LINES, Evidence
from ptxkit.rules.obligation_sites import Site, SiteFinder

if TYPE_CHECKING:
    from ptxkit.rules.function_proofs import FunctionProofs


def find_executed_hazards(kernel: KernelFacts, group: str) -> Iterator[tuple[int, ThreadView, WgmmaHazard]]:
    """Yields each access to a register in flight, with the scenarios and threads that execute both instructions."""
    hazards = [each for code in kernel.program.functions for each in find_wgmma_hazards(code, group)]
    for number, facts in enumerate(kernel.scenarios if hazards else ()):
        for thread in facts.threads.values():
            for hazard in hazards:
                if _occurs_in(thread, hazard):
                    yield number, thread, hazard


def _occurs_in(thread: ThreadView, hazard: WgmmaHazard) -> bool:
    """Returns whether the thread starts the operation, and executes the other instruction after it."""
    if hazard.step not in thread.trace.covered_steps:
        return False
    issues = [event.visit for _, event in thread.positions(AsyncRegisters) if event.step is hazard.issue]
    return bool(issues) and (not hazard.may_precede_issue or max(issues) > 0)


def register_sites(group: str) -> SiteFinder:
    """Returns the finder of the instructions that name a register of an operation, or one that it was moved to."""
    return partial(_find_sites, group)


def _find_sites(group: str, program: Program) -> Iterator[Site]:
    for function in program.functions:
        for step in AsyncRegisterUses(function, group).steps:
            yield Site(step, "registers")


def prove_registers_free(group: str, proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Returns the waits that precede a use of registers on each path from an operation on them."""
    proof = proofs.registers(group).proof_of_no_use(site.step)
    if proof is None:
        return None
    words = obligation_words.REGISTERS_FREE(lines=STEP_LINES) if proof else obligation_words.REGISTERS_UNUSED()
    return Evidence("registers free", words, proof)


def prove_register_fence(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX312 that a fence follows all accesses to the registers of a multiplication, on each path to it."""
    fences = proof_of_register_fence(proofs.program, site.step)
    return Evidence("fenced", obligation_words.REGISTERS_FENCED(lines=STEP_LINES), fences) if fences else None
