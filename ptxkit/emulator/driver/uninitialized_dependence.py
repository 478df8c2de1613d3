"""Dependence of a kernel's results on uninitialized memory and registers.

The kernel runs twice with the same seed, and uninitialized memory holds different bits the second time. Whatever
differs then depends on it: an address, the path of control, a stored value. Uninitialized values that are read but do
not affect the result are not reported.

Source: PTX ISA, "State Spaces": contents of registers and of shared and local memory are undefined at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ptxkit.emulator.core.findings import Violation, Witness
from ptxkit.emulator.driver.runner import run
from ptxkit.emulator.engine.cta import PERTURBED_PATTERN
from ptxkit.emulator.races.happens_before_monitor import HappensBeforeMonitor
from ptxkit.emulator.races.shadow_memory import WRITE
from ptxkit.emulator.races.uninitialized_registers import UninitializedRead
from ptxkit.syntax.tree import Module

RULE_CODE = "PTX651"
"""The code of the rule: see its page."""

_MISSING = "a store to what is read, before it is read"
_MISSING_REGISTER_VALUE = "a value for the register on every path to this instruction"


def find_uninitialized_dependence(module: Module, entry: str, **launch: Any) -> tuple[Violation, ...]:
    """Find results that depend on uninitialized memory. launch: as for `run`, for a launch without findings."""
    first, second = HappensBeforeMonitor(), HappensBeforeMonitor()
    if not run(module, entry, order=first, **launch).is_clean:
        return ()
    found = run(module, entry, order=second, unwritten=PERTURBED_PATTERN, **launch)
    if found.unsupported_reason or found.incomplete_reason:
        return ()
    if found.findings:
        return tuple(_branch_violation(each) for each in found.findings)
    differs = _global_bytes(first) != _global_bytes(second)
    if not differs.any():
        return ()
    again = HappensBeforeMonitor()
    run(module, entry, order=again, **launch)
    differs &= _global_bytes(first) == _global_bytes(again)  # what differs in each run, such as the time, is excluded
    return tuple(_store_violations(first, second, differs))


def find_significant_reads(
    module: Module, entry: str, reads: Sequence[UninitializedRead], **launch: Any
) -> tuple[Violation, ...]:
    """Return those reads of unwritten registers on which results depend.

    reads: of a run of this launch (`Outcome.unwritten`) that has no findings; each register is given different bits
    in a separate run. launch: as for `run`.
    """
    first, again = HappensBeforeMonitor(), HappensBeforeMonitor()
    if not reads or not all(run(module, entry, order=each, **launch).is_clean for each in (first, again)):
        return ()
    same = _global_bytes(first) == _global_bytes(again)  # what differs in each run, such as the time, is excluded
    found = []
    for name, read in {each.register: each for each in reversed(reads)}.items():
        second = HappensBeforeMonitor()
        outcome = run(module, entry, order=second, perturbed=frozenset({name}), **launch)
        if outcome.unsupported_reason or outcome.incomplete_reason:
            continue
        differs = same & (_global_bytes(first) != _global_bytes(second))
        if outcome.findings:
            what = f"whether this happens depends on it: {outcome.findings[0].message}"
        elif differs.any():
            what = f"{_describe_location(second, int(differs.argmax()))} depends on it"
        else:
            continue
        message = f"reads {name}, which this thread has not written, and {what}"
        found.append(
            Violation(RULE_CODE, message, read.line, read.offset, (read.witness,), _MISSING_REGISTER_VALUE, "warning")
        )
    return tuple(sorted(found, key=lambda each: each.offset))


def _global_bytes(order: HappensBeforeMonitor) -> Any:
    assert order.machine is not None
    return order.machine.memory.segments["global"].buffer.data


def _describe_location(order: HappensBeforeMonitor, place: int) -> str:
    """Describe a byte of global memory, given by its offset."""
    assert order.machine is not None
    arena = order.machine.memory.segments["global"]
    there = arena.allocation_at(arena.start + place)
    return f"byte {arena.start + place - there.start} of {there.name}" if there is not None else "global memory"


def _branch_violation(finding: Violation) -> Violation:
    message = f"what nobody wrote decides whether this happens: {finding.message}"
    return Violation(RULE_CODE, message, finding.line, finding.offset, finding.witnesses, _MISSING, "warning")


def _store_violations(first: HappensBeforeMonitor, second: HappensBeforeMonitor, differs: Any) -> list[Violation]:
    """Return one finding for each instruction that stored different bits."""
    machine = second.machine
    assert machine is not None
    arena = machine.memory.segments["global"]
    shadow = arena.buffer.shadow
    if shadow is None:
        return []
    found: dict[int, Violation] = {}
    for place in numpy.flatnonzero(differs).tolist():
        unit = place // shadow.unit
        site, (agents, _) = int(shadow.sites[WRITE][unit]), shadow.last_accesses(WRITE, numpy.array([unit]))
        if site in found or not agents[0]:
            continue
        code, pc, cta = second.location_of(site)
        where = _describe_location(second, place)
        thread = second.thread_at(site, int(agents[0]))
        old, new = (_global_bytes(each)[place : place + 1].tobytes().hex() for each in (first, second))
        text, line = code.instructions[pc].opcode, machine.line_of(code.offsets[pc])
        at = arena.start + place
        witness = Witness(text, line, machine.thread_of(thread), cta.ctaid, "global", at, 1, old, new)
        message = f"stores to {where} what depends on memory or registers that nobody wrote"
        found[site] = Violation(RULE_CODE, message, line, code.offsets[pc], (witness,), _MISSING, "warning")
    return list(found.values())
