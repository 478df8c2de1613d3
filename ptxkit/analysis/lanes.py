"""Value operations that depend on the thread: its own memory, its lane, what its warp had."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxkit.analysis.operands import Operands, Reader, constant
from ptxkit.analysis.terms import Term, Value, mask
from ptxkit.isa.expressions import Call, Const, Role
from ptxkit.syntax.tree import Address, Name, Vector

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Walker


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


def load(walker: Walker, space: str, place: Value, width: int, position: int = 0) -> Value:
    """What a load gives: a cell of the thread's own memory, a parameter, or an unknown."""
    if space == "generic" and isinstance(place, int):
        own = walker.window.space_of_generic(place)
        if own in ("local", "param"):
            space, place = own, walker.window.from_generic(own, place)
    known = walker.memory.get((space, place))
    if known is not None:
        return known
    if isinstance(place, int) and not walker.frames:
        if space in walker.code.parameters:
            return _parameter(walker, space, place, width)
        held = walker.code.program.variable_at(place) if space.startswith("param") else None
        if held is not None and held.name in walker.code.parameters:
            return _parameter(walker, held.name, place - held.address, width)
    # Threads that load from one place at one time read the same, so that they take the same side of a branch on it.
    return walker.terms.of(("load", walker.step, walker.visit, space, place, position))


def _parameter(walker: Walker, name: str, offset: int, width: int) -> Value:
    """A kernel parameter: a symbol for a pointer, the scenario's sample for an integer."""
    if (name, offset) in walker.pointers:
        return walker.terms.of(("parameter", name, offset), pointer=True)
    walker.scenario.sampled = True
    return walker.scenario.sample & mask(width)


def _load(operands: Operands, call: Call) -> Reader:
    space, address, width = load_parts(operands, call)
    return lambda walker: load(walker, space, address(walker), width)


def _elected(_operands: Operands, _call: Call) -> Reader:
    """Lane 0 stands for the elected lane."""
    return lambda walker: int(walker.tid % 32 == 0)


def _shuffle(operands: Operands, call: Call) -> Reader:
    """What another lane had, once that lane was walked; a term of the warp's own otherwise."""
    mode = call.arguments[0]
    kind = str(mode.value).lstrip(".") if isinstance(mode, Const) else ""
    source, selector = (operands.argument(argument) for argument in call.arguments[1:3])

    def shuffle(walker: Walker) -> Value:
        own, lane = source(walker), selector(walker)
        key = (walker.step, walker.visit)
        seen = walker.warp.exchanged.setdefault(key, {})
        if isinstance(own, int | Term):
            seen[walker.tid % 32] = own
        if kind == "idx" and isinstance(lane, int) and lane & 31 in seen:
            return seen[lane & 31]
        return walker.terms.of(("shuffle", walker.tid // 32, *key))

    return shuffle


def _vote(operands: Operands, call: Call) -> Reader:
    """What the lanes walked so far decide; where they decide nothing, an unknown that is first taken to agree with this
    thread, and then not to."""
    mode = call.arguments[0]
    kind = str(mode.value).lstrip(".") if isinstance(mode, Const) else ""
    deciding = {"any": 1, "all": 0}.get(kind)
    source = operands.argument(call.arguments[-1])

    def vote(walker: Walker) -> Value:
        own = source(walker)
        if not isinstance(own, int | Term):
            return walker.fresh("vote")
        key = (walker.step, walker.visit)
        if own == deciding:
            walker.warp.voted[key] = own
        known = walker.warp.voted.get(key)
        if known is not None:
            return known
        if isinstance(own, Term):
            return own
        guess = walker.terms.of(("vote", walker.tid // 32, *key))
        walker.suppose(guess, kind == "uni" or own == 1)
        return guess

    return vote


def _pack(operands: Operands, call: Call) -> Reader:
    last = call.arguments[-1]
    operand = operands.role(last.name) if isinstance(last, Role) else None
    readers = [operands.reader(element) for element in operand.elements] if isinstance(operand, Vector) else []
    each = {2: 32, 4: 16}.get(len(readers), 32)

    def pack(walker: Walker) -> Value:
        parts = [reader(walker) for reader in readers]
        numbers = [part for part in parts if isinstance(part, int)]
        if not parts or len(numbers) < len(parts):
            return walker.terms.of(("pack", *parts))
        return sum((number & mask(each)) << each * position for position, number in enumerate(numbers))

    return pack


def _unknown(_operands: Operands, call: Call) -> Reader:
    name = call.function
    return lambda walker: walker.fresh(name)


#: The operations that need more than their arguments' values.
IN_THREAD: dict[str, Callable[[Operands, Call], Reader]] = {
    "load": _load,
    "elected": _elected,
    "shuffle": _shuffle,
    "vote": _vote,
    "pack": _pack,
    "unknown": _unknown,
    "float": _unknown,
}
