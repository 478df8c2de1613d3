"""Determines why a copy into shared memory uses its mechanism, where this is decided at compile time.

The reason is the target, the size or the completion. The instruction table states the requirements of each mechanism:
the target, the number of bytes of one copy, and how the completion is signaled.
"""

from __future__ import annotations

from functools import cache

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import EffectForm, Form, Gate
from ptxkit.isa.functions import space
from ptxkit.isa.targets import parse_target, unmet_gates
from ptxkit.isa.wording import describe_gate
from ptxkit.model.transfer import Transfer, Unit, UnitSelection
from ptxkit.syntax.tree import Module


@dataclass(frozen=True, slots=True)
class CopyMechanism:
    """A form that copies from global to shared memory by itself.

    opcode: the title of the manual's section. gates: the required versions and targets. step, sizes: the number of
    bytes is a multiple of `step`, or one of `sizes`. completion: the mechanism that signals the completion.
    """

    opcode: str
    gates: tuple[Gate, ...]
    step: int
    sizes: tuple[int, ...]
    completion: str


def find_rationale(module: Module, transfer: Transfer) -> UnitSelection | None:
    """Returns the rationale that is known before the kernel runs.

    The result is None where the copy uses the best mechanism, or the rationale is unknown.
    """
    if transfer.operation != "copy" or transfer.destination != "shared":
        return None
    if transfer.unit == Unit.PLAIN:
        return _plain_rationale(module, transfer)
    if transfer.unit == Unit.LDGSTS:
        return _cp_async_rationale(module, transfer)
    if transfer.unit == Unit.BULK and transfer.source == "global":
        mechanism = copy_mechanisms()[Unit.BULK]
        return UnitSelection(
            "compile time", f"nothing tests for the alignment to {mechanism.step} bytes: it is taken for granted"
        )
    return None


def _plain_rationale(module: Module, transfer: Transfer) -> UnitSelection | None:
    mechanism = copy_mechanisms()[Unit.LDGSTS]
    missing = _missing_features(module, mechanism)
    if missing:
        return UnitSelection("compile time", missing)
    if transfer.source == "generic":
        return UnitSelection("compile time", f"a generic address: {mechanism.opcode} takes global ones only")
    if transfer.size.number is not None and transfer.size.number not in mechanism.sizes:
        sizes = ", ".join(map(str, mechanism.sizes))
        return UnitSelection(
            "compile time", f"{_format_bytes(transfer.size.number)} at a time: {mechanism.opcode} copies {sizes}"
        )
    return UnitSelection("compile time", f"the program loads and stores itself; {mechanism.opcode} could copy this")


def _cp_async_rationale(module: Module, transfer: Transfer) -> UnitSelection | None:
    mechanism = copy_mechanisms()[Unit.BULK]
    missing = _missing_features(module, mechanism)
    if missing:
        return UnitSelection("compile time", missing)
    number = transfer.size.number
    if number is not None and number % mechanism.step:
        words = (
            f"{_format_bytes(number)} at a time: {mechanism.opcode} needs addresses and sizes that are multiples of "
            f"{mechanism.step}"
        )
        return UnitSelection("compile time", words)
    if transfer.completion.mechanism == "group":
        words = f"it completes by a group of the thread; {mechanism.opcode} completes by an {mechanism.completion} only"
        return UnitSelection("compile time", words)
    return UnitSelection("compile time", f"each thread copies its own part; {mechanism.opcode} could copy all at once")


def _format_bytes(number: int) -> str:
    return f"{number} byte{'' if number == 1 else 's'}"


def _missing_features(module: Module, mechanism: CopyMechanism) -> str | None:
    """Returns the features of a copy mechanism that the module's version and target lack."""
    target = parse_target(module.targets[0]) if module.targets else None
    lacking = unmet_gates(mechanism.gates, module.version, target)
    return (
        f"{target} lacks {mechanism.opcode}: it needs {describe_gate(lacking[0])}"
        if lacking and target is not None
        else None
    )


@cache
def copy_mechanisms() -> dict[Unit, CopyMechanism]:
    """Returns the first form of the table for each unit that copies a range of bytes from global to shared memory."""
    found: dict[Unit, CopyMechanism] = {}
    known = table()
    for name in known.names:
        for form in known.forms(name):
            unit = _unit_of(form)
            if unit is not None and not form.tolerated:
                found.setdefault(unit, _mechanism_of(form))
    return found


def _unit_of(form: Form) -> Unit | None:
    reads = [effect for effect in form.effects if effect.name == "read"]
    writes = [effect for effect in form.effects if effect.name == "write"]
    if len(reads) != 1 or len(writes) != 1 or _possible_spaces(form, reads[0]) != {"global"}:
        return None
    if not all(name.startswith("shared") for name in _possible_spaces(form, writes[0])) or "size" not in dict(
        writes[0].arguments
    ):
        return None
    completion = _constant_argument(writes[0], "completion")
    if completion is None:
        return None
    return Unit.BULK if _constant_argument(writes[0], "proxy") == "async" else Unit.LDGSTS


def _possible_spaces(form: Form, effect: EffectForm) -> set[str]:
    """Returns the spaces that an effect may concern."""
    given = dict(effect.arguments).get("space")
    if isinstance(given, ConstantExpr):
        return {space(given.value)}
    name = given.arguments[0] if isinstance(given, CallExpr) and given.function == "modifier" else None
    values = [m.values for m in form.modifiers if isinstance(name, ConstantExpr) and m.name == name.value]
    return {space(value) for value in values[0]} if values else {"?"}


def _constant_argument(effect: EffectForm, field: str) -> str | None:
    given: Expression | None = dict(effect.arguments).get(field)
    return given.value.lstrip(".") if isinstance(given, ConstantExpr) and isinstance(given.value, str) else None


def _mechanism_of(form: Form) -> CopyMechanism:
    write = next(effect for effect in form.effects if effect.name == "write")
    size = dict(write.arguments)["size"]
    operand = next((o for o in form.operands if isinstance(size, OperandRole) and o.role == size.name), None)
    immediates = operand.immediates if operand is not None else None
    gates = tuple(gate for gate in form.gates if gate.condition is None and not gate.subject)
    opcode = form.section.rpartition(": ")[2]
    step = immediates.step if immediates is not None else 1
    return CopyMechanism(
        opcode,
        gates,
        step,
        (immediates.members or ()) if immediates is not None else (),
        _constant_argument(write, "completion") or "",
    )
