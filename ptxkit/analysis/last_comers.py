"""Global memory that CTAs store to before an atomic, and that the CTA reads which the atomic's answer sends there.

`if (atomicAdd(&done, 1) == gridDim.x - 1)`: the CTA that comes last reads what all others stored. Only a release before
the atomic in those, and an acquire behind it in this one, order the two.

One walk shows both: of a CTA that stores, up to its atomic, and of another one behind its own. That is the same walk
where nothing but the atomic's answer tells the CTAs apart on the way to the read. The one that stores may be so slow
that what it does behind its atomic comes too late to order anything.

Source: PTX ISA, "Causality Order", "Release and Acquire Patterns", "Conflict and Data-Races".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.budget import Budget
from ptxkit.analysis.causality import Causality, Path
from ptxkit.analysis.conflicts import MAX_CONFLICT_LOOKUPS
from ptxkit.analysis.deciders import Decided, Deciders
from ptxkit.analysis.explore import Explorer
from ptxkit.analysis.kernel import World, world_of
from ptxkit.analysis.narrow_updates import Words, asks_for_its_place
from ptxkit.analysis.program import Step
from ptxkit.analysis.scenario import Scenario
from ptxkit.analysis.terms import Term, of_lane
from ptxkit.analysis.trace import Event, GroupEvent, Opaque
from ptxkit.isa.effects import Access, Barrier, Effect, Grid, MemoryFence, ProxyFence
from ptxkit.records import dataclass

#: Special registers that are alike in all CTAs.
_ALIKE = ("%tid", "%laneid", "%lanemask", "%warpid", "%ntid", "%nctaid", "%nwarpid", "%envreg", "WARP_SZ")
#: Those that tell the CTAs of a grid apart.
_CTA = ("%ctaid",)
#: Executions of one instruction that are looked at.
FIRST_ROUNDS = 2
#: Threads and their accesses that are looked at, at most.
MAX_TOUCHES = 20_000


@dataclass(frozen=True, slots=True)
class LastComer:
    """A store, an atomic behind it, and a read of the same bytes by the CTA that its answer sends there.

    is_released: a fence stands between the store and the atomic; then none stands between the atomic and the read.
    """

    store: Step
    atomic: Step
    read: Step
    is_released: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """An access of one thread: the position in the events of its path's group, and bytes from an unknown's address."""

    path: Path
    position: int
    step: Step
    identity: int
    low: int
    high: int


def last_comers(explorer: Explorer) -> Iterator[LastComer]:
    """The reads of a kernel that no fence orders behind other CTAs' stores; each pair of instructions once."""
    program = explorer.program
    atomics = [step for step in program.acting if _answers(step)]
    if len(atomics) != 1 or explorer.launch.cluster_size > 1 or program.called:
        return
    (atomic,) = atomics
    if any(_may_order(step) for step in program.acting if step is not atomic) or not asks_for_its_place(program):
        return
    if not all(Words(program).is_shared(atomic, effect) for effect in atomic.effects if isinstance(effect, Access)):
        return
    chosen = _Chosen(explorer, atomic)
    if not chosen.stores or not chosen.reads:
        return
    found: set[tuple[Step, Step]] = set()
    for exploration in list(explorer.explorations):
        given = exploration.scenario
        covered = set().union(*(group.covered for group in exploration.groups))
        if atomic not in covered or covered.isdisjoint(chosen.stores) or covered.isdisjoint(chosen.reads):
            continue
        scenario = Scenario(given.launch, given.sample, given.rank, dict(given.decisions))
        wide = explorer.walked(scenario, outside=True)
        if wide.is_whole and not any(group.opaque for group in wide.groups):
            world = world_of(wide, program, explorer.budget)
            for each in _Walked(world, atomic, chosen).found():
                if (each.store, each.read) not in found:
                    found.add((each.store, each.read))
                    yield each


class _Chosen:
    """The stores that every CTA does in every launch, and the reads that an atomic's answer alone sends a CTA to."""

    def __init__(self, explorer: Explorer, atomic: Step) -> None:
        self._deciders = Deciders(explorer.program, explorer.certainty, {atomic})
        steps = [step for step in explorer.program.acting if step is not atomic]
        self.reads = {step for step in steps if self._is_sent_to(step)}
        self.stores = {step for step in steps if self._is_done_by_each(step)} if self.reads else set()

    def _is_sent_to(self, step: Step) -> bool:
        return any(decided.answers and _are(decided.specials, _ALIKE) for decided in self._decided(step, "read"))

    def _is_done_by_each(self, step: Step) -> bool:
        return any(not decided.answers and _is_of_each(decided.specials) for decided in self._decided(step, "write"))

    def _decided(self, step: Step, kind: str) -> Iterator[Decided]:
        """What decides the plain accesses of a kind, where it is no data."""
        for effect in step.effects:
            if isinstance(effect, Access) and effect.kind == kind and _is_plain(effect) and step.match is not None:
                decided = self._deciders.of(step, step.match.operand(effect.address, step.instruction))
                if not decided.is_data:
                    yield decided


class _Walked:
    """One walk, in which accesses to global memory are seen."""

    def __init__(self, world: World, atomic: Step, chosen: _Chosen) -> None:
        self._groups = world.groups
        self._causality = Causality(world, Budget(lookups=min(MAX_CONFLICT_LOOKUPS, world.budget.lookups)))
        self._atomics = [(p.path, p.position) for p in self._places({atomic})]
        self._stores = list(self._places(chosen.stores))
        self._reads = list(self._places(chosen.reads))
        self._fences = [
            (path, at)
            for path in self._causality.paths
            for at, event in enumerate(path.group.events)
            if not isinstance(event, Opaque) and _is_wide_fence(event.effect)
        ]

    def found(self) -> Iterator[LastComer]:
        """What nothing orders."""
        by_identity: dict[int, list[_Place]] = {}
        for read in self._reads:
            by_identity.setdefault(read.identity, []).append(read)
        for store in self._stores:
            for read in by_identity.get(store.identity, ()):
                if store.low < read.high and read.low < store.high:
                    for path, at in self._atomics:
                        yield from self._between(store, path, at, read)

    def _between(self, store: _Place, path: Path, at: int, read: _Place) -> Iterator[LastComer]:
        if not self._precedes(store.path, store.position, path, at):
            return
        released = self._is_fenced((store.path, store.position), (path, at))
        if not released or not self._is_fenced((path, at), (read.path, read.position)):
            atomic = path.group.events[at].step
            yield LastComer(store.step, atomic, read.step, released)

    def _is_fenced(self, first: tuple[Path, int], last: tuple[Path, int]) -> bool:
        """Whether a fence may be between two places."""
        return any(self._precedes(*first, *fence) and self._precedes(*fence, *last) for fence in self._fences)

    def _precedes(self, path: Path, at: int, other: Path, until: int) -> bool:
        """Whether one place may come before another."""
        return at < until if path is other else self._causality.may_precede(path, at, other, until)

    def _places(self, steps: set[Step]) -> Iterator[_Place]:
        """What the threads of all groups do at some steps, where the address is one of global memory."""
        left = MAX_TOUCHES
        for group in self._groups:
            for position, event in enumerate(group.events):
                if isinstance(event, Opaque) or event.step not in steps or event.visit >= FIRST_ROUNDS:
                    continue
                if not isinstance(event.effect, Access) or event.effect.space not in ("global", "generic"):
                    continue
                for index, tid in enumerate(group.tids):
                    left -= 1
                    if left < 0:
                        return
                    place, size = _extent(event, index)
                    if place is not None:
                        path = self._causality.path_of(tid)
                        low = place.offset
                        yield _Place(path, position, event.step, place.identity, low, low + size)


def _extent(event: Event | GroupEvent, index: int) -> tuple[Term | None, int]:
    """Where a thread of a group accesses memory, and how many bytes; None where it takes no part, or nobody knows."""
    if isinstance(event, GroupEvent) and event.who is not None and not event.who[index]:
        return None, 0
    held, size = (event.address, event.size) if isinstance(event, Event) else event.fields[:2]
    place = None if held is None else of_lane(held, index)
    return place if isinstance(place, Term) else None, size if isinstance(size, int) else 1


def _is_of_each(names: set[str]) -> bool:
    """Whether a CTA's own place is among what decides, and nothing else that is not alike in all."""
    return any(name.startswith(_CTA) for name in names) and _are(names, (*_ALIKE, *_CTA))


def _are(names: set[str], known: tuple[str, ...]) -> bool:
    return all(name.startswith(known) for name in names)


def _is_plain(effect: Effect) -> bool:
    """Whether an effect is a weak store to, or any read of, global memory, over at once."""
    if not isinstance(effect, Access) or effect.space not in ("global", "generic") or effect.via != "address":
        return False
    is_now = (effect.proxy, effect.completion) == ("generic", None)
    return is_now and (effect.kind == "read" or (effect.kind, effect.order) == ("write", "weak"))


def _answers(step: Step) -> bool:
    """Whether a step is an atomic that gives an answer, releases nothing, and counts for the other CTAs."""
    return any(
        isinstance(effect, Access)
        and (effect.kind, effect.proxy) == ("update", "generic")
        and effect.space in ("global", "generic")
        and effect.order in ("relaxed", "acquire")
        and effect.scope in ("gpu", "sys")
        and step.match is not None
        and bool(step.match.results)
        for effect in step.effects
    )


def _may_order(step: Step) -> bool:
    """Whether CTAs may be ordered by a step otherwise than by fences around the atomic."""
    return step.match is None or step.is_opaque_call or any(map(_orders, step.effects))


def _orders(effect: Effect) -> bool:
    match effect:
        case Access(kind="read", order="weak" | "volatile" | "relaxed"):
            return effect.space == "shared::cluster"
        case Access(kind="write" | "update", space=space):
            is_weak = effect.order == "weak" and effect.kind == "write"
            return not is_weak and not space.startswith("shared::cta")
        case Access():
            return effect.space in ("global", "generic", "shared::cluster")
        case Barrier(level=level):
            return level not in ("cta", "warp")
    return isinstance(effect, Grid)


def _is_wide_fence(effect: Effect) -> bool:
    """Whether a fence may order what other CTAs do."""
    return isinstance(effect, ProxyFence) or (isinstance(effect, MemoryFence) and effect.scope != "cta")
