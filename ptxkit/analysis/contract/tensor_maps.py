"""Derives which tensor maps a kernel needs: their dimensions, their mode, their use, and the bytes of a box.

The bytes of a box follow where one copy transfers all bytes that an awaited phase of an mbarrier expects.

Source: PTX ISA, "Tensor-map Objects", "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.contract.certain_steps import CertainSteps
from ptxkit.analysis.contract.derived_condition import DerivedCondition, scope_of
from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.contract.parameter_multiples import stored_arguments
from ptxkit.analysis.inventory.tensormap_params import TensorMapParameter, located_map_uses, map_uses
from ptxkit.analysis.ir.called_functions import sole_calls
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.mbarrier.tx_balance import TxBalanceCheck
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Access
from ptxkit.model.launch_contract import ParameterPlace, TensorMapUse
from ptxkit.syntax.tree import Address, Name
from ptxkit.tensormap_limits import MAP_BYTES

_OPERATIONS = {"read": "load", "write": "store", "update": "reduce"}


def find_tensor_maps(
    kernel: KernelFacts, linear: LinearParameters, certain: CertainSteps
) -> Iterator[DerivedCondition]:
    """Yields the use of a tensor map by each tensor copy."""
    uses = list(find_map_uses(kernel.program, linear))
    boxes = _box_bytes(kernel) if uses else {}
    for step, use in uses:
        yield DerivedCondition(replace(use, box_bytes=boxes.get(step)), step, scope_of(certain.is_certain(step)))


def find_map_uses(program: Program, linear: LinearParameters) -> Iterator[tuple[Step, TensorMapUse]]:
    """Yields the tensor copies whose map, or the address of whose map, is in a parameter."""
    located = {step: (linear.place_of(*place), use) for step, place, use in located_map_uses(program)}
    for step, (place, use) in located.items():
        yield step, _make_use(step, place, use, is_pointer=False)
    for step, base, offset, use in map_uses(program):
        pointer = linear.parameter_of(step, Address(Name(base), offset)) if step not in located else None
        if pointer is not None:
            yield step, _make_use(step, pointer, use, is_pointer=True)


def find_possible_map_uses(program: Program, linear: LinearParameters) -> Iterator[tuple[Step, TensorMapUse]]:
    """Yields the tensor copies whose map is at an unknown distance from a parameter that has room for one map."""
    located = {step for step, _, _ in located_map_uses(program)}
    for step, base, offset, use in map_uses(program):
        place = linear.parameter_near(step, Address(Name(base), offset), MAP_BYTES) if step not in located else None
        if place is not None:
            yield step, _make_use(step, place, use, is_pointer=False)


def find_map_uses_of_callees(program: Program, linear: LinearParameters) -> Iterator[tuple[Step, Step, TensorMapUse]]:
    """Yields (call, tensor copy, use) for the maps that a call passes to a function that only it enters."""
    for call, code in sole_calls(program):
        own, arguments = LinearParameters(code), stored_arguments(program, call, code)
        for step, base, offset, use in map_uses(code):
            given = own.parameter_of(step, Address(Name(base), offset))
            store = arguments.get(given.symbol) if given is not None else None
            place = (
                linear.parameter_near(store, store.instruction.operands[1], MAP_BYTES) if store is not None else None
            )
            if place is not None:
                yield call, step, _make_use(step, place, use, is_pointer=False)


def _make_use(step: Step, place: ParameterPlace, use: TensorMapParameter, *, is_pointer: bool) -> TensorMapUse:
    mode = "im2col" if use.is_im2col else "tiled"
    return TensorMapUse(place, use.rank, mode, _operations_of(step), is_pointer=is_pointer)


def _operations_of(step: Step) -> tuple[str, ...]:
    kinds = [effect.kind for effect in step.effects if isinstance(effect, Access) and effect.via == "tensormap"]
    return tuple(dict.fromkeys(_OPERATIONS[kind] for kind in kinds))


def _box_bytes(kernel: KernelFacts) -> dict[Step, int]:
    """Returns the bytes of the box of each copy with which all awaited phases of its mbarriers agree."""
    found: dict[Step, set[int]] = defaultdict(set)
    for facts in kernel.scenarios:
        for step, size in TxBalanceCheck(facts).box_sizes():
            found[step].add(size)
    return {step: sizes.pop() for step, sizes in found.items() if len(sizes) == 1}
