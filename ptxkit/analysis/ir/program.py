"""The linear form of a function, decorated for analyses: each step with its match, its effects and its scope.

Source: PTX ISA, "Variable Declarations" (a nested block has a separate scope), "Arrays as Operands", "Kernel and
Function Directives".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from ptxkit.analysis.ir.budget import scale_limit
from ptxkit.analysis.ir.layout import SymbolScope, VariableLayout
from ptxkit.analysis.ir.referenced_names import addressed_names, names_in, registers_in
from ptxkit.analysis.ir.shared_window import SHARED_END
from ptxkit.analysis.ir.system_functions import ends_the_launch, is_system_function
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.isa import table
from ptxkit.isa.effects import Control, Effect, Value
from ptxkit.isa.expressions import ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import Match
from ptxkit.semantics.layout import DeclaredVariable, variable_of
from ptxkit.semantics.linear_code import LinearCode, LinearStep, linearize
from ptxkit.semantics.symbols import defined_functions
from ptxkit.syntax.constants import evaluate
from ptxkit.syntax.tree import (
    Address,
    Binary,
    Element,
    Function,
    Instruction,
    Integer,
    Module,
    Name,
    Operand,
    operand_names,
)

AnalysisT = TypeVar("AnalysisT")


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One step of the linear form. `match` is None where the table has no form for the instruction.

    instruction: that of the linear step, with array elements as addresses. box_bytes: the bytes that a tensor copy
    transfers, where the creator of the module knows them. is_system_call: the callee is a system function that returns
    and orders nothing.
    """

    linear: LinearStep[SymbolScope]
    instruction: Instruction
    match: Match | None
    scope: SymbolScope
    box_bytes: int | None = None
    is_system_call: bool = False

    @property
    def index(self) -> int:
        """The position among the steps of the function."""
        return self.linear.index

    @property
    def start(self) -> int:
        """The offset of the statement in the text."""
        return self.linear.start

    @property
    def targets(self) -> tuple[int, ...]:
        """The indices to which the step can branch, in the order of its list; empty for a step that is not a branch."""
        return self.linear.targets

    @property
    def is_opaque_call(self) -> bool:
        """Whether the step calls a function other than a system function."""
        return not self.is_system_call and any(isinstance(e, Control) and e.kind == "call" for e in self.effects)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects of the instruction; empty where the table has no form for it."""
        return self.match.effects if self.match is not None else ()

    def operand(self, role: str | None) -> Operand | None:
        """Returns the operand with a role; None if none exists."""
        return self.match.operand(role, self.instruction) if self.match is not None and role is not None else None

    def constant_of(self, expression: Expression | None) -> int | None:
        """Returns the constant value of an expression of the table; None if it is not constant."""
        if isinstance(expression, ConstantExpr):
            return expression.value if isinstance(expression.value, int) else None
        operand = self.operand(expression.name) if isinstance(expression, OperandRole) else None
        return None if operand is None else evaluate(operand)

    def result_registers(self) -> list[str]:
        """Returns the registers that the step writes; none where the table has no form for the instruction."""
        roles = self.match.results if self.match is not None else ()
        return [name for role in roles for name in registers_in(self.operand(role), self.scope)]


@dataclass(frozen=True)
class Program:
    """A function with a body, prepared for analyses.

    callees: the functions that it may call, directly or through others, by name; empty where they were not requested.
    All of them share the same `variables`, each at a distinct address. functions: the function that was flattened, such
    as a kernel, and then its callees; the same for all of them. effort: the factor of the limits of its analyses.
    """

    function: Function
    module: Module
    code: LinearCode[SymbolScope]
    steps: tuple[Step, ...]
    variables: tuple[DeclaredVariable, ...]
    callees: Mapping[str, Program] = field(default_factory=dict, repr=False, compare=False)
    functions: Sequence[Program] = field(default=(), repr=False, compare=False)
    effort: float = 1.0

    def scale_limit(self, limit: int) -> int:
        """Returns a limit of an analysis times the effort of the settings."""
        return scale_limit(limit, self.effort)

    @property
    def scopes(self) -> tuple[SymbolScope, ...]:
        """The scopes of the function's blocks, beginning with that of the outermost braces."""
        return self.code.scopes

    @property
    def scope(self) -> SymbolScope:
        """The scope of the function's outermost braces."""
        return self.scopes[0]

    @cached_property
    def _analyses(self) -> dict[Callable[[Program], Any], Any]:
        return {}

    def analysis(self, kind: Callable[[Program], AnalysisT]) -> AnalysisT:
        """Returns the result of an analysis that depends on nothing else; it is computed once for a program."""
        if kind not in self._analyses:
            self._analyses[kind] = kind(self)
        found: AnalysisT = self._analyses[kind]
        return found

    def with_function(self, function: Function) -> Program:
        """Returns the same steps as those of a function that differs in its directives only, without analyses."""
        own = function.name
        changed = (replace(each, function=function) if each.function.name == own else each for each in self.functions)
        return self._rebuilt(changed)

    def without(self, step: Step) -> Program:
        """Returns the program with an instruction that does nothing in the place of one of its steps, without analyses.

        The step must have a form in the table, and no result.
        """
        assert step.match is not None
        nothing = replace(step, match=replace(step.match, effects=()))
        steps = (*self.steps[: step.index], nothing, *self.steps[step.index + 1 :])
        return self._rebuilt(replace(each, steps=steps) if each is self else each for each in self.functions)

    def _rebuilt(self, functions: Iterable[Program]) -> Program:
        """Returns the program with other functions in the places of its own."""
        called: dict[str, Program] = {}
        together: list[Program] = []
        together.extend(replace(each, callees=called, functions=together) for each in functions)
        called.update((name, together[self.functions.index(callee)]) for name, callee in self.callees.items())
        return together[self.functions.index(self)]

    def contains(self, step: Step) -> bool:
        """Returns whether a step is one of this function, and not of another one."""
        return step.index < len(self.steps) and self.steps[step.index] is step

    def function_of(self, step: Step) -> Program:
        """Returns the one of the `functions` that contains a step."""
        return self if self.contains(step) else next(each for each in self.functions if each.contains(step))

    @cached_property
    def definitions(self) -> Mapping[str, Sequence[Step]]:
        """The steps that assign each register, in the order of the text."""
        found: dict[str, list[Step]] = defaultdict(list)
        for step in self.steps:
            for register in step.result_registers():
                found[register].append(step)
        return found

    @cached_property
    def effectful_steps(self) -> tuple[Step, ...]:
        """The steps of all `functions` that do more than assign register values, or for which the table has no form.

        Whether a kernel has an effect of some kind is a question about these steps: a function that it calls has the
        effect for it. A search for effects can skip all other steps, which are most of a kernel.
        """
        return tuple(step for code in self.functions for step in code.own_effectful_steps)

    @cached_property
    def own_effectful_steps(self) -> tuple[Step, ...]:
        """Those of only this function, for analyses of its control flow or its registers."""
        plain: dict[int, bool] = {}
        found: list[Step] = []
        for step in self.steps:
            match = step.match
            key = id(match)
            is_plain = plain.get(key)
            if is_plain is None:
                is_plain = match is not None and all(isinstance(effect, Value) for effect in match.effects)
                plain[key] = is_plain
            if not is_plain:
                found.append(step)
        return tuple(found)

    def own_steps_with(self, wanted: Callable[[Effect], bool]) -> list[Step]:
        """Returns the steps of this function with an effect, and its calls if a function that may be called has it."""
        others = (step for code in self.functions if code is not self for step in code.own_effectful_steps)
        in_calls = any(wanted(effect) for step in others for effect in step.effects)
        return [
            step
            for step in self.own_effectful_steps
            if (in_calls and step.is_opaque_call) or any(map(wanted, step.effects))
        ]

    @cached_property
    def is_fully_matched(self) -> bool:
        """Whether the table has a form for each instruction; an instruction without a form may assign any register."""
        return all(step.match is not None for step in self.steps)

    @property
    def is_kernel(self) -> bool:
        return self.function.kind == "entry"

    @property
    def has_locals(self) -> bool:
        """Whether each execution of the function has its own variables."""
        return any(each.space == "local" for scope in self.scopes for each in scope.variables.values())

    @cached_property
    def multi_variable_spaces(self) -> frozenset[str]:
        """The state spaces in which the program has more than one variable."""
        spaces = [each.space for each in self.variables]
        return frozenset(space for space in spaces if spaces.count(space) > 1)

    @property
    def exceeds_shared_limit(self) -> bool:
        """Whether the shared variables that the program may access take more memory than a CTA can have."""
        return any(each.space == "shared" and each.address + each.size > SHARED_END for each in self.variables)

    def variable_at(self, address: int) -> DeclaredVariable | None:
        """Returns the variable at an offset of `shared_window`; launch-sized memory extends to its end."""
        starts, by_start = self._variable_starts
        index = bisect_right(starts, address) - 1
        found = by_start[index] if index >= 0 else None
        return found if found is not None and address < _end(found) else None

    @cached_property
    def _variable_starts(self) -> tuple[list[int], list[DeclaredVariable | None]]:
        """The offsets at which a variable starts or an overlapped one ends, with the first variable from there on.

        Where variables overlap, as launch-sized ones do, the first that was placed is used.
        """
        bounds = sorted({bound for each in self.variables for bound in (each.address, _end(each))})
        held: dict[int, DeclaredVariable | None] = dict.fromkeys(bounds)
        for each in reversed(self.variables):
            for bound in bounds[bisect_left(bounds, each.address) : bisect_left(bounds, _end(each))]:
                held[bound] = each
        return bounds, [held[bound] for bound in bounds]


def _end(variable: DeclaredVariable) -> int:
    """Returns the offset after a variable; launch-sized memory extends to the end of all shared memory."""
    return SHARED_END if variable.is_open else variable.address + variable.size


def _with_byte_offsets(instruction: Instruction, match: Match | None, scope: SymbolScope) -> Instruction:
    """Returns the instruction with array elements as addresses.

    `a[3]` of `.b32 a[8]` becomes `[a+12]`, or the name `a+12` where the operand is not an address. With a register as
    index it becomes `a[%r1*4]`, which counts bytes. ptxas interprets an index as a number of scalars, also in vectors
    and in arrays of arrays.
    """
    forms = match.operands if match is not None else ()
    addresses = [each.kind == "address" for each in forms] or [False] * len(instruction.operands)
    made: list[Operand] = []
    for operand, is_address in zip(instruction.operands, addresses, strict=True):
        variable = scope.variable(operand.base.text) if isinstance(operand, Element) else None
        if not isinstance(operand, Element) or variable is None:
            made.append(operand)
            continue
        index = evaluate(operand.index)
        size = Integer(variable.element_size, str(variable.element_size))
        if index is None:
            made.append(Element(operand.base, Binary("*", operand.index, size)))
        elif is_address:
            made.append(Address(operand.base, index * variable.element_size))
        else:
            moved = index * variable.element_size
            made.append(Binary("+", operand.base, Integer(moved, str(moved))))
    return replace(instruction, operands=tuple(made))


class ModuleContext:
    """The module-level variables that the functions of a module use, with one layout for all functions.

    A module may have more shared variables than a CTA has memory, because they belong to different kernels. Then each
    function has only those to which it, or a function that it may call, refers. effort: the factor of the limits of the
    analyses of its functions.
    """

    def __init__(self, module: Module, effort: float = 1.0) -> None:
        self.effort = effort
        self.functions = defined_functions(module)
        self._declared = {*self.functions, *(function.name for function in module.functions())}
        self._names_by_function: dict[str, set[str]] = {}
        self._layout, self._scope = VariableLayout(), SymbolScope()
        for item, start in module.with_offsets():
            self._scope.enter(item, start)
        for declaration, declarator in self._scope.declared_variables():
            self._layout.place(self._scope, variable_of(declaration, declarator))

    @cached_property
    def addressed_functions(self) -> frozenset[str]:
        """The functions that an indirect call may reach: code takes their address, or an initializer contains it."""
        names: set[str] = set()
        for function in self.functions.values():
            assert function.body is not None
            names.update(addressed_names(function.body))
        for _, declarator in self._scope.declared_variables():
            names.update(operand_names(declarator.initialiser))
        return frozenset(name for name, each in self.functions.items() if name in names and each.kind == "func")

    def names_of(self, name: str) -> Sequence[str]:
        """Returns the names by which a function with a body can be called: its own one, and its aliases."""
        return self._names_by_definition[name]

    @cached_property
    def _names_by_definition(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, function in self.functions.items():
            found.setdefault(function.name, []).append(name)
        return found

    def callees_of(self, steps: Sequence[Step]) -> list[str]:
        """Returns the functions with a body that steps call, or may call by an address."""
        named = dict.fromkeys(name for step in steps if (name := callee_of(step)) is not None)
        if any(name not in self._declared for name in named):
            named.update(dict.fromkeys(sorted(self.addressed_functions)))
        return [name for name in named if name in self.functions]

    def layout_for(self, function: Function) -> tuple[VariableLayout, SymbolScope]:
        """Returns a layout and a scope that this function and its callees can extend."""
        scope = self._scope.copy()
        if not self._layout.exceeds_shared_limit:
            return self._layout.copy_for(scope), scope
        layout, names = VariableLayout(), self._reachable_names(function)
        for name, variable in self._scope.variables.items():
            if variable.space != "shared" or variable.is_open or name in names:
                layout.place(scope, variable)
            else:
                del scope.variables[name]
        return layout, scope

    def _reachable_names(self, function: Function) -> set[str]:
        """Returns the names that a function refers to, and those that its callees refer to, transitively."""
        found: set[str] = set()
        waiting = [function.name]
        while waiting:
            new = self._mentioned_names(waiting.pop()) - found
            found |= new
            waiting.extend(name for name in new if name in self.functions)
        return found

    def _mentioned_names(self, name: str) -> set[str]:
        known = self._names_by_function.get(name)
        if known is None:
            body = self.functions[name].body
            known = self._names_by_function[name] = names_in(body) if body is not None else set()
        return known


def flatten(
    module: Module, function: Function, outside: ModuleContext | None = None, *, calls: bool = False
) -> Program:
    """Returns the steps of a function that has a body.

    calls: whether to include the functions that it calls, directly or indirectly. outside: the context of the module,
    for callers that flatten several of its functions.
    """
    if function.body is None:
        raise ValueError(f"{function.name} is only declared here")
    outside = outside or ModuleContext(module)
    layout, outer = outside.layout_for(function)
    parts = {function.name: _flatten_function(module, function, layout, outer, outside.functions)}
    waiting = [function.name] if calls and len(outside.functions) > 1 else []
    while waiting:
        for callee in map(outside.functions.__getitem__, outside.callees_of(parts[waiting.pop()][1])):
            if callee.name not in parts:
                parts[callee.name] = _flatten_function(module, callee, layout, outer, outside.functions)
                waiting.append(callee.name)
    layout.finish()
    variables = tuple(layout.placed_variables)
    called: dict[str, Program] = {}
    together: list[Program] = []
    made = {
        name: Program(
            outside.functions[name] if name != function.name else function,
            module,
            *part,
            variables,
            called,
            together,
            outside.effort,
        )
        for name, part in parts.items()
    }
    together.extend(made.values())
    whole = made.pop(function.name)
    called.update({alias: program for name, program in made.items() for alias in outside.names_of(name)})
    return whole


def _flatten_function(
    module: Module, function: Function, layout: VariableLayout, outer: SymbolScope, defined: Collection[str]
) -> tuple[LinearCode[SymbolScope], tuple[Step, ...]]:
    """Returns the linear form of one function, and its steps.

    defined: the functions that have a body.
    """
    assert function.body is not None
    scope = SymbolScope(outer)
    scope.enter_parameters(function)
    code = linearize(function.body, scope)
    parameters = [(each, scope) for each in (*function.parameters, *function.results) if each.space != "reg"]
    for declaration, where in (*parameters, *code.variables):
        for declarator in declaration.declarators:
            layout.place(where, variable_of(declaration, declarator))
    return code, tuple([_decorate(each, module.boxes.get(each.start), defined) for each in code.steps])


def _decorate(linear: LinearStep[SymbolScope], box_bytes: int | None, defined: Collection[str]) -> Step:
    """Returns the step with its match and the known properties of its callee.

    A call of a function that ends the launch becomes a trap.
    """
    instruction = linear.instruction
    found = table().match(instruction)
    match = found if isinstance(found, Match) else None
    if Element in map(type, instruction.operands):
        instruction = _with_byte_offsets(instruction, match, linear.scope)
    step = Step(linear, instruction, match, linear.scope, box_bytes)
    callee = callee_of(step)
    if callee is None or callee in defined or match is None:
        return step
    if ends_the_launch(callee):
        return replace(step, match=replace(match, effects=(Control("trap"),)))
    return replace(step, is_system_call=True) if is_system_function(callee) else step


def callee_of(step: Step) -> str | None:
    """Returns the callee of a call: the name of a function, or of the register that holds its address.

    The result is None for other steps.
    """
    if not any(isinstance(effect, Control) and effect.kind == "call" for effect in step.effects):
        return None
    return next((each.text for each in step.instruction.operands if isinstance(each, Name)), None)


def is_unknown_code(program: Program, step: Step) -> bool:
    """Returns whether the effects of a step are unknown: no form fits it, or it calls a function without a body here.

    The function that an indirect call enters is unknown, too.
    """
    return step.match is None or (step.is_opaque_call and callee_of(step) not in program.callees)


def name_of(operand: object) -> str | None:
    """Returns the text of a `Name` operand; None for any other operand."""
    return operand.text if isinstance(operand, Name) else None
