"""Value operations that depend on the thread: on its private memory, its lane, or the values of its warp."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import TYPE_CHECKING

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.check_generic_window import from_generic, to_generic
from ptxkit.analysis.symexec.lane_exchange import ExecutionPoint
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler, ValueReader, constant_reader
from ptxkit.analysis.values.symbolic_values import (
    GroupValue,
    LaneValues,
    SymbolicValue,
    SymbolicValueTable,
    Value,
    group_value_of,
    lanes_by_index,
    lift,
    value_of_lane,
)
from ptxkit.analysis.values.undone_operations import key_with_spaces, undo_unpack
from ptxkit.analysis.values.value_ops import SymbolicOps
from ptxkit.isa.expressions import CallExpr, ConstantExpr, OperandRole
from ptxkit.semantics.value_ops import WRAPPING, bit_mask, interpret
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.tree import Address, Name, Vector

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState


#: The combination of two numbers by each kind of `redux.sync`.
_REDUCTIONS: dict[str, Callable[[int, int], int]] = {**WRAPPING, "min": min, "max": max}
#: The number of requests that are granted: enough for both parities of an mbarrier.
_GRANTED_REQUESTS = 2


def load_parts(operands: OperandCompiler, call: CallExpr) -> tuple[str, ValueReader, int]:
    """Returns the parts of `load(space, address, width)`: the space, a reader of the address, and the width in bits."""
    space, address, width = call.arguments
    number = width.value if isinstance(width, ConstantExpr) and isinstance(width.value, int) else 32
    kept = str(space.value) if isinstance(space, ConstantExpr) else "generic"
    operand = operands.step.operand(address.name) if isinstance(address, OperandRole) else None
    match operand:
        case Address(base=Name(text=text), offset=offset) if kept.startswith("param"):
            if operands.scope.variable(text) is not None:
                return text, constant_reader(offset), number
    return kept, operands.evaluator(address) or (lambda state: state.fresh_symbol("address")), number


def load_value(state: GroupState, space: str, place: GroupValue, width: int, position: int = 0) -> GroupValue:
    """Returns the bits that a load reads: a cell of the thread's private memory, a parameter, or an unknown."""
    if space == "generic":
        space, place = private_location(state, place)
    known = state.private_memory.load(space, place, width // 8)
    if known is not None:
        return known
    if isinstance(place, int) and not state.frames:
        if space in state.code.parameters:
            return _parameter_value(state, space, place, width)
        held = state.code.program.variable_at(place) if space.startswith("param") else None
        if held is not None and held.name in state.code.parameters:
            return _parameter_value(state, held.name, place - held.address, width)
    # Threads that load from one address at one time read the same value, so they take the same side of a branch on it.
    data = state.scenario.data
    if data is not None and state.step in data.loads:
        word = partial(_input_word, state.symbolic_values, space, width)
        return lift(word, state.operations.add_offset(place, position * (width // 8)))
    unknown = partial(_unknown_load, state.symbolic_values, state.step, state.visit, space, position, width)
    if state.exchange.broadcasts.stores and space.startswith("shared"):
        return _load_broadcast(state, place, width, unknown)
    return lift(unknown, place)


def _load_broadcast(state: GroupState, place: GroupValue, width: int, unknown: Callable[[Value], Value]) -> GroupValue:
    """Returns the value that another thread broadcast at an address of shared memory."""

    def forward_load(value: Value) -> Value:
        offset = state.operations.op_in_shared("shared", value)
        stored = state.exchange.broadcasts.load(state, offset, width // 8) if isinstance(offset, int) else None
        return unknown(value) if stored is None else stored

    if not isinstance(place, LaneValues):
        return forward_load(place)
    known = {value: forward_load(value) for value in dict.fromkeys(place.values)}
    return group_value_of([known[value] for value in place.values])


def _unknown_load(
    terms: SymbolicValueTable, step: Step, visit: int, space: str, position: int, width: int, place: Value
) -> Value:
    return terms.intern(("load", step, visit, space, place, position, width))


def _input_word(terms: SymbolicValueTable, space: str, width: int, place: Value) -> Value:
    """Returns what the host has prepared at an address, which no thread writes."""
    return terms.intern(("input", space, place, width))


def private_location(state: GroupState, place: GroupValue) -> tuple[str, GroupValue]:
    """Translates a generic address to private memory, if the address of the first thread is there."""
    first = value_of_lane(place, 0)
    own = state.window.space_of_generic(first) if isinstance(first, int) else ""
    if own not in ("local", "param"):
        return "generic", place
    return own, state.operations.apply(SymbolicOps.op_from_generic, own, place)


def _parameter_value(state: GroupState, name: str, offset: int, width: int) -> Value:
    """Returns a kernel parameter: a symbol for a pointer, the scenario's sample for an integer."""
    if (name, offset) in state.pointers:
        found = state.symbolic_values.intern(("parameter", name, offset), pointer=True)
        return found.with_space("global") if name in state.code.global_pointers else found
    state.scenario.reads_sample = True
    return state.scenario.value_of((name, offset)) & bit_mask(width)


def _load(operands: OperandCompiler, call: CallExpr) -> ValueReader:
    space, address, width = load_parts(operands, call)
    return lambda state: load_value(state, space, address(state), width)


def _elect(_operands: OperandCompiler, _call: CallExpr) -> ValueReader:
    """Returns a reader that represents the elected lane by lane 0."""
    return lambda state: group_value_of([int(tid % WARP_SIZE == 0) for tid in state.tids])


def _shuffle(operands: OperandCompiler, call: CallExpr) -> ValueReader:
    """Returns the value of another lane if that lane was already executed; otherwise a term specific to the warp."""
    mode = call.arguments[0]
    kind = str(mode.value).lstrip(".") if isinstance(mode, ConstantExpr) else ""
    source, selector, bounds = (operands.argument_reader(argument) for argument in call.arguments[1:4])

    def shuffle(state: GroupState) -> GroupValue:
        own, chosen, limits = source(state), selector(state), bounds(state)
        place = (state.step, state.visit)
        if not isinstance(own, int | SymbolicValue | LaneValues):
            return state.fresh_symbol("shuffle")
        state.exchange.publish(place, state.tids, own)
        tids, exchange, terms = state.tids, state.exchange, state.symbolic_values

        def read(index: int) -> Value:
            other = source_lane(kind, tids[index], _lane_value(chosen, index), _lane_value(limits, index))
            seen = None if other is None else exchange.read(place, other)
            return terms.intern(("shuffle", tids[index] // 32, *place)) if seen is None else seen

        return lanes_by_index(len(tids), read) if len(tids) > 1 else read(0)

    return shuffle


def _lane_value(value: object, index: int) -> object:
    return value_of_lane(value, index) if isinstance(value, int | SymbolicValue | LaneValues) else None


def source_lane(kind: str, tid: int, chosen: object, limits: object) -> int | None:
    """Returns the thread from which a lane reads; None where it is not known.

    Source: PTX ISA, "shfl.sync".
    """
    if not isinstance(chosen, int) or not isinstance(limits, int):
        return None
    lane, segment, clamp = tid & 31, limits >> 8 & 31, limits & 31
    first = lane & segment
    last = first | clamp & ~segment
    offset = chosen & 31
    match kind:
        case "up":
            other, is_inside = lane - offset, lane - offset >= last
        case "down":
            other, is_inside = lane + offset, lane + offset <= last
        case "bfly":
            other, is_inside = lane ^ offset, lane ^ offset <= last
        case "idx":
            other, is_inside = first | offset & ~segment, (first | offset & ~segment) <= last
        case _:
            return None
    return tid - lane + (other if is_inside else lane)


def _redux(operands: OperandCompiler, call: CallExpr) -> ValueReader:
    """Returns the reduction over the lanes of a mask if all were executed; otherwise a term of the warp."""
    kind, scalar = (
        str(each.value).lstrip(".") if isinstance(each, ConstantExpr) else "" for each in call.arguments[:2]
    )
    source, members = (operands.argument_reader(argument) for argument in call.arguments[2:4])

    def redux(state: GroupState) -> GroupValue:
        own, asked = source(state), members(state)
        place = (state.step, state.visit)
        if not isinstance(own, int | SymbolicValue | LaneValues):
            return state.fresh_symbol("redux")
        state.exchange.publish(place, state.tids, own)
        known: dict[tuple[int, object], Value] = {}

        def read(index: int) -> Value:
            warp, chosen = state.tids[index] // 32, _lane_value(asked, index)
            if (warp, chosen) not in known:
                together = _reduce_lanes(state, kind, scalar, place, warp, chosen)
                unknown = state.symbolic_values.intern(("redux", warp, *place)) if together is None else together
                known[warp, chosen] = unknown
            return known[warp, chosen]

        return group_value_of([read(index) for index in range(len(state.tids))])

    return redux


def _reduce_lanes(
    state: GroupState, kind: str, scalar: str, place: ExecutionPoint, warp: int, chosen: object
) -> int | None:
    """Returns the reduction of the values of the chosen lanes of a warp; None where one of them is not known."""
    count = min(32, state.scenario.launch.threads - 32 * warp)
    picked = chosen & bit_mask(count) if isinstance(chosen, int) else 0
    found = [state.exchange.read(place, 32 * warp + lane) for lane in range(count) if picked >> lane & 1]
    numbers = [value for value in found if isinstance(value, int)]
    if not numbers or len(numbers) < len(found) or kind not in _REDUCTIONS:
        return None
    numbers = [interpret(number, 32, scalar == "s32") for number in numbers]
    return reduce(_REDUCTIONS[kind], numbers) & bit_mask(32)


def _vote(operands: OperandCompiler, call: CallExpr) -> ValueReader:
    """Returns the result of a vote if the lanes executed so far decide it.

    Otherwise the result is an unknown, which is first assumed to agree with these threads, and then to differ.
    """
    mode = call.arguments[0]
    kind = str(mode.value).lstrip(".") if isinstance(mode, ConstantExpr) else ""
    source = operands.argument_reader(call.arguments[-1])

    def vote(state: GroupState) -> GroupValue:
        own = source(state)
        if not isinstance(own, int | SymbolicValue | LaneValues):
            return state.fresh_symbol("vote")
        place = (state.step, state.visit)
        state.exchange.publish(place, state.tids, own)
        by_warp = {
            warp: _vote_value(state, kind, place, warp, own) for warp in {tid // WARP_SIZE for tid in state.tids}
        }
        return group_value_of([by_warp[tid // WARP_SIZE] for tid in state.tids])

    return vote


def _vote_value(state: GroupState, kind: str, place: ExecutionPoint, warp: int, own: GroupValue) -> Value:
    known = state.exchange.votes.get((place, warp))
    if known is not None:
        return known
    seen = list(state.exchange.read_warp(place, warp))
    if state.scenario.data is not None:
        sides = [state.side_by_data(value) if isinstance(value, SymbolicValue) else None for value in seen]
        seen = [value if side is None else int(side) for value, side in zip(seen, sides, strict=True)]
    decided = _decide_vote(kind, seen, min(32, state.scenario.launch.threads - 32 * warp))
    if decided is not None:
        state.exchange.votes[(place, warp)] = decided
        return decided
    first = value_of_lane(own, next(index for index, tid in enumerate(state.tids) if tid // WARP_SIZE == warp))
    if isinstance(first, SymbolicValue) and state.scenario.data is None:
        return first
    guess = state.symbolic_values.intern(("vote", warp, *place))
    state.prefer_side(guess, kind == "uni" or first == 1)
    return guess


def _decide_vote(kind: str, seen: list[Value], lanes_of_warp: int) -> int | None:
    """Returns the result of a vote for any values of the lanes not yet executed; None where it depends on them."""
    numbers = {value & 1 for value in seen if isinstance(value, int)}
    is_whole = len(seen) >= lanes_of_warp and all(isinstance(value, int) for value in seen)
    match kind:
        case "any":
            return 1 if 1 in numbers else 0 if is_whole else None
        case "all":
            return 0 if 0 in numbers else 1 if is_whole else None
        case "uni":
            return 0 if len(numbers) > 1 else 1 if is_whole else None
    return None


def _pack(operands: OperandCompiler, call: CallExpr) -> ValueReader:
    width, last = call.arguments
    operand = operands.step.operand(last.name) if isinstance(last, OperandRole) else None
    readers = [operands.reader(element) for element in operand.elements] if isinstance(operand, Vector) else []
    assert isinstance(width, ConstantExpr)
    assert isinstance(width.value, int)
    each = width.value

    def pack(state: GroupState) -> GroupValue:
        parts, pack_one = [reader(state) for reader in readers], partial(_pack_values, each)
        arguments = (state.symbolic_values, *parts)
        if any(isinstance(part, LaneValues) for part in parts):
            return LaneValues(len(state.tids), pack_one, arguments, partial(_pack_numbers, each))
        return lift(pack_one, *arguments)

    return pack


def _pack_numbers(each: int, *parts: list[int] | Value) -> list[int] | None:
    """Returns the packed numbers of all threads; None if a part that they share is not a number.

    parts: the lowest part first, with one number for each thread or one for all.
    """
    count = next(len(part) for part in parts if isinstance(part, list))
    mask, shared, packed = bit_mask(each), 0, [0] * count
    for number, part in enumerate(parts):
        if isinstance(part, SymbolicValue):
            return None
        if isinstance(part, int):
            shared |= (part & mask) << number * each
        elif part.count(part[0]) == count:
            shared |= (part[0] & mask) << number * each
        else:
            packed = [low | (high & mask) << number * each for low, high in zip(packed, part, strict=True)]
    return [own | shared for own in packed] if any(packed) else [shared] * count


def _pack_values(each: int, terms: SymbolicValueTable, *parts: Value) -> Value:
    mask, packed = bit_mask(each), 0
    for part in reversed(parts):
        if not isinstance(part, int):
            break
        packed = packed << each | part & mask
    else:
        if parts:
            return packed
    whole = undo_unpack(terms, each, parts)
    return terms.intern(key_with_spaces("pack", each, *parts)) if whole is None else whole


def _is_canceled(operands: OperandCompiler, call: CallExpr) -> ValueReader:
    """Returns whether a request for the work of another cluster is granted.

    The first requests of each thread are granted, and the next ones are not. The GPU decides this, so it is not a
    guess.
    """
    source = operands.argument_reader(call.arguments[-1])

    def ask(state: GroupState) -> GroupValue:
        response = source(state)
        if not isinstance(response, int | SymbolicValue | LaneValues):
            response = 0
        known = state.granted_requests.get(response)
        if known is None:
            seen = len(state.granted_requests)
            granted = state.scenario.decisions.setdefault(
                state.symbolic_values.intern(("is_canceled", seen)), seen < _GRANTED_REQUESTS
            )
            known = state.granted_requests[response] = int(granted)
        return known

    return ask


def _unknown(_operands: OperandCompiler, call: CallExpr) -> ValueReader:
    name = call.function
    return lambda state: state.fresh_symbol(name)


#: The operations that need more than the values of their arguments.
LANE_OPS: dict[str, Callable[[OperandCompiler, CallExpr], ValueReader]] = {
    "load": _load,
    "elected": _elect,
    "from_generic": from_generic,
    "to_generic": to_generic,
    "shuffle": _shuffle,
    "redux": _redux,
    "vote": _vote,
    "pack": _pack,
    "is_canceled": _is_canceled,
    "unknown": _unknown,
    "float": _unknown,
}
