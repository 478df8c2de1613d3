"""Layer 1 of the builder: every instruction of the table is a method of the kernel.

`k.cp_async_cg(dst, src, 16)` finds the forms that the name may denote, selects those that accept the given values, and
appends the form that is nearest in type and needs the lowest target. Results are returned; `into=` names registers that
receive them instead of new ones. `guard=p` makes the instruction conditional on a predicate, and `guard=~p` on its
negation.

`k.emit("cp.async.cg.shared.global", ...)` takes the whole opcode and all operands in PTX's order. The table checks it
in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from ptxkit.build.addresses import Address
from ptxkit.build.barrier_uses import BarrierUses
from ptxkit.build.declarations import Declarations
from ptxkit.build.errors import BuildAttributeError, BuildError, BuildTypeError, BuildValueError, find_caller
from ptxkit.build.form_selection import select_explicit_form, select_form, unknown_name_message
from ptxkit.build.instruction_docs import describe_method
from ptxkit.build.method_names import find_readings, to_name_part
from ptxkit.build.methods import Methods
from ptxkit.build.operand_assignment import ResultPlaceholder, allocate_results
from ptxkit.build.operand_fitting import RegisterConstant
from ptxkit.build.recorder import Label, PrologueContext, StatementRecorder
from ptxkit.build.registers import Register
from ptxkit.build.target_inference import parse_supported_target
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.forms import Gate, Match, Requirement
from ptxkit.isa.table import Mismatch
from ptxkit.kernel_model.scalar_types import SCALARS, Scalar, ScalarT, pred, s32, u32, u64
from ptxkit.kernel_model.source_lines import Location
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from ptxkit.build.prototypes import Callee

CLUSTER_REQUIREMENTS = (Requirement((7, 8), 90),)
"""The requirements of clusters and their special registers."""


INTERNAL_NAMES = frozenset(
    {
        *("to_function", "special_gates", "reserved_names", "iterate_instructions", "store_selections", "is_kernel"),
        *("load_symbol_address", "compute_element_address", "check_complete", "list_call_graph"),
        *("dynamic_alignment", "dynamic_bytes", "register_callee", "check_owner", "append_block", "append"),
        *("barrier_uses", "callees", "checked_statement_count", "debug", "declarations", "guard", "issued_warnings"),
        *("last_branch", "launches", "location", "raw_gates", "recorder", "specials", "symbols"),
    }
)
"""The attributes of a kernel that only the modules of the builder use, which `dir` does not show."""


@dataclass(frozen=True, slots=True)
class Mnemonic:
    """A method of layer 1, bound to its kernel."""

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
        """Appends the instruction, and returns its result, a tuple of several results, or None."""
        return self.builder.instruction(self.name, operands, into=into, guard=guard, unless=unless, **modifiers)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return describe_method(self.name)


class InstructionBuilder(Methods):
    """A kernel or function under construction, which appends instructions by method name.

    `threads` is the shape of the CTAs, and `registers` the number of registers that threads start with, if they are
    known. With `debug`, `.loc` and `.file` name the user's lines. `target` is the target that the user chose, or None
    for the lowest.
    """

    def __init__(self, name: str, *, target: str | None, debug: bool) -> None:
        self.name = name
        self.debug = debug
        self.threads: tuple[int, int, int] | None = None
        self.registers: int | None = None
        self.location: Location = find_caller()
        self.recorder = StatementRecorder()
        self.declarations = Declarations()
        self.barrier_uses = BarrierUses()
        self.raw_gates: list[Gate] = []
        """The requirements of instructions in raw PTX."""
        self.symbols: dict[str, Register[Any]] = {}
        self.specials: dict[str, Register[u32]] = {}
        self.guard: Register[pred] | None = None
        """The predicate that guards every instruction of a `predicated` block."""
        self.last_branch: tuple[Label, Label | None, int] | None = None
        self.callees: dict[str, Callee] = {}
        """The functions that this one calls, in the order of their first calls."""
        self.issued_warnings: set[tuple[str, Location]] = set()
        self.checked_statement_count = 0
        """The number of statements at the last check that all registers are written before they are read."""
        try:
            self.target = None if target is None else parse_supported_target(target)
        except ValueError as error:
            raise BuildValueError(str(error)) from None
        table().load_match_store()

    if not TYPE_CHECKING:  # type checkers know the methods of `methods.pyi` only, so that they find misspelled names

        def __getattr__(self, name: str) -> Mnemonic:
            if name.startswith("_") or not (table().has_stored_choice(name) or find_readings(name)):
                raise BuildAttributeError(unknown_name_message(name))
            return Mnemonic(self, name)

    def __dir__(self) -> Iterable[str]:
        forms = (form for name in table().names for form in table().forms(name))
        heads = {"_".join([f.name, *(to_name_part(m.name) for m in f.modifiers if m.stem)]) for f in forms}
        own = {name for name in super().__dir__() if not name.startswith("_")}
        return sorted((own - INTERNAL_NAMES) | heads)

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
        """Appends the instruction that `name` denotes for these operands, and returns its result or results."""
        self.check_owner(operands)
        match, parts = select_form(name, tuple(operands), modifiers)
        given = _list_result_registers(into)

        def register(place: ResultPlaceholder) -> Register[Scalar]:
            if into is None:
                return self.register(_result_type(place, name, operands))
            if not given:
                raise BuildTypeError(f"{name} has more results than `into` has registers")
            return _check_result(given.pop(0), place, name)

        written, results = allocate_results(parts, register, self._load_constant)
        self.append(match.canonical, written, guard, unless, match)
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def emit(
        self, opcode: str, *operands: object, guard: Register[pred] | None = None, unless: Register[pred] | None = None
    ) -> None:
        """Appends an instruction that is written in full: the whole opcode, and all operands in PTX's order, with the
        results.

        Raises `BuildError` if the table has no such form or it does not accept the operands.
        """
        self.check_owner(operands)
        best, parts = select_explicit_form(opcode, operands)
        written, _ = allocate_results(parts, lambda place: self.register(place.type), self._load_constant)
        self.append(opcode, written, guard, unless, best)

    # ----------------------------------------------------------------------------------------- registers

    def register(self, scalar: type[ScalarT]) -> Register[ScalarT]:
        """Returns a new register, which no instruction has written yet."""
        return Register(self, scalar, self.recorder.new_register_name(scalar))

    def _load_constant(self, constant: RegisterConstant) -> Register[Any]:
        place = self.register(constant.type)
        self.instruction(f"mov_b{constant.type.bits}", (constant.bits,), into=place)
        return place

    def load_symbol_address(self, name: str, pointer: type[Scalar]) -> Register[Any]:
        """Returns the address of a variable in a register, which is loaded once in the prologue."""
        known = self.symbols.get(name)
        if known is None:
            known = self.symbols[name] = self.register(pointer)
            with PrologueContext(self.recorder):
                self.append(f"mov.{pointer.word}", (tree.Name(known.name), tree.Name(name)))
        return known

    def compute_element_address(
        self, base: Register[Any], index: Register[Any], size: int, pointer: type[Scalar]
    ) -> Register[Any]:
        """Returns `base + index * size`, in the width of `pointer`."""
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

    def label(self, name: str = "label") -> Label:
        """Returns a new label that is not placed yet. `name` becomes part of the label's name in the PTX."""
        return self.recorder.label(name)

    def place(self, label: Label) -> None:
        """Places a label before the next statement."""
        self.recorder.place(label)

    def branch(self, label: Label, *, when: Register[pred] | None = None, unless: Register[pred] | None = None) -> None:
        """Branches to a label: always, or if `when` holds, or if `unless` does not hold."""
        self.append("bra", (tree.Name(label.name),), when, unless)

    # ---------------------------------------------------------------------------------------- its module

    def to_function(self, body: tree.Body) -> tree.Function:
        """Returns the function of the module."""
        raise NotImplementedError

    def check_complete(self) -> None:
        """Raises `BuildError` if something is missing at the end."""

    def reserved_names(self) -> set[str]:
        """Returns the names that are in use so far."""
        return self.declarations.names()

    def special_gates(self) -> Iterator[Gate]:
        """Yields the requirements of the special registers in use that exceed the builder's lowest target."""
        for name in self.specials:
            if name.startswith(("%cluster", "%ncluster", "%is_explicit_cluster")):
                yield Gate(name, CLUSTER_REQUIREMENTS)

    def list_call_graph(self) -> list[InstructionBuilder]:
        """Returns the functions that are called directly or indirectly, each before its first caller, with this one
        last.
        """
        found: dict[int, InstructionBuilder] = {}
        begun: set[int] = set()

        def visit(routine: InstructionBuilder) -> None:
            begun.add(id(routine))
            for called in routine.callees.values():
                if isinstance(called, InstructionBuilder) and id(called) not in begun:
                    visit(called)
            found[id(routine)] = routine

        visit(self)
        return list(found.values())

    @property
    def dynamic_alignment(self) -> int:
        """The largest alignment in bytes that is requested for launch-sized shared memory, or 0 if it is not used."""
        return max(each.declarations.dynamic_request[0] for each in self.list_call_graph())

    @property
    def dynamic_bytes(self) -> int:
        """The number of bytes of launch-sized shared memory that a launch must provide at least."""
        return max(each.declarations.dynamic_request[1] for each in self.list_call_graph())

    def register_callee(self, called: Callee) -> None:
        """Records a function that is called. Raises `BuildError` if its name denotes another function already."""
        known = self.callees.setdefault(called.name, called)
        if known is not called and not (known.prototype == called.prototype and known.prototype.linkage == "extern"):
            raise BuildError(f"{self!r} calls another function of the name {called.name!r} already")

    # ----------------------------------------------------------------------------------------- internals

    def check_owner(self, operands: Sequence[object]) -> None:
        """Rejects registers of other kernels, which would be read as this kernel's registers of the same name."""
        for operand in operands:
            if isinstance(operand, tuple | list):
                self.check_owner(operand)
            elif isinstance(operand, Register | Address) and operand.builder is not self:
                raise BuildTypeError(f"{operand!r} belongs to another kernel")

    def append_block(self, statements: list[tree.Statement]) -> None:
        """Appends statements in a separate scope, which count as one statement of the user."""
        for each in statements:
            if isinstance(each, tree.Instruction):
                match = table().match(each)
                if not isinstance(match, Match):
                    raise BuildError(str(match.message))
                self.raw_gates += match.gates
        self.recorder.record(tree.Block(tree.Body(tuple(statements))))

    def append(
        self,
        opcode: str,
        operands: tuple[tree.Operand, ...],
        guard: Register[pred] | None = None,
        unless: Register[pred] | None = None,
        form: Match | None = None,
    ) -> None:
        """Appends an instruction. `form` is its form if the types chose between several forms with the same
        spelling.
        """
        if self.guard is not None and not self.recorder.in_prologue:
            if guard is not None or unless is not None:
                raise BuildError("an instruction has one guard, and this one is in `k.predicated(...)`")
            guard = self.guard
        instruction = tree.Instruction(opcode, operands, make_guard(guard, unless))
        match = table().match(instruction)
        if isinstance(match, Mismatch):
            raise BuildError(str(match.message))
        self.recorder.record(instruction, form or match)


def make_guard(when: Register[pred] | None, unless: Register[pred] | None) -> tree.Guard | None:
    """Returns the guard of an instruction that is executed if `when` holds, or if `unless` does not hold."""
    if when is not None and unless is not None:
        raise BuildTypeError("an instruction has one guard: give `guard` or `unless`")
    chosen = when if when is not None else unless
    if chosen is None:
        return None
    if not isinstance(chosen, Register) or chosen.type is not pred:
        raise BuildTypeError(f"a guard is a predicate register, not {chosen!r}")
    return tree.Guard(chosen.name, negated=when is None)


def _result_type(place: ResultPlaceholder, name: str, operands: Sequence[object]) -> type[Scalar]:
    """Returns the type of a result. Untyped results have the type of the first operand of their width: a shuffle of
    floats returns floats.
    """
    scalar = place.type
    if scalar.family != "b" or scalar.word in name.split("_"):
        return scalar
    types = [value.type for value in operands if isinstance(value, Register | Address)]
    fitting = [each for each in types if each.bits == scalar.bits and not (place.is_integer and each.family == "f")]
    return fitting[0] if fitting else scalar


def _list_result_registers(into: object) -> list[Any]:
    if into is None:
        return []
    return list(into) if isinstance(into, tuple | list) else [into]


def _check_result(register: object, place: ResultPlaceholder, name: str) -> Register[Scalar]:
    if not isinstance(register, Register):
        raise BuildTypeError(f"`into` takes registers, not {type(register).__name__}")
    wanted, found = place.type, register.type
    if found is not wanted and not (found.bits == wanted.bits and "b" in (found.family, wanted.family)):
        raise BuildTypeError(f"{name} returns .{wanted.word}, and {register!r} has another type")
    return register
