"""Finds the loads from Tensor Memory that a use of their results waits for.

A load is complete when an instruction reads one of the registers that it writes. `tcgen05.wait::ld` has no effect for
such a load if, on each path, the instruction comes before all that may order another thread after it. A plain move
gives a register another name, and waits for nothing. Registers count that nothing but loads and moves of their results
writes.

Source: PTX ISA, "tcgen05.ld", "tcgen05.wait".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from ptxkit.analysis.abstract_interpretation.path_cases import path_cases
from ptxkit.analysis.abstract_interpretation.solver import ForwardSolution
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.ir.step_registers import read_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.isa.effects import Access, AsyncRegisters, TensorMemory, Value, WaitGroup
from ptxkit.isa.expressions import CallExpr

_LOAD = "tcgen05.ld"


class _UnawaitedLoads:
    """The domain: a bit mask of the loads of which no result was read since. ordering: steps that may end a path."""

    def __init__(self, program: Program, ordering: Collection[Step]) -> None:
        self.loads = [step for step in program.own_effectful_steps if _loads(step)]
        self._bits = {step: 1 << number for number, step in enumerate(self.loads)}
        moves = {step: move for step in program.steps if self.loads and (move := _move_of(step)) is not None}
        targets: dict[str, list[str]] = defaultdict(list)
        for source, target in moves.values():
            targets[source].append(target)
        self._moves, self._by_register = moves, dict[str, int]()
        for step, bit in self._bits.items():
            names = Worklist(_results_of(step))
            for name in names:
                names.add(targets.get(name, ()))
            for name in names.seen:
                if all(each in self._bits or each in moves for each in program.definitions.get(name, ())):
                    self._by_register[name] = self._by_register.get(name, 0) | bit
        self._ends = {step for step in ordering if not _is_wait(step)}

    def entry(self) -> int:
        return 0

    def join(self, first: int, second: int) -> int:
        return first | second

    def is_relevant(self, step: Step) -> bool:
        return step in self._bits or self.is_end(step) or _is_wait(step) or bool(self._read_by(step))

    def is_end(self, step: Step) -> bool:
        """Returns whether another thread may learn of the loads before a step, or it accesses Tensor Memory itself."""
        is_access = any(isinstance(each, Access) and each.space == "tensor" for each in step.effects)
        is_other = is_access and step not in self._bits
        return step in self._ends or is_other or any(isinstance(each, TensorMemory) for each in step.effects)

    def transfer(self, step: Step, state: int) -> int:
        return 0 if _is_wait(step) else state & ~self._read_by(step) | self._bits.get(step, 0)

    def _read_by(self, step: Step) -> int:
        found = 0
        for name in () if step in self._moves else read_registers(step):
            found |= self._by_register.get(name, 0)
        return found

    def members(self, mask: int) -> list[Step]:
        """Returns the loads in a bit mask."""
        return [step for step, bit in self._bits.items() if mask & bit]


def find_awaited_loads(program: Program, ordering: Collection[Step]) -> frozenset[Step]:
    """Returns the loads of which a result is read, on each path, before the next step that orders something.

    ordering: these steps.
    """
    domain = _UnawaitedLoads(program, ordering)
    if not domain.loads:
        return frozenset()
    cfg = program.analysis(ControlFlowGraph)
    left = 0
    for case in path_cases(program, cfg, domain.loads):
        solution = ForwardSolution(case, domain)
        for block in range(len(cfg.block_starts)):
            for step, state in solution.states_before(block):
                left |= state if domain.is_end(step) else 0
            end = solution.state_at_end(block)
            left |= end if end is not None and case.may_leave(block) else 0
    return frozenset(domain.loads) - frozenset(domain.members(left))


def _results_of(step: Step) -> list[str]:
    roles = [each.operand for each in step.effects if isinstance(each, AsyncRegisters) and each.group == _LOAD]
    return [name for role in roles for name in registers_in(step.operand(role), step.scope)]


def _move_of(step: Step) -> tuple[str, str] | None:
    """Returns the source and the target of a plain move between registers."""
    values = [each for each in step.effects if isinstance(each, Value)]
    call = values[0].value if len(values) == 1 else None
    is_copy = isinstance(call, CallExpr) and call.function == "copy" and step.instruction.guard is None
    read, written = list(read_registers(step)), step.result_registers()
    return (read[0], written[0]) if is_copy and len(read) == len(written) == 1 else None


def _loads(step: Step) -> bool:
    return any(isinstance(effect, Access) and effect.completion == _LOAD for effect in step.effects)


def _is_wait(step: Step) -> bool:
    return any(isinstance(effect, WaitGroup) and effect.group == _LOAD for effect in step.effects)
