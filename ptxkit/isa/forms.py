"""Instruction forms as loaded from `grammars/isa/*.isa`, and the matches of instructions.

A `Form` is a line of the manual: modifiers, operands, gates, effects. A `Match` is a form bound to one opcode string:
every modifier has its value, every `let` its result, every expression is folded. Matches are shared and immutable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Effect
from ptxkit.isa.expressions import Expression
from ptxkit.isa.module_forms import ModuleForms
from ptxkit.syntax.tree import Address, Arguments, Instruction, Operand, Pair, Vector

if TYPE_CHECKING:
    from ptxkit.isa.value_semantics import SemanticsForm


@dataclass(frozen=True, slots=True)
class Modifier:
    """One place for a modifier. name: of the variable, or the literal itself. values: the legal ones.

    stem: part of the head (`async.bulk` of `cp.async.bulk`), which comes first and in order.
    """

    name: str
    values: tuple[str, ...]
    optional: bool = False
    stem: bool = False

    @property
    def is_literal(self) -> bool:
        return self.values == (self.name,)


@dataclass(frozen=True, slots=True)
class Immediates:
    """Legal immediates: `low..high` by `step`, or the `members`; None is open."""

    low: int | None = None
    high: int | None = None
    step: int = 1
    members: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class OperandForm:
    """The operands that are valid in one operand position; types are expressions over modifiers and lets.

    role: the name that effects use. kind: `register`, `address`, `vector`, `label`, `function`, `pair`, `texture`,
    `arguments`, `special`... type: PTX type word (`u32`, `b64`, `pred`) or an expression of one. count: elements of a
    vector. immediates: legal constants, or None if only a register is valid. space, alignment: of an address; `object`
    is set for `mbarrier` and `tensormap` objects. condition: the operand is present exactly if this holds (None:
    always). optional: may be omitted. sink: `_` is allowed. wide: an address's register has 32 or 64 bits; long: 64.
    in_register: an address is not a symbol. negatable: `!p` is allowed. symbol: the address of a variable or function
    is allowed; for an address, an element of an array is. wider, narrower: the register may be wider or narrower than
    the type. integer: an untyped operand may not be a floating-point one; halves: only an untyped one or one of .f16x2;
    exact: only an untyped one or one of the same type; same: only one of that type. special: a special register is
    allowed. elements: of a pair or of a vector whose elements have roles, and the operands after the comma in an
    address. group: the nested optional parts of the syntax that contain it; operands of one part are present together.
    braced: a vector written in braces, for which no vector register may be written. lax: constants beyond the range are
    tolerated; cut: those whose low 32 bits are in it. allowed_if: for `sink`, `wider` and similar fields the condition
    under which they hold. minus: `-%r` is allowed; negative: only `-%r` is. parts: patterns of the selectors of its
    parts that are allowed (`b0`, `h[0-3][0-3]`); whole: no selector is allowed, too. scalar: an element of a vector
    register is not allowed. typed: the name of a function, which has no type, is not tolerated. own: its type does not
    depend on the opcode, although the opcode has such a word. more: a vector may have 2 or 4 elements, and a plain
    register is valid. symbols: the state space of a symbol in an address, if that is not `space`. bare: no braces may
    be written around it. unlike: the bits of a register that is not an address here, 0 for none. data: of an address,
    assemblers detect that an opaque reference is not an address; opaque: they do not, but move it to a register.
    nameless: a symbol plus a constant is not a constant here. single: a floating-point constant must be one of single
    precision. upto64: a wider register has 64 bits at most. unhinted: not an integer of 64 bits, which assemblers treat
    as a cache policy. definite: a single register is not an untyped one. loose: assemblers accept more than the manual
    (`ptxkit.validate.tolerated_operands`), with vector also a vector register for braces, and for a single register the
    first of one, two or four, with eight of eight, with many of any.
    """

    role: str
    kind: str
    type: Expression | None = None
    count: Expression | None = None
    immediates: Immediates | None = None
    space: Expression | None = None
    alignment: Expression | None = None
    object: str | None = None
    wide: bool = False
    in_register: bool = False
    long: bool = False
    condition: Expression | None = None
    optional: bool = False
    sink: bool = False
    negatable: bool = False
    elements: tuple[OperandForm, ...] = ()
    symbol: bool = False
    wider: bool = False
    narrower: bool = False
    integer: bool = False
    halves: bool = False
    exact: bool = False
    group: tuple[int, ...] = ()
    braced: bool = False
    lax: bool = False
    cut: bool = False
    special: bool = False
    minus: bool = False
    negative: bool = False
    scalar: bool = False
    typed: bool = False
    own: bool = False
    bare: bool = False
    nameless: bool = False
    single: bool = False
    upto64: bool = False
    unhinted: bool = False
    definite: bool = False
    loose: bool = False
    vector: bool = False
    eight: bool = False
    many: bool = False
    more: bool = False
    parts: tuple[str, ...] = ()
    whole: bool = True
    allowed_if: tuple[tuple[str, Expression], ...] = ()
    symbols: Expression | None = None
    unlike: int = 0
    data: bool = False
    opaque: bool = False
    same: bool = False


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition of legality: a PTX version, and a target.

    families: names such as `sm_100f`, `sm_90a`; empty for every target from `minimum` (a number, 75 for sm_75) on.
    before, below: the first version and the first target without it, or None. texmode: `unified` or `independent`, if
    it depends on the module's texturing mode.
    """

    version: tuple[int, int] = (1, 0)
    minimum: int = 0
    families: tuple[str, ...] = ()
    before: tuple[int, int] | None = None
    below: int | None = None
    texmode: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """The requirements of a form or a modifier value, of whose `alternatives` one suffices. subject: e.g.
    `.shared::cluster`.
    """

    subject: str
    alternatives: tuple[Requirement, ...]
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Constraint:
    """A `when` condition between modifiers, with its source text for messages."""

    condition: Expression
    text: str


@dataclass(frozen=True, slots=True)
class EffectForm:
    """An effect of a form before binding. name: as in the notation (`read`, `mbarrier_init`, `value`).

    arguments: by field name of the class in `ptxkit.isa.effects`, roles and words still expressions.
    """

    name: str
    arguments: tuple[tuple[str, Expression], ...]
    condition: Expression | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """One instruction form. syntax: the line as written. section: the manual's title. file, line: of the .isa.

    tolerated: why an assembler accepts it although the manual does not have it; empty for the manual's own forms.
    tolerances: the same for some of its modifiers only, each with the condition.
    """

    name: str
    syntax: str
    modifiers: tuple[Modifier, ...]
    operands: tuple[OperandForm, ...]
    rules: tuple[Constraint, ...] = ()
    lets: tuple[tuple[str, Expression], ...] = ()
    gates: tuple[Gate, ...] = ()
    effects: tuple[EffectForm, ...] = ()
    needs: tuple[Constraint, ...] = ()
    section: str = ""
    summary: str = ""
    file: str = ""
    line: int = 0
    tolerated: str = ""
    tolerances: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """A register that the machine sets: `%tid`, a vector with components `.x`..., or `%laneid`.

    type: of the register or of each component. types: all types with which it may be read, the first being `type`.
    requirements: one suffices; empty if every target has it. companions: directives that a kernel needs to read it.
    """

    name: str
    type: str
    vector: bool = False
    requirements: tuple[Requirement, ...] = ()
    types: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IgnoredModifiers:
    """Modifiers that assemblers ignore on instructions without such modifiers.

    on: patterns of the opcodes for which this holds, empty for all; beyond: of those for which it does not. place:
    `last` only after all other types, `later` only after another one, even if the instruction has such a type;
    `alongside` if the types that are compared have the same width without these words; `once` and `twice` anywhere, but
    at most one or two of these words; empty for anywhere, without a limit. requirements: of the modifiers; one
    suffices.
    """

    modifiers: tuple[str, ...]
    on: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    position: str = ""
    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class InstructionSet:
    """All forms by instruction name, in the order of the files, the gates of modifier values, the special registers.

    module: the parts of a module other than instructions. tolerances: what assemblers accept in any form, with the
    reason. ignored: modifiers that they ignore on some instructions. meanings: the semantics of forms, by
    `ptxkit.isa.value_semantics.form_key`.
    """

    forms: Mapping[str, tuple[Form, ...]]
    value_gates: Mapping[str, tuple[Gate, ...]]
    specials: tuple[SpecialRegister, ...] = ()
    module: ModuleForms = ModuleForms()
    tolerances: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[IgnoredModifiers, ...] = ()
    meanings: Mapping[str, tuple[SemanticsForm, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Match:
    """A form bound to one opcode string and to the operands that are present, not yet to their values.

    Identity is meaningful: matches are cached. canonical: the opcode in the manual's order. roles: the position of the
    operand that has each role; paths: the path to the role inside it (a pair's or vector's element, an operand after
    the comma in an address). needs: rules between operands. results: roles of the registers it writes. tolerated: the
    parts of the opcode that only some assemblers accept: a form that the manual lacks, words in an unusual order or
    repeated.
    """

    form: Form
    modifiers: Mapping[str, str | None]
    operands: tuple[OperandForm, ...]
    effects: tuple[Effect, ...]
    gates: tuple[Gate, ...] = ()
    canonical: str = ""
    roles: Mapping[str, int] = field(default_factory=dict)
    paths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    needs: tuple[Constraint, ...] = ()
    results: tuple[str, ...] = ()
    tolerated: str = ""

    @property
    def is_aligned(self) -> bool:
        """Whether all threads of a warp must execute the instruction together (`.aligned`)."""
        return "aligned" in self.modifiers.values()

    def operand(self, role: str, instruction: Instruction) -> Operand | None:
        """Returns the operand with a role in this instruction, or None if it is omitted."""
        index = self.roles.get(role)
        if index is None or index >= len(instruction.operands):
            return None
        operand: Operand | None = instruction.operands[index]
        for step in self.paths.get(role, ()):
            operand = _inside(operand, step)
        while isinstance(operand, Vector | Arguments) and len(operand.elements) == 1 and self._is_single(index):
            operand = operand.elements[0]  # `{%r1}` or `(1)` where the form requires one register or constant
        return operand

    def _is_single(self, index: int) -> bool:
        return self.operands[index].kind in ("register", "immediate")


def _inside(operand: Operand | None, step: int) -> Operand | None:
    parts: tuple[Operand, ...] = ()
    if isinstance(operand, Pair):
        parts = (operand.first, operand.second)
    elif isinstance(operand, Vector | Arguments):
        parts = operand.elements
    elif isinstance(operand, Address):
        parts = operand.index
    return parts[step] if step < len(parts) else None
