"""Why a copy into shared memory is done the way it is, where nothing at run time decides: target, size or completion.

The instruction table says what each way needs: which target, how many bytes at a time, what tells of its completion.
"""

from __future__ import annotations

from functools import cache

from ptxkit.isa import table
from ptxkit.isa.expressions import Call, Const, Expression, Role
from ptxkit.isa.forms import EffectForm, Form, Gate
from ptxkit.isa.functions import space
from ptxkit.isa.targets import parse_target, unmet
from ptxkit.isa.words import gate_words
from ptxkit.records import dataclass
from ptxkit.syntax.tree import Module
from ptxkit.transfers import Choice, Transfer, Unit


@dataclass(frozen=True, slots=True)
class Way:
    """A form that copies from global to shared memory by itself.

    opcode: as the manual's section is called. The bytes it takes are a multiple of `step`, or one of `sizes`.
    completion: what tells of it.
    """

    opcode: str
    gates: tuple[Gate, ...]
    step: int
    sizes: tuple[int, ...]
    completion: str


def reason(module: Module, transfer: Transfer) -> Choice | None:
    """What decided before the kernel ran; None where the way is the best there is, or nothing can be said."""
    if transfer.operation != "copy" or transfer.destination != "shared":
        return None
    if transfer.unit == Unit.PLAIN:
        return _plain(module, transfer)
    if transfer.unit == Unit.LDGSTS:
        return _loaded_by_threads(module, transfer)
    if transfer.unit == Unit.BULK and transfer.source == "global":
        way = ways()[Unit.BULK]
        return Choice("compile time", f"nothing tests for the alignment to {way.step} bytes: it is taken for granted")
    return None


def _plain(module: Module, transfer: Transfer) -> Choice | None:
    way = ways()[Unit.LDGSTS]
    missing = _missing(module, way)
    if missing:
        return Choice("compile time", missing)
    if transfer.source == "generic":
        return Choice("compile time", f"a generic address: {way.opcode} takes global ones only")
    if transfer.size.number is not None and transfer.size.number not in way.sizes:
        sizes = ", ".join(map(str, way.sizes))
        return Choice("compile time", f"{_bytes(transfer.size.number)} at a time: {way.opcode} copies {sizes}")
    return Choice("compile time", f"the program loads and stores itself; {way.opcode} could copy this")


def _loaded_by_threads(module: Module, transfer: Transfer) -> Choice | None:
    way = ways()[Unit.BULK]
    missing = _missing(module, way)
    if missing:
        return Choice("compile time", missing)
    number = transfer.size.number
    if number is not None and number % way.step:
        words = f"{_bytes(number)} at a time: {way.opcode} needs addresses and sizes that are multiples of {way.step}"
        return Choice("compile time", words)
    if transfer.completion.mechanism == "group":
        words = f"a group of the thread tells of completion; {way.opcode} tells an {way.completion} only"
        return Choice("compile time", words)
    return Choice("compile time", f"each thread copies a part of its own; {way.opcode} could copy all at once")


def _bytes(number: int) -> str:
    return f"{number} byte{'' if number == 1 else 's'}"


def _missing(module: Module, way: Way) -> str | None:
    """What the module's version and target lack for a way."""
    target = parse_target(module.targets[0]) if module.targets else None
    lacking = unmet(way.gates, module.version, target)
    return f"{target} lacks {way.opcode}: it needs {gate_words(lacking[0])}" if lacking and target is not None else None


@cache
def ways() -> dict[Unit, Way]:
    """The first form of the table for each unit that copies a range of bytes from global to shared memory."""
    found: dict[Unit, Way] = {}
    known = table()
    for name in known.names:
        for form in known.forms(name):
            unit = _unit(form)
            if unit is not None and not form.tolerated:
                found.setdefault(unit, _way(form))
    return found


def _unit(form: Form) -> Unit | None:
    reads = [effect for effect in form.effects if effect.name == "read"]
    writes = [effect for effect in form.effects if effect.name == "write"]
    if len(reads) != 1 or len(writes) != 1 or _space(form, reads[0]) != {"global"}:
        return None
    if not all(name.startswith("shared") for name in _space(form, writes[0])) or "size" not in dict(
        writes[0].arguments
    ):
        return None
    completion = _word(writes[0], "completion")
    if completion is None:
        return None
    return Unit.BULK if _word(writes[0], "proxy") == "async" else Unit.LDGSTS


def _space(form: Form, effect: EffectForm) -> set[str]:
    """The spaces that an effect may be about."""
    given = dict(effect.arguments).get("space")
    if isinstance(given, Const):
        return {space(given.value)}
    name = given.arguments[0] if isinstance(given, Call) and given.function == "modifier" else None
    values = [m.values for m in form.modifiers if isinstance(name, Const) and m.name == name.value]
    return {space(value) for value in values[0]} if values else {"?"}


def _word(effect: EffectForm, field: str) -> str | None:
    given: Expression | None = dict(effect.arguments).get(field)
    return given.value.lstrip(".") if isinstance(given, Const) and isinstance(given.value, str) else None


def _way(form: Form) -> Way:
    write = next(effect for effect in form.effects if effect.name == "write")
    size = dict(write.arguments)["size"]
    operand = next((o for o in form.operands if isinstance(size, Role) and o.role == size.name), None)
    immediates = operand.immediates if operand is not None else None
    gates = tuple(gate for gate in form.gates if gate.condition is None and not gate.subject)
    opcode = form.section.rpartition(": ")[2]
    step = immediates.step if immediates is not None else 1
    return Way(
        opcode,
        gates,
        step,
        (immediates.members or ()) if immediates is not None else (),
        _word(write, "completion") or "",
    )
