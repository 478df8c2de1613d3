"""Value operations that depend on the thread: its own memory, its lane, what its warp had."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial, reduce
from typing import TYPE_CHECKING

from ptxkit.analysis.exchange import Place
from ptxkit.analysis.operands import Operands, Reader, constant
from ptxkit.analysis.operations import Operations
from ptxkit.analysis.program import Step
from ptxkit.analysis.terms import Held, Lanes, Term, Terms, Value, by_index, lanes, lifted, mask, of_lane
from ptxkit.analysis.type_words import is_signed
from ptxkit.analysis.windows import from_generic
from ptxkit.isa.expressions import Call, Const, Role
from ptxkit.syntax.tree import Address, Name, Vector

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Walker


#: What `redux.sync` makes of two values.
_TOGETHER: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "min": min,
    "max": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
#: Requests that are granted: enough for both parities of an mbarrier.
_GRANTED = 2


def load_parts(operands: Operands, call: Call) -> tuple[str, Reader, int]:
    """Of `load(space, address, width)`: where the cells are kept, the address in there, the width in bits."""
    space, address, width = call.arguments
    number = width.value if isinstance(width, Const) and isinstance(width.value, int) else 32
    kept = str(space.value) if isinstance(space, Const) else "generic"
    operand = operands.role(address.name) if isinstance(address, Role) else None
    match operand:
        case Address(base=Name(text=text), offset=offset) if kept.startswith("param"):
            if operands.scope.variable(text) is not None:
                return text, constant(offset), number
    return kept, operands.evaluator(address) or (lambda walker: walker.fresh("address")), number


def load(walker: Walker, space: str, place: Held, width: int, position: int = 0, *, is_signed: bool = False) -> Held:
    """What a load gives: a cell of the thread's own memory, a parameter, or an unknown.

    is_signed: the number may be extended by its sign, to a width that nobody knows here.
    """
    if space == "generic":
        space, place = own_place(walker, place)
    known = walker.memory.load(space, place, width // 8)
    if known is not None:
        return lifted(partial(_extended, walker.terms, width), known) if is_signed else known
    if isinstance(place, int) and not walker.frames:
        if space in walker.code.parameters:
            return _parameter(walker, space, place, width)
        held = walker.code.program.variable_at(place) if space.startswith("param") else None
        if held is not None and held.name in walker.code.parameters:
            return _parameter(walker, held.name, place - held.address, width)
    # Threads that load from one place at one time read the same, so that they take the same side of a branch on it.
    unknown = partial(_loaded, walker.terms, walker.step, walker.visit, space, position)
    if walker.exchange.notices.told and space.startswith("shared"):
        return _told(walker, place, width, unknown)
    return lifted(unknown, place)


def _told(walker: Walker, place: Held, width: int, unknown: Callable[[Value], Value]) -> Held:
    """What other threads told at an address of shared memory."""

    def heard(value: Value) -> Value:
        offset = walker.operations.op_in_shared("shared", value)
        told = walker.exchange.notices.heard(walker, offset, width // 8) if isinstance(offset, int) else None
        return unknown(value) if told is None else told

    if not isinstance(place, Lanes):
        return heard(place)
    known = {value: heard(value) for value in dict.fromkeys(place.values)}
    return lanes([known[value] for value in place.values])


def _extended(terms: Terms, width: int, value: Value) -> Value:
    """A number that is loaded as one with a sign; negative ones fill a register of a width that is not known."""
    return terms.of(("signed", width, value)) if isinstance(value, int) and value >> width - 1 else value


def _loaded(terms: Terms, step: Step, visit: int, space: str, position: int, place: Value) -> Value:
    return terms.of(("load", step, visit, space, place, position))


def own_place(walker: Walker, place: Held) -> tuple[str, Held]:
    """A generic address as one in the threads' own memory, where the first thread's lies there."""
    first = of_lane(place, 0)
    own = walker.window.space_of_generic(first) if isinstance(first, int) else ""
    if own not in ("local", "param"):
        return "generic", place
    return own, walker.operations.held(Operations.op_from_generic, own, place)


def _parameter(walker: Walker, name: str, offset: int, width: int) -> Value:
    """A kernel parameter: a symbol for a pointer, the scenario's sample for an integer."""
    if (name, offset) in walker.pointers:
        found = walker.terms.of(("parameter", name, offset), pointer=True)
        return found.within("global") if name in walker.code.to_global else found
    walker.scenario.sampled = True
    return walker.scenario.sample & mask(width)


def _load(operands: Operands, call: Call) -> Reader:
    space, address, width = load_parts(operands, call)
    is_signed = reads_signed(operands)
    return lambda walker: load(walker, space, address(walker), width, is_signed=is_signed)


def reads_signed(operands: Operands) -> bool:
    """Whether an instruction's type is one of integers with a sign."""
    return any(map(is_signed, operands.step.instruction.opcode.split(".")))


def _elected(_operands: Operands, _call: Call) -> Reader:
    """Lane 0 stands for the elected lane."""
    return lambda walker: lanes([int(tid % 32 == 0) for tid in walker.tids])


def _shuffle(operands: Operands, call: Call) -> Reader:
    """What another lane had, once that lane was walked; a term of the warp's own otherwise."""
    mode = call.arguments[0]
    kind = str(mode.value).lstrip(".") if isinstance(mode, Const) else ""
    source, selector, bounds = (operands.argument(argument) for argument in call.arguments[1:4])

    def shuffle(walker: Walker) -> Held:
        own, chosen, limits = source(walker), selector(walker), bounds(walker)
        place = (walker.step, walker.visit)
        if not isinstance(own, int | Term | Lanes):
            return walker.fresh("shuffle")
        walker.exchange.give(place, walker.tids, own)
        tids, exchange, terms = walker.tids, walker.exchange, walker.terms

        def read(index: int) -> Value:
            other = _source_lane(kind, tids[index], _lane(chosen, index), _lane(limits, index))
            seen = None if other is None else exchange.of(place, other)
            return terms.of(("shuffle", tids[index] // 32, *place)) if seen is None else seen

        return by_index(len(tids), read) if len(tids) > 1 else read(0)

    return shuffle


def _lane(value: object, index: int) -> object:
    return of_lane(value, index) if isinstance(value, int | Term | Lanes) else None


def _source_lane(kind: str, tid: int, chosen: object, limits: object) -> int | None:
    """The thread that a lane reads from; None where that is not known. Source: PTX ISA, "shfl.sync"."""
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


def _redux(operands: Operands, call: Call) -> Reader:
    """What the lanes of a mask have together, once all of them were walked; a term of the warp's own otherwise."""
    kind, scalar = (str(each.value).lstrip(".") if isinstance(each, Const) else "" for each in call.arguments[:2])
    source, members = (operands.argument(argument) for argument in call.arguments[2:4])

    def redux(walker: Walker) -> Held:
        own, asked = source(walker), members(walker)
        place = (walker.step, walker.visit)
        if not isinstance(own, int | Term | Lanes):
            return walker.fresh("redux")
        walker.exchange.give(place, walker.tids, own)
        known: dict[tuple[int, object], Value] = {}

        def read(index: int) -> Value:
            warp, chosen = walker.tids[index] // 32, _lane(asked, index)
            if (warp, chosen) not in known:
                together = _together(walker, kind, scalar, place, warp, chosen)
                unknown = walker.terms.of(("redux", warp, *place)) if together is None else together
                known[warp, chosen] = unknown
            return known[warp, chosen]

        return lanes([read(index) for index in range(len(walker.tids))])

    return redux


def _together(walker: Walker, kind: str, scalar: str, place: Place, warp: int, chosen: object) -> int | None:
    """The values of the chosen lanes of a warp as one; None where one of them is not known."""
    count = min(32, walker.scenario.launch.threads - 32 * warp)
    picked = chosen & mask(count) if isinstance(chosen, int) else 0
    found = [walker.exchange.of(place, 32 * warp + lane) for lane in range(count) if picked >> lane & 1]
    numbers = [value for value in found if isinstance(value, int)]
    if not numbers or len(numbers) < len(found) or kind not in _TOGETHER:
        return None
    if scalar == "s32":
        numbers = [(number & mask(32) ^ 1 << 31) - (1 << 31) for number in numbers]
    return reduce(_TOGETHER[kind], numbers) & mask(32)


def _vote(operands: Operands, call: Call) -> Reader:
    """What the lanes walked so far decide; where they decide nothing, an unknown that is first taken to agree with
    these threads, and then not to."""
    mode = call.arguments[0]
    kind = str(mode.value).lstrip(".") if isinstance(mode, Const) else ""
    source = operands.argument(call.arguments[-1])

    def vote(walker: Walker) -> Held:
        own = source(walker)
        if not isinstance(own, int | Term | Lanes):
            return walker.fresh("vote")
        place = (walker.step, walker.visit)
        walker.exchange.give(place, walker.tids, own)
        by_warp = {warp: _of_warp(walker, kind, place, warp, own) for warp in {tid // 32 for tid in walker.tids}}
        return lanes([by_warp[tid // 32] for tid in walker.tids])

    return vote


def _of_warp(walker: Walker, kind: str, place: Place, warp: int, own: Held) -> Value:
    known = walker.exchange.votes.get((place, warp))
    if known is not None:
        return known
    seen = list(walker.exchange.of_warp(place, warp))
    decided = _decided(kind, seen, min(32, walker.scenario.launch.threads - 32 * warp))
    if decided is not None:
        walker.exchange.votes[(place, warp)] = decided
        return decided
    first = of_lane(own, next(index for index, tid in enumerate(walker.tids) if tid // 32 == warp))
    if isinstance(first, Term):
        return first
    guess = walker.terms.of(("vote", warp, *place))
    walker.suppose(guess, kind == "uni" or first == 1)
    return guess


def _decided(kind: str, seen: list[Value], lanes_of_warp: int) -> int | None:
    """What a vote comes to, whatever the lanes that were not walked have; None where it hangs on them."""
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


def _pack(operands: Operands, call: Call) -> Reader:
    last = call.arguments[-1]
    operand = operands.role(last.name) if isinstance(last, Role) else None
    readers = [operands.reader(element) for element in operand.elements] if isinstance(operand, Vector) else []
    each = {2: 32, 4: 16}.get(len(readers), 32)

    def pack(walker: Walker) -> Held:
        return lifted(partial(_packed, walker.terms, each), *[reader(walker) for reader in readers])

    return pack


def _packed(terms: Terms, each: int, *parts: Value) -> Value:
    numbers = [part for part in parts if isinstance(part, int)]
    if not parts or len(numbers) < len(parts):
        return terms.of(("pack", *parts))
    return sum((number & mask(each)) << each * position for position, number in enumerate(numbers))


def _is_canceled(operands: Operands, call: Call) -> Reader:
    """The answer to a request for the work of another cluster: the first ones are granted, the next are not, as seen by
    each thread that asks for them in turn. Which it is lies with the GPU, so that it is no guess."""
    source = operands.argument(call.arguments[-1])

    def ask(walker: Walker) -> Held:
        response = source(walker)
        if not isinstance(response, int | Term | Lanes):
            response = 0
        known = walker.answers.get(response)
        if known is None:
            seen = len(walker.answers)
            granted = walker.scenario.decisions.setdefault(walker.terms.of(("is_canceled", seen)), seen < _GRANTED)
            known = walker.answers[response] = int(granted)
        return known

    return ask


def _unknown(_operands: Operands, call: Call) -> Reader:
    name = call.function
    return lambda walker: walker.fresh(name)


#: The operations that need more than their arguments' values.
IN_THREAD: dict[str, Callable[[Operands, Call], Reader]] = {
    "load": _load,
    "elected": _elected,
    "from_generic": from_generic,
    "shuffle": _shuffle,
    "redux": _redux,
    "vote": _vote,
    "pack": _pack,
    "is_canceled": _is_canceled,
    "unknown": _unknown,
    "float": _unknown,
}
