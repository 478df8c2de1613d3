"""What a kernel's results owe to memory and registers that nobody wrote.

The kernel runs twice, by the same chance, and what nobody wrote holds other bits the second time. Whatever comes out
otherwise then depends on it: an address, the way that control takes, a number that is stored. What is read and does not
matter in the end is none of that, and costs a run nothing.

Source: PTX ISA, "State Spaces": contents of registers and of shared and local memory are undefined at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ptxkit.emulate.clocks import Clocks
from ptxkit.emulate.cta import OTHER
from ptxkit.emulate.faults import Finding, Witness
from ptxkit.emulate.running import run
from ptxkit.emulate.shadow import WRITE
from ptxkit.emulate.unwritten_reads import UnwrittenRead
from ptxkit.syntax.tree import Module

CODE = "PTX651"
"""Of the rule: see its page."""

_MISSING = "a store to what is read, before it is read"
_UNSET = "a value for the register on every path to this instruction"


def depends_on_unwritten(module: Module, entry: str, **launch: Any) -> tuple[Finding, ...]:
    """What comes out otherwise where what nobody wrote is otherwise. launch: as for `run`; none that has findings."""
    first, second = Clocks(), Clocks()
    if not run(module, entry, order=first, **launch).is_clean:
        return ()
    found = run(module, entry, order=second, unwritten=OTHER, **launch)
    if found.failed or found.undecided:
        return ()
    if found.findings:
        return tuple(_decided(each) for each in found.findings)
    differs = _octets(first) != _octets(second)
    if not differs.any():
        return ()
    again = Clocks()
    run(module, entry, order=again, **launch)
    differs &= _octets(first) == _octets(again)  # what is otherwise each time, such as the time, is left out
    return tuple(_stored(first, second, differs))


def reads_that_matter(module: Module, entry: str, reads: Sequence[UnwrittenRead], **launch: Any) -> tuple[Finding, ...]:
    """Those reads of unwritten registers on which results depend, or whether something else is wrong.

    reads: of a run of this launch (`Outcome.unwritten`) that has no findings; each register is given other bits in a
    run of its own. launch: as for `run`.
    """
    first, again = Clocks(), Clocks()
    if not reads or not all(run(module, entry, order=each, **launch).is_clean for each in (first, again)):
        return ()
    same = _octets(first) == _octets(again)  # what is otherwise each time, such as the time, is left out
    found = []
    for name, read in {each.register: each for each in reversed(reads)}.items():
        second = Clocks()
        outcome = run(module, entry, order=second, perturbed=frozenset({name}), **launch)
        if outcome.failed or outcome.undecided:
            continue
        differs = same & (_octets(first) != _octets(second))
        if outcome.findings:
            what = f"whether this happens depends on it: {outcome.findings[0].message}"
        elif differs.any():
            what = f"{_place(second, int(differs.argmax()))} depends on it"
        else:
            continue
        message = f"reads {name}, which this thread has not written, and {what}"
        found.append(Finding(CODE, message, read.line, read.offset, (read.witness,), _UNSET, "warning"))
    return tuple(sorted(found, key=lambda each: each.offset))


def _octets(order: Clocks) -> Any:
    assert order.machine is not None
    return order.machine.memory.arenas["global"].pool.data


def _place(order: Clocks, place: int) -> str:
    """A byte of global memory, by its number, in words."""
    assert order.machine is not None
    arena = order.machine.memory.arenas["global"]
    there = arena.at(arena.start + place)
    return f"byte {arena.start + place - there.start} of {there.name}" if there is not None else "global memory"


def _decided(finding: Finding) -> Finding:
    message = f"what nobody wrote decides whether this happens: {finding.message}"
    return Finding(CODE, message, finding.line, finding.offset, finding.witnesses, _MISSING, "warning")


def _stored(first: Clocks, second: Clocks, differs: Any) -> list[Finding]:
    """One finding for each instruction that stored other bits."""
    machine = second.machine
    assert machine is not None
    arena = machine.memory.arenas["global"]
    shadow = arena.pool.shadow
    if shadow is None:
        return []
    found: dict[int, Finding] = {}
    for place in numpy.flatnonzero(differs).tolist():
        unit = place // shadow.unit
        site, (agents, _) = int(shadow.sites[WRITE][unit]), shadow.last(WRITE, numpy.array([unit]))
        if site in found or not agents[0]:
            continue
        code, pc, cta = second.place_of(site)
        where = _place(second, place)
        thread = second.thread_at(site, int(agents[0]))
        old, new = (_octets(each)[place : place + 1].tobytes().hex() for each in (first, second))
        text, line = code.instructions[pc].opcode, machine.line_of(code.offsets[pc])
        at = arena.start + place
        witness = Witness(text, line, machine.thread_of(thread), cta.ctaid, "global", at, 1, old, new)
        message = f"stores to {where} what depends on memory or registers that nobody wrote"
        found[site] = Finding(CODE, message, line, code.offsets[pc], (witness,), _MISSING, "warning")
    return list(found.values())
