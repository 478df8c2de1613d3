"""Every transfer of a module's kernels, from what the table says of its instructions and what walks saw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from ptxkit.analysis.choices import Decision, by_space, choices
from ptxkit.analysis.completions import MECHANISMS, Completions
from ptxkit.analysis.crossings import Crossing, crossings_of
from ptxkit.analysis.explore import Explorer
from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.names import variable_at
from ptxkit.analysis.phases import local
from ptxkit.analysis.plain import plain_copies
from ptxkit.analysis.program import Program, Step, flatten
from ptxkit.analysis.reasons import reason
from ptxkit.analysis.routes import Route, product_of, route_of
from ptxkit.analysis.sightings import Sighting, Sightings
from ptxkit.analysis.sizes import Sizes
from ptxkit.analysis.source_lines import SourceLines
from ptxkit.analysis.terms import Term, Value
from ptxkit.isa.effects import Access, ProxyFence
from ptxkit.records import replace
from ptxkit.syntax.tree import Function, Module
from ptxkit.transfers import Choice, Completion, Fence, KernelTransfers, Size, Transfer, TransferTable, Unit

#: Proxy fences named for one transfer; unrolled code has one for each of many writes.
MAX_FENCES = 8


def transfers(module: Module, *, products: bool = False, explored: Mapping[str, Kernel] | None = None) -> TransferTable:
    """The transfers of every kernel, and of every function that no kernel calls.

    products: and the multiplications that go on after their instructions, each with what tells that it is done.
    explored: kernels of the same text that were walked before, by name; they are not walked again.

    A built module is printed first: the lines are those of that text.
    """
    if module.source is None:
        from ptxkit.syntax import parse

        module = parse(str(module), "<built>")
    assert module.source is not None
    sources = SourceLines(module)
    found: list[KernelTransfers] = []
    called: set[str] = set()
    for function in module.functions():
        if function.body is not None and function.kind == "entry":
            known = explored.get(function.name) if explored is not None else None
            kernel = _Kernel(module, known or _walked(module, function), sources, products=products)
            called |= kernel.called
            found.append(KernelTransfers(function.name, function.kind, tuple(kernel.rows())))
    for function in module.functions():
        if function.body is not None and function.kind == "func" and function.name not in called:
            rows = tuple(_Rows(module, flatten(module, function), sources, products=products).unreached())
            found.append(KernelTransfers(function.name, function.kind, rows))
    return TransferTable(module.source.path, " ".join(module.targets), tuple(found))


def _walked(module: Module, function: Function) -> Kernel:
    explorer = Explorer(flatten(module, function, calls=True))
    if explorer.program.steps:
        explorer.run()
    return Kernel(explorer)


class _Rows:
    """The rows of one function's text. lines: of its steps."""

    def __init__(
        self,
        module: Module,
        program: Program,
        sources: SourceLines,
        *,
        exact: bool = False,
        products: bool = False,
    ) -> None:
        assert module.source is not None
        self.program = program
        self.copies = {copy.store: copy for copy in plain_copies(program)}
        routes = {step: route for step in program.steps if (route := route_of(step)) is not None}
        routes.update({step: copy.route for step, copy in self.copies.items()})
        if products:
            routes.update({step: route for step in program.steps if (route := product_of(step)) is not None})
        self.routes = dict(sorted(routes.items(), key=lambda item: item[0].index))
        self.lines = {step: module.source.position(step.start)[0] for step in program.steps}
        self._module = module
        self._sources = sources
        self._sizes = Sizes(program, exact=exact)

    @cached_property
    def ways(self) -> list[Step]:
        """The ways into shared memory that stand here; none where all are of one kind, so that nothing is decided."""
        found = {
            step: (route.unit, self._sizes.static(step, route), route.source)
            for step, route in self.routes.items()
            if route.source in ("global", "generic") and route.destination.startswith(("shared", "generic"))
        }
        return list(found) if len(set(found.values())) > 1 else []

    def unreached(self) -> Iterator[Transfer]:
        """The rows of code that no walk reached."""
        decisions = by_space(self.program, self.ways)
        rows = []
        for step, route in self.routes.items():
            completion = Completion(MECHANISMS.get(route.completion, route.completion))
            row = self.row(step, route, (), completion)
            rows.append(replace(row, choice=_choice(step, decisions, self.lines)))
        return self.telling(rows)

    def row(self, step: Step, route: Route, seen: Sequence[Sighting], completion: Completion) -> Transfer:
        """A row with what needs one look at the instruction and its executions."""
        copy = self.copies.get(step)
        return Transfer(
            line=self.lines[step],
            place=self._sources.place(self.program.function, step.start),
            operation=route.operation,
            source=_space(route.source, ()),
            destination=_space(route.destination, seen),
            unit=route.unit,
            size=self._size(step, route, seen),
            completion=completion,
            variable=self._variable(step, route, seen),
            reached=False,
            function=self.program.function.name,
            loads=tuple(sorted(self.lines[load] for load in copy.loads)) if copy is not None else (),
        )

    def _size(self, step: Step, route: Route, seen: Sequence[Sighting]) -> Size:
        if route.operation == "product":
            return Size(None, "as its shape says")
        return self._sizes.of(step, route, [each.copy.event.size for each in seen])

    def telling(self, rows: Sequence[Transfer]) -> Iterator[Transfer]:
        """The rows without those of generic stores that may go anywhere, where no copy stands beside them."""
        beside = any(row.unit != Unit.PLAIN and row.destination in ("shared", "cluster") for row in rows)
        for row in rows:
            if row.unit != Unit.PLAIN or row.destination != "generic" or beside:
                yield row if row.choice is not None else replace(row, choice=reason(self._module, row))

    def _variable(self, step: Step, route: Route, seen: Sequence[Sighting]) -> str | None:
        """The shared variable that the walks saw; where they saw no number, the one that the address is made of."""
        places = {local(each.copy.event.address) for each in seen}
        if places and None not in places:
            names = {variable_at(self.program, place) for place in places if place is not None}
        elif route.near is not None and step.match is not None:
            names = self._sizes.variables(step, step.match.operand(route.near.address, step.instruction))
        else:
            names = set()
        return ", ".join(sorted(name for name in names if name)) if None not in names and 0 < len(names) < 3 else None


def _space(space: str, seen: Sequence[Sighting]) -> str:
    """A state space in one word: `cluster` only where the transfer reaches, or may reach, another CTA."""
    if space in ("shared::cta", "shared"):
        return "shared"
    if space == "shared::cluster":
        return "cluster" if not seen or any(_leaves_the_cta(each) for each in seen) else "shared"
    if space == "generic" and seen and all(isinstance(each.copy.event.address, int) for each in seen):
        return "shared"
    return space


def _leaves_the_cta(seen: Sighting) -> bool:
    address, effect = seen.copy.event.address, seen.copy.event.effect
    return local(address) != address or getattr(effect, "multicast", None) is not None


class _Kernel:
    """One kernel's rows in the making. called: the names of the functions that its walks executed some of."""

    def __init__(self, module: Module, kernel: Kernel, sources: SourceLines, *, products: bool) -> None:
        explorer = kernel.explorer
        explorer.budget.renew()
        self.covered = explorer.covered()
        own = explorer.program
        others = [each for each in own.called.values() if not self.covered.isdisjoint(each.steps)]
        self.called = {each.function.name for each in others}
        exact = explorer.launch.is_exact
        self._texts = [_Rows(module, each, sources, exact=exact, products=products) for each in (own, *others)]
        self._choices = choices(explorer, self._texts[0].ways, self.covered)
        self._worlds = [*kernel.worlds, *self._choices.worlds]
        self._program = own
        stores = {step for text in self._texts for step in text.copies}
        self._sightings = Sightings(self._worlds, stores)

    def rows(self) -> Iterator[Transfer]:
        """The transfers of the kernel, then those of the functions that its walks called."""
        if not any(text.routes for text in self._texts):
            return
        lines = {step: line for text in self._texts for step, line in text.lines.items()}
        completions = Completions(self._program, self._worlds, lines.__getitem__)
        crossings = self._crossings()
        reached = self.covered | self._choices.reached
        for text in self._texts:
            rows: dict[Step, Transfer] = {}
            for step, route in text.routes.items():
                seen = self._sightings.of(step, route.near)
                completion, waits = completions.of(step, route, seen)
                row = text.row(step, route, seen, completion)
                choice = _choice(step, self._choices.decisions, lines)
                fences = tuple(_proxy_fences(step, crossings.get(step, ()), lines)[:MAX_FENCES])
                rows[step] = replace(row, waits=waits, fences=fences, reached=step in reached, choice=choice)
            fenced = self._fenced_alike(rows, lines)
            for step, row in fenced.items():
                fenced[step] = replace(row, fences=(*row.fences, *self._map_fences(step, text.routes[step], lines)))
            yield from text.telling(list(fenced.values()))

    def _fenced_alike(self, rows: Mapping[Step, Transfer], lines: Mapping[Step, int]) -> dict[Step, Transfer]:
        """Copies of one tile by other instructions pass the same fence, though the walks saw no byte of theirs cross.

        A proxy fence covers all that its thread wrote before, not one object: what counts is that it stands behind the
        write, or before the read, in the thread that issues the copy.
        """
        known: dict[str, set[int]] = defaultdict(set)
        for row in rows.values():
            known[row.variable or ""].update(fence.line for fence in row.fences if fence.line is not None)
        found: dict[Step, Transfer] = {}
        for step, row in rows.items():
            wanted = known[row.variable or ""] if row.variable and not row.fences else ()
            line = self._passed_fence(step, row, wanted, lines) if wanted else None
            found[step] = row if line is None else replace(row, fences=(Fence(line, "generic and async"),))
        return found

    def _passed_fence(
        self, step: Step, row: Transfer, wanted: Collection[int], lines: Mapping[Step, int]
    ) -> int | None:
        """The first of the wanted fences behind a generic write, the last before an async read of shared memory."""
        generic = row.unit in (Unit.LDGSTS, Unit.REMOTE, Unit.PLAIN)
        if not generic and row.source not in ("shared", "cluster"):
            return None
        for each in self._sightings.of(step, self._near(step)):
            at = each.copy.done if generic else each.copy.position
            fences = [(where, lines[event.step]) for where, event in each.thread.positions(ProxyFence)]
            passed = [line for where, line in fences if at is not None and line in wanted and (where > at) == generic]
            if passed:
                return passed[0] if generic else passed[-1]
        return None

    def _near(self, step: Step) -> Access | None:
        return next((text.routes[step].near for text in self._texts if step in text.routes), None)

    def _crossings(self) -> dict[Step, list[Crossing]]:
        """The crossings by either of their two instructions."""
        found: dict[Step, list[Crossing]] = defaultdict(list)
        for crossing in dict.fromkeys(each for world in self._worlds for each in crossings_of(world)):
            found[crossing.write].append(crossing)
            found[crossing.read].append(crossing)
        return found

    def _map_fences(self, step: Step, route: Route, lines: Mapping[Step, int]) -> list[Fence]:
        """The fences that order changes of a tensor map before the reads of it, in the copying thread.

        Those for another map are none; those for maps that nobody can tell apart count where none is surely for this.
        """
        found: dict[bool, dict[Fence, None]] = {True: {}, False: {}}
        for each in self._sightings.of(step, route.near) if route.unit == Unit.TENSOR else ():
            place = each.thread.maps_read.get((step, each.copy.event.visit))
            for at, event in each.thread.positions(ProxyFence):
                if at < each.copy.position and _acquires_maps(event.effect):
                    is_same = _are_one(place, event.address)
                    if is_same is not False:
                        found[bool(is_same)][Fence(lines[event.step], "tensormap")] = None
        return list(found[True] or found[False])


def _are_one(one: Value | None, other: Value | None) -> bool | None:
    """Whether two addresses are the same; None where nobody knows."""
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    if isinstance(one, Term) and isinstance(other, Term) and one.identity == other.identity:
        return one.offset == other.offset
    return None


def _acquires_maps(effect: object) -> bool:
    return isinstance(effect, ProxyFence) and effect.proxy == "tensormap" and effect.direction != "release"


def _choice(step: Step, decisions: Mapping[Step, Decision], lines: Mapping[Step, int]) -> Choice | None:
    found = decisions.get(step)
    if found is None:
        return None
    branch = lines[found.branch] if found.branch is not None else None
    others = tuple(sorted(lines[other] for other in decisions if other is not step))
    return Choice("run time", found.words, branch, others)


def _proxy_fences(step: Step, crossings: Sequence[Crossing], lines: Mapping[Step, int]) -> list[Fence]:
    """A fence for each line of one, with the first of the other accesses."""
    found: dict[int | None, Fence] = {}
    for crossing in crossings:
        other = crossing.write if crossing.read is step else crossing.read
        if other is not step:
            fence = lines[crossing.fence] if crossing.fence is not None else None
            found.setdefault(fence, Fence(fence, "generic and async", lines[other]))
    return sorted(found.values(), key=lambda fence: fence.line or 0)
