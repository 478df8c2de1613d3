"""Runs kernels on the reference machine and compares each register with its abstract value.

The machine shares nothing with the analysis but the table. Where a variable is, and what an argument is, is what the
run itself reads from a symbol or a parameter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ptxkit.analysis.abstract_interpretation.abstract_values import GENERIC, AbstractValue, Alternative
from ptxkit.analysis.abstract_interpretation.register_values import AbstractRegisters
from ptxkit.analysis.abstract_interpretation.value_graph import Assignment
from ptxkit.analysis.ir.program import Program
from ptxkit.emulator.core.address_windows import windows_of
from ptxkit.emulator.engine.executable import DecodedFunction
from ptxkit.emulator.state.symbols import RegisterSlots
from ptxkit.syntax.tree import Name, Vector

Place = tuple[str, int, str]
"""The function, the step and the register, as it is written."""

Samples = dict[Place, list[tuple[Any, Any, Any]]]
"""The threads and the values of a register after a step, each with the CTA."""

MOST_SAMPLES = 24


def observe(patch: pytest.MonkeyPatch) -> Samples:
    """Notes the registers that each step writes, from here on."""
    seen: Samples = defaultdict(list)
    original = DecodedFunction._lazy_step

    def lazy_step(self: DecodedFunction, pc: int) -> Callable[[Any], Any]:
        linear = self._linear_steps[pc]
        names = [
            each.text
            for operand in linear.instruction.operands
            for each in (operand.elements if isinstance(operand, Vector) else (operand,))
            if isinstance(each, Name)
        ]
        step = original(self, pc)
        own: list[Any] = []

        def run_and_note(group: Any) -> Any:
            if not own:
                own.append(step)
            result = own[0](group)
            if self.steps[pc] is not run_and_note:
                own[0], self.steps[pc] = self.steps[pc], run_and_note
            if result is not None:
                return result
            for name in names:
                place = (self.name, pc, name)
                slots = linear.scope.lookup(name)
                if isinstance(slots, RegisterSlots) and len(slots.slots) == 1 and len(seen[place]) < MOST_SAMPLES:
                    index = group.lanes.index
                    seen[place].append((group.cta, index.copy(), group.registers[slots.slots[0]][index].copy()))
            return result

        return run_and_note

    patch.setattr(DecodedFunction, "_lazy_step", lazy_step)
    return seen


class ObservedValues:
    """The registers of one function in a run, compared with the analysis."""

    def __init__(self, program: Program, samples: Samples) -> None:
        self._program, self._samples = program, samples
        self._values = AbstractRegisters(program)
        self._bases: dict[tuple[str, str, int], dict[tuple[int, int], int]] = defaultdict(dict)
        self._windows = windows_of(64)
        self.compared = self.bounded = 0

    def misfits(self) -> Iterator[str]:
        """Yields what is outside of its abstract value."""
        listed = [(node, value, texts) for node, value in self._values.all_values() if (texts := self._texts(node))]
        for node, value, texts in listed:
            self._note_base(node, value, texts)
        for node, value, texts in listed:
            for text in texts:
                for cta, threads, numbers in self._samples.get(
                    (self._program.function.name, node.step.index, text), ()
                ):
                    for thread, number in zip(threads.tolist(), numbers.tolist(), strict=True):
                        if isinstance(number, bool | int):
                            self.compared += 1
                            if not self._fits(value, int(number), (id(cta), thread)):
                                yield f"{node.step.index} {node.step.instruction.opcode} {text}={number:#x}: {value}"
                                return

    def _texts(self, node: Assignment) -> list[str]:
        """How the step writes the name of the register."""
        return list(
            dict.fromkeys(
                each.text
                for operand in node.step.instruction.operands
                for each in (operand.elements if isinstance(operand, Vector) else (operand,))
                if isinstance(each, Name) and node.step.scope.register_name(each.text) == node.register
            )
        )

    def _note_base(self, node: Assignment, value: AbstractValue, texts: list[str]) -> None:
        """Notes the address of a variable, or an argument, which a step reads from a symbol or a parameter."""
        if len(value) != 1 or value[0].base is None or not value[0].offset.is_single or value[0].is_remote:
            return
        each = value[0]
        base = each.base
        is_plain = node.step.instruction.opcode.startswith(("mov", "ld.param"))
        if base is None or not is_plain or each.offset.low or (each.window not in ("", base.space)):
            return
        for text in texts:
            for cta, threads, numbers in self._samples.get((self._program.function.name, node.step.index, text), ()):
                for thread, number in zip(threads.tolist(), numbers.tolist(), strict=True):
                    self._bases[(base.kind, base.name, base.position)][(id(cta), thread)] = number

    def _fits(self, value: AbstractValue, number: int, where: tuple[int, int]) -> bool:
        return any(self._fits_alternative(each, number, where) for each in value)

    def _fits_alternative(self, each: Alternative, number: int, where: tuple[int, int]) -> bool:
        base = each.base
        if base is None:
            self.bounded += not each.is_opaque
            return number in each.offset
        start = self._bases.get((base.kind, base.name, base.position), {}).get(where)
        if start is None or each.is_remote or base.kind == "converted":
            return True
        if each.window == GENERIC:
            # The machine's addresses of parameters, constants and globals are generic ones.
            start += {"shared": self._windows.shared.start, "local": self._windows.local.start}.get(base.space, 0)
        power, remainder = each.congruence
        self.bounded += 1
        return (number - start) % (1 << each.width) in each.offset and number % power == remainder
