"""Compiles the effects of a step to what a walker does there: set registers, record events, change control."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.analysis.bounds import bound_checks, bounded_spaces
from ptxkit.analysis.fits import fit_checks
from ptxkit.analysis.homes import home_checks
from ptxkit.analysis.lanes import IN_THREAD, load, load_parts, own_place, reads_signed
from ptxkit.analysis.matrices import UNIT, far_unit, first_unit
from ptxkit.analysis.members import member_checks
from ptxkit.analysis.notices import is_of_all
from ptxkit.analysis.operands import Operands, Reader, constant
from ptxkit.analysis.operations import Operations
from ptxkit.analysis.origins import space_checks
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.slicing import Interests, interests
from ptxkit.analysis.tensor_actions import tensor_access, tensor_memory
from ptxkit.analysis.terms import Lanes, Term, Terms, Value, lanes, lifted, mask, of_lane
from ptxkit.analysis.walker import END
from ptxkit.analysis.windows import window_checks
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import Call, Const, Expression, Role
from ptxkit.isa.forms import Match
from ptxkit.records import dataclass
from ptxkit.syntax.tree import Address, Arguments, Name, Operand, Vector

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Walker

#: Lanes of a warp.
_WARP = 32
#: Bytes of an element that threads tell one another.
_TOLD = (1, 2, 4, 8)
#: What stands behind `.ptr` of a parameter that points to global memory.
_TO_GLOBAL = ("global",)
#: Steps of one block, at most: a walk's budget is looked at between blocks.
MAX_BLOCK = 200

Action: TypeAlias = "Callable[[Walker], int | None]"


Guard: TypeAlias = tuple[str, bool, bool, bool]
"""A guard's register; whether it is negated; whether the effects behind it order other instructions (a commit, a wait,
a fence, a barrier, an arrival); whether they change control, so that threads which execute them part from others."""

Compiled: TypeAlias = tuple[Step, Guard | None, tuple[Action, ...]]
"""A step made ready. An action answers None, or the index of the step to go on with. (A plain tuple: walks do little
else than take these apart.)"""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Steps that are executed one after the other: control leaves at the last, and enters at the first.

    steps: those that a walk must look at. length: how many there are in all. after: the index behind the last.
    covered: those that are executed whenever the block is, as far as anyone can tell.
    """

    steps: tuple[Compiled, ...]
    length: int
    after: int
    covered: tuple[Step, ...]


class Code:
    """A program compiled for walking; shared by all threads and scenarios. callee: the code of a function by name.

    whole: compiles what no effect depends on, too, so that a walk leaves every register as the thread would.
    """

    def __init__(self, program: Program, callee: Callable[[str], Code | None], *, whole: bool = False) -> None:
        self.program = program
        self.callee = callee
        given = [(each, d.name) for each in program.function.parameters for d in each.declarators]
        self.parameters = frozenset(name for _, name in given)
        #: Those that are declared to point to global memory: such an address is the same in either form.
        self.to_global = frozenset(name for each, name in given if each.pointer == _TO_GLOBAL)
        self._whole = whole
        self._blocks: dict[int, Block] = {}
        self._plain: dict[int, bool] = {}
        self._trap_sides: dict[Step, bool | None] = {}

    def block(self, index: int) -> Block:
        """The block from a step on, made on first use: much code of a large kernel is walked by no representative."""
        found = self._blocks.get(index)
        if found is None:
            found = self._blocks[index] = self._block(index)
        return found

    def trap_side(self, step: Step) -> bool | None:
        """What the predicate of a branch is where that leads straight to a trap; None where neither side does, or both.

        A program asserts the other side: no launch that is meant to succeed goes there.
        """
        if step not in self._trap_sides:
            guard, operands = step.instruction.guard, step.instruction.operands
            target = operands[-1] if operands else None
            there = step.scope.label(target.text) if isinstance(target, Name) and guard is not None else None
            traps = there is not None and self._traps(there)
            is_asserted = guard is not None and there is not None and traps != self._traps(step.index + 1)
            self._trap_sides[step] = (traps != guard.negated) if guard is not None and is_asserted else None
        return self._trap_sides[step]

    def _traps(self, index: int) -> bool:
        """Whether nothing but a trap comes behind the steps from an index on."""
        leaving = next((step for step in self.program.steps[index : index + MAX_BLOCK] if _leaves(step)), None)
        return leaving is not None and leaving.instruction.guard is None and _is_trap(leaving)

    @cached_property
    def _interests(self) -> Interests | None:
        return None if self._whole else interests(self.program)

    @cached_property
    def _bounded(self) -> frozenset[str]:
        return bounded_spaces(self.program)

    @cached_property
    def _entries(self) -> frozenset[int]:
        return self.program.entries

    def _block(self, first: int) -> Block:
        steps: list[Compiled] = []
        covered: list[Step] = []
        index = first
        for step in self.program.steps[first : first + MAX_BLOCK]:
            if index in self._entries and index > first:
                break
            index += 1
            actions = tuple(self._actions(step))
            if actions:
                steps.append((step, _guard(step), actions))
            if step.instruction.guard is None or not actions:
                covered.append(step)
            if _leaves(step):
                break
        return Block(tuple(steps), index - first, index, tuple(covered))

    def _actions(self, step: Step) -> list[Action]:
        key = id(step.match)
        plain = self._plain.get(key)
        if plain is None:
            plain = self._plain[key] = step.match is not None and _is_plain(step.match)
        return _values(step, self._interests) if plain else _actions(step, self._interests, self._bounded)


def _leaves(step: Step) -> bool:
    return step.match is not None and any(isinstance(effect, fx.Control) for effect in step.match.effects)


def _is_trap(step: Step) -> bool:
    return any(isinstance(effect, fx.Control) and effect.kind == "trap" for effect in step.effects)


def _is_plain(match: Match) -> bool:
    """Whether an instruction only computes values, of registers and constants: nothing about these needs a check."""
    only_values = all(isinstance(effect, fx.Value) for effect in match.effects)
    simple = all(form.kind != "address" and form.object is None for form in match.operands)
    return only_values and simple and not match.needs and not _is_collective(match)


def _is_meeting(effect: fx.Effect) -> bool:
    """Whether lanes of a warp meet without ordering anything."""
    return isinstance(effect, fx.Barrier) and (effect.level, effect.order) == ("warp", "relaxed")


def _guard(step: Step) -> Guard | None:
    guard = step.instruction.guard
    if guard is None:
        return None
    effects = step.effects
    orders = any(
        not isinstance(effect, fx.Value | fx.Control | fx.Access) and not _is_meeting(effect) for effect in effects
    )
    return step.scope.register(guard.predicate), guard.negated, orders, _leaves(step)


def _actions(step: Step, wanted: Interests | None, bounded: frozenset[str]) -> list[Action]:
    """What a walker does at a step; without what only makes values that are not `wanted` (None: all are)."""
    if step.match is None:
        return [_forget(Operands(step, IN_THREAD))]
    operands = Operands(step, IN_THREAD)
    events: list[Action | None] = []
    values: list[Action | None] = []
    control: list[Action | None] = []
    for effect in step.match.effects:
        match effect:
            case fx.Value():
                if wanted is None or wanted.wants(step, effect):
                    values.append(_assign(operands, effect))
            case fx.Control():
                control.append(_control(operands, effect))
            case fx.MbarrierWait():
                values.append(_wait(operands, effect))
            case _:
                keeps, outside = (True, frozenset[str]()) if wanted is None else (wanted.memory, wanted.outside)
                events.extend(_events(operands, effect, keeps=keeps, outside=outside))
                if isinstance(effect, fx.Access) and (wanted is None or wanted.told):
                    events.append(_tell(operands, effect, wanted))
    if _is_collective(step.match):
        events.append(_meet(operands, fx.Barrier("warp", "sync", order="relaxed", aligned=True)))
    # Effects read the registers as they were before the instruction; control leaves last.
    checks = (
        *space_checks(operands),
        *window_checks(operands),
        *fit_checks(operands),
        *bound_checks(operands, bounded),
        *member_checks(operands),
        *home_checks(operands),
    )
    return [action for action in (*checks, *events, *values, *control) if action is not None]


def _values(step: Step, wanted: Interests | None) -> list[Action]:
    """What a walker does at a step that only computes values."""
    effects = step.effects
    chosen = [e for e in effects if isinstance(e, fx.Value) and (wanted is None or wanted.wants(step, e))]
    operands = Operands(step, IN_THREAD)
    return [action for effect in chosen if (action := _assign(operands, effect)) is not None]


def _events(operands: Operands, effect: fx.Effect, *, keeps: bool, outside: frozenset[str]) -> list[Action | None]:
    """What is recorded of an effect."""
    match effect:
        case fx.Barrier(level="warp", order="relaxed"):
            return [_meet(operands, effect)]
        case fx.Access(space="tensor"):
            return [tensor_access(operands, effect)]
        case fx.Access():
            return _access(operands, effect, keeps=keeps, outside=outside)
        case fx.TensorMemory():
            return [tensor_memory(operands, effect)]
        case fx.CtaGroup() | fx.Home():
            return []
        case fx.Barrier(level="cta", action="sync"):
            return [_record(operands, effect), _met(operands, effect)]
    return [_record(operands, effect)]


def _forget(operands: Operands) -> Action:
    """An instruction without a form: whatever it names may have changed, and anything may have happened."""
    names: list[str] = []
    for operand in operands.step.instruction.operands:
        elements = operand.elements if isinstance(operand, Vector | Arguments) else (operand,)
        names.extend(operands.scope.register(e.text) for e in elements if isinstance(e, Name))

    def forget(walker: Walker) -> None:
        walker.record_opaque()
        for name in names:
            walker.set(name, walker.fresh(name))

    return forget


# ------------------------------------------------------------------------------------------------- values


def _assign(operands: Operands, effect: fx.Value) -> Action | None:
    target = operands.role(effect.result)
    if isinstance(target, Vector):
        return _assign_vector(operands, target, effect.value)
    if not isinstance(target, Name) or target.is_sink:
        return None
    register = operands.scope.register(target.text)
    source = operands.evaluator(effect.value) or (lambda walker: walker.fresh("value"))

    def assign(walker: Walker) -> None:
        walker.set(register, source(walker))

    return assign


def _assign_vector(operands: Operands, target: Vector, value: Expression) -> Action:
    names = [operands.scope.register(e.text) if isinstance(e, Name) else "_" for e in target.elements]
    function = value.function if isinstance(value, Call) else ""
    if isinstance(value, Call) and function == "load":
        return _load_vector(operands, names, value)
    if isinstance(value, Call) and function == "unpack":
        source = operands.evaluator(value.arguments[-1]) or (lambda walker: walker.fresh("value"))
        return _unpack(names, source)

    def forget(walker: Walker) -> None:
        for position, name in enumerate(names):
            walker.set(name, walker.fresh(f"element {position}"))

    return forget


def _load_vector(operands: Operands, names: list[str], call: Call) -> Action:
    space, address, width = load_parts(operands, call)
    is_signed = reads_signed(operands)

    def load_all(walker: Walker) -> None:
        base = address(walker)
        for position, name in enumerate(names):
            place = walker.operations.held(Operations.op_add, 64, base, position * (width // 8))
            walker.set(name, load(walker, space, place, width, position, is_signed=is_signed))

    return load_all


def _unpack(names: list[str], source: Reader) -> Action:
    count = len(names)

    def unpack(walker: Walker) -> None:
        whole = source(walker)
        for position, name in enumerate(names):
            walker.set(name, lifted(partial(_part, walker.terms, position, count), whole))

    return unpack


def _part(terms: Terms, position: int, count: int, whole: Value) -> Value:
    width = 64 // count
    if isinstance(whole, int):
        return whole >> position * width & mask(width)
    return terms.of(("unpack", whole, position, count))


# ------------------------------------------------------------------------------------------------- events


def _record(operands: Operands, effect: fx.Effect) -> Action:
    barrier = effect.address if isinstance(effect, fx.ProxyFence) else getattr(effect, "barrier", None)
    address = operands.shared(barrier, _space(effect)) if isinstance(barrier, str) else None
    size = _box(operands) if isinstance(effect, fx.MbarrierComplete) else None
    size = size or operands.evaluator(getattr(effect, "threads" if isinstance(effect, fx.Barrier) else "size", None))
    amount = operands.evaluator(_amount(effect))
    expect = operands.evaluator(getattr(effect, "expect", None))
    ctas = _ctas(operands, getattr(effect, "multicast", None))

    def record(walker: Walker) -> None:
        walker.record(
            effect,
            address(walker) if address else None,
            size(walker) if size else None,
            amount(walker) if amount else None,
            None,
            expect(walker) if expect else None,
            ctas(walker) if ctas else None,
        )

    return record


def _ctas(operands: Operands, multicast: str | None) -> Reader | None:
    """The mask of the CTAs that a multicast goes to."""
    if multicast == fx.ALL:
        return lambda walker: mask(walker.scenario.launch.cluster_size)
    return operands.evaluator(Role(multicast)) if multicast else None


def _space(effect: fx.Effect) -> str:
    """The space of the address that an effect names: of a tensor map it is global, or generic."""
    return "generic" if isinstance(effect, fx.ProxyFence) else "shared"


def _is_collective(match: Match) -> bool:
    """Whether all lanes of a warp execute the instruction together, as `.sync.aligned` says, and it is no barrier."""
    if any(isinstance(effect, fx.Barrier) for effect in match.effects):
        return False
    return {"sync", "aligned"}.issubset(match.canonical.split("."))


def _meet(operands: Operands, effect: fx.Barrier) -> Action:
    """Lanes of a warp meet here. That matters only where the warp has parted."""
    record = _record(operands, effect)

    def meet(walker: Walker) -> int | None:
        return record(walker) if walker.is_partial else None

    return meet


def _met(operands: Operands, effect: fx.Barrier) -> Action:
    """The group has met the whole CTA, where all its threads come to the barrier."""
    number, threads = operands.evaluator(effect.number), operands.evaluator(effect.threads)

    def met(walker: Walker) -> None:
        if is_of_all(effect, threads(walker) if threads else None, walker.scenario.launch.threads):
            walker.meetings.append(number(walker) if number else 0)

    return met


def _box(operands: Operands) -> Reader | None:
    """The bytes of a tensor copy: unknown, unless the module's maker knows the map, but the same for each copy of its
    kind by the same tensor map."""
    if operands.step.box is not None:
        return constant(operands.step.box)
    match = operands.step.match
    maps = [e.address for e in match.effects if isinstance(e, fx.Access) and e.via == "tensormap"] if match else []
    operand = operands.role(maps[0]) if maps else None
    if match is None or operand is None:
        return None
    reader, kind = operands.reader(operand), match.canonical
    return lambda walker: lifted(lambda address: walker.terms.of(("box", kind, address)), reader(walker))


def _wait(operands: Operands, effect: fx.MbarrierWait) -> Action:
    """A wait that may answer false does so first, and true when it is asked again: code that does not ask again has
    not waited."""
    target = operands.role(effect.result)
    register = operands.scope.register(target.text) if isinstance(target, Name) else "_"
    record, step = _record(operands, effect), operands.step
    barrier = operands.shared(effect.barrier)

    def wait(walker: Walker) -> None:
        answered = walker.asks_again(step, barrier(walker) if barrier else None)
        walker.set(register, int(answered))
        if answered:
            record(walker)

    return wait


def _amount(effect: fx.Effect) -> Expression | None:
    match effect:
        case fx.MbarrierInit(count=amount) | fx.MbarrierArrive(count=amount) | fx.RegisterCount(count=amount):
            return amount
        case fx.WaitGroup(pending=amount) | fx.Cancellation(granted=amount):
            return amount
        case fx.Barrier(number=number):
            return number
        case fx.MbarrierWait(phase=phase):
            return Role(phase)
    return None


def _access(operands: Operands, effect: fx.Access, *, keeps: bool, outside: frozenset[str]) -> list[Action | None]:
    """Accesses to shared memory are events, and reads of tensor maps; accesses to global memory where `outside` has
    their kind. Stores to the thread's own memory are kept, those to other than parameters only where `keeps` says so;
    the rest is not followed."""
    if effect.space.startswith("param") or (effect.space.startswith("local") and keeps):
        return [_private_store(operands, effect)]
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
        actions.append(_private_store(operands, effect))
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
    ctas = _ctas(operands, effect.multicast)
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


def _private_store(operands: Operands, effect: fx.Access) -> Action | None:
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


def _stored(operands: Operands, effect: fx.Access) -> tuple[tuple[Operand, ...], int]:
    """What a store stores, and the bytes of each element."""
    target = operands.role(effect.address)
    stored = [operand for operand in operands.step.instruction.operands if operand is not target]
    if not stored:
        return (), 0
    sources = stored[0].elements if isinstance(stored[0], Vector) else (stored[0],)
    total = effect.size.value if isinstance(effect.size, Const) and isinstance(effect.size.value, int) else 0
    return sources, total // len(sources)


def _tell(operands: Operands, effect: fx.Access, wanted: Interests | None) -> Action | None:
    """A store of one value, at one address, by all threads of the group: others may load it behind a barrier."""
    match = operands.step.match
    sources, each = _stored(operands, effect)
    is_plain = effect.kind == "write" and (effect.proxy, effect.completion) == ("generic", None)
    if match is None or _is_collective(match) or not is_plain or not effect.space.startswith("shared"):
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


# ------------------------------------------------------------------------------------------------ control


def _control(operands: Operands, effect: fx.Control) -> Action:
    match effect.kind:
        case "branch":
            where = _label(operands, operands.step.instruction.operands[-1])
            return lambda _: where
        case "branch_indexed":
            return _indexed_branch(operands)
        case "call":
            return _call(operands)
        case "return":
            return lambda walker: walker.leave()
        case "trap":
            return _trap
    return lambda _: END


def _trap(walker: Walker) -> int:
    """Ends the launch: what the threads would have done comes no more."""
    walker.trace.ended = "trap"
    return END


def _label(operands: Operands, operand: Operand) -> int:
    target = operands.scope.label(operand.text) if isinstance(operand, Name) else None
    return END if target is None else target


def _indexed_branch(operands: Operands) -> Action:
    selector, *_, last = operands.step.instruction.operands
    index = operands.reader(selector)
    names = operands.scope.branch_targets(last.text) if isinstance(last, Name) else ()
    targets = [found for name in names if (found := operands.scope.label(name)) is not None]

    def jump(walker: Walker) -> int:
        held = index(walker)
        value = of_lane(held, 0)
        if isinstance(held, Lanes):
            walker.part(held.values)
        if isinstance(value, int):
            return targets[value] if value < len(targets) else END
        walker.note_guess()
        return targets[walker.visit % len(targets)] if targets else END

    return jump


def _call(operands: Operands) -> Action:
    name = ""
    results: tuple[str, ...] = ()
    arguments: tuple[Operand, ...] = ()
    for operand in operands.step.instruction.operands:
        if isinstance(operand, Name) and not name:
            name = operand.text
        elif isinstance(operand, Arguments) and name:
            arguments = operand.elements
        elif isinstance(operand, Arguments):
            results = tuple(e.text for e in operand.elements if isinstance(e, Name))
    back = operands.step.index + 1
    return lambda walker: walker.enter(name, back, results, arguments)
