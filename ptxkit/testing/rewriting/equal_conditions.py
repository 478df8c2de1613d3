"""Conditions and indices that depend on loaded data, but have one value for all data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Control, Value
from ptxkit.syntax.tree import Instruction
from ptxkit.syntax.tree_edit import TreeEdit, parse_items, parse_statements
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.rewriting.kernel_rewrite import RewritePlace
from ptxkit.testing.rewriting.register_uses import PREDICATE_BITS
from ptxkit.testing.rewriting.value_detour import DetourCode, DetourRoute, ValueDetour, register_class

DATA = "rewriting_data"
DATA_ITEMS = f".global .align 4 .b32 {DATA}[8] = {{5, 3, 8, 2, 9, 1, 7, 4}};"
"""Global data that the analysis must take for unknown: other modules cannot write it, but the host can."""


class DataMaskedIndex(ValueDetour):
    """Adds a masked exclusive or of loaded data with itself, which is zero, to an address or a count."""

    name: ClassVar[str] = "masked-index"
    widths: ClassVar[tuple[int, ...]] = (32, 64)

    def detour(self, route: DetourRoute) -> DetourCode:
        bits, source, target, prefix = route.bits, route.source, route.target, route.prefix
        data, again, wide = f"%{prefix}data", f"%{prefix}again", f"%{prefix}wide"
        mask = route.chance.choice((127, 15, 1023))
        code = (
            f"ld.global.u32 {data}, [{DATA}+{4 * route.chance.randrange(8)}]; and.b32 {again}, {data}, {mask};"
            f" and.b32 {data}, {data}, {mask}; xor.b32 {data}, {data}, {again};"
        )
        code += f" mov.b32 {wide}, {data};" if bits == 32 else f" cvt.u64.u32 {wide}, {data};"
        code += f" add.u{bits} {target}, {source}, {wide};"
        return DetourCode(code, f".reg .b32 {data}, {again}; .reg .b{bits} {wide};", parse_items(DATA_ITEMS))


class DataSelectedValue(ValueDetour):
    """Combines a predicate with a condition on loaded data that always holds, or selects by any condition on it between
    a register and itself.
    """

    name: ClassVar[str] = "equal-condition"

    def detour(self, route: DetourRoute) -> DetourCode:
        bits, source, target, prefix = route.bits, route.source, route.target, route.prefix
        data, test = f"%{prefix}data", f"%{prefix}test"
        code = f"ld.global.u32 {data}, [{DATA}+{4 * route.chance.randrange(8)}];"
        if bits == PREDICATE_BITS:
            compare, join = route.chance.choice((("eq", "and"), ("ne", "or"), ("ne", "xor"), ("le", "and")))
            code += f" setp.{compare}.u32 {test}, {data}, {data}; {join}.pred {target}, {source}, {test};"
        else:
            code += f" setp.gt.u32 {test}, {data}, 4; selp.{register_class(bits)} {target}, {source}, {source}, {test};"
        return DetourCode(code, f".reg .b32 {data}; .reg .pred {test};", parse_items(DATA_ITEMS))


class EqualArms:
    """Puts an instruction into both arms of a branch on loaded data.

    Each thread executes exactly one copy. All threads load the same word, so threads that execute the instruction
    together take the same arm.
    """

    name: ClassVar[str] = "equal-arms"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for step in function.steps:
            has_control = any(isinstance(each, Control) for each in step.effects)
            if step.match is not None and not has_control and not all(isinstance(e, Value) for e in step.effects):
                yield partial(self._edit, step.linear.instruction, step.start)

    @staticmethod
    def _edit(instruction: Instruction, start: int, chance: Random) -> TreeEdit:
        prefix = f"rw{start}_"
        data, test = f"%{prefix}data", f"%{prefix}test"
        before = parse_statements(
            f"ld.global.u32 {data}, [{DATA}+{4 * chance.randrange(8)}]; setp.gt.u32 {test}, {data}, 4;"
            f" @{test} bra ${prefix}other;"
        )
        between = parse_statements(f"bra ${prefix}end; ${prefix}other:")
        after = parse_statements(f"${prefix}end:")
        copies = (replace(instruction), replace(instruction))
        return TreeEdit(
            {start: (*before, copies[0], *between, copies[1], *after)},
            parse_statements(f".reg .b32 {data}; .reg .pred {test};"),
            parse_items(DATA_ITEMS),
        )
