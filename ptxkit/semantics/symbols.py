"""Determines what the names of a module denote: registers, variables, parameters, labels and functions.

Names are looked up from the innermost scope outwards. A declaration is valid from its place on, a label in its whole
block. `%r<9>` declares `%r0` to `%r8`, and `%r04` is `%r4`; no register of a prefix that ends in a digit (`%r1<5>`) can
be named. A definition takes precedence over a declaration of the same variable or function. The parameters of a
function are names of its outermost block.

A scope can be filled statement by statement (`NameScope.enter`), so that it has the names declared so far.
Alternatively, `scoped_statements` fills the scopes of a whole body, and yields each statement with the scope that is
valid there.

Source: PTX ISA, "Identifiers", "Parameterized Variable Names", "Labels and Function Names as Operands", "Linking
Directives". The conflicts of names and the precedence are those of ptxas.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import chain
from typing import Self, TypeVar

from ptxkit.fast_dataclasses import dataclass
from ptxkit.semantics.limits import MAX_REGISTER_DIGITS
from ptxkit.syntax.target_names import target_names
from ptxkit.syntax.tree import (
    Block,
    Body,
    Declaration,
    Declarator,
    Directive,
    Function,
    Instruction,
    Item,
    LabelStatement,
    Module,
    Prototype,
    Statement,
)

OPAQUE_TYPES = frozenset({"texref", "samplerref", "surfref"})

# The classes of names that are not registers. Those with an address or a place in the code begin with `&`.
LABEL = "&label"
FUNCTION = "&function"
ENTRY = "&entry"
BRANCH_TARGETS = "&branchtargets"
CALL_TARGETS = "&calltargets"
PROTOTYPE = "&callprototype"
KERNEL_PARAMETER = "&param"
INPUT = "&input"
OUTPUT = "&output"
ARGUMENT = "&argument"
PARAMETERS = frozenset({KERNEL_PARAMETER, INPUT, OUTPUT, ARGUMENT})
CODE = frozenset({LABEL, FUNCTION, ENTRY, BRANCH_TARGETS, CALL_TARGETS, PROTOTYPE})

_Scope = TypeVar("_Scope", bound="NameScope")


def is_symbol(kind: str) -> bool:
    """Returns whether a class of names has an address: it is neither a register nor unknown."""
    return kind[0] == "&"


def is_code(kind: str) -> bool:
    """Returns whether a class of names is that of a function, a label, or a list or prototype with a label."""
    return kind in CODE


@dataclass(frozen=True, slots=True)
class NameBinding:
    """The meaning of a name.

    node: the statement or item that declares it. start: the offset of that statement or item. kind: the type of a
    register (`b32`, `v2.u32`), or the class of any other name (`&shared`, `&label`).
    """

    kind: str
    node: Statement | Item
    start: int = 0

    @property
    def is_register(self) -> bool:
        return not is_symbol(self.kind)

    def declarator(self, name: str) -> Declarator | None:
        """Returns the declarator of this name; None for numbered registers, and for what has no declarator."""
        declarators = self.node.declarators if isinstance(self.node, Declaration) else ()
        return next((each for each in declarators if each.name == name), None)

    def is_array(self, name: str) -> bool:
        """Returns whether the declaration makes `name` an array."""
        declarator = self.declarator(name)
        return declarator is not None and bool(declarator.dimensions)

    def is_replaced_by(self, later: NameBinding) -> bool:
        """Returns whether a later declaration of the same name takes precedence.

        It does over an `.extern` variable, and over a function without a body.
        """
        first, second = self.node, later.node
        if isinstance(first, Function) and isinstance(second, Function):
            return first.body is None
        if not isinstance(first, Declaration) or not isinstance(second, Declaration):
            return False
        return "extern" in first.linkage and (self.kind == later.kind or "extern" in second.linkage)


@dataclass(frozen=True, slots=True)
class NameClash:
    """A name that is declared twice in one scope.

    display_name: the name as declared, `%r<9>` for numbered registers.
    """

    display_name: str
    earlier: NameBinding
    later: NameBinding


class NameScope:
    """The names of one body, or of the module, which is the outermost scope.

    Where a declaration in the middle of a block hides an outer name, the later part of the block has a separate scope
    object, which shares the names with that of the first part, `block`. `label_indices` are the positions of its
    labels, where `ptxkit.semantics.linear_code` has numbered the steps.
    """

    def __init__(self, outer: Self | None = None) -> None:
        self.outer = outer
        self.block = self
        self.names: dict[str, NameBinding] = {}
        self.numbered: dict[str, tuple[int, NameBinding]] = {}
        self.label_indices: dict[str, int] = {}
        # The number of the part. For names that hide outer ones only in later parts, the number of the part where that
        # begins.
        self._part = 0
        self._hidden_before: dict[str, int] = {}

    def make_nested(self) -> Self:
        """Returns a new scope inside of this one."""
        return type(self)(self)

    def enter(self, statement: Statement | Item, start: int = 0) -> list[NameClash]:
        """Enters what a statement or item declares, if anything; returns the clashes with earlier declarations."""
        if isinstance(statement, Declaration):
            return self._declare(statement, start, ARGUMENT)
        if isinstance(statement, LabelStatement):
            return self.define(statement.name, NameBinding(LABEL, statement, start))
        if isinstance(statement, Prototype):
            return self.define(statement.label, NameBinding(PROTOTYPE, statement, start))
        if isinstance(statement, Directive) and statement.label is not None:
            return self.define(statement.label, NameBinding(f"&{statement.name}", statement, start))
        if isinstance(statement, Function):
            kind = ENTRY if statement.kind == "entry" else FUNCTION
            return self.outermost.define(statement.name, NameBinding(kind, statement, start))
        return []

    def enter_parameters(self, function: Function, start: int = 0) -> list[NameClash]:
        """Enters the names of a function's parameters; returns the clashes with earlier declarations."""
        kind = KERNEL_PARAMETER if function.kind == "entry" else INPUT
        clashes = [clash for each in function.results for clash in self._declare(each, start, OUTPUT)]
        return clashes + [clash for each in function.parameters for clash in self._declare(each, start, kind)]

    def define(self, name: str, named: NameBinding) -> list[NameClash]:
        """Enters one name, unless an earlier declaration takes precedence; returns the clash with it."""
        earlier = self.names.get(name) or self._find_numbered(name)
        if earlier is None or earlier.is_replaced_by(named):
            self.names[name] = named
            self._note_change(name, named.kind)
        return [] if earlier is None else [NameClash(name, earlier, named)]

    def _declare(self, declaration: Declaration, start: int, parameter: str) -> list[NameClash]:
        """Enters the names of a declaration.

        parameter: the class of a variable in the parameter space.
        """
        named = NameBinding(_class_of(declaration, parameter), declaration, start)
        clashes: list[NameClash] = []
        for declarator in declaration.declarators:
            if declarator.count is None:
                clashes += self.define(declarator.name, named)
                continue
            earlier = self._numbered_clash(declarator.name, declarator.count)
            if earlier is not None:
                clashes.append(NameClash(f"{declarator.name}<{declarator.count}>", earlier, named))
            else:
                self.numbered[declarator.name] = (declarator.count, named)
                self._note_change()
        return clashes

    def _note_change(self, name: str | None = None, kind: str = "") -> None:
        """Is called when the meaning of a name, or of several names, changes, for subclasses that cache it."""

    def _numbered_clash(self, prefix: str, count: int) -> NameBinding | None:
        if prefix in self.numbered:
            return self.numbered[prefix][1]
        length = len(prefix)
        for name, named in self.names.items():
            rest = name[length:]
            if name.startswith(prefix) and rest.isdecimal() and str(int(rest)) == rest and int(rest) < count:
                return named
        return None

    def enclosing(self) -> Iterator[Self]:
        """Yields this scope and those around it, innermost first."""
        scope: Self | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    @property
    def outermost(self) -> Self:
        """The scope of the module."""
        *_, last = self.enclosing()
        return last

    def locate(self, name: str) -> tuple[Self, NameBinding] | None:
        """Returns the block and the binding of a register or symbol.

        The result is None for all other names: special registers, elements.
        """
        scope: Self | None = self
        split = None
        while scope is not None:
            found = scope.names.get(name)
            if found is not None and scope._hidden_before.get(name, 0) <= scope._part:
                return scope.block, found
            if scope.numbered:
                split = split or _split_number(name)
                numbered = scope.numbered.get(split[0])
                if (
                    numbered is not None
                    and split[1] < numbered[0]
                    and scope._hidden_before.get(f"{split[0]}<", 0) <= scope._part
                ):
                    return scope.block, numbered[1]
            scope = scope.outer
        return None

    def find(self, name: str) -> NameBinding | None:
        """Returns the binding of a register or symbol; None for all other names: special registers, elements."""
        located = self.locate(name)
        return None if located is None else located[1]

    def branch_targets(self, name: str) -> tuple[int, ...]:
        """Returns the index of a label, or the indices of a list of labels; empty if the name denotes neither.

        The labels of a list are those of the block that has the list, not of the block that branches. A list with an
        unknown label, which ptxas rejects, has no targets, because the positions in the list have a meaning.
        """
        located = self.locate(name)
        if located is None:
            return ()
        scope, named = located
        listed = named.node.words if isinstance(named.node, Directive) and named.kind == BRANCH_TARGETS else (name,)
        found: list[int] = []
        for label in chain.from_iterable(map(target_names, listed)):
            index = scope._label_index(label)
            if index is None:
                return ()
            found.append(index)
        return tuple(found)

    def _label_index(self, name: str) -> int | None:
        located = self.locate(name)
        return None if located is None else located[0].label_indices.get(name)

    def declared_name(self, name: str) -> str:
        """Returns the name of a register that this scope declares in its canonical spelling: `%r4` for `%r04`."""
        prefix, number = _split_number(name)
        return name if name in self.names or not prefix else f"{prefix}{number}"

    def declared_variables(self) -> Iterator[tuple[Declaration, Declarator]]:
        """Yields the variables of this scope, each with the declaration that takes precedence."""
        for name, named in self.names.items():
            declarator = None if named.is_register else named.declarator(name)
            if isinstance(named.node, Declaration) and declarator is not None:
                yield named.node, declarator

    def numbered_registers(self, prefix: str) -> tuple[int, NameBinding] | None:
        """Returns how many registers with a prefix are declared, and the innermost binding that declares them."""
        return next((scope.numbered[prefix] for scope in self.enclosing() if prefix in scope.numbered), None)

    def visible_names(self) -> Iterator[str]:
        """Yields every usable name, inner ones first; `%r0` and `%r8` represent the registers of `%r<9>`."""
        for scope in self.enclosing():
            yield from scope.names
            for prefix, (count, _) in scope.numbered.items():
                if count:
                    yield f"{prefix}0"
                    yield f"{prefix}{count - 1}"

    def _find_numbered(self, name: str) -> NameBinding | None:
        if not self.numbered:
            return None
        prefix, number = _split_number(name)
        found = self.numbered.get(prefix)
        return found[1] if found is not None and number < found[0] else None

    def later_part(self) -> Self:
        """Returns the scope of the block's next part."""
        following = copy(self)
        following._part += 1
        return following

    def hide_outer_names(self, statement: Statement) -> None:
        """Makes a declaration hide outer names in this part of the block and in later ones, but not before."""
        self._hidden_before.update(dict.fromkeys(_declared_keys(statement), self._part))

    def hides_outer_names(self, statement: Statement) -> bool:
        """Returns whether a declaration in this block hides an outer name."""
        outer = () if self.outer is None else self.outer.enclosing()
        return any(scope._declares_any_of(statement) for scope in outer)

    def _declares_any_of(self, statement: Statement) -> bool:
        if isinstance(statement, Declaration):
            return any(
                self.names.get(each.name) or self._find_numbered(each.name)
                if each.count is None
                else self._numbered_clash(each.name, each.count)
                for each in statement.declarators
            )
        return not self.names.keys().isdisjoint(_declared_keys(statement))


def _declared_keys(statement: Statement) -> list[str]:
    """Returns the names that a declaration enters, except labels, which are valid in all parts of a block.

    Numbered registers have the key `%r<` for `%r<9>`.
    """
    if isinstance(statement, Declaration):
        return [each.name if each.count is None else f"{each.name}<" for each in statement.declarators]
    return [statement.label] if isinstance(statement, Directive | Prototype) and statement.label is not None else []


def defined_functions(module: Module) -> dict[str, Function]:
    """Returns the functions that have a body, by name. An alias is another name of its function.

    Source: PTX ISA, "Kernel and Function Directives: .alias".
    """
    found = {function.name: function for function in module.functions() if function.body is not None}
    for item in module.items:
        if isinstance(item, Directive) and item.name == "alias" and item.words[-1] in found:
            found.setdefault(item.words[0], found[item.words[-1]])
    return found


def scoped_statements(body: Body, scope: _Scope) -> Iterator[tuple[Statement, int, _Scope]]:
    """Yields each statement of a body in the order of the text, with its offset and its scope.

    Nested blocks are yielded with the scope inside of them, before their statements. A name that is declared only later
    in a block can be found as well; in a valid module this is only a label.
    """
    has_instructions = False
    for statement, start in body.with_offsets():
        if isinstance(statement, Instruction):
            has_instructions = True
        elif isinstance(statement, Block):
            has_instructions = True
            inner = scope.make_nested()
            yield statement, start, inner
            yield from scoped_statements(statement.body, inner)
            continue
        else:
            if (has_instructions or scope.block is not scope) and scope.hides_outer_names(statement):
                if has_instructions:
                    scope, has_instructions = scope.later_part(), False
                scope.hide_outer_names(statement)
            scope.enter(statement, start)
        yield statement, start, scope


def _split_number(name: str) -> tuple[str, int]:
    """Splits `%r12` into `%r` and 12; the prefix is empty for a name without a valid number."""
    prefix = name.rstrip("0123456789")
    digits = name[len(prefix) :]
    return (prefix, int(digits)) if 0 < len(digits) <= MAX_REGISTER_DIGITS else ("", 0)


def _class_of(declaration: Declaration, parameter: str) -> str:
    if declaration.space == "reg":
        return declaration.type if declaration.vector is None else f"{declaration.vector}.{declaration.type}"
    if declaration.type in OPAQUE_TYPES:
        return f"&{declaration.type}"
    return parameter if declaration.space == "param" else f"&{declaration.space}"
