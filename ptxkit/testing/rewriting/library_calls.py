"""Inserts calls of functions of the device runtime library."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.syntax.tree import Instruction
from ptxkit.syntax.tree_edit import TreeEdit, parse_items, parse_statements
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.rewriting.equal_conditions import DATA, DATA_ITEMS
from ptxkit.testing.rewriting.kernel_rewrite import RewritePlace

_PRINT = ".extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);"
_FORMAT = ".global .align 1 .b8 rewriting_format[4] = {79, 75, 10, 0};"
_ASSERT = (
    ".extern .func __assertfail(.param .b64 p0, .param .b64 p1, .param .b32 p2, .param .b64 p3, .param .b64 p4)"
    " .noreturn;"
)


class PrintCall:
    """Calls `vprintf` with a constant text before an instruction.

    The function reads the text and writes the output buffer of the device, which the kernel cannot access, and orders
    nothing.
    """

    name: ClassVar[str] = "print-call"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        if _declares(function, "vprintf"):
            return
        for step in function.steps:
            yield partial(self._edit, step.linear.instruction, step.start)

    @staticmethod
    def _edit(instruction: Instruction, start: int, chance: Random) -> TreeEdit:
        text, none, data, test = (f"%rw{start}_{part}" for part in ("text", "none", "data", "test"))
        call = (
            f"mov.u64 {text}, rewriting_format; cvta.global.u64 {text}, {text}; mov.u64 {none}, 0;"
            f" {{ .param .b64 rw_text; .param .b64 rw_values; .param .b32 rw_length; st.param.b64 [rw_text], {text};"
            f" st.param.b64 [rw_values], {none}; call.uni (rw_length), vprintf, (rw_text, rw_values); }}"
        )
        declarations = f".reg .b64 {text}, {none};"
        items = f"{_PRINT} {_FORMAT}"
        if chance.random() < 0.3:
            call = (
                f"ld.global.u32 {data}, [{DATA}]; setp.gt.u32 {test}, {data}, 4; @{test} bra $rw{start}_quiet;"
                f" {call.replace('call.uni', 'call')} $rw{start}_quiet:"
            )
            declarations += f" .reg .b32 {data}; .reg .pred {test};"
            items += f" {DATA_ITEMS}"
        return TreeEdit(
            {start: (*parse_statements(call), instruction)}, parse_statements(declarations), parse_items(items)
        )


class AssertCall:
    """Calls `__assertfail` before an instruction if loaded data are not equal to themselves, which never happens."""

    name: ClassVar[str] = "assert-call"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        if _declares(function, "__assertfail"):
            return
        for step in function.steps:
            yield partial(self._edit, step.linear.instruction, step.start)

    @staticmethod
    def _edit(instruction: Instruction, start: int, _chance: Random) -> TreeEdit:
        none, data, test = (f"%rw{start}_{part}" for part in ("none", "data", "test"))
        parameters = (("b64", none), ("b64", none), ("b32", "1"), ("b64", none), ("b64", none))
        stores = " ".join(
            f".param .{kind} rw_{index}; st.param.{kind} [rw_{index}], {value};"
            for index, (kind, value) in enumerate(parameters)
        )
        call = (
            f"ld.global.u32 {data}, [{DATA}]; setp.eq.u32 {test}, {data}, {data}; @{test} bra $rw{start}_holds;"
            f" mov.u64 {none}, 0; {{ {stores} call __assertfail, (rw_0, rw_1, rw_2, rw_3, rw_4); }}"
            f" $rw{start}_holds:"
        )
        return TreeEdit(
            {start: (*parse_statements(call), instruction)},
            parse_statements(f".reg .b64 {none}; .reg .b32 {data}; .reg .pred {test};"),
            parse_items(f"{_ASSERT} {DATA_ITEMS}"),
        )


def _declares(function: FunctionAnalysis, name: str) -> bool:
    return any(each.name == name for each in function.module.functions())
