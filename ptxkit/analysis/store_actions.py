"""What a walker keeps of stores: the thread's own memory, and what it tells its whole CTA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.analysis.lanes import own_place
from ptxkit.analysis.meeting_actions import is_collective
from ptxkit.analysis.operands import Operands, constant
from ptxkit.analysis.operations import Operations
from ptxkit.analysis.slicing import Interests
from ptxkit.analysis.terms import Lanes, Term, Value, mask, of_lane
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import Const
from ptxkit.syntax.tree import Address, Name, Operand, Vector

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Action, Walker

#: Bytes of an element that threads tell one another.
_TOLD = (1, 2, 4, 8)


def private_store(operands: Operands, effect: fx.Access) -> Action | None:
    """A store to local memory or to a parameter, whose value a later load of the thread gives back."""
    target = operands.role(effect.address)
    sources, each = _stored(operands, effect)
    if effect.kind != "write" or not isinstance(target, Address) or not sources:
        return None
    readers = [operands.reader(source) for source in sources]
    name, place = effect.space, operands.reader(target)
    if effect.space.startswith("param") and isinstance(target.base, Name):
        name, place = target.base.text, constant(target.offset)

    def store(walker: Walker) -> None:
        space, where = name, place(walker)
        if space == "generic":
            space, where = own_place(walker, where)
            if space != "local":
                if _may_be_own(of_lane(where, walker.first)):
                    walker.memory.forget("local")
                return
        for position, reader in enumerate(readers):
            cell = walker.operations.held(Operations.op_add, 64, where, position * each)
            walker.keep(space, cell, reader(walker), each)

    return store


def _may_be_own(address: Value) -> bool:
    """Whether a generic address, which is not known to be one in local memory, may be one nevertheless."""
    return isinstance(address, Term) and not address.pointer and address.space is None


def tell_action(operands: Operands, effect: fx.Access, wanted: Interests | None) -> Action | None:
    """A store of one value, at one address, by all threads of the group: others may load it behind a barrier."""
    match = operands.step.match
    sources, each = _stored(operands, effect)
    is_plain = effect.kind == "write" and (effect.proxy, effect.completion) == ("generic", None)
    if match is None or is_collective(match) or not is_plain or not effect.space.startswith("shared"):
        return None
    address = operands.shared(effect.address)
    if address is None or each not in _TOLD:
        return None
    readers = [
        operands.reader(source) if wanted is None or wanted.follows(source, operands.scope) else None
        for source in sources
    ]

    def tell(walker: Walker) -> None:
        place = address(walker)
        if isinstance(place, int):
            for position, reader in enumerate(readers):
                held = reader(walker) if reader else None
                value = None if isinstance(held, Lanes) else held
                if isinstance(value, int):
                    value &= mask(8 * each)
                walker.exchange.notices.tell(walker, place + position * each, each, value)

    return tell


def _stored(operands: Operands, effect: fx.Access) -> tuple[tuple[Operand, ...], int]:
    """What a store stores, and the bytes of each element."""
    target = operands.role(effect.address)
    stored = [operand for operand in operands.step.instruction.operands if operand is not target]
    if not stored:
        return (), 0
    sources = stored[0].elements if isinstance(stored[0], Vector) else (stored[0],)
    total = effect.size.value if isinstance(effect.size, Const) and isinstance(effect.size.value, int) else 0
    return sources, total // len(sources)
