"""What a walker records of accesses to memory that other threads, too, may see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.analysis.event_actions import ctas_of
from ptxkit.analysis.matrices import UNIT, far_unit, first_unit
from ptxkit.analysis.operands import Operands, Reader
from ptxkit.analysis.store_actions import private_store
from ptxkit.analysis.terms import Lanes, Term, lanes, lifted
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import Const, Role

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Action, Walker

#: Lanes of a warp.
_WARP = 32


def access_actions(
    operands: Operands, effect: fx.Access, *, keeps: bool, outside: frozenset[str]
) -> list[Action | None]:
    """Accesses to shared memory are events, and reads of tensor maps; accesses to global memory where `outside` has
    their kind. Stores to the thread's own memory are kept, those to other than parameters only where `keeps` says so;
    the rest is not followed."""
    if effect.space.startswith("param") or (effect.space.startswith("local") and keeps):
        return [private_store(operands, effect)]
    anywhere = effect.kind in outside and effect.via == "address"
    anywhere &= effect.kind == "read" or (effect.proxy, effect.completion) == ("generic", None)
    if effect.proxy == "tensormap" or (anywhere and effect.space == "global"):
        return [_outside_access(operands, effect)]
    if effect.via == "tensormap" or not effect.space.startswith(("shared", "generic")):
        return []
    actions = [_shared_access(operands, effect, anywhere=anywhere)]
    if effect.rows is not None:
        actions.append(_far_access(operands, effect))
    if effect.space == "generic" and keeps:
        actions.append(private_store(operands, effect))
    return actions


def _outside_access(operands: Operands, effect: fx.Access) -> Action | None:
    """An access to other than shared memory, by the address as a term."""
    address = operands.shared(effect.address, "generic")
    size = operands.evaluator(effect.size)
    barrier = operands.shared(effect.barrier) if effect.barrier else None
    if address is None:
        return None

    def record(walker: Walker) -> None:
        length = size(walker) if size else None
        walker.record(effect, address(walker), length, None, barrier(walker) if barrier else None)

    return record


def _shared_access(operands: Operands, effect: fx.Access, *, anywhere: bool = False) -> Action | None:
    """An access to shared memory; to what is outside, by a generic address, only where `anywhere` says so."""
    generic = effect.space == "generic"
    if effect.via == "descriptor":
        address: Reader | None = _descriptor(operands, effect.address)
    else:
        address = operands.shared(effect.address, "generic" if generic else "shared")
    size = operands.evaluator(effect.size)
    barrier = operands.shared(effect.barrier) if effect.barrier else None
    unless = _left_out(operands, effect)
    ctas = ctas_of(operands, effect.multicast)
    if address is None:
        return None

    def record(walker: Walker) -> None:
        place = address(walker)
        if generic and isinstance(place, Term) and not anywhere:
            return
        length = size(walker) if size else None
        tracked = barrier(walker) if barrier else None
        mask = ctas(walker) if ctas else None
        walker.record(effect, place, length, mask, tracked, unless=unless(walker) if unless else None)

    return record


def _left_out(operands: Operands, effect: fx.Access) -> Reader | None:
    """Which threads take no part: those whose predicate says so, or the lanes whose addresses do not count."""
    if effect.unless:
        return operands.evaluator(Role(effect.unless))
    count = effect.lanes.value if isinstance(effect.lanes, Const) else None
    if not isinstance(count, int) or count >= _WARP:
        return None
    return lambda walker: lanes([int(tid % _WARP >= count) for tid in walker.tids])


def _descriptor(operands: Operands, role: str) -> Reader | None:
    """The place where the matrix of a descriptor begins."""
    operand = operands.role(role)
    if operand is None:
        return None
    reader = operands.reader(operand)
    return lambda walker: lifted(first_unit, reader(walker))


def _far_access(operands: Operands, effect: fx.Access) -> Action | None:
    """The access to a part of a descriptor's matrix that is far from its beginning, where that is known."""
    roles = (Role(effect.address), effect.rows, effect.width, effect.transposed or Const(0))
    readers = [reader for each in roles if (reader := operands.evaluator(each)) is not None]
    if len(readers) < len(roles):
        return None

    def record(walker: Walker) -> None:
        held = [reader(walker) for reader in readers]
        known = [each for each in held if not isinstance(each, Lanes)]
        place = far_unit(*known) if len(known) == len(held) else None
        if place is not None:
            walker.record(effect, place, UNIT)

    return record
