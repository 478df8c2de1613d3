"""Other forms of the same address: another split into a register and an offset, or a conversion and its inverse."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.analysis.symexec.check_address_space import address_operands
from ptxkit.fast_dataclasses import replace
from ptxkit.syntax.tree import Address, Instruction
from ptxkit.syntax.tree_edit import TreeEdit, parse_statements
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.rewriting.kernel_rewrite import RewritePlace
from ptxkit.testing.rewriting.register_uses import RegisterUse, register_uses

_OFFSETS = (16, 64, 1024)
_CONVERTED = ("shared", "global", "local")


class AddressForm:
    """Moves a part of an address from the offset to the register or back, or makes it generic and converts it again.

    The sum is the same, and no address is near the end of the numbers. A conversion to a generic address and back
    yields the address, because it is in the state space that the instruction names.
    """

    name: ClassVar[str] = "address-form"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for use in register_uses(function):
            match = use.step.match
            if use.operand is None or use.operand < 0 or match is None:
                continue
            address = use.step.linear.instruction.operands[use.operand]
            spaces = [space for form, space in address_operands(match) if match.roles[form.role] == use.operand]
            if isinstance(address, Address) and not address.index and spaces:
                yield partial(self._edit, use, address, spaces[0])

    @staticmethod
    def _edit(use: RegisterUse, address: Address, space: str, chance: Random) -> TreeEdit:
        new = f"%rw{use.step.start}_{use.operand}_form"
        family = space.removesuffix("::cta")
        moved = chance.choice((*_OFFSETS, address.offset))
        code = f"add.s{use.bits} {new}, {use.register}, {moved};"
        declarations = f".reg .b{use.bits} {new};"
        if family in _CONVERTED and chance.random() < 0.4:
            moved, wide = 0, new if use.bits == 64 else f"{new}_wide"
            code = f"cvta.{family}.u64 {wide}, {wide}; cvta.to.{family}.u64 {wide}, {wide};"
            if wide == new:
                code = f"mov.b64 {new}, {use.register}; {code}"
            else:
                code = f"cvt.u64.u32 {wide}, {use.register}; {code} cvt.u32.u64 {new}, {wide};"
                declarations += f" .reg .b64 {wide};"
        instruction = use.substitute(new)
        operands = list(instruction.operands)
        assert use.operand is not None
        changed = operands[use.operand]
        assert isinstance(changed, Address)
        operands[use.operand] = replace(changed, offset=address.offset - moved)
        guarded = (
            replace(each, guard=instruction.guard) for each in parse_statements(code) if isinstance(each, Instruction)
        )
        changed_instruction = replace(instruction, operands=tuple(operands))
        return TreeEdit({use.step.start: (*guarded, changed_instruction)}, parse_statements(declarations))
