"""Finds the waits and commits of groups that nothing depends on: later waits complete the same operations in time.

Where an instruction comes before such a wait, it must use other memory than the operations, and so must everything that
other threads do after it because of a barrier there. Otherwise, the order of all accesses to shared memory must be
proven without the deleted instruction.

Source: PTX ISA, "cp.async.commit_group", "cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group",
"wgmma.wait_group", "Completion Mechanisms for Asynchronous Copy Operations".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from ptxkit.analysis.abstract_interpretation.async_group_proofs import AsyncGroupProofs
from ptxkit.analysis.abstract_interpretation.async_groups import pending_groups
from ptxkit.analysis.abstract_interpretation.late_completion import DeletedGroupSync, LateCompletion
from ptxkit.analysis.abstract_interpretation.returning_calls import is_sole_function
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.memory.redundant_barriers import INERT_EFFECTS, PRIVATE_SPACES, CommonBarriers, interval_of
from ptxkit.analysis.redundancy.order_without import NeedlessSync, OrderWithout
from ptxkit.analysis.registers.async_register_proofs import AsyncRegisterProofs
from ptxkit.analysis.registers.async_register_uses import AsyncRegisterUses
from ptxkit.analysis.sync.async_groups import GROUP_MECHANISMS
from ptxkit.isa.effects import Access, AsyncRegisters, Barrier, CommitGroup, Control, Effect, ProxyFence, WaitGroup


def find_needless_groups(program: Program, order: OrderWithout) -> Iterator[NeedlessSync]:
    """Yields the waits and commits of a kernel without calls that nothing depends on."""
    if not is_sole_function(program) or _changes_tensor_maps(program):
        return
    for step in program.own_effectful_steps:
        deleted = _deletion_of(program, step)
        if deleted is not None:
            found = _judge(program, deleted, order)
            if found is not None:
                yield found


def _changes_tensor_maps(program: Program) -> bool:
    effects = (effect for step in program.effectful_steps for effect in step.effects)
    return any(isinstance(each, ProxyFence) and each.proxy == "tensormap" for each in effects)


def _deletion_of(program: Program, step: Step) -> DeletedGroupSync | None:
    if len(step.effects) != 1:
        return None
    match step.effects[0]:
        case WaitGroup(group=group) as effect if group in GROUP_MECHANISMS:
            left = pending_groups(step, effect)
            kept = -1 if effect.commits else left
            return None if kept is None else DeletedGroupSync(step, group, kept, effect.read_only, is_late=True)
        case CommitGroup(group=group) if group in GROUP_MECHANISMS:
            waits = (each for other in program.own_effectful_steps for each in other.effects)
            read_only = all(each.read_only for each in waits if isinstance(each, WaitGroup) and each.group == group)
            return DeletedGroupSync(step, group, -1, read_only, is_late=False)
    return None


def _judge(program: Program, deleted: DeletedGroupSync, order: OrderWithout) -> NeedlessSync | None:
    late = LateCompletion(program, deleted)
    if late.reaches_exit or not late.instead:
        return None
    instead = tuple(sorted(late.instead, key=lambda step: step.index))
    touched = _Dependents(program, deleted).spaces_touched(late.steps)
    if "global" in touched or not _leaves_registers_free(program, deleted, late.steps):
        return None
    kind: Literal["wait", "commit"] = "wait" if deleted.is_late else "commit"
    if not touched:
        return NeedlessSync(kind, deleted.step, instead, in_time=True)
    is_ordered = order.is_ordered_without(deleted.step, lambda access: access.group == deleted.group)
    return NeedlessSync(kind, deleted.step, instead, in_time=False) if is_ordered else None


def _leaves_registers_free(program: Program, deleted: DeletedGroupSync, late: Iterable[Step]) -> bool:
    """Returns whether no instruction uses registers of the operations too early without the deleted one."""
    effects = (effect for step in program.own_effectful_steps for effect in step.effects)
    if not any(isinstance(each, AsyncRegisters) and each.group == deleted.group for each in effects):
        return True
    changed = program.without(deleted.step)
    proofs = AsyncRegisterProofs(changed, deleted.group, changed.analysis(AsyncGroupProofs))
    uses = AsyncRegisterUses(changed, deleted.group).steps
    return not any(late) or all(proofs.proof_of_no_use(step) is not None for step in uses)


class _Dependents:
    """Which memory of the operations of a group may depend on what some instructions do or signal."""

    def __init__(self, program: Program, deleted: DeletedGroupSync) -> None:
        self._program = program
        self._barriers = set(program.analysis(CommonBarriers).steps)
        self._used = [
            (space, each.kind != "read")
            for step in program.own_effectful_steps
            for each in _accesses_of(step)
            if each.completion == deleted.group and not (deleted.read_only and each.kind != "read")
            for space in _spaces_of(each)
        ]

    def spaces_touched(self, late: Iterable[Step]) -> set[str]:
        """Returns the spaces of the operations' memory that may be accessed too early."""
        found: set[str] = set()
        every = self._spaces_used_by(self._program.effectful_steps)
        flow = self._program.analysis(ControlFlowGraph)
        for step in late:
            found |= self._spaces_used_by([step])
            if step in self._barriers:
                found |= self._spaces_used_by(interval_of(flow, step, self._barriers, forward=True)[0])
            elif any(map(self._may_signal, step.effects)):
                found |= every
        return found

    def _spaces_used_by(self, steps: Iterable[Step]) -> set[str]:
        """Returns the spaces in which some steps may use the memory of the operations, and one of the two writes."""
        accesses = {(space, a.kind != "read") for step in steps for a in _accesses_of(step) for space in _spaces_of(a)}
        return {at for at, writes in accesses for own, is_write in self._used if own == at and (writes or is_write)}

    def _may_signal(self, effect: Effect) -> bool:
        """Returns whether other threads, or another proxy, may use memory after an effect."""
        match effect:
            case Access(space=space, order=order):
                return order != "weak" and space.partition("::")[0] not in PRIVATE_SPACES
            case Barrier(level=level, order=order):
                return (level, order) != ("warp", "relaxed")
            case ProxyFence():
                return any(is_write for _, is_write in self._used)  # what has been read needs no fence
            case Control(kind=kind):
                return kind == "call"
        return not isinstance(effect, (*INERT_EFFECTS, WaitGroup))


def _accesses_of(step: Step) -> Iterator[Access]:
    for effect in step.effects:
        if isinstance(effect, Access) and effect.proxy != "tensormap":
            yield effect


def _spaces_of(access: Access) -> Iterator[str]:
    """Yields the spaces of which an access may use memory that threads share."""
    space = access.space.partition("::")[0]
    if space not in PRIVATE_SPACES:
        yield from ("shared", "global") if space == "generic" else (space,)
