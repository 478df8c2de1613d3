"""A function as a list of steps: scopes resolved, labels turned into indices, each instruction with its match.

Source: PTX ISA, "Variable Declarations", "Labels" (a nested block has a scope of its own for registers, variables and
labels), "Branching", "Kernel and Function Directives".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection
from functools import cached_property

from ptxkit.analysis.mentions import names_in
from ptxkit.analysis.space import FIRST_ADDRESS, SHARED_END
from ptxkit.isa import table
from ptxkit.isa.effects import Effect
from ptxkit.isa.forms import Match
from ptxkit.records import dataclass, field, replace
from ptxkit.syntax.constants import evaluate
from ptxkit.syntax.tree import (
    Address,
    Binary,
    Block,
    Body,
    Declaration,
    Declarator,
    Directive,
    Element,
    Function,
    Instruction,
    Integer,
    LabelStatement,
    Module,
    Name,
    Operand,
)

_TYPE_BYTES = {"pred": 1, "b128": 16}
_SHARED_GAP = 16
#: Bytes between two variables, so that what runs past the end of one is not taken for the other.
_GUARD = 128
#: Linkages of variables that may be defined elsewhere.
_FOREIGN = ("extern", "common", "weak")


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared variable (not a register). size: bytes, None where the length is left open. element: bytes from one
    element of an array to the next, as an index counts.

    address: of `shared`, `local` and `param` variables, the offset they have in `ptxkit.analysis.space`'s picture.
    is_foreign: another module may define it, and larger (`.extern`, `.common`, `.weak`).
    """

    name: str
    space: str
    size: int | None
    alignment: int
    address: int = 0
    element: int = 1
    is_foreign: bool = False

    @property
    def extent(self) -> int | None:
        """Its bytes, where no launch and no other module can make them more."""
        return None if self.is_foreign else self.size


@dataclass(slots=True)
class Scope:
    """Names declared between one pair of braces. `suffix` makes them unique in the function."""

    suffix: str = ""
    parent: Scope | None = None
    registers: set[str] = field(default_factory=set)
    families: dict[str, int] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def register(self, name: str) -> str:
        """The unique name of a register: registers of a nested block shadow outer ones."""
        if not self.suffix:
            return name
        scope: Scope | None = self
        while scope is not None and scope.suffix:
            if name in scope.registers or scope._counted(name):
                return name + scope.suffix
            scope = scope.parent
        return name

    def _counted(self, name: str) -> bool:
        stem = name.rstrip("0123456789")
        return stem in self.families and len(stem) < len(name) and int(name[len(stem) :]) < self.families[stem]

    def variable(self, name: str) -> Variable | None:
        """The variable of that name, from the innermost scope out."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            scope = scope.parent
        return None

    def label(self, name: str) -> int | None:
        """The index of the step that a label stands before."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.labels:
                return scope.labels[name]
            scope = scope.parent
        return None

    def branch_targets(self, name: str) -> tuple[str, ...]:
        """The labels of a `.branchtargets` list."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.targets:
                return scope.targets[name]
            scope = scope.parent
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One instruction in its place. `match` is None where the table has no form for it. start: source offset.

    box: the bytes that a tensor copy brings, where the module's maker knows them.
    """

    index: int
    instruction: Instruction
    match: Match | None
    scope: Scope
    start: int
    box: int | None = None

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What it does; nothing where the table has no form for it."""
        return self.match.effects if self.match is not None else ()


@dataclass(frozen=True)
class Program:
    """A function with a body, ready for analyses. `scope` is that of its outermost braces."""

    function: Function
    module: Module
    steps: tuple[Step, ...]
    scope: Scope
    variables: tuple[Variable, ...]

    @property
    def entries(self) -> frozenset[int]:
        """The indices of the steps that labels stand before."""
        scopes: dict[int, Scope] = {}
        for step in self.steps:
            scope: Scope | None = step.scope
            while scope is not None and id(scope) not in scopes:
                scopes[id(scope)] = scope
                scope = scope.parent
        return frozenset(index for scope in scopes.values() for index in scope.labels.values())

    @property
    def is_kernel(self) -> bool:
        return self.function.kind == "entry"

    def variable_at(self, address: int) -> Variable | None:
        """The variable at an offset of `ptxkit.analysis.space`'s picture; launch-sized memory reaches to its end."""
        starts, by_start = self._places
        index = bisect_right(starts, address) - 1
        found = by_start[index] if index >= 0 else None
        return found if found is not None and address < _end(found) else None

    @cached_property
    def _places(self) -> tuple[list[int], list[Variable | None]]:
        """Where each variable starts, or ends that another one overlaps, and the first variable from there on.

        Of those that overlap, as launch-sized ones do, the first that was placed counts.
        """
        bounds = sorted({bound for each in self.variables for bound in (each.address, _end(each))})
        held: dict[int, Variable | None] = dict.fromkeys(bounds)
        for each in reversed(self.variables):
            for bound in bounds[bisect_left(bounds, each.address) : bisect_left(bounds, _end(each))]:
                held[bound] = each
        return bounds, [held[bound] for bound in bounds]


def _end(variable: Variable) -> int:
    """The offset behind a variable; launch-sized memory reaches to the end of all shared memory."""
    return SHARED_END if variable.size is None else variable.address + variable.size


class _Layout:
    """Hands out addresses: static shared memory first, then one place that all open arrays share."""

    def __init__(self) -> None:
        self.placed: list[Variable] = []
        self._next = dict(FIRST_ADDRESS)
        self._open: list[tuple[Scope, Variable]] = []

    def place(self, scope: Scope, declaration: Declaration, declarator: Declarator) -> None:
        size = _size(declaration, declarator)
        alignment = declaration.alignment or _element_bytes(declaration)
        space = declaration.space
        foreign = any(word in _FOREIGN for word in declaration.linkage)
        element = _scalar_bytes(declaration)
        variable = Variable(declarator.name, space, size, alignment, element=element, is_foreign=foreign)
        scope.variables[declarator.name] = variable
        if space == "shared" and size is None:
            self._open.append((scope, variable))
        elif space in FIRST_ADDRESS:
            step = max(alignment, _SHARED_GAP)
            address = -(-self._next[space] // step) * step
            self._next[space] = address + (size or 0) + _GUARD
            self._put(scope, replace(variable, address=address))

    def finish(self) -> None:
        """Places launch-sized shared memory after all the rest, at the largest alignment in use."""
        base = -(-self._next["shared"] // 1024) * 1024
        for scope, variable in self._open:
            self._put(scope, replace(variable, address=base))

    @property
    def is_crowded(self) -> bool:
        """Whether static shared memory takes more than a CTA can have."""
        return self._next["shared"] > SHARED_END

    def copied(self, scope: Scope) -> _Layout:
        """The same so far, for a scope in place of the only one that there was."""
        other = _Layout()
        other.placed, other._next = list(self.placed), dict(self._next)
        other._open = [(scope, variable) for _, variable in self._open]
        return other

    def _put(self, scope: Scope, placed: Variable) -> None:
        scope.variables[placed.name] = placed
        self.placed.append(placed)


def _scalar_bytes(declaration: Declaration) -> int:
    kind = declaration.type
    digits = "".join(c for c in kind if c.isdigit())
    return _TYPE_BYTES.get(kind) or max(int(digits or 64) // 8, 1)


def _element_bytes(declaration: Declaration) -> int:
    return _scalar_bytes(declaration) * int((declaration.vector or "v1")[1:])


def _size(declaration: Declaration, declarator: Declarator) -> int | None:
    total = _element_bytes(declaration)
    for dimension in declarator.dimensions:
        if dimension is None:
            return None
        total *= dimension
    return total


def _in_bytes(instruction: Instruction, match: Match | None, scope: Scope) -> Instruction:
    """The instruction with the elements of arrays as addresses: `a[3]` of `.b32 a[8]` is `[a+12]`, and the name `a+12`
    where no address stands; with a register for an index it is `a[%r1*4]`, which counts bytes.

    To ptxas an index counts scalars: of vectors, and of arrays of arrays, as well.
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
        size = Integer(variable.element, str(variable.element))
        if index is None:
            made.append(Element(operand.base, Binary("*", operand.index, size)))
        elif is_address:
            made.append(Address(operand.base, index * variable.element))
        else:
            moved = index * variable.element
            made.append(Binary("+", operand.base, Integer(moved, str(moved))))
    return replace(instruction, operands=tuple(made))


class _Flattener:
    def __init__(self, layout: _Layout) -> None:
        self.steps: list[Step] = []
        self._layout = layout
        self._scopes = 0

    def body(self, body: Body, scope: Scope) -> None:
        match = table().match
        for statement, start in body.located():
            if isinstance(statement, Instruction):
                found = match(statement)
                form = found if isinstance(found, Match) else None
                whole = _in_bytes(statement, form, scope) if Element in map(type, statement.operands) else statement
                self.steps.append(Step(len(self.steps), whole, form, scope, start))
            elif isinstance(statement, LabelStatement):
                scope.labels[statement.name] = len(self.steps)
            elif isinstance(statement, Declaration):
                self.declare(statement, scope)
            elif isinstance(statement, Block):
                self._scopes += 1
                self.body(statement.body, Scope(f"#{self._scopes}", scope))
            elif isinstance(statement, Directive) and statement.label:
                scope.targets[statement.label] = statement.words

    def declare(self, declaration: Declaration, scope: Scope) -> None:
        for declarator in declaration.declarators:
            if declaration.space != "reg":
                self._layout.place(scope, declaration, declarator)
            elif declarator.count is None:
                scope.registers.add(declarator.name)
            else:
                scope.families[declarator.name] = declarator.count


class Outside:
    """What stands around the functions of a module: its variables, laid out once for all functions.

    A module may have more shared variables than a CTA has memory, those of other kernels; then each kernel that
    names no function with a body has those alone that it mentions.
    """

    def __init__(self, module: Module) -> None:
        self._declarations = [item for item in module.items if isinstance(item, Declaration)]
        self._functions = {function.name for function in module.functions() if function.body is not None}
        self._layout, self._scope = self._laid_out(None)

    def around(self, function: Function) -> tuple[_Layout, Scope]:
        """A layout and a scope to go on with, which belong to this function."""
        if self._layout.is_crowded and function.kind == "entry" and function.body is not None:
            names = names_in(function.body)
            if self._functions.isdisjoint(names):
                return self._laid_out(names)
        own = self._scope
        scope = Scope(registers=set(own.registers), families=dict(own.families), variables=dict(own.variables))
        return self._layout.copied(scope), scope

    def _laid_out(self, names: Collection[str] | None) -> tuple[_Layout, Scope]:
        """The variables, of the shared ones with a size only those of some names."""
        layout, scope = _Layout(), Scope()
        flattener = _Flattener(layout)
        for declaration in self._declarations:
            if names is not None and declaration.space == "shared":
                kept = [each for each in declaration.declarators if each.name in names or None in each.dimensions]
                declaration = replace(declaration, declarators=tuple(kept))  # noqa: PLW2901
            flattener.declare(declaration, scope)
        return layout, scope


def flatten(module: Module, function: Function, outside: Outside | None = None) -> Program:
    """The steps of a function that has a body. outside: of the module, made by who flattens several functions of it."""
    if function.body is None:
        raise ValueError(f"{function.name} is only declared here")
    layout, outer = (outside or Outside(module)).around(function)
    flattener = _Flattener(layout)
    scope = Scope("", outer)
    for parameter in (*function.parameters, *function.results):
        flattener.declare(parameter, scope)
    flattener.body(function.body, scope)
    layout.finish()
    steps = flattener.steps
    if module.boxes:
        steps = [replace(step, box=module.boxes.get(step.start)) for step in steps]
    return Program(function, module, tuple(steps), scope, tuple(layout.placed))


def name_of(operand: object) -> str | None:
    """The text of a `Name` operand, else None."""
    return operand.text if isinstance(operand, Name) else None
