"""Instruction forms as loaded from `grammars/isa/*.isa`, and what matching an instruction gives.

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
    """What may be written in one operand position, types still expressions over modifiers and lets.

    role: the name that effects use. kind: `register`, `address`, `vector`, `label`, `function`, `pair`, `texture`,
    `arguments`, `special`... type: PTX type word (`u32`, `b64`, `pred`) or an expression that gives one. count:
    elements of a vector. immediates: legal constants, None where only a register will do. space, alignment: of an
    address; `mbarrier` and `tensormap` objects say so in `object`. condition: the operand is present exactly when
    this holds (None: always). optional: may be left out. sink: `_` is allowed. wide: an address's register has 32
    or 64 bits; long: 64. in_register: an address is no symbol. negatable: `!p` is allowed. symbol: the address of a
    variable or function is allowed; of an address, an element of an array is. wider, narrower: the register may be
    so than the type. integer: of an untyped operand, it may not be a floating-point one; halves: only an untyped
    one or one of .f16x2; exact: only an untyped one or one of the very type; same: of that type alone. special: a
    special register is allowed.
    elements: of a pair or of a vector whose elements have roles, and what follows the comma in an address.
    group: the nested optional parts of the syntax that hold it; operands of one part are present together. braced:
    a vector written in braces, for which no vector register may be written. lax: constants beyond the range are
    tolerated; cut: those whose low 32 bits are in it. allowed_if: for `sink`, `wider` and their like the condition
    under which they hold. minus: `-%r` is allowed; negative: nothing else is. parts: patterns of the selectors of
    its parts that are allowed (`b0`, `h[0-3][0-3]`); whole: so is none. scalar: an element of a vector register is not
    allowed. typed: nor is the name of a function tolerated, which has no type. own: its type is its own, though the
    opcode has such a word. more: a vector may have more elements, 2 or 4, and a plain register do. symbols: the
    state space of a symbol in an address, where that is another than `space`. bare: no braces may be written around it.
    unlike: the bits of a register that no address is in here, 0 for none. data: of an address, assemblers see that an
    opaque reference is none; opaque: they do not, though they move it to a register. nameless: no symbol with a
    constant after it is a constant here. single: a floating-point constant must be one of single precision. upto64: a
    wider register has 64 bits at most. unhinted: nothing that an assembler takes for a policy, which is an integer of
    64 bits. definite: a single register is no untyped one. loose: assemblers take more than the manual has
    (`ptxkit.validate.tolerated_operands`), with vector a vector register for what is written in braces too, and for a
    single register the first of one, two or four, with eight of eight, with many of any.
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

    families: names such as `sm_100f`, `sm_90a`; empty means every target from `minimum` (a number, 75 for sm_75) on.
    before, below: the first version and the first target that no longer have it; None where all later ones do.
    texmode: `unified` or `independent`, where it depends on the module's texturing mode.
    """

    version: tuple[int, int] = (1, 0)
    minimum: int = 0
    families: tuple[str, ...] = ()
    before: tuple[int, int] | None = None
    below: int | None = None
    texmode: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """What a form or a modifier value needs; any one of `alternatives` suffices. subject: e.g. `.shared::cluster`."""

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

    tolerated: why an assembler takes it though the manual does not have it; empty for the manual's own forms.
    tolerances: the like for some of its modifiers alone, each with the condition.
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

    type: of the register or of each component. types: all those it may be read as, the first being `type`.
    requirements: any one suffices; empty where every target has it. companions: directives without which a kernel
    cannot read it.
    """

    name: str
    type: str
    vector: bool = False
    requirements: tuple[Requirement, ...] = ()
    types: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IgnoredModifiers:
    """Modifiers that assemblers do not see on instructions which have none such.

    on: patterns of the opcodes where that is so, empty for all; beyond: of those where it is not. place: `last` only
    after all other types, `later` only after another one, and so even where the instruction has such a type; `beside`
    where the types that are compared stay as wide as without these words; `once` and `twice` anywhere, but no more than
    one or two of these words; empty for anywhere, however many. requirements: what they need; any one suffices.
    """

    modifiers: tuple[str, ...]
    on: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    position: str = ""
    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class InstructionSet:
    """All forms by instruction name, in the order of the files, the gates of modifier values, the special registers.

    module: what a module is made of in addition to instructions. tolerances: what assemblers take of any form, and why.
    ignored: modifiers that they do not see on some instructions. meanings: what forms compute, by
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

    Identity is meaningful: matches are memoised. canonical: the opcode in the manual's order. roles: the position of
    the operand that holds each role; paths: how to reach the role inside it (a pair's or vector's element, what follows
    the comma in an address). needs: rules between operands. results: roles of the registers it writes.
    tolerated: what of the opcode only some assemblers allow: a form that the manual lacks, words in an odd order or
    twice.
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
        """The operand that plays `role` in this instruction, or None where it is left out."""
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
