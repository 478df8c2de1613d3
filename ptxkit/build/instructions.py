"""Layer 1: every instruction of the table as a method of the kernel.

`k.cp_async_cg(dst, src, 16)` finds the forms that the name may mean, takes those whose operands fit the given values,
and appends the one nearest in type that needs the lowest target. Results are returned; `into=` names registers that
shall receive them instead of new ones. `guard=p` makes the instruction conditional, and `guard=~p` its opposite.

`k.emit("cp.async.cg.shared.global", ...)` is the raw layer: the opcode in full, all operands in PTX's order. It is
matched by the table like everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, TypeAlias, cast

from ptxkit.build.addresses import Address
from ptxkit.build.errors import BuildAttributeError, BuildError, BuildTypeError
from ptxkit.build.method_names import (
    MissingModifierError,
    OperandHints,
    count_implied_words,
    enumerate_opcodes,
    find_expected_words,
    find_readings,
    to_name_part,
)
from ptxkit.build.methods import Methods
from ptxkit.build.operand_assignment import (
    FormRejection,
    OperandAssignment,
    OperandPart,
    ResultPlaceholder,
    allocate_results,
    assign_operands,
)
from ptxkit.build.recorder import Label, PrologueContext, StatementRecorder
from ptxkit.build.registers import Register
from ptxkit.build.scalar_types import SCALARS, Scalar, ScalarT, pred, s32, u32, u64
from ptxkit.build.target_inference import generality_key, infer_lowest_target
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.forms import Form, Match
from ptxkit.isa.table import Mismatch
from ptxkit.syntax import tree


@dataclass(frozen=True, slots=True)
class Mnemonic:
    """One method of layer 1, bound to its kernel."""

    builder: InstructionBuilder
    name: str

    def __call__(
        self,
        *operands: object,
        into: object = None,
        guard: Register[pred] | None = None,
        unless: Register[pred] | None = None,
        **modifiers: str | bool,
    ) -> Any:
        """Appends the instruction; gives its result, a tuple of several, or None."""
        return self.builder.instruction(self.name, operands, into=into, guard=guard, unless=unless, **modifiers)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return describe_forms(dict.fromkeys(reading.form for reading in find_readings(self.name)))


class InstructionBuilder(StatementRecorder, Methods):
    """Appends instructions by method name."""

    def __init__(self) -> None:
        super().__init__()
        table().load_match_store()

    def __getattr__(self, name: str) -> Mnemonic:
        if name.startswith("_") or not (table().has_stored_choice(name) or find_readings(name)):
            raise BuildAttributeError(_unknown_name_message(name))
        return Mnemonic(self, name)

    def __dir__(self) -> Iterable[str]:
        forms = (form for name in table().names for form in table().forms(name))
        heads = {"_".join([f.name, *(to_name_part(m.name) for m in f.modifiers if m.stem)]) for f in forms}
        return [*super().__dir__(), *sorted(heads)]

    # ------------------------------------------------------------------------------------------ by name

    def instruction(
        self,
        name: str,
        operands: Sequence[object],
        *,
        into: object = None,
        guard: Register[pred] | None = None,
        unless: Register[pred] | None = None,
        **modifiers: str | bool,
    ) -> object:
        """Appends the instruction that `name` means for these operands; gives its result or results."""
        self.check_owner(operands)
        match, parts = _select_form(name, tuple(operands), modifiers)
        given = _list_result_registers(into)

        def register(place: ResultPlaceholder) -> Register[Scalar]:
            if into is None:
                return self.register(_result_type(place.type, name, operands))
            if not given:
                raise BuildTypeError(f"{name} has more results than `into` has registers")
            return _check_result(given.pop(0), place, name)

        written, results = allocate_results(parts, register)
        self._append(match.canonical, written, guard, unless, match)
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def emit(
        self, opcode: str, *operands: object, guard: Register[pred] | None = None, unless: Register[pred] | None = None
    ) -> None:
        """Appends an instruction spelled out: the whole opcode, and every operand in PTX's order, results too."""
        self.check_owner(operands)
        best, parts = _select_explicit_form(opcode, operands)
        written, _ = allocate_results(parts, lambda place: self.register(place.type))
        self._append(opcode, written, guard, unless, best)

    # ----------------------------------------------------------------------------------------- registers

    def register(self, scalar: type[ScalarT]) -> Register[ScalarT]:
        """A register that nothing has written yet."""
        return Register(self, scalar, self.new_register_name(scalar))

    def load_symbol_address(self, name: str, pointer: type[Scalar]) -> Register[Any]:
        """The address of a variable in a register, read once in the prologue."""
        known = self.symbols.get(name)
        if known is None:
            known = self.symbols[name] = self.register(pointer)
            with PrologueContext(self):
                self._append(f"mov.{pointer.word}", (tree.Name(known.name), tree.Name(name)))
        return known

    def compute_element_address(
        self, base: Register[Any], index: Register[Any], size: int, pointer: type[Scalar]
    ) -> Register[Any]:
        """`base + index * size`, in the width of `pointer`."""
        if index.type not in (u32, s32, u64) or (index.type is u64 and pointer is not u64):
            wide = ", s32 or u64" if pointer is u64 else " or s32"
            raise BuildTypeError(f"an index is a register of type u32{wide}, got {index!r}")
        if size == 1 and index.type.bits == pointer.bits:
            moved = cast("Register[Any]", self.instruction("add", (Register(self, index.type, base.name), index)))
            return Register(self, pointer, moved.name)
        base_of_type = Register(self, u64 if pointer is u64 else index.type, base.name)
        name = "mad_lo" if pointer is not u64 or index.type is u64 else "mad_wide"
        if name == "mad_wide" and index.type is s32:
            base_of_type = cast("Any", Register(self, SCALARS["s64"], base.name))
        result = cast("Register[Any]", self.instruction(name, (index, size, base_of_type)))
        return Register(self, pointer, result.name)

    # ----------------------------------------------------------------------------------------- branches

    def branch(self, label: Label, *, when: Register[pred] | None = None, unless: Register[pred] | None = None) -> None:
        """Goes to a label: always, or where a predicate holds, or where it does not."""
        self._append("bra", (tree.Name(label.name),), when, unless)

    # ------------------------------------------------------------------------------------------ workings

    def check_owner(self, operands: Sequence[object]) -> None:
        """A register of another kernel would be this kernel's register of the same name."""
        for operand in operands:
            if isinstance(operand, tuple | list):
                self.check_owner(operand)
            elif isinstance(operand, Register | Address) and operand.builder is not self:
                raise BuildTypeError(f"{operand!r} belongs to another kernel")

    def _append(
        self,
        opcode: str,
        operands: tuple[tree.Operand, ...],
        guard: Register[pred] | None = None,
        unless: Register[pred] | None = None,
        form: Match | None = None,
    ) -> None:
        """form: that of the instruction, where types chose between several that are spelled alike."""
        if self.guard is not None and not self.in_prologue:
            if guard is not None or unless is not None:
                raise BuildError("an instruction has one guard, and this one stands in `k.predicated(...)`")
            guard = self.guard
        instruction = tree.Instruction(opcode, operands, make_guard(guard, unless))
        match = table().match(instruction)
        if isinstance(match, Mismatch):
            raise BuildError(match.message)
        self._record(instruction, form or match)


def make_guard(when: Register[pred] | None, unless: Register[pred] | None) -> tree.Guard | None:
    """The guard of an instruction that is executed where one holds, or where the other does not."""
    if when is not None and unless is not None:
        raise BuildTypeError("an instruction has one guard: give `guard` or `unless`")
    chosen = when if when is not None else unless
    if chosen is None:
        return None
    if not isinstance(chosen, Register) or chosen.type is not pred:
        raise BuildTypeError(f"a guard is a predicate register, not {chosen!r}")
    return tree.Guard(chosen.name, negated=when is None)


def _result_type(scalar: type[Scalar], name: str, operands: Sequence[object]) -> type[Scalar]:
    """Untyped results take the type of the operands, where these have one: a shuffle of floats gives floats."""
    if scalar.family != "b" or scalar.word in name.split("_"):
        return scalar
    types = {value.type for value in operands if isinstance(value, Register | Address)}
    fitting = {each for each in types if each.bits == scalar.bits}
    return fitting.pop() if len(fitting) == 1 else scalar


def _list_result_registers(into: object) -> list[Any]:
    if into is None:
        return []
    return list(into) if isinstance(into, tuple | list) else [into]


def _check_result(register: object, place: ResultPlaceholder, name: str) -> Register[Scalar]:
    if not isinstance(register, Register):
        raise BuildTypeError(f"`into` takes registers, not {type(register).__name__}")
    wanted, found = place.type, register.type
    if found is not wanted and not (found.bits == wanted.bits and "b" in (found.family, wanted.family)):
        raise BuildTypeError(f"{name} gives .{wanted.word}, and {register!r} shall receive it")
    return register


# -------------------------------------------------------------------------------------------------- choice


_Selection: TypeAlias = tuple[Match, tuple[OperandPart, ...]]

_SELECTIONS: dict[tuple[object, ...], OperandAssignment] = {}
"""What was chosen, by the name and what the operands are like."""
_MAX_SELECTIONS = 8192


def _select_form(name: str, operands: tuple[object, ...], keywords: dict[str, str | bool]) -> _Selection:
    """The nearest form with its places filled; operands that are alike in all that decides find it again at once."""
    alike = _selection_key(operands)
    key = None if alike is None else (name, alike, *keywords.items())
    known = None if key is None else _SELECTIONS.get(key)
    if known is not None:
        return known.match, known.with_operands(operands)
    before = None if key is None else table().stored_choice(key)
    again = None if before is None else assign_operands(before, operands)
    found = again if isinstance(again, OperandAssignment) else _find_nearest_form(name, operands, keywords)
    _cache_selection(key, found)
    return found.match, found.parts


def _select_explicit_form(opcode: str, operands: tuple[object, ...]) -> _Selection:
    """The form of an opcode that is written in full, with its places filled."""
    alike = _selection_key(operands)
    key = None if alike is None else ("emit", opcode, alike)
    known = None if key is None else _SELECTIONS.get(key)
    if known is not None:
        return known.match, known.with_operands(operands)
    candidates = table().candidates(opcode)
    if not candidates:
        mismatch = table().match(tree.Instruction(opcode))
        raise BuildError(mismatch.message if isinstance(mismatch, Mismatch) else f"`{opcode}` is unknown")
    tried = [assign_operands(match, operands, results_given=True) for match in candidates]
    fitting = [found for found in tried if isinstance(found, OperandAssignment)]
    if not fitting:
        raise BuildTypeError(
            _explain_rejections(opcode, [found for found in tried if isinstance(found, FormRejection)])
        )
    best = min(fitting, key=lambda found: found.distance)
    _cache_selection(key, best)
    return best.match, best.parts


def save_selections() -> None:
    """Keeps what was chosen in this process for the next one."""
    table().store_choices({key: found.match for key, found in _SELECTIONS.items()})


def _cache_selection(key: tuple[object, ...] | None, found: OperandAssignment) -> None:
    if key is not None:
        if len(_SELECTIONS) >= _MAX_SELECTIONS:
            _SELECTIONS.clear()
        _SELECTIONS[key] = found


def _selection_key(operand: object) -> object:
    """What of an operand decides between forms, in plain words; None where that is not known."""
    if isinstance(operand, Register):
        return operand.type.word
    if isinstance(operand, Address):
        return type(operand).__name__, operand.type.word, operand.alignment
    kind = type(operand)
    if kind is int or kind is bool:
        return kind.__name__, operand
    if kind is float:
        return "float", cast("float", operand).hex()  # 0.0 and -0.0 are equal, and not the same constant
    if kind is tuple or kind is list:
        some = cast("Sequence[object]", operand)
        parts = tuple([each.type.word if type(each) is Register else _selection_key(each) for each in some])
        return None if None in parts else parts
    return None


def _find_nearest_form(name: str, operands: tuple[object, ...], keywords: dict[str, str | bool]) -> OperandAssignment:
    """The nearest form: same types first, then nothing that nobody said, then the lowest target."""
    meant = find_readings(name)
    if not meant:
        raise BuildAttributeError(_unknown_name_message(name))
    hints = _collect_hints(operands)
    fitting: list[tuple[tuple[object, ...], OperandAssignment, int]] = []
    rejected: list[FormRejection] = []
    unsaid: list[MissingModifierError] = []
    untyped = False
    for reading in meant:
        known = {slot.name for slot in reading.form.modifiers}
        if not keywords.keys() <= known:
            continue
        try:
            opcodes = list(enumerate_opcodes(reading, keywords, hints))
            untyped |= not opcodes
            for match, far in _find_nearest_matches(opcodes):
                found = assign_operands(match, operands)
                if isinstance(found, FormRejection):
                    rejected.append(found)
                else:
                    fitting.append((_ranking_key(found, far, count_implied_words(reading)), found, far))
        except MissingModifierError as missing:
            unsaid.append(missing)
    if untyped and not hints.types and all(guesses for *_, guesses in fitting):
        raise BuildTypeError(f"the operands of {name} do not tell its type; say it in the name")
    if fitting:
        return min(fitting, key=lambda each: each[0])[1]
    if untyped and all(each.progress <= 0 for each in rejected):
        rejected = []  # those were other types' forms: they explain nothing
    raise BuildTypeError(_rejection_message(name, rejected, unsaid, keywords, hints))


def _find_nearest_matches(opcodes: list[tuple[str, int]]) -> list[tuple[Match, int]]:
    """The forms of those opcodes that exist and are nearest to the operands' types; `u32` rules out `b32`."""
    found = [(match, far) for opcode, far in opcodes for match in table().candidates(opcode)]
    nearest = min((far for _, far in found), default=0)
    return [(match, far) for match, far in found if far == nearest]


def _ranking_key(found: OperandAssignment, far: int, unsaid: int) -> tuple[object, ...]:
    """What decides between the forms that fit; the least is taken.

    A form in which fewer words are there that nobody said goes before one for a lower target: an arrival that may not
    complete the phase is not what an arrival means.
    """
    odd = bool(found.match.tolerated)
    try:
        version, target = infer_lowest_target(found.match.gates)
    except ValueError:
        return (odd, found.distance + far, unsaid, 1)
    return (
        *(odd, found.distance + far, unsaid, 0),
        generality_key(target),
        version,
        found.match.canonical.count("."),
        found.match.canonical,
    )


def _collect_hints(operands: tuple[object, ...]) -> OperandHints:
    """What the values tell: the elements of addresses decide a type that is not said, and registers where none is."""
    tuples = [operand for operand in operands if isinstance(operand, tuple | list)]
    flat = [value for operand in operands for value in (operand if isinstance(operand, tuple | list) else (operand,))]
    addresses: list[Register[Any] | Address[Any]] = [value for value in flat if isinstance(value, Address)]
    typed = addresses or [value for value in flat if isinstance(value, Register)]
    words = dict.fromkeys(value.type.word for value in typed)
    return OperandHints(tuple(words), tuple(dict.fromkeys(len(each) for each in tuples)))


# ------------------------------------------------------------------------------------------------- messages


def _unknown_name_message(name: str) -> str:
    head, _, rest = name.rstrip("_").partition("_")
    forms = table().forms(head)
    if not forms:
        near = get_close_matches(head, table().names, n=1)
        return f"no attribute and no instruction is called {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    words = find_expected_words(name)
    near = get_close_matches(rest, words, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; one of {', '.join(words[:12])} is wanted" if words else ""
    return f"no form of `{head}` can be written {name!r}{hint}"


def _rejection_message(
    name: str,
    rejected: list[FormRejection],
    unsaid: list[MissingModifierError],
    keywords: dict[str, str | bool],
    hints: OperandHints,
) -> str:
    if rejected:
        return _explain_rejections(name, rejected)
    if unsaid:
        choices = ", ".join(to_name_part(value) for value in unsaid[0].slot.values)
        return f"{name} does not say which: one of {choices} is part of its name"
    if not hints.types:
        return f"no form of {name} has the modifiers {', '.join(keywords)}"
    longer = ", ".join(f"{name.rstrip('_')}_{word}" for word in find_expected_words(name)[:12])
    types = " or ".join(f".{word}" for word in hints.types)
    return f"no form of {name} is for {types}" + (f"; there is {longer}" if longer else "")


def _explain_rejections(name: str, rejected: list[FormRejection]) -> str:
    best = max(rejected, key=lambda each: each.progress)
    return f"{name}: {best.reason}\n    form: {best.match.form.syntax.removeprefix('form ')}"


def describe_forms(forms: Iterable[Form]) -> str:
    """The documentation of a method: of each form the syntax with its operands, what it does, the section of the
    manual, what it needs, and its effects."""
    from ptxkit.isa.describe import gates_of
    from ptxkit.isa.wording import describe_gate

    parts = []
    for form in forms:
        parts += [form.syntax.removeprefix("form "), f"    {form.summary}", f"    PTX ISA, {form.section!r}"]
        needs = dict.fromkeys(describe_gate(gate) for gate in gates_of(form))
        if needs:
            parts.append(f"    needs {'; '.join(needs)}")
        parts += [f"    effect {effect.text}" for effect in form.effects]
    return "\n".join(parts)
