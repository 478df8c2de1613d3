"""The steps of generated kernels: instructions of the table for which hardware and machine must have the same results.

There are four kinds. `compute`: a computation in registers for which the manual specifies every bit, but perhaps not
the bits of a NaN. `warp`: a collective operation of a whole warp, whose threads must be converged. `meeting`: a barrier
of the whole CTA, which may compute a value from a predicate of each thread. `update`: an atomic operation whose order
does not matter.

NaNs: an instruction that rounds to a format other than f64 returns the canonical NaN of that format (`fixes_nans`).
Those of f64 propagate an operand's payload, and an optimizing assembler may swap the operands. Instructions that copy
an operand or change its sign (`min`, `abs`, `neg`, rounding to an integer) may be folded into the next instruction.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

from ptxkit.compile_cache import load_or_compute
from ptxkit.emulator.core.dtypes import width_of
from ptxkit.fast_dataclasses import dataclass, fields
from ptxkit.isa import table
from ptxkit.isa.effects import Access, Barrier, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, OperandRole
from ptxkit.isa.forms import Form, Match, OperandForm
from ptxkit.isa.functions import kind
from ptxkit.isa.operand_spellings import register_type
from ptxkit.isa.targets import parse_target, unmet_gates
from ptxkit.semantics.ordering import is_cta_barrier
from ptxkit.testing.generators.form_variants import FormVariant, matches_of, variants

Version = tuple[int, int]

_COMMUTATIVE = frozenset({"and", "or", "xor", "add", "min", "max"})
_WIDE_SCOPES = frozenset({None, "gpu", "sys"})
"""Scopes that include all CTAs of a grid."""

_ROLES = frozenset({"d", "a", "b", "c", "mask", "policy"})
"""The possible roles of operands of an instruction on one word or one warp."""

_EFFECTFUL_FACTOR = 6
"""The factor for the number of variants of these forms, which are few and have many orders, scopes and types."""

_ALL_LANES = "0xffffffff"


@dataclass(frozen=True, slots=True)
class StepTemplate:
    """An instruction with placeholders for its registers.

    template: the text with `{0}`, `{1}`... in place of registers, results first, and `{address}` for that of an update.
    results, operands: the types of the registers (`f32`, `pred`), which determine their widths. form: its title, for
    counting. space: the state space of an update's address. fixes_nans: whether the manual and all levels of ptxas
    return the same NaN; takes_guard: whether ptxas preserves a guard. fresh: indices of operands that only a load may
    have written.
    """

    form: str
    template: str
    results: tuple[str, ...]
    operands: tuple[str, ...]
    kind: str = "compute"
    space: str = ""
    fixes_nans: bool = True
    takes_guard: bool = True
    fresh: frozenset[int] = frozenset()

    def text(self, results: tuple[str, ...], operands: tuple[str, ...], address: str = "") -> str:
        return self.template.format(*results, *operands, address=address)


Steps = tuple[tuple[StepTemplate, ...], ...]
"""The steps by form, the simplest form first."""


@cache
def steps_of(version: Version, target: str, most: int = 12) -> dict[str, Steps]:
    """Returns all steps that a version and a target support, by kind; at most `most` of each form.

    The search takes seconds in every process of a campaign, so its result is cached on disk.
    """
    name = f"steps.{target}.{version[0]}.{version[1]}.{most}"
    plain = load_or_compute(name, lambda: [_as_plain_tuple(each) for each in _find_steps(version, target, most)])
    found = [StepTemplate(*each) for each in plain]
    return {kind: _by_form([each for each in found if each.kind == kind]) for kind in _KINDS}


_KINDS = ("compute", "warp", "meeting", "update")


def _find_steps(version: Version, target: str, most: int) -> Iterator[StepTemplate]:
    yield from (_compute_step(each) for each in variants(version, target, most, 1) if _is_bit_exact(each))
    yield from _effectful_steps(version, target, most * _EFFECTFUL_FACTOR)


def _as_plain_tuple(step: StepTemplate) -> tuple[object, ...]:
    return tuple(getattr(step, each.name) for each in fields(step))


def _by_form(found: list[StepTemplate]) -> Steps:
    forms: dict[str, list[StepTemplate]] = {}
    for each in found:
        forms.setdefault(each.form, []).append(each)
    ordered = sorted(forms.values(), key=lambda form: (len(form[0].operands), len(form[0].template)))
    return tuple(tuple(sorted(form, key=lambda step: len(step.template))) for form in ordered)


# ------------------------------------------------------------------------------------------- registers to registers


def _is_bit_exact(variant: FormVariant) -> bool:
    """Returns whether the manual specifies every bit: no approximation, and no operation that may be fused with
    others.
    """
    return variant.approximation_key is None and not _may_be_fused(variant.match)


def _may_be_fused(match: Match) -> bool:
    """Returns whether an assembler may fuse it with others: sums and products without a rounding modifier."""
    slots = {slot.name for slot in match.form.modifiers if slot.optional}
    is_open = "rnd" in slots and match.modifiers.get("rnd") is None
    types = [operand.type for operand in match.operands]
    return is_open and len(types) > 2 and all(_is_floating(each) for each in types)


def _is_floating(found: object) -> bool:
    return isinstance(found, ConstantExpr) and kind(str(found.value)) == "f"


def _compute_step(variant: FormVariant) -> StepTemplate:
    names = {cell.number: place for place, cell in enumerate((*variant.outputs, *variant.inputs))}
    template = variant.text.replace("{", "{{").replace("}", "}}")
    for number in sorted(names, reverse=True):
        template = template.replace(f"%r{number}", f"{{{names[number]}}}")
    results = tuple(cell.type for cell in variant.outputs)
    operands = tuple(cell.type for cell in variant.inputs)
    fixes, takes = _fixes_nans(variant.match, results, operands), _takes_guard(variant.match, (*results, *operands))
    fresh = _operands_loaded_fresh(variant)
    return StepTemplate(
        variant.match.form.syntax, template, results, operands, fixes_nans=fixes, takes_guard=takes, fresh=fresh
    )


_MISREADS_SECOND = frozenset({"shl", "shr", "div", "rem"})
"""Operations for which ptxas 13.0 and 13.5 misread the second operand if another instruction has computed it."""


_FUSED_WITH_CONVERSION = frozenset({"convert_integer"})
"""Operations that ptxas 13.0 and 13.5 fuse incorrectly with a preceding conversion if they saturate."""


_DROPS_SIGNS = frozenset({"fabs"})
"""Operations that ptxas 13.0 and 13.5 omit for pairs of halves whose word, as one number, has no sign."""


def _operands_loaded_fresh(variant: FormVariant) -> frozenset[int]:
    """Returns the operands that must be loaded, because ptxas miscompiles the instruction otherwise.

    They are the amount of a shift that a floating-point instruction wrote (corpus/vendor/converted_amounts); a divisor
    that `lop3` wrote with a predicate (corpus/vendor/divisors_of_lop3); the operand of a saturating operation, which is
    fused with a conversion (corpus/vendor/joined_conversions); and a pair of halves whose signs are removed, one of
    which remains after a saturating sum (corpus/vendor/saturated_halves).
    """
    for each in table().semantics_of(variant.match):
        words = dict(each.named_arguments)
        joined = each.function in _FUSED_WITH_CONVERSION and words["saturate"]
        if joined or (each.function in _DROPS_SIGNS and str(words["type"]).endswith("x2")):
            return frozenset(range(len(variant.inputs)))
    values = [each.value for each in variant.match.effects if isinstance(each, Value)]
    if not any(isinstance(each, CallExpr) and each.function in _MISREADS_SECOND for each in values):
        return frozenset()
    return frozenset(place for place, cell in enumerate(variant.inputs) if cell.role == "b")


_TO_FORMAT = frozenset({"rn", "rz", "rm", "rp", "rna"})
"""Roundings to a format; the others (`rni`...) round to an integer."""


def _fixes_nans(match: Match, results: tuple[str, ...], operands: tuple[str, ...]) -> bool:
    """Returns whether it always returns the same NaN: it returns none, or it rounds to a format other than f64."""
    if not any(kind(each) == "f" for each in results):
        return True
    return bool(_TO_FORMAT & set(match.modifiers.values())) and "f64" not in (*results, *operands)


_LOSES_GUARD = frozenset({"has_property"})
"""Operations that ptxas 13.0 and 13.5 expand to several machine instructions, some of them without the guard."""

_LOSES_GUARD_WHERE_CONVERTED = frozenset({"set"})
"""Operations of these that lose the guard if the machine compares in another type than the result's: 16 bits, or
floating-point results.
"""


def _takes_guard(match: Match, words: tuple[str, ...]) -> bool:
    """Returns False if ptxas is known to change results of threads whose guard is false: corpus/vendor/lost_guards."""
    meant = {meaning.function for meaning in table().semantics_of(match)}
    halves = any(width_of(each) == 16 or each.endswith("16x2") for each in words if each != "pred")
    converted = halves or kind(words[0]) == "f"
    return not (meant & _LOSES_GUARD or (converted and meant & _LOSES_GUARD_WHERE_CONVERTED))


# ------------------------------------------------------------------------------------------- warps and memory


def _effectful_steps(version: Version, target: str, most: int) -> Iterator[StepTemplate]:
    aimed, known, random = parse_target(target), table(), Random(1)
    for form in _effectful_forms():
        made = 0
        for match in matches_of(form, random):
            if made == most:
                break
            if unmet_gates(tuple(match.gates), version, aimed):
                continue
            step = _warp_step(match) or _barrier_step(match) or _update_step(match)
            if step is not None and known.semantics_of(match):
                made += 1
                yield step


def _effectful_forms() -> Iterator[Form]:
    """Yields forms that act on a warp or on memory and write registers."""
    known = table()
    for name in known.names:
        for form in known.forms(name):
            names = {effect.name for effect in form.effects}
            roles = {operand.role for operand in form.operands}
            meets = any(each.name == "barrier" and _CTA_LEVEL in each.arguments for each in form.effects)
            acts = "update" in names or meets or ("barrier" in names and "mask" in roles)
            if acts and not form.tolerated and roles <= _ROLES:
                yield form


def _warp_step(match: Match) -> StepTemplate | None:
    """Returns a value that depends on the other lanes of a warp, all of which execute the instruction."""
    found = [each for each in match.effects if isinstance(each, Barrier) and each.level == "warp"]
    if not found or not match.results or "mask" not in match.roles:
        return None
    words: list[str] = []
    cells: dict[bool, list[str]] = {True: [], False: []}
    for operand in match.operands:
        for each in operand.elements if operand.kind == "pair" else (operand,):
            if each.kind != "register" or not isinstance(each.type, ConstantExpr):
                return None
            if each.role != "mask":
                cells[each.role in match.results].append(register_type(each))
    if not cells[True] or not cells[False]:
        return None
    places = iter(range(len(cells[True]) + len(cells[False])))
    for operand in match.operands:
        parts = operand.elements if operand.kind == "pair" else (operand,)
        words.append("|".join(_ALL_LANES if each.role == "mask" else f"{{{next(places)}}}" for each in parts))
    text = f"{match.canonical} {', '.join(words)};"
    return StepTemplate(match.form.syntax, text, tuple(cells[True]), tuple(cells[False]), "warp")


_CTA_LEVEL = ("level", ConstantExpr("cta"))
_CTA_BARRIER = "0"
"""The number of the barrier of all threads of a CTA."""


def _barrier_step(match: Match) -> StepTemplate | None:
    """Returns a barrier of all threads, which may compute a value from their predicates."""
    found = [each for each in match.effects if isinstance(each, Barrier)]
    if len(found) != 1 or not is_cta_barrier(found[0]):
        return None
    results: list[str] = []
    operands: list[str] = []
    words = []
    for operand in match.operands:
        if found[0].number == OperandRole(operand.role):
            words.append(_CTA_BARRIER)
            continue
        words.append(f"{{{len(results) + len(operands)}}}")
        (results if operand.role in match.results else operands).append(register_type(operand))
    text = f"{match.canonical} {', '.join(words)};"
    return StepTemplate(match.form.syntax, text, tuple(results), tuple(operands), "meeting", takes_guard=False)


def _update_step(match: Match) -> StepTemplate | None:
    """Returns an atomic integer operation whose result in memory does not depend on the order."""
    accesses = [each for each in match.effects if isinstance(each, Access)]
    meanings = table().semantics_of(match)
    if len(accesses) != 1 or accesses[0].kind != "update" or len(meanings) != 1:
        return None
    (access,), words = accesses, meanings[0].named_arguments
    wanted = str(words.get("type"))
    if words.get("operation") not in _COMMUTATIVE or kind(wanted) == "f" or width_of(wanted) not in (32, 64):
        return None
    if access.space not in ("global", "shared", "shared::cta") or words.get("scope") not in _WIDE_SCOPES:
        return None
    texts, operands = [], []
    for operand in match.operands:
        text = _update_operand(operand, access.address, match)
        if text is None:
            return None
        if text == "{0}":
            operands.append(wanted)
        texts.append(text)
    if len(operands) != 1:
        return None
    text = f"{match.canonical} {', '.join(texts)};"
    return StepTemplate(match.form.syntax, text, (), tuple(operands), "update", access.space.partition(":")[0])


def _update_operand(operand: OperandForm, address: str, match: Match) -> str | None:
    if operand.role == address:
        return "[{address}]"
    if operand.role in match.results or operand.kind == "sink":
        return "_"
    return "{0}" if operand.kind == "register" and operand.role == "b" else None
