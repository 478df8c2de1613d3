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
from ptxkit.analysis.inventory.tensormap_params import TensorMapParameter, located_map_uses, map_uses
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.mbarrier.tx_balance import TxBalanceCheck
from ptxkit.isa.effects import Access
from ptxkit.model.launch_contract import ParameterPlace, TensorMapUse
from ptxkit.syntax.tree import Address, Name

_OPERATIONS = {"read": "load", "write": "store", "update": "reduce"}


def find_tensor_maps(
    kernel: KernelFacts, linear: LinearParameters, certain: CertainSteps
) -> Iterator[DerivedCondition]:
    """Yields the use of a tensor map by each tensor copy."""
    uses = list(_parameter_uses(kernel, linear))
    boxes = _box_bytes(kernel) if uses else {}
    for step, place, use, is_pointer in uses:
        found = TensorMapUse(
            place,
            use.rank,
            "im2col" if use.is_im2col else "tiled",
            _operations_of(step),
            boxes.get(step),
            is_pointer=is_pointer,
        )
        yield DerivedCondition(found, step, scope_of(certain.is_certain(step)))


def _parameter_uses(
    kernel: KernelFacts, linear: LinearParameters
) -> Iterator[tuple[Step, ParameterPlace, TensorMapParameter, bool]]:
    """Yields the tensor copies with the parameter that holds their map, and whether it holds the map's address."""
    located = {step: (place, use) for step, place, use in located_map_uses(kernel.program)}
    for step, (found, use) in located.items():
        yield step, linear.place_of(*found), use, False
    for step, base, offset, use in map_uses(kernel.program):
        place = linear.parameter_of(step, Address(Name(base), offset)) if step not in located else None
        if place is not None:
            yield step, place, use, True


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
