"""Proves that a kernel has nothing that the rules about flags and selected CTAs, or about contradictions, are about.

A thread waits for a flag in global memory only in a loop whose end what it reads there decides. A CTA is selected by
an atomic only if the result of the atomic is used. Two instructions need different values of an argument only if both
need one.

Source: PTX ISA, "Release and Acquire Patterns", "Parallel Synchronization and Communication Instructions: atom",
"cp.async.bulk.tensor".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TypeGuard

from ptxkit.analysis.abstract_interpretation.returning_calls import is_sole_function
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.cfg.loops import CfgLoop
from ptxkit.analysis.contract.contradictions import contradict
from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.contract.parameter_multiples import find_multiples
from ptxkit.analysis.contract.tensor_maps import find_map_uses
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import guard_registers, is_result_used, read_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.memory.cta_races import has_no_shared_buffer
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.isa.effects import Access, Barrier, Effect, Prefetch
from ptxkit.model.launch_contract import TensorMapUse
from ptxkit.rules.address_proofs import prove_number
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.model import Evidence
from ptxkit.rules.obligation_sites import Site, is_global_access, sites_of_numbers
from ptxkit.syntax.tree import Address


def prove_no_flag(proofs: FunctionProofs, site: Site) -> Evidence | None:  # noqa: ARG001 (a fact about the kernel)
    """Proves for PTX624 that no loop ends because of what it loads, and no CTA loads what another one stores."""
    is_proven = proofs.program.analysis(_waits_for_no_load) and has_no_shared_buffer(proofs.program)
    return Evidence("no other", obligation_words.NO_FLAG()) if is_proven else None


def prove_no_selection(proofs: FunctionProofs, site: Site) -> Evidence | None:  # noqa: ARG001 (a fact about the kernel)
    """Proves for PTX623 that a kernel uses no result of an atomic on global memory, and no other strong read of it."""
    return Evidence("no other", obligation_words.NO_SELECTION()) if proofs.program.analysis(_selects_no_cta) else None


def prove_satisfiable(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves for PTX804 that no other instruction contradicts what an instruction needs of the kernel's arguments."""
    program, step = proofs.program, site.step
    if not is_sole_function(program):
        return None
    numbers = [each for each in program.analysis(_numbers) if each.step is step]
    if any(_may_need_argument(proofs, each) for each in numbers) and step not in program.analysis(_consistent_steps):
        return None
    if any(_names_map(effect) for effect in step.effects) and not _has_consistent_maps(proofs):
        return None
    return Evidence("no demand", obligation_words.NO_CONTRADICTION())


def _may_need_argument(proofs: FunctionProofs, site: Site) -> bool:
    """Returns whether the limits of a number may demand something of an argument of the kernel."""
    operand = site.step.operand(site.subject)
    if isinstance(operand, Address) or isinstance(prove_number(proofs, site), Evidence):
        return False
    sources = proofs.program.analysis(Dependence).sources_of(site.step, operand)
    return any(leaf.kind in ("parameter", "unknown") for leaf in sources)


def _consistent_steps(program: Program) -> frozenset[Step]:
    """Returns the instructions that need arguments to have certain remainders, where no two of them disagree.

    By the Chinese remainder theorem, numbers satisfy all of some congruences if they satisfy each two of them.
    """
    linear = LinearParameters(program)
    demands = [(step, each) for step, each in find_multiples(program, linear) if not each.is_address]
    disputed = {a.parameter for (_, a), (_, b) in combinations(demands, 2) if contradict(a, b)}
    return frozenset({step for step, _ in demands} - {step for step, each in demands if each.parameter in disputed})


def _numbers(program: Program) -> list[Site]:
    return list(sites_of_numbers(program))


def _waits_for_no_load(program: Program) -> bool:
    if not is_sole_function(program):
        return False
    loops = program.analysis(ControlFlowGraph).loops
    return not any(_may_end_by_load(program, loop) for loop in loops.loops)


def _may_end_by_load(program: Program, loop: CfgLoop) -> bool:
    """Returns whether a value that a loop loads from memory may decide when the loop ends."""
    cfg = program.analysis(ControlFlowGraph)
    inside = {step for block in loop.nodes for step in cfg.steps_of_block(block)}
    loads = {step for step in inside if any(map(_may_load, step.effects))}
    if not loads:
        return False
    outside = {name for step in loads if any(map(_may_load_global, step.effects)) for name in step.result_registers()}
    copied = any(_may_load_global(effect) for step in loads if not step.result_registers() for effect in step.effects)
    held = {name for step in loads for name in step.result_registers()}
    inputs = InputIndependence(program, launch_config_of(program))
    ends = {cfg.steps_of_block(block)[-1] for block, _ in cfg.loops.exit_edges(loop)}
    # A thread may also exit inside the loop, and leave it without an edge.
    ends |= {cfg.steps_of_block(block)[-1] for block in loop.nodes.intersection(cfg.exit_blocks)}
    registers, passed = Worklist[str](()), set[int]()
    for end in ends:
        registers.add(_deciding_registers(inputs, end, passed))
    for register in registers:
        if register in outside or (copied and register in held):
            return True
        if register in held:  # of shared or local memory, which may hold what any store put there
            registers.add(program.analysis(_stored_registers))
        for definition in program.definitions.get(register, ()):
            registers.add(_deciding_registers(inputs, definition, passed))
            registers.add(read_registers(definition))
            if any(isinstance(effect, Barrier) for effect in definition.effects):
                registers.add(program.analysis(_contributions))
    return False


def _contributions(program: Program) -> frozenset[str]:
    """Returns the registers that instructions with a barrier read: its reductions combine those of all threads."""
    steps = (s for s in program.own_effectful_steps if any(isinstance(effect, Barrier) for effect in s.effects))
    return frozenset(name for step in steps for name in read_registers(step))


def _deciding_registers(inputs: InputIndependence, step: Step, passed: set[int]) -> Iterator[str]:
    """Yields the registers that decide whether a step is executed, and which branch of an indexed one is taken."""
    for deciding, operand in inputs.deciding_operands(step, passed):
        yield from guard_registers(deciding)
        yield from inputs.dependence.operand_dependences(deciding, operand)[0]


def _may_load(effect: Effect) -> bool:
    """Returns whether an effect reads memory that may change."""
    return isinstance(effect, Access) and effect.kind != "write" and not effect.space.startswith(("param", "const"))


def _may_load_global(effect: Effect) -> bool:
    """Returns whether an effect reads memory that may change, and that other CTAs or the host may write."""
    return _may_load(effect) and isinstance(effect, Access) and not effect.space.startswith(("shared", "local"))


def _stored_registers(program: Program) -> frozenset[str]:
    """Returns the registers that instructions read which may write shared or local memory."""
    writes = (
        step
        for step in program.own_effectful_steps
        if any(isinstance(e, Access) and e.kind != "read" and e.space != "global" for e in step.effects)
    )
    return frozenset(name for step in writes for name in read_registers(step))


def _selects_no_cta(program: Program) -> bool:
    if not is_sole_function(program):
        return False
    for step in program.effectful_steps:
        for effect in step.effects:
            if not isinstance(effect, Access) or not is_global_access(effect):
                continue
            is_answer = effect.kind == "update" and effect.scope != "cta" and bool(step.result_registers())
            if is_answer and is_result_used(program, step):
                return False
            if effect.kind == "read" and effect.order != "weak":
                return False
    return True


def _names_map(effect: Effect) -> TypeGuard[Access | Prefetch]:
    return isinstance(effect, Access | Prefetch) and effect.via == "tensormap"


def _has_consistent_maps(proofs: FunctionProofs) -> bool:
    """Returns whether each tensor map is known, and all uses of one have the same rank and mode."""
    program = proofs.program
    uses = program.analysis(_map_uses)
    for step in program.effectful_steps:
        roles = {effect.address for effect in step.effects if _names_map(effect)}
        if roles and (step not in uses or any(len(proofs.values.value_at(step, step.operand(r))) != 1 for r in roles)):
            return False
    shapes = {(use.parameter, use.is_pointer, use.rank, use.mode) for use in uses.values()}
    return len(shapes) == len({shape[:2] for shape in shapes})


def _map_uses(program: Program) -> dict[Step, TensorMapUse]:
    return dict(find_map_uses(program, LinearParameters(program)))
