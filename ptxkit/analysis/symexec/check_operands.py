"""Finds addresses and numbers in registers that their instruction cannot accept.

Only the declared alignment of a variable is guaranteed, not its address.

Source: PTX ISA, "Addresses as Operands", "Alignment", "Size and alignment of mbarrier object", "Bounding Box",
"cp.async", "cp.async.bulk", "Contents of the mbarrier object".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ptxkit.analysis.ir.match_cache import cached_by_match
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_TX_BYTES
from ptxkit.analysis.symexec.check_address_space import address_operands
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler, ValueReader
from ptxkit.analysis.symexec.trace import OperandViolation
from ptxkit.analysis.values.symbolic_values import LaneValues, SymbolicValue, Value, value_of_lane
from ptxkit.isa import effects as fx
from ptxkit.isa.constant_folding import fold_constants
from ptxkit.isa.expressions import ConstantExpr, Expression, OperandRole, roles_in
from ptxkit.isa.forms import Immediates, Match, OperandForm
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.syntax.constants import WARP_SIZE, evaluate
from ptxkit.syntax.tree import Address, Name

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState

Check = Callable[["GroupState"], None]

#: The alignment in bytes of an mbarrier object, and the one that a declaration must guarantee for boxes of a tensor:
#: many variables are declared for vectors, and aligned by the launch.
_MBARRIER, _TENSOR_BOX_BYTES = 8, 16
#: The state spaces whose addresses are checked.
_SPACES = ("shared", "local", "global", "generic")
#: The lanes that are checked where an address is an unknown plus a number, because checking all lanes takes long. If a
#: linear map of the lane's bits is misaligned for any lane, it is misaligned for one of these.
_ALIGNMENTS = (2, 4, 8, 16)


def operand_checks(operands: OperandCompiler) -> list[Check]:
    """Returns the checks of a step: one for each address that must be aligned, and for each number that has limits."""
    match = operands.step.match
    if match is None:
        return []
    checks = (_address_checks, _number_checks, _mask_checks, _rule_checks)
    return [check for each in checks for check in each(operands, match)]


def _address_checks(operands: OperandCompiler, match: Match) -> Iterator[Check]:
    collective = match.is_aligned
    for form, space in _checked_addresses(match):
        operand = operands.step.operand(form.role)
        needed = required_alignment(operands.step, form) or 1 if isinstance(operand, Address) else 1
        if needed > 1:
            used = count_addressing_lanes(operands, match, form.role) if collective else WARP_SIZE
            stated = (operands.step.constant_of(form.alignment) if form.alignment is not None else None) or needed
            yield _alignment_check(operands, form.role, space, (needed, max(needed, stated)), used)


@cached_by_match
def _checked_addresses(match: Match) -> tuple[tuple[OperandForm, str], ...]:
    """Returns the operands that are addresses in a checked state space, each with that space."""
    return tuple((form, space) for form, space in address_operands(match) if space.partition("::")[0] in _SPACES)


def required_alignment(step: Step, form: OperandForm) -> int | None:
    """Returns the required alignment in bytes of an address operand, 1 if none exists; None if it is unknown."""
    if form.object == "mbarrier":
        return _MBARRIER
    found = 1 if form.alignment is None else step.constant_of(form.alignment)
    boxes = any(isinstance(effect, fx.Access) and effect.via == "tensormap" for effect in step.effects)
    return min(found, _TENSOR_BOX_BYTES) if boxes and found is not None else found


def count_addressing_lanes(operands: OperandCompiler, match: Match, role: str) -> int:
    """Returns the number of lanes of a warp whose addresses a collective instruction uses.

    The result is 1 where nothing is specified for the other lanes.
    """
    counts = [e.lanes for e in match.effects if isinstance(e, fx.Access) and e.address == role]
    known = [count for each in counts if (count := operands.step.constant_of(each)) is not None]
    return max(known, default=1)


def _alignment_check(operands: OperandCompiler, role: str, space: str, alignments: tuple[int, int], used: int) -> Check:
    """Returns a check of an alignment.

    alignments: in bytes, the one that the declaration of a variable must guarantee, and the one that an offset must
    have in a variable that guarantees it. used: the number of lanes of a warp, from the first one on, whose addresses
    are used.
    """
    step, reader = operands.step, operands.reader(operands.step.operand(role))
    needed, stated = alignments

    def look(state: GroupState, value: Value, thread: int | None = None) -> None:
        if isinstance(value, SymbolicValue):
            symbol = symbol_of(state, value)
            if symbol is None:
                _compare_with_same_pointer(state, step, role, value, needed, thread)
            elif symbol[1] % min(needed, symbol[0].alignment):
                misfit = OperandViolation(step, role, symbol[1], "alignment", needed, symbol[0], thread=thread)
                state.trace.operand_violations.setdefault((step, role), misfit)
        elif (step, role) not in state.trace.operand_violations:
            held = variable_of(state, space, value)
            promised = min(needed, held[0].alignment) if held is not None else needed
            rank, ctas = _rank_of(state, space, value), state.scenario.launch.cluster_size
            if held is not None and (promised < needed or held[1] % promised):
                surely = bool(held[1] % promised)
                first = not state.visit and state.trace.first_guess is None
                misfit = OperandViolation(
                    step, role, held[1], "alignment", needed, held[0], surely, thread=thread, is_first=first
                )
                state.trace.operand_violations[(step, role)] = misfit
            elif held is not None and held[1] % min(stated, held[0].alignment):
                first = not state.visit and state.trace.first_guess is None
                misfit = OperandViolation(
                    step, role, held[1], "alignment", stated, held[0], thread=thread, is_first=first
                )
                state.trace.operand_violations[(step, role)] = misfit
            elif held is not None and rank >= ctas:
                state.trace.operand_violations[(step, role)] = OperandViolation(step, role, rank, "rank", ctas)

    def check(state: GroupState) -> None:
        first, second = state.first_active, state.second_active
        if used < WARP_SIZE and state.tids[first] % WARP_SIZE:
            return
        held = reader(state)
        value = value_of_lane(held, first)
        look(state, value)
        if state.visit or not isinstance(held, LaneValues):
            return
        checked = [first]
        if second is not None and state.tids[second] % WARP_SIZE < used:
            look(state, value_of_lane(held, second))
            checked.append(second)
        seen = {_remainder(held.at(index), needed) for index in checked}
        lanes = state.active_lanes_of_warp(used)
        for index in lanes if isinstance(value, int) else [lanes[at] for at in _ALIGNMENTS if at < len(lanes)]:
            value = held.at(index)
            if _remainder(value, needed) not in seen:
                seen.add(_remainder(value, needed))
                look(state, value, state.tids[index])
        if space.startswith("shared") and isinstance(value, int) and state.scenario.launch.cluster_size > 1:
            numbers = [each for each in map(held.at, lanes) if isinstance(each, int)]
            look(state, max(numbers, default=value))  # of the highest rank

    return check


def _remainder(value: Value, needed: int) -> tuple[int, int]:
    """Returns the unknown that two addresses share, and the remainder that decides whether both are aligned."""
    return (value.identity, value.offset % needed) if isinstance(value, SymbolicValue) else (-1, value % needed)


def _compare_with_same_pointer(
    state: GroupState, step: Step, role: str, value: SymbolicValue, needed: int, thread: int | None
) -> None:
    """Compares an address derived from a pointer with others derived from the same one.

    After a guess the result is not certain, since guesses may contradict each other.
    """
    if state.visit:
        return
    is_certain = state.trace.first_guess is None
    seen = state.trace.pointer_alignments.setdefault(value.identity, {})
    if (needed, value.offset % needed) in seen:
        return
    for (also, past), other in seen.items():
        common = min(needed, also)
        distance = (value.offset - past) % common
        if distance:
            misfit = OperandViolation(step, role, distance, "apart", common, None, is_certain, "", other, thread)
            state.trace.operand_violations.setdefault((step, role), misfit)
    seen[(needed, value.offset % needed)] = step


def symbol_of(state: GroupState, value: SymbolicValue) -> tuple[DeclaredVariable, int] | None:
    """Returns the variable of global or constant memory and the offset, if a term is the sum of the two."""
    match state.symbolic_values.key_of(value):
        case ("variable", str(space), str(name)):
            outermost = state.code.program.scope.outer
            variable = outermost.variables.get(name) if outermost is not None else None
            if variable is not None and variable.space == space:
                return variable, value.offset
    return None


def variable_of(state: GroupState, space: str, value: int) -> tuple[DeclaredVariable, int] | None:
    """Returns the variable that contains an address, and the offset from its start."""
    window = state.window
    if space == "generic":
        space = window.space_of_generic(value)
        value = window.from_generic(space, value)
    if space.startswith("shared"):
        value = window.map_to_rank(value, window.rank)
    variable = state.code.program.variable_at(value)
    if variable is None or not space.startswith(variable.space):
        return None
    return variable, value - variable.address


def _rank_of(state: GroupState, space: str, value: int) -> int:
    """Returns the CTA whose shared memory contains an address; for other addresses, the executing CTA."""
    offset = state.window.shared_offset(space, value)
    return state.window.rank if offset is None else state.window.rank_of(offset)


def _number_checks(operands: OperandCompiler, match: Match) -> Iterator[Check]:
    seen: set[str] = set()
    for role, limits in numbers_with_limits(match):
        operand = operands.step.operand(role)
        if role not in seen and isinstance(operand, Name):
            seen.add(role)
            yield _limits_check(operands, role, operands.reader(operand), limits)


@cached_by_match
def numbers_with_limits(match: Match) -> tuple[tuple[str, Immediates], ...]:
    """Returns the roles of counts and sizes that have limits, each with these limits."""
    forms = {form.role: form for form in match.operands}
    violations = [
        (forms[expression.name], kind)
        for effect in match.effects
        for expression, kind in _limited_values(effect)
        if isinstance(expression, OperandRole) and expression.name in forms
    ]
    return tuple((form.role, limits) for form, kind in violations if (limits := _limits(form, kind)) is not None)


def _limited_values(effect: fx.Effect) -> Iterator[tuple[Expression | None, str]]:
    """Yields the counts and sizes of an effect, each with its kind."""
    match effect:
        case fx.Access(size=size) | fx.Prefetch(size=size):
            yield size, "size"
        case fx.MbarrierInit(count=count):
            yield count, "count"
        case fx.MbarrierArrive(count=count, expect=expect):
            yield count, "count"
            yield expect, "bytes"
        case fx.MbarrierExpect(size=size):
            yield size, "bytes"
        case fx.Barrier(level="cta", number=number, threads=threads):
            yield number, "count"
            yield threads, "count"


def _limits(form: OperandForm, kind: str) -> Immediates | None:
    """Returns the limits of a number.

    These are the divisor of a size, the range of a count, or the bytes for which a phase can wait.
    """
    if kind == "bytes":
        return Immediates(None, MAX_TX_BYTES)
    given = form.immediates
    if given is None or given.members is not None:
        return None
    if kind == "size":
        return Immediates(None, None, given.step) if given.step > 1 else None
    return given


def _limits_check(operands: OperandCompiler, role: str, reader: ValueReader, limits: Immediates) -> Check:
    step, multiple = operands.step, limits.step
    low = limits.low or 0
    high = limits.high

    def check(state: GroupState) -> None:
        value = value_of_lane(reader(state), state.first_active)
        if not isinstance(value, int):
            return
        value &= 0xFFFF_FFFF
        if value % multiple:
            misfit = OperandViolation(step, role, value, "multiple", multiple)
        elif value < low or (high is not None and value > high and value < 1 << 31):
            misfit = OperandViolation(step, role, value, "range", low if value < low else high or 0)
        else:
            return
        state.trace.operand_violations.setdefault((step, role), misfit)

    return check


def _mask_checks(operands: OperandCompiler, match: Match) -> Iterator[Check]:
    """Yields the checks of CTA masks, which must be within the cluster."""
    for role in cta_masks(match):
        operand = operands.step.operand(role)
        if operand is not None:
            yield _cluster_mask_check(operands, role, operands.reader(operand))


@cached_by_match
def cta_masks(match: Match) -> tuple[str, ...]:
    found = [getattr(effect, "multicast", None) for effect in match.effects]
    return tuple(dict.fromkeys(role for role in found if isinstance(role, str)))


def _cluster_mask_check(operands: OperandCompiler, role: str, reader: ValueReader) -> Check:
    step = operands.step

    def check(state: GroupState) -> None:
        value, ctas = value_of_lane(reader(state), state.first_active), state.scenario.launch.cluster_size
        if isinstance(value, int) and (value & 0xFFFF_FFFF) >> ctas:
            state.trace.operand_violations.setdefault((step, role), OperandViolation(step, role, value, "mask", ctas))

    return check


def _rule_checks(operands: OperandCompiler, match: Match) -> Iterator[Check]:
    """Yields the checks of rules between operands (`src-size <= cp-size`) of which at least one is a register."""
    for number, need in enumerate(match.needs):
        present = {role: operands.step.operand(role) for role in match.roles}
        readers = {role: operands.reader(operand) for role, operand in present.items() if isinstance(operand, Name)}
        fixed = {role: evaluate(operand) for role, operand in present.items() if operand is not None}
        if readers and any(role in readers for role in roles_in(need.condition)):
            yield _rule_check(operands, f"rule {number}", need.condition, need.text, readers, fixed)


def _rule_check(
    operands: OperandCompiler,
    place: str,
    condition: Expression,
    text: str,
    readers: dict[str, ValueReader],
    fixed: dict[str, int | None],
) -> Check:
    step = operands.step
    involved = [role for role in readers if role in set(roles_in(condition))]

    def check(state: GroupState) -> None:
        values = dict(fixed)
        for role in involved:
            value = value_of_lane(readers[role](state), state.first_active)
            if not isinstance(value, int):
                return
            values[role] = value
        result = fold_constants(condition, values)
        if isinstance(result, ConstantExpr) and result.value is False:
            first = values[involved[0]] or 0
            state.trace.operand_violations.setdefault(
                (step, place), OperandViolation(step, involved[0], first, "rule", 0, rule=text)
            )

    return check
