"""Proves what PTX201 to PTX211 demand of addresses and numbers in registers, from what the registers may hold.

Each function returns evidence, the conditions on the launch that remain, or None. A demand is proven only if every
alternative of the abstract value satisfies it.

Source: PTX ISA, "Generic Addressing", "Kernel Function Parameters" (a pointer without a state space is generic),
"Addresses as Operands", "Alignment", "cvta", "mapa".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import compress, product
from math import prod

from ptxkit.analysis.abstract_interpretation.abstract_values import GENERIC, AbstractValue, Alternative
from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.intervals.accessed_bytes import is_certain, largest_size
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.symexec.check_address_space import OWN_CTA_SPACES, address_operands
from ptxkit.analysis.symexec.check_bounds import accessed_ranges
from ptxkit.analysis.symexec.check_generic_window import allowed_windows
from ptxkit.analysis.symexec.check_operands import cta_masks, numbers_with_limits, required_alignment
from ptxkit.diagnostics.catalogue import obligation_words
from ptxkit.diagnostics.obligation import LaunchNeed
from ptxkit.isa.constant_folding import fold_constants
from ptxkit.isa.effects import Home
from ptxkit.isa.expressions import ConstantExpr, Expression, roles_in
from ptxkit.isa.forms import Immediates, OperandForm
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.rules.limits import MAX_CHECKED_NUMBERS
from ptxkit.rules.model import Evidence, LaunchNeeds
from ptxkit.rules.obligation_sites import Site
from ptxkit.semantics.value_ops import bit_mask
from ptxkit.syntax.constants import evaluate
from ptxkit.syntax.tree import Address, Name

#: What an alternative satisfies: nothing more is needed, a condition on the launch, or it is not proven (None).
_Verdict = LaunchNeeds | None
_HOLDS: LaunchNeeds = ()


def prove_no_generic_address(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX201 that an operand of a state space is no generic address."""

    def check(each: Alternative, space: str) -> _Verdict:
        return _in_space(each, space) if each.window != GENERIC or _is_global(each, space) else None

    return _prove_addresses(proofs, site, check)


def prove_space(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX208 that an operand is an address in the state space that its instruction names."""

    def check(each: Alternative, space: str) -> _Verdict:
        if space != "generic":
            is_there = each.window in ("", space.partition("::")[0]) or _is_global(each, space)
            is_own = space not in OWN_CTA_SPACES or not (each.is_remote or each.known_offsets[0] >= 1 << CTA_BITS)
            return _in_space(each, space) if is_there and is_own else None
        form = _address_form(site)
        if each.base is None or not is_certain(each):
            return None
        if form is not None and form.object == "mbarrier":
            return _HOLDS if each.window == GENERIC and each.base.space == "shared" else None
        return _HOLDS if each.window in ("", GENERIC, "global") else None

    return _prove_addresses(proofs, site, check)


def prove_generic(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX202 that an operand is a generic address."""

    def check(each: Alternative, _: str) -> _Verdict:
        is_known = each.base is not None and is_certain(each)
        return _HOLDS if is_known and each.window in ("", GENERIC, "global") else None

    return _prove_addresses(proofs, site, check)


def prove_window(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX209 that a generic address is in a window that its instruction, or its conversion, accepts."""
    match = site.step.match
    windows = allowed_windows(match, site.subject) if match is not None else frozenset()

    def check(each: Alternative, space: str) -> _Verdict:
        base = each.base
        if base is None or base.kind == "converted" or not is_certain(each):
            return None
        if space != "generic":
            is_converted = base.kind == "argument" and each.window
            return _need_space(each, each.window) if is_converted else _HOLDS
        if not windows or base.space in windows:
            return _need_space(each, each.window) if base.kind == "argument" and each.window else _HOLDS
        return _need_space(each, min(windows)) if base.kind == "argument" and len(windows) == 1 else None

    return _prove_addresses(proofs, site, check)


def prove_alignment(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX205 that an address is a multiple of the alignment that its instruction demands."""
    step, form = site.step, _address_form(site)
    if form is None or step.match is None:
        return None
    needed = required_alignment(step, form)
    if needed is None or needed & needed - 1:
        return None
    if needed == 1:
        return Evidence("no demand", obligation_words.NO_ALIGNMENT())
    value = _value(proofs, site)
    remaining = _all_hold(value, lambda each: _check_alignment(each, needed))
    if remaining is None:
        return _needs_of_terms(proofs, site, needed)
    if remaining:
        return remaining
    stated = (step.constant_of(form.alignment) if form.alignment is not None else None) or needed
    if any(remainder % min(power, max(stated, needed)) for power, remainder in (each.congruence for each in value)):
        return None  # a box of a tensor, in a variable that is aligned for it
    words = obligation_words.ALIGNED(required=needed, bases=_describe(value))
    return Evidence("aligned", words, proofs.values.sources_of(step, step.operand(site.subject)))


def _check_alignment(each: Alternative, needed: int) -> _Verdict:
    power, remainder = each.congruence
    if power >= needed:
        return None if remainder % needed else _HOLDS
    base, offset = each.base, each.offset
    if base is None or base.kind != "argument" or each.is_opaque or offset.power < needed or offset.remainder % needed:
        return None
    return (LaunchNeed(base.name, "multiple", amount=needed, position=base.position),)


def _needs_of_terms(proofs: FunctionProofs, site: Site, needed: int) -> _Verdict:
    """Returns of which numbers arguments must be multiples, so that each term of an address is a multiple."""
    operand = site.step.operand(site.subject)
    multiples = proofs.program.analysis(LinearParameters).sufficient_multiples(site.step, operand, needed)
    return (
        tuple(
            LaunchNeed(place.symbol, "multiple" if amount == needed else "factor", amount=amount, position=place.offset)
            for place, amount in (multiples or {}).items()
            if amount > 1
        )
        or None
    )


def prove_bounds(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX207 that an access is inside the variable from which its address is derived."""
    step, match = site.step, site.step.match
    sizes = [size for role, _, size in accessed_ranges(match) if role == site.subject] if match is not None else []
    size = largest_size(proofs.values, step, sizes[0]) if sizes else None
    if size is None:
        return None
    value = _value(proofs, site)
    remaining = _all_hold(value, lambda each: _check_bounds(each, size))
    if remaining is None:
        return _prove_bounds_of_threads(proofs, site, value, size)
    if remaining:
        return remaining
    words = obligation_words.INSIDE(ranges="; ".join(dict.fromkeys(_range_words(each, size) for each in value)))
    return Evidence("range", words, proofs.values.sources_of(step, step.operand(site.subject)))


def _prove_bounds_of_threads(
    proofs: FunctionProofs, site: Site, value: AbstractValue, size: int
) -> Evidence | LaunchNeeds | None:
    """Proves that an access to shared memory is inside its variable, from the address in each thread in each state."""
    variables = {None if each.base is None or not is_certain(each) else each.base.variable for each in value}
    accesses = [each for each in proofs.intervals.accesses_of(site.step) if each.effect.address == site.subject]
    variable = next(iter(variables), None)
    if len(variables) != 1 or variable is None or variable.space != "shared" or not accesses:
        return None
    offsets: set[int] = set()
    for each in accesses:
        if each.lows is None or each.atom is not None:
            return None
        lows = (each.lows,) if isinstance(each.lows, int) else each.lows
        is_used = (each.threads >> tid & 1 or isinstance(each.lows, int) for tid in range(len(lows)))
        offsets.update((low & bit_mask(CTA_BITS)) - variable.address for low in compress(lows, is_used))
    low, high = min(offsets), max(offsets)
    if variable.is_open:
        return (LaunchNeed(variable.name, "bytes", amount=high + size),) if low >= 0 else None
    extent = variable.fixed_size
    if low < 0 or extent is None or high + size > extent:
        return None
    words = obligation_words.INSIDE_VARIABLE(size=size, low=low, high=high, name=variable.name, extent=variable.size)
    return Evidence("range", obligation_words.INSIDE(ranges=words))


def _check_bounds(each: Alternative, size: int) -> _Verdict:
    base = each.base
    if base is None or base.kind == "converted":
        return None
    if base.kind == "argument":
        return None if each.is_opaque else _HOLDS
    variable = base.variable
    low, high = each.known_offsets
    if variable is None or low < 0:
        return None
    if variable.is_open and variable.space == "shared":
        bounded = high < 1 << each.width - 2
        return (LaunchNeed(variable.name, "bytes", amount=high + size),) if bounded else None
    extent = variable.fixed_size
    return _HOLDS if extent is not None and high + size <= extent else None


def _range_words(each: Alternative, size: int) -> str:
    assert each.base is not None
    variable = each.base.variable
    if variable is None:
        return obligation_words.NO_VARIABLE(name=each.base.name)
    low, high = each.known_offsets
    return obligation_words.INSIDE_VARIABLE(size=size, low=low, high=high, name=variable.name, extent=variable.size)


def prove_number(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX206 that a number in a register satisfies the limits of its operand."""
    step, match, role = site.step, site.step.match, site.subject
    operand = step.operand(role)
    if match is None or operand is None:
        return None
    if isinstance(operand, Address):
        return _prove_own_cta(proofs, site)
    if role in cta_masks(match):
        return None
    limits = [each for name, each in numbers_with_limits(match) if name == role]
    conditions = [need.condition for need in match.needs if role in roles_in(need.condition)]
    if not limits and not conditions:
        return Evidence("no demand", obligation_words.NO_LIMITS())
    value = proofs.values.value_at(step, operand)
    if len(value) != 1 or value[0].base is not None:
        return None
    held = value[0].offset
    low, high, stride = held.unsigned
    if high >= 1 << 31 or not all(_satisfies(low, high, stride, each) for each in limits):
        return None
    if not all(_condition_holds(proofs, step, each) for each in conditions):
        return None
    return Evidence("range", obligation_words.NUMBER_INSIDE(low=low, high=high, step=stride, role=role))


def _satisfies(low: int, high: int, stride: int, limits: Immediates) -> bool:
    if low % limits.step or stride % limits.step:
        return False
    return low >= (limits.low or 0) and (limits.high is None or high <= limits.high)


def _condition_holds(proofs: FunctionProofs, step: Step, condition: Expression) -> bool:
    """Returns whether a rule between operands holds for all values of its registers."""
    roles = list(dict.fromkeys(roles_in(condition)))
    members: list[list[int]] = []
    for role in roles:
        operand = step.operand(role)
        constant = evaluate(operand) if operand is not None else None
        if constant is not None:
            members.append([constant])
            continue
        value = proofs.values.value_at(step, operand) if isinstance(operand, Name) else ()
        if len(value) != 1 or value[0].base is not None or value[0].offset.count > MAX_CHECKED_NUMBERS:
            return False
        members.append(value[0].offset.members())
    if not prod(map(len, members)) or prod(map(len, members)) > MAX_CHECKED_NUMBERS:
        return False
    results = (fold_constants(condition, dict(zip(roles, each, strict=True))) for each in product(*members))
    return all(isinstance(each, ConstantExpr) and each.value is True for each in results)


def _prove_own_cta(proofs: FunctionProofs, site: Site) -> Evidence | None:
    """Proves that an address names no CTA outside the cluster: it is not one of another CTA."""
    value = _value(proofs, site)
    if not value or not all(map(is_own, value)):
        return None
    sources = proofs.values.sources_of(site.step, site.step.operand(site.subject))
    return Evidence("base", obligation_words.NO_OTHER_CTA(bases=_describe(value)), sources)


def prove_home(proofs: FunctionProofs, site: Site) -> Evidence | LaunchNeeds | None:
    """Proves for PTX210 that an address and its companion are in the shared memory of the executing CTA."""
    homes = [each for each in site.step.effects if isinstance(each, Home) and each.address == site.subject]
    if not homes or any(each.where != "same" or each.companion is None for each in homes):
        return None
    companions = (Site(site.step, each.companion or "") for each in homes)
    evidence = [_prove_own_cta(proofs, each) for each in (site, *companions)]
    steps = {step for each in evidence if each is not None for step in each.steps}
    if None in evidence or evidence[0] is None:
        return None
    return Evidence("base", evidence[0].words, tuple(sorted(steps, key=lambda step: step.index)))


def is_own(each: Alternative) -> bool:
    """Returns whether an address is certainly in no other CTA."""
    base = each.base
    is_known = base is not None and base.kind != "converted" and not each.is_remote
    low, high = each.known_offsets
    is_near = base is None or base.kind == "argument" or 0 <= low <= high < 1 << CTA_BITS
    return is_known and is_near and is_certain(each)


def is_derived_from_shared(each: Alternative) -> bool:
    """Returns whether an address is that of a shared variable plus an integer that may be inside the variable."""
    variable = each.base.variable if each.base is not None else None
    is_shared = variable is not None and variable.space == "shared"
    return is_shared and not each.is_remote and each.known_offsets[0] < 1 << CTA_BITS


def _prove_addresses(
    proofs: FunctionProofs, site: Site, check: Callable[[Alternative, str], _Verdict]
) -> Evidence | LaunchNeeds | None:
    """Returns the evidence that each alternative of an address operand passes a check."""
    form = _address_form(site)
    if form is None or not isinstance(form.space, ConstantExpr):
        return None
    space = str(form.space.value)
    value = _value(proofs, site)
    remaining = _all_hold(value, lambda each: check(each, space))
    if remaining is None or remaining:
        return remaining
    sources = proofs.values.sources_of(site.step, site.step.operand(site.subject))
    return Evidence("base", obligation_words.OWN_ADDRESSES(bases=_describe(value)), sources)


def _all_hold(value: AbstractValue, check: Callable[[Alternative], _Verdict]) -> _Verdict:
    """Returns the conditions under which all alternatives pass a check; None if one does not, or the value
    has no alternatives."""
    needs: dict[LaunchNeed, None] = {}
    for each in value:
        found = check(each)
        if found is None:
            return None
        needs.update(dict.fromkeys(found))
    return tuple(needs) if value else None


def _in_space(each: Alternative, space: str) -> _Verdict:
    """Returns whether an alternative is an address of which the state space is known."""
    base = each.base
    if base is None or not is_certain(each):
        return None
    return _need_space(each, space.partition("::")[0]) if not each.window else _HOLDS


def _need_space(each: Alternative, space: str) -> LaunchNeeds:
    base = each.base
    if base is None or base.space == space:
        return _HOLDS
    return (LaunchNeed(base.name, "space", space=space, position=base.position),)


def _is_global(each: Alternative, space: str) -> bool:
    """Returns whether an address is in the window of `.global`, where generic and global addresses are equal."""
    return space == "global" and each.base is not None and each.base.space == "global"


def _address_form(site: Site) -> OperandForm | None:
    """Returns the form of an address operand; None if the subject is no address in a state space."""
    match = site.step.match
    return next((form for form, _ in address_operands(match) if form.role == site.subject), None) if match else None


def _value(proofs: FunctionProofs, site: Site) -> AbstractValue:
    return proofs.values.value_at(site.step, site.step.operand(site.subject))


def _describe(value: Iterable[Alternative]) -> str:
    """Returns the bases of an address in words."""
    return ", or ".join(dict.fromkeys(map(_base_words, value)))


def _base_words(each: Alternative) -> str:
    base, is_generic = each.base, each.window == GENERIC
    if base is None:
        return obligation_words.BASE_NONE()
    match base.kind:
        case "variable":
            words = obligation_words.BASE_GENERIC if is_generic else obligation_words.BASE_VARIABLE
            return words(name=base.name, space=base.space)
        case "argument":
            if not each.window:
                return obligation_words.BASE_ARGUMENT(name=base.name)
            return obligation_words.BASE_ARGUMENT_IN_SPACE(name=base.name, space=each.window)
    words = obligation_words.BASE_CONVERTED_GENERIC if is_generic else obligation_words.BASE_CONVERTED
    return words(space=base.space)
