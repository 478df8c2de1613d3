"""What the names in a function stand for, and from where on: registers with their types, and what has an address.

Names are looked up from the inside out; what is declared counts from its declaration on, labels in the whole block.
`%r<9>` declares `%r0` to `%r8`, `%v.x` is an element of the vector `%v`.

Source: PTX ISA, "Identifiers", "Parameterized Variable Names", "Labels and Function Names as Operands"; where names
clash and which of two counts is as ptxas has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.syntax.tree import (
    Body,
    Declaration,
    Directive,
    Function,
    LabelStatement,
    Module,
    Prototype,
    Statement,
)
from ptxkit.validate.limits import MAX_U32_DIGITS

_COMPONENTS = frozenset("xyzwrgba")
_PARTS = re.compile(r"b[0-7]{1,4}|h[0-3]{1,2}")  # of a register in a video instruction
_PREDEFINED = frozenset({"WARP_SZ", "_"})
OPAQUE_TYPES = frozenset({"texref", "samplerref", "surfref"})

# Classes of names that are no registers. What has an address or a place in the code begins with `&`.
SPECIAL = "special"
UNKNOWN = "unknown"
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


def _split_number(name: str) -> tuple[str, int]:
    """`%r12` as `%r` and 12; no prefix for a name without a number, or with one that nothing counts to."""
    prefix = name.rstrip("0123456789")
    digits = name[len(prefix) :]
    return (prefix, int(digits)) if 0 < len(digits) <= MAX_U32_DIGITS else ("", 0)


def is_symbol(kind: str) -> bool:
    """Whether a class of names is that of something with an address: no register, and not unknown."""
    return kind[0] == "&"


def is_code(kind: str) -> bool:
    """Whether the name is that of a function, a label, or a list or prototype with a label."""
    return kind in CODE


@dataclass(frozen=True, slots=True)
class NameBinding:
    """What a name stands for. kind: its class. node: what declares it. start: the offset of that statement or item."""

    kind: str
    node: Statement | Function
    start: int = 0

    def is_array(self, name: str) -> bool:
        """Whether the declaration makes `name` an array."""
        declarators = self.node.declarators if isinstance(self.node, Declaration) else ()
        return any(each.name == name and each.dimensions for each in declarators)


@dataclass(frozen=True, slots=True)
class NameClash:
    """A name that is declared twice in one scope. shown: as its declaration has it, `%r<9>` for numbered ones."""

    display_name: str
    earlier: NameBinding
    later: NameBinding


class NameScope:
    """The names of one body. `type_of` gives a register's type word (`b32`), the class of a symbol (`&shared`,
    `&label`, ...), `special`, or `unknown`.

    `unknown` is a name that nothing declares so far. A special register has no type here: it is read at several
    widths.
    """

    def __init__(self, outer: NameScope | None = None) -> None:
        self.outer = outer
        self.names: dict[str, NameBinding] = {}
        self.numbered: dict[str, tuple[int, NameBinding]] = {}
        self.labels: dict[str, NameBinding] = {}
        self._memo: dict[str, str] = {}
        # The classes of operands in this scope, as numbers, by identity: the parser shares equal operands, and the
        # module that is checked keeps them alive.
        self.shapes: dict[int, int] = {}

    # ------------------------------------------------------------------------------------------ declaring

    def declare(self, declaration: Declaration, start: int = 0, parameter: str | None = None) -> Iterator[NameClash]:
        """Enter the names of a declaration; those that clash with earlier ones come back, and are not entered.

        parameter: the class of a `.param` variable where it is not one of a body.
        """
        named = NameBinding(_class_of(declaration, parameter), declaration, start)
        for declarator in declaration.declarators:
            if declarator.count is None:
                yield from self.define(declarator.name, named)
                continue
            shown = f"{declarator.name}<{declarator.count}>"
            earlier = self._numbered_clash(declarator.name, declarator.count)
            if earlier is not None:
                yield NameClash(shown, earlier, named)
            else:
                self.numbered[declarator.name] = (declarator.count, named)
                self.clear_memo()

    def define(self, name: str, named: NameBinding) -> Iterator[NameClash]:
        """Enter one name; the clash with an earlier one comes back."""
        earlier = self.names.get(name) or self._find_numbered(name)
        if earlier is not None:
            yield NameClash(name, earlier, named)
            return
        self.names[name] = named
        if self._memo.get(name, named.kind) != named.kind:
            self.clear_memo()

    def enter(self, statement: Statement, start: int = 0) -> Iterator[NameClash]:
        """Enter what a statement declares, if it does; clashes come back."""
        if isinstance(statement, Declaration):
            yield from self.declare(statement, start)
        elif isinstance(statement, LabelStatement):
            yield from self.define(statement.name, NameBinding(LABEL, statement, start))
        elif isinstance(statement, Prototype):
            yield from self.define(statement.label, NameBinding(PROTOTYPE, statement, start))
        elif isinstance(statement, Directive) and statement.label is not None:
            yield from self.define(statement.label, NameBinding(f"&{statement.name}", statement, start))

    def enter_labels(self, body: Body) -> None:
        """Enter the labels of a body, which count in front of their place too; those of inner blocks are left out."""
        for statement, start in body.located():
            if isinstance(statement, LabelStatement):
                self.labels.setdefault(statement.name, NameBinding(LABEL, statement, start))

    def _numbered_clash(self, prefix: str, count: int) -> NameBinding | None:
        if prefix in self.numbered:
            return self.numbered[prefix][1]
        length = len(prefix)
        for name, named in self.names.items():
            rest = name[length:]
            if name.startswith(prefix) and rest.isdecimal() and str(int(rest)) == rest and int(rest) < count:
                return named
        return None

    def clear_memo(self) -> None:
        """A name may stand for something else from here on."""
        if self._memo:
            self._memo.clear()
            self.shapes.clear()

    # ---------------------------------------------------------------------------------------- looking up

    def type_of(self, name: str) -> str:
        """What the name is: a type word, `v2.u32` of a vector register, a symbol's class, `special` or `unknown`."""
        found = self._memo.get(name)
        if found is None:
            found = self._memo[name] = self._type_of(name)
        return found

    def find(self, name: str) -> NameBinding | None:
        """What declares a register or symbol; None for special registers, elements and unknown names."""
        return self._find_declared(name) or self._find_forward(name)

    def shadowing_binding(self, name: str) -> NameBinding | None:
        """What is declared with the name of the special register that an element is of, so that it is no such one."""
        whole, dot, _ = name.rpartition(".")
        return self.find(whole) if dot else None

    def _type_of(self, name: str) -> str:
        named = self._find_declared(name)
        if named is not None:
            return named.kind
        part = self._selector_type(name) if "." in name else None
        if part is not None:
            return part
        if self.shadowing_binding(name) is not None:
            return UNKNOWN
        if name in _PREDEFINED or table().special(name) is not None:
            return SPECIAL
        return LABEL if self._find_forward(name) is not None else UNKNOWN

    def _find_declared(self, name: str) -> NameBinding | None:
        scope: NameScope | None = self
        split = None
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            if scope.numbered:
                split = split or _split_number(name)
                numbered = scope.numbered.get(split[0])
                if numbered is not None and split[1] < numbered[0]:
                    return numbered[1]
            scope = scope.outer
        return None

    def _find_forward(self, name: str) -> NameBinding | None:
        scope: NameScope | None = self
        while scope is not None:
            if name in scope.labels:
                return scope.labels[name]
            scope = scope.outer
        return None

    def _find_numbered(self, name: str) -> NameBinding | None:
        if not self.numbered:
            return None
        prefix, number = _split_number(name)
        found = self.numbered.get(prefix)
        return found[1] if found is not None and number < found[0] else None

    def _selector_type(self, name: str) -> str | None:
        base, _, component = name.rpartition(".")
        whole = self._find_declared(base)
        if whole is None:
            return None
        if is_symbol(whole.kind):
            is_vector = isinstance(whole.node, Declaration) and whole.node.vector is not None
            return whole.kind if is_vector and component in _COMPONENTS else None
        if whole.kind.startswith("v") and component in _COMPONENTS:
            return whole.kind.partition(".")[2]
        return whole.kind if _PARTS.fullmatch(component) else None

    def numbered_registers(self, prefix: str) -> tuple[int, NameBinding] | None:
        """How many registers with that prefix are declared, and by what: of the innermost such declaration."""
        scope: NameScope | None = self
        while scope is not None:
            if prefix in scope.numbered:
                return scope.numbered[prefix]
            scope = scope.outer
        return None

    def visible_names(self) -> Iterator[str]:
        """Every name that can be used here, inner ones first; `%r0` and `%r8` stand for the registers of `%r<9>`."""
        scope: NameScope | None = self
        while scope is not None:
            yield from scope.names
            yield from scope.labels
            for prefix, (count, _) in scope.numbered.items():
                if count:
                    yield f"{prefix}0"
                    yield f"{prefix}{count - 1}"
            scope = scope.outer


def _class_of(declaration: Declaration, parameter: str | None) -> str:
    if declaration.space == "reg":
        return declaration.type if declaration.vector is None else f"{declaration.vector}.{declaration.type}"
    if declaration.type in OPAQUE_TYPES:
        return f"&{declaration.type}"
    if declaration.space == "param":
        return parameter or ARGUMENT
    return f"&{declaration.space}"


def module_scope(module: Module) -> NameScope:
    """The names that the module has at its end: the functions and variables outside of them."""
    scope = NameScope()
    for item, start in module.located():
        if isinstance(item, Declaration):
            ignore_clashes(scope.declare(item, start))
        elif isinstance(item, Function):
            ignore_clashes(scope.define(item.name, function_binding(item, start)))
    return scope


def function_binding(function: Function, start: int = 0) -> NameBinding:
    """What a function's name stands for."""
    return NameBinding(ENTRY if function.kind == "entry" else FUNCTION, function, start)


def enter_parameters(function: Function, scope: NameScope, start: int = 0) -> Iterator[NameClash]:
    """Enter the names of a function's parameters; clashes come back."""
    taken = KERNEL_PARAMETER if function.kind == "entry" else INPUT
    for declaration in function.results:
        yield from scope.declare(declaration, start, OUTPUT)
    for declaration in function.parameters:
        yield from scope.declare(declaration, start, taken)


def function_scope(function: Function, outer: NameScope) -> NameScope:
    """The names that a function has at the end of its body, its parameters included."""
    scope = NameScope(outer)
    ignore_clashes(enter_parameters(function, scope))
    if function.body is not None:
        scope.enter_labels(function.body)
        for statement, start in function.body.located():
            ignore_clashes(scope.enter(statement, start))
    return scope


def ignore_clashes(clashes: Iterable[NameClash]) -> None:
    """Let names be entered where the clashes are not needed."""
    for _ in clashes:
        pass
