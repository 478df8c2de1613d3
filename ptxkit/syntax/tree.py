"""The tree of a PTX module: frozen data that depends on no specific instruction.

Nodes are *shapes*: they hold no positions, so that equal statements are one object and trees compare by meaning. A
`Body` or `Module` keeps, with its statements, the offset at which each begins; `ptxkit.syntax.positions` locates an
opcode or operand inside a statement when a diagnostic needs it.

Source: PTX ISA, "Syntax", "State Spaces, Types, and Variables", "Instruction Operands", "Directives".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.source import SourceFile

# ---------------------------------------------------------------------------------------------- operands


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier as it is written: a register, variable, label, function, special register, or a component of one.

    `%tid.x` and `%v.x` are one name each: only a declaration determines their meaning. The sink is `_`.
    """

    text: str

    @property
    def is_sink(self) -> bool:
        return self.text == "_"


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer constant; `text` keeps its spelling (`0x1F`, `17U`), `value` its signed or unsigned value."""

    value: int
    text: str


@dataclass(frozen=True, slots=True)
class Float:
    """A floating-point constant: `0f3F800000`, `0d...`, `1.5`. `bits` is IEEE, of `width` 32 or 64."""

    bits: int
    width: int
    text: str


@dataclass(frozen=True, slots=True)
class Unary:
    """A constant expression with one operand: `-`, `!`, `~`, `+`, or a cast `(.s64)`, `(.u64)`."""

    operator: str
    operand: Operand


@dataclass(frozen=True, slots=True)
class Binary:
    """A constant expression with two operands, or a symbol and an offset (`table+8`)."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Conditional:
    """The constant expression `test ? then : otherwise`."""

    test: Operand
    then: Operand
    otherwise: Operand


@dataclass(frozen=True, slots=True)
class Apply:
    """`generic(symbol)`, and the mask form `0xFF00(generic(symbol))` of initializers (function `0xFF00`)."""

    function: str
    argument: Operand


@dataclass(frozen=True, slots=True)
class Not:
    """A negated predicate operand: `!%p1`."""

    operand: Name


@dataclass(frozen=True, slots=True)
class Pair:
    """Two destinations joined by a bar: `%p|%q`, `%r1|%p1`."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Vector:
    """A brace-enclosed vector: `{%r1, %r2}`; also an aggregate initializer, nested."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`; `index` holds the operands after commas: `[map, {%r1, %r2}]`, `[texture, sampler, {...}]`.

    `offset` is a constant in bytes. `base` may be an `Integer` (an absolute address).
    """

    base: Operand
    offset: int = 0
    index: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Element:
    """An array element as an operand: `table[3]`."""

    base: Name
    index: Operand


@dataclass(frozen=True, slots=True)
class Arguments:
    """A parenthesized list: the results or arguments of a call."""

    elements: tuple[Operand, ...]


Operand: TypeAlias = (
    Name | Integer | Float | Unary | Binary | Conditional | Apply | Not | Pair | Vector | Address | Element | Arguments
)


def operand_names(operand: Operand | None) -> Iterator[str]:
    """Yields every name in an operand, from left to right, except for the sink."""
    match operand:
        case Name(text) if text != "_":
            yield text
        case Not(inner) | Unary(operand=inner) | Apply(argument=inner):
            yield from operand_names(inner)
        case Address(base=base, index=index):
            for part in (base, *index):
                yield from operand_names(part)
        case Vector(elements) | Arguments(elements):
            for part in elements:
                yield from operand_names(part)
        case Pair(left, right) | Binary(left=left, right=right) | Element(left, right):
            yield from operand_names(left)
            yield from operand_names(right)
        case Conditional(test, then, otherwise):
            for part in (test, then, otherwise):
                yield from operand_names(part)


# -------------------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Guard:
    """The guard predicate of an instruction: `@%p` or `@!%p`."""

    predicate: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `opcode` is the whole dotted string, modifiers included."""

    opcode: str
    operands: tuple[Operand, ...] = ()
    guard: Guard | None = None

    @property
    def name(self) -> str:
        """The opcode up to its first dot: `cp` for `cp.async.cg.shared.global`."""
        return self.opcode.partition(".")[0]


@dataclass(frozen=True, slots=True)
class LabelStatement:
    """`name:`"""

    name: str


@dataclass(frozen=True, slots=True)
class Declarator:
    """One declared name. `count` is N of `%r<N>`; `dimensions` are array lengths, None if left open (`[]`)."""

    name: str
    count: int | None = None
    dimensions: tuple[int | None, ...] = ()
    initialiser: Operand | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """A `.reg`, `.shared`, `.global`, `.const`, `.local`, `.param`, `.tex`... declaration, or a formal parameter.

    space: without its dot; empty if only a type is written. type: without its dot (`b32`, `pred`, `texref`). linkage:
    `extern`, `visible`, `weak`, `common`. attributes: of `.attribute(...)`, as written. pointer: None, or the words
    after `.ptr` (`global`). alignment, pointer_alignment: bytes; the latter may also follow a parameter's type without
    `.ptr`.
    """

    space: str
    type: str
    declarators: tuple[Declarator, ...]
    linkage: tuple[str, ...] = ()
    alignment: int | None = None
    vector: str | None = None
    attributes: tuple[str, ...] = ()
    pointer: tuple[str, ...] | None = None
    pointer_alignment: int | None = None


@dataclass(frozen=True, slots=True)
class Directive:
    """Any other directive: `.loc`, `.pragma`, `.file`, `.reqntid`, `.alias`, `.branchtargets`, ...

    name: without its dot. words: the arguments as source words, in order (strings keep their quotes). label: the label
    before `.branchtargets`, `.calltargets` and `.callprototype`.
    """

    name: str
    words: tuple[str, ...] = ()
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Prototype:
    """`label: .callprototype (results) _ (parameters) directives;`"""

    label: str
    results: tuple[Declaration, ...]
    parameters: tuple[Declaration, ...]
    directives: tuple[Directive, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A nested `{ ... }` with a separate scope for registers, variables and labels."""

    body: Body


Statement: TypeAlias = "Instruction | LabelStatement | Declaration | Directive | Prototype | Block | Function"
"""A function among statements is a declaration without a body."""


@dataclass(frozen=True, slots=True)
class Body:
    """Statements, and with each the offset at which it begins (no offsets in a built tree).

    Offsets take no part in equality.
    """

    statements: tuple[Statement, ...]
    starts: Sequence[int] = field(default=(), compare=False, repr=False)

    def with_offsets(self) -> Iterator[tuple[Statement, int]]:
        """Yields each statement with its offset, which is 0 if the tree was built, not parsed."""
        starts = self.starts or (0,) * len(self.statements)
        return zip(self.statements, starts, strict=True)

    def flatten_blocks(self) -> Iterator[tuple[Statement, int]]:
        """Yields each statement with its offset, in the order of the text; nested blocks are replaced by their
        statements.
        """
        for statement, start in self.with_offsets():
            if isinstance(statement, Block):
                yield from statement.body.flatten_blocks()
            else:
                yield statement, start


# ------------------------------------------------------------------------------------------------ module


@dataclass(frozen=True, slots=True)
class Function:
    """`.entry` or `.func`; `body` is None for a declaration.

    kind: `entry` or `func`. linkage: `visible`, `extern`, `weak`. directives: those between header and body
    (`reqntid`, `maxntid`, `noreturn`, ...).
    """

    kind: str
    name: str
    parameters: tuple[Declaration, ...] = ()
    results: tuple[Declaration, ...] = ()
    linkage: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    directives: tuple[Directive, ...] = ()
    body: Body | None = None

    def directive(self, name: str) -> Directive | None:
        """Returns the first directive of that name, or None."""
        return next((found for found in self.directives if found.name == name), None)

    def with_directive(self, name: str, numbers: Iterable[int]) -> Function:
        """Returns the function with one more directive, after the others."""
        return replace(self, directives=(*self.directives, Directive(name, tuple(map(str, numbers)))))


@dataclass(frozen=True, slots=True)
class Section:
    """`.section NAME { ... }`: debugging data, stored line by line as written, never interpreted."""

    name: str
    lines: tuple[str, ...]


Item: TypeAlias = Declaration | Function | Directive | Section | Prototype


def is_architecture(word: str) -> bool:
    """Returns whether a word of `.target` is an architecture; for ptxas each word that contains `sm_` or `compute_` is
    one.
    """
    return "sm_" in word or "compute_" in word


@dataclass(frozen=True, slots=True)
class Module:
    """A PTX module. `.version`, `.target` and `.address_size` are directives among the items, and are read from there.

    `source` is the text it was parsed from (None for a built tree); it takes no part in equality. `boxes`: the bytes
    that tensor copies transfer, by the offsets of their statements, if the creator of the module knows the maps.
    """

    items: tuple[Item, ...]
    starts: Sequence[int] = field(default=(), compare=False, repr=False)
    source: SourceFile | None = field(default=None, compare=False, repr=False)
    boxes: Mapping[int, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def version(self) -> tuple[int, int] | None:
        """The (major, minor) version of `.version`, or None if it is missing or invalid."""
        words = self._directive_words("version")
        if not words:
            return None
        major, _, minor = words[0].partition(".")
        return (int(major), int(minor)) if len(words[0]) < 8 and major.isdigit() and minor.isdigit() else None

    @property
    def targets(self) -> tuple[str, ...]:
        """The words of `.target`: the architecture first, then options such as `debug`.

        Of several architectures the last one comes first, because it is the effective one.
        """
        directives = [item for item in self.items if isinstance(item, Directive) and item.name == "target"]
        words = [word for directive in directives for word in directive.words]
        architectures = [word for word in reversed(words) if is_architecture(word)]
        return (*architectures, *[word for word in words if word not in architectures])

    @property
    def address_size(self) -> int:
        """The bits of a generic address: 64, unless the module has `.address_size 32` (or none, the ISA's default of
        32).
        """
        from ptxkit.syntax.constants import parse_constant

        words = self._directive_words("address_size")
        return (parse_constant(words[0]) if words else None) or 32

    def functions(self) -> Iterator[Function]:
        """Yields the functions in order, including declarations."""
        return (item for item in self.items if isinstance(item, Function))

    def function(self, name: str) -> Function:
        """Returns the function of that name (the one with a body, if it is declared, too). Raises KeyError if none
        exists.
        """
        found = [item for item in self.functions() if item.name == name]
        if not found:
            raise KeyError(name)
        return max(found, key=lambda item: item.body is not None)

    def with_offsets(self) -> Iterator[tuple[Item, int]]:
        """Yields each item with its offset, which is 0 if the tree was built, not parsed."""
        starts = self.starts or (0,) * len(self.items)
        return zip(self.items, starts, strict=True)

    def _directive_words(self, name: str) -> tuple[str, ...]:
        for item in self.items:
            if isinstance(item, Directive) and item.name == name:
                return item.words
        return ()

    def __str__(self) -> str:
        from ptxkit.syntax.printer import print_module

        return print_module(self)
