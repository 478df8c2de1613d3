"""Proves for all paths that no instruction uses a register that an asynchronous operation may still use.

A plain move of such a register gives its value another name, so an operation also uses the target of each move that may
be executed while the operation is in flight. Multiplications of the same shape may share their accumulators.

Source: PTX ISA, "wgmma.mma_async", "wgmma.wait_group".
"""

from __future__ import annotations

from functools import cached_property

from ptxkit.analysis.abstract_interpretation.async_group_proofs import AsyncGroupProofs, Proof
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.registers.async_register_uses import AsyncRegisterUses
from ptxkit.analysis.registers.wgmma_events import WgmmaEvent, WgmmaEventKind


class AsyncRegisterProofs:
    """The proofs about the registers of one function for operations of a group."""

    def __init__(self, program: Program, group: str, groups: AsyncGroupProofs) -> None:
        self._groups = groups
        self._uses = AsyncRegisterUses(program, group)
        self._issue_of = {issue.step.index: issue for issue in self._uses.issues}

    def proof_of_no_use(self, step: Step) -> Proof | None:
        """Returns the commits and waits after which a step may use its registers.

        The result is None if an operation that uses one of them may be in flight.
        """
        if not self._groups.is_applicable:
            return None
        event, used = self._uses.events[step], self._uses.registers_used(step)
        owners = [index for index, names in self._names.items() if not used.isdisjoint(names)]
        for index in self._pending.get(step, ()):
            if index in self._issue_of and not self._may_share(event, index):
                return None
        return self._groups.waits_for(owners)

    def _may_share(self, event: WgmmaEvent, index: int) -> bool:
        """Returns whether a step may use its registers while the operations of an issue are in flight."""
        issue, names = self._issue_of[index], self._names[index]
        common = [name for name in self._uses.registers_used(event.step) if name in names]
        if event.kind is not WgmmaEventKind.ISSUE:
            return not common
        same_shape = event.accumulator_count == issue.accumulator_count
        return all(
            (name in event.accumulators and names[name] == {True} and same_shape)
            or (name in event.fragments and names[name] == {False})
            for name in common
        )

    @cached_property
    def _pending(self) -> dict[Step, frozenset[int]]:
        """The steps whose operations may be in flight, by index, before each use and each move."""
        moves = [move.step for each in self._uses.moves.values() for move in each]
        return dict(self._groups.pending_before([*self._uses.steps, *moves]))

    @cached_property
    def _names(self) -> dict[int, dict[str, set[bool]]]:
        """The registers that the operations of each issue use, with whether they are accumulators."""
        return {index: self._names_of(issue) for index, issue in self._issue_of.items()}

    def _names_of(self, issue: WgmmaEvent) -> dict[str, set[bool]]:
        found: dict[str, set[bool]] = {}
        parts = ((name, name in issue.accumulators) for name in sorted(issue.registers))
        uses = Worklist[tuple[str, bool]](parts)
        for name, is_accumulator in uses:
            found.setdefault(name, set()).add(is_accumulator)
            for move in self._uses.moves.get(name, ()):
                if issue.step.index in self._pending.get(move.step, ()):
                    uses.add([(move.target, is_accumulator)])
        return found
