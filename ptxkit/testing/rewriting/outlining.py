"""Moves instructions to a new device function, which is called directly or through a register."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, AsyncRegisters, Control, WaitGroup
from ptxkit.syntax.printer import print_instruction
from ptxkit.syntax.tree import operand_names
from ptxkit.syntax.tree_edit import TreeEdit, parse_items, parse_statements
from ptxkit.testing.limits import MAX_OUTLINED_STEPS
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis, read_registers, written_registers
from ptxkit.testing.rewriting.kernel_rewrite import RewritePlace

_BITS = {**{f"{letter}{bits}": bits for letter in "busf" for bits in (32, 64)}, "pred": 1}


@dataclass(frozen=True, slots=True)
class OutlinedRun:
    """Adjacent steps that can be a function. kinds: the types of their registers. inputs: the registers that the
    function receives. output: the register that it returns, or None if it returns nothing.
    """

    steps: tuple[Step, ...]
    kinds: dict[str, str]
    inputs: tuple[str, ...]
    output: str | None


class Outlining:
    """Moves a few instructions to a device function, and calls it in their place.

    The function receives the registers that they read and returns the one that is used afterwards. A call executes the
    instructions in the same thread, with the same operations in flight.
    """

    name: ClassVar[str] = "outline"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for run in _runs(function):
            yield partial(self._edit, run)

    def _edit(self, run: OutlinedRun, chance: Random) -> TreeEdit:
        start = run.steps[0].start
        name = f"rewriting_part_{start}"
        before, call, after = _call_code(run, start)
        callee, targets, declarations, items = self._callee(run, name, start, chance)
        result, arguments = call
        code = parse_statements(f"{{ {before} call {result}{callee}{arguments}{targets}; {after} }}")
        replaced = {each.start: () for each in run.steps} | {start: code}
        return TreeEdit(replaced, parse_statements(declarations), parse_items(f"{_function_text(run, name)} {items}"))

    def _callee(self, _run: OutlinedRun, name: str, _start: int, _chance: Random) -> tuple[str, str, str, str]:
        """Returns what the call names as the function, the end of its operands, and the declarations and items that it
        needs.
        """
        return name, "", "", ""


class IndirectOutlining(Outlining):
    """Moves instructions to a device function, and calls it by its address in a register.

    The list of targets or the prototype describes the function. The register has its address, or loads it from a table
    of constants that has no other address.
    """

    name: ClassVar[str] = "outline-indirect"

    def _callee(self, run: OutlinedRun, name: str, start: int, chance: Random) -> tuple[str, str, str, str]:
        address, label, table = f"%rw{start}_address", f"rw{start}_targets", f"{name}_table"
        declarations, items = f".reg .b64 {address}; mov.u64 {address}, {name};", ""
        if chance.random() < 0.3:
            declarations = f".reg .b64 {address}; ld.const.u64 {address}, [{table}+8];"
            items = f".const .align 8 .u64 {table}[2] = {{{name}, {name}}};"
        if chance.random() < 0.5:
            return address, f", {label}", f"{declarations} {label}: .calltargets {name};", items
        inputs = ", ".join(f".param .b{_wide(run.kinds[each])} _" for each in run.inputs)
        output = f" (.param .b{_wide(run.kinds[run.output])} _)" if run.output is not None else ""
        return address, f", {label}", f"{declarations} {label}: .callprototype{output} _ ({inputs});", items


def _wide(kind: str) -> int:
    """Returns the bits of the parameter that carries a register; a predicate is carried by a word."""
    return max(_BITS[kind], 32)


def _runs(function: FunctionAnalysis) -> Iterator[OutlinedRun]:
    """Yields runs of every length up to the limit, from each step on.

    A call copies the registers that it passes, so that those of asynchronous operations are not among them, and that no
    run waits for these operations: values that were moved from their registers would be copied before the wait.
    """
    waited = {each.group for step in function.steps for each in step.effects if isinstance(each, AsyncRegisters)}
    busy = {
        name
        for step in function.steps
        for effect in step.effects
        if isinstance(effect, AsyncRegisters)
        for name in registers_in(step.operand(effect.operand), step.scope)
    }
    for first in function.steps:
        steps: list[Step] = []
        for step in (first, *function.following_steps(first)):
            if len(steps) == MAX_OUTLINED_STEPS or not _can_be_outlined(step) or step.scope is not first.scope:
                break
            if any(isinstance(each, WaitGroup) and each.group in waited for each in step.effects):
                break
            steps.append(step)
            run = _outlined_run(function, tuple(steps))
            if run is not None and busy.isdisjoint(map(first.scope.register_name, (*run.inputs, run.output or ""))):
                yield run


def _can_be_outlined(step: Step) -> bool:
    if step.match is None or any(isinstance(each, Control | AsyncRegisters) for each in step.effects):
        return False
    # The parameters of the kernel have no names in another function.
    return not any(isinstance(each, Access) and each.space.startswith("param") for each in step.effects)


def _outlined_run(function: FunctionAnalysis, steps: tuple[Step, ...]) -> OutlinedRun | None:
    kinds: dict[str, str] = {}
    inputs: dict[str, None] = {}
    written: dict[str, None] = {}
    for step in steps:
        named = {name for operand in step.linear.instruction.operands for name in operand_names(operand)}
        for name in sorted({*named, *read_registers(step)}):
            located = step.scope.locate(name)
            if located is None and name.startswith("%") and "." not in name.removeprefix("%tid").removeprefix("%ctaid"):
                continue
            if located is None:
                if step.scope.find(name.partition(".")[0]) is not None:
                    return None
                continue
            scope, binding = located
            if binding.kind in _BITS:
                kinds[name] = binding.kind
            elif scope.outer is not None:
                return None
        reads = [name for name in read_registers(step) if name in kinds]
        if step.instruction.guard is not None:  # where the guard is false, the register keeps its value
            reads += [name for name in written_registers(step) if name in kinds]
        inputs |= dict.fromkeys(name for name in reads if name not in written)
        written |= dict.fromkeys(name for name in written_registers(step) if name in kinds)
    # Where the steps are in a loop, their next execution reads what they have written.
    outputs = [name for name in written if name in inputs or _is_used_elsewhere(function, steps, name)]
    if len(outputs) > 1:
        return None
    return OutlinedRun(steps, kinds, tuple(inputs), outputs[0] if outputs else None)


def _is_used_elsewhere(function: FunctionAnalysis, steps: tuple[Step, ...], name: str) -> bool:
    unique = steps[0].scope.register_name(name)
    return any(
        step not in steps and any(step.scope.register_name(each) == unique for each in read_registers(step))
        for step in function.steps
    )


def _call_code(run: OutlinedRun, start: int) -> tuple[str, tuple[str, str], str]:
    """Returns the code before the call, its results and arguments, and the code after it."""
    before, names = [], []
    for index, register in enumerate(run.inputs):
        kind = run.kinds[register]
        name, value = f"rw{start}_a{index}", register
        before.append(f".param .b{_wide(kind)} {name};")
        if kind == "pred":
            value = f"%rw{start}_p{index}"
            before.append(f".reg .b32 {value}; selp.b32 {value}, 1, 0, {register};")
        before.append(f"st.param.b{_wide(kind)} [{name}], {value};")
        names.append(name)
    after, result = "", ""
    if run.output is not None:
        kind, name = run.kinds[run.output], f"rw{start}_r"
        before.append(f".param .b{_wide(kind)} {name};")
        result = f"({name}), "
        after = f"ld.param.b{_wide(kind)} {run.output}, [{name}];"
        if kind == "pred":
            word = f"%rw{start}_q"
            before.append(f".reg .b32 {word};")
            after = f"ld.param.b32 {word}, [{name}]; setp.ne.b32 {run.output}, {word}, 0;"
    return " ".join(before), (result, f", ({', '.join(names)})"), after


def _function_text(run: OutlinedRun, name: str) -> str:
    """Returns the function, whose registers have the names that they have in the caller."""
    parameters = [f".param .b{_wide(run.kinds[each])} {name}_a{index}" for index, each in enumerate(run.inputs)]
    output = f"(.param .b{_wide(run.kinds[run.output])} {name}_r) " if run.output is not None else ""
    code = [f".reg .{kind} {register};" for register, kind in run.kinds.items()]
    for index, register in enumerate(run.inputs):
        kind = run.kinds[register]
        if kind == "pred":
            code.append(f".reg .b32 %word{index}; ld.param.b32 %word{index}, [{name}_a{index}];")
            code.append(f"setp.ne.b32 {register}, %word{index}, 0;")
        else:
            code.append(f"ld.param.b{_wide(kind)} {register}, [{name}_a{index}];")
    code += [print_instruction(each.linear.instruction) for each in run.steps]
    if run.output is not None:
        kind, value = run.kinds[run.output], run.output
        if kind == "pred":
            code.append(f".reg .b32 %result; selp.b32 %result, 1, 0, {value};")
            value = "%result"
        code.append(f"st.param.b{_wide(kind)} [{name}_r], {value};")
    return f".func {output}{name}({', '.join(parameters)})\n{{\n{' '.join(code)}\nret;\n}}"
