"""Collects every transfer of a module's kernels, from the instruction table and from executions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from ptxkit.analysis.context.kernel_exploration import explore_kernel
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.context.mbarrier_waits import cta_offset
from ptxkit.analysis.context.plain_copies import find_plain_copies
from ptxkit.analysis.inventory.completion_mechanisms import MECHANISMS, CompletionMechanisms
from ptxkit.analysis.inventory.path_selection import PathDecision, decide_by_space, select_paths
from ptxkit.analysis.inventory.transfer_executions import TransferExecution, TransferExecutions
from ptxkit.analysis.inventory.transfer_rationale import find_rationale
from ptxkit.analysis.inventory.transfer_sizes import TransferSizes
from ptxkit.analysis.ir.data_movement import DataMovement, async_product_of, data_movement_of
from ptxkit.analysis.ir.display_names import variable_name_at
from ptxkit.analysis.ir.program import Program, Step, flatten
from ptxkit.analysis.ir.source_lines import SourceLines
from ptxkit.analysis.limits import MAX_NAMED_FENCES
from ptxkit.analysis.memory.proxy_crossings import ProxyCrossing, find_proxy_crossings
from ptxkit.analysis.values.symbolic_values import SymbolicValue, Value
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.effects import Access, Effect, ProxyFence
from ptxkit.model.transfer import Completion, Fence, KernelTransfers, Size, Transfer, TransferTable, Unit, UnitSelection
from ptxkit.semantics.ordering import proxy_fence_direction
from ptxkit.syntax.tree import Module


def collect_transfers(
    module: Module, *, products: bool = False, explored: Mapping[str, KernelFacts] | None = None
) -> TransferTable:
    """Returns the transfers of every kernel, and of every function that no kernel calls.

    products: whether to include the multiplications that continue after their instructions, each with the mechanism
    that signals its completion. explored: kernels of the same text that were explored before, by name; they are not
    explored again.

    A built module is printed first; the lines are those of that text.
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
            kernel = _KernelRows(module, known or explore_kernel(module, function), sources, products=products)
            called |= kernel.callees
            found.append(KernelTransfers(function.name, function.kind, tuple(kernel.rows())))
    for function in module.functions():
        if function.body is not None and function.kind == "func" and function.name not in called:
            rows = tuple(_FunctionRows(module, flatten(module, function), sources, products=products).unreached_rows())
            found.append(KernelTransfers(function.name, function.kind, rows))
    return TransferTable(module.source.path, " ".join(module.targets), tuple(found))


class _FunctionRows:
    """The rows of one function's text.

    lines: the lines of its steps.
    """

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
        self.copies = {copy.store: copy for copy in find_plain_copies(program)}
        routes = {step: route for step in program.steps if (route := data_movement_of(step)) is not None}
        routes.update({step: copy.movement for step, copy in self.copies.items()})
        if products:
            routes.update({step: route for step in program.steps if (route := async_product_of(step)) is not None})
        self.movements = dict(sorted(routes.items(), key=lambda item: item[0].index))
        self.lines = {step: module.source.position(step.start)[0] for step in program.steps}
        self._module = module
        self._sources = sources
        self._sizes = TransferSizes(program, exact=exact)

    @cached_property
    def alternative_copies(self) -> list[Step]:
        """The copies into shared memory in this function; none if all are of one kind, so that there is no choice."""
        found = {
            step: (route.unit, self._sizes.constant_size(step, route), route.source)
            for step, route in self.movements.items()
            if route.source in ("global", "generic") and route.destination.startswith(("shared", "generic"))
        }
        return list(found) if len(set(found.values())) > 1 else []

    def unreached_rows(self) -> Iterator[Transfer]:
        """Yields the rows of code that no execution reached."""
        decisions = decide_by_space(self.program, self.alternative_copies)
        rows = []
        for step, route in self.movements.items():
            completion = Completion(MECHANISMS.get(route.completion, route.completion))
            row = self.make_row(step, route, (), completion)
            rows.append(replace(row, choice=_choice_of(step, decisions, self.lines)))
        return self.drop_ambiguous_stores(rows)

    def make_row(
        self, step: Step, route: DataMovement, seen: Sequence[TransferExecution], completion: Completion
    ) -> Transfer:
        """Returns a row with the properties that follow from the instruction and its executions."""
        copy = self.copies.get(step)
        return Transfer(
            line=self.lines[step],
            source_line=self._sources.location(self.program.function, step.start),
            operation=route.operation,
            source=_display_space(route.source, ()),
            destination=_display_space(route.destination, seen),
            unit=route.unit,
            size=self._size_of(step, route, seen),
            completion=completion,
            variable=self._variable_of(step, route, seen),
            reached=False,
            function=self.program.function.name,
            loads=tuple(sorted(self.lines[load] for load in copy.loads)) if copy is not None else (),
        )

    def _size_of(self, step: Step, route: DataMovement, seen: Sequence[TransferExecution]) -> Size:
        if route.operation == "product":
            return Size(None, "as its shape determines")
        return self._sizes.size_of(step, route, [each.copy.event.size for each in seen])

    def drop_ambiguous_stores(self, rows: Sequence[Transfer]) -> Iterator[Transfer]:
        """Yields the rows without generic stores to an unknown target, unless the function also has a copy."""
        has_async_copy = any(row.unit != Unit.PLAIN and row.destination in ("shared", "cluster") for row in rows)
        for row in rows:
            if row.unit != Unit.PLAIN or row.destination != "generic" or has_async_copy:
                yield row if row.choice is not None else replace(row, choice=find_rationale(self._module, row))

    def _variable_of(self, step: Step, route: DataMovement, seen: Sequence[TransferExecution]) -> str | None:
        """Returns the shared variable that the executions show, else the one from which the address is derived."""
        places = {cta_offset(each.copy.event.address) for each in seen}
        if places and None not in places:
            names = {variable_name_at(self.program, place) for place in places if place is not None}
        elif route.tracked_access is not None and step.match is not None:
            names = self._sizes.shared_variables_of(step, step.operand(route.tracked_access.address))
        else:
            names = set()
        return ", ".join(sorted(name for name in names if name)) if None not in names and 0 < len(names) < 3 else None


def _display_space(space: str, seen: Sequence[TransferExecution]) -> str:
    """Returns a state space in one word: `cluster` only where the transfer accesses, or may access, another CTA."""
    if space in ("shared::cta", "shared"):
        return "shared"
    if space == "shared::cluster":
        return "cluster" if not seen or any(_may_target_other_cta(each) for each in seen) else "shared"
    if space == "generic" and seen and all(isinstance(each.copy.event.address, int) for each in seen):
        return "shared"
    return space


def _may_target_other_cta(seen: TransferExecution) -> bool:
    address, effect = seen.copy.event.address, seen.copy.event.effect
    return cta_offset(address) != address or getattr(effect, "multicast", None) is not None


class _KernelRows:
    """The rows of one kernel. `callees` holds the names of the functions that its executions entered."""

    def __init__(self, module: Module, kernel: KernelFacts, sources: SourceLines, *, products: bool) -> None:
        explorer = kernel.explorer
        explorer.budget.reset()
        self.covered_steps = explorer.covered_steps()
        own = explorer.program
        others = [each for each in own.callees.values() if not self.covered_steps.isdisjoint(each.steps)]
        self.callees = {each.function.name for each in others}
        exact = explorer.launch.is_exact
        self._functions = [
            _FunctionRows(module, each, sources, exact=exact, products=products) for each in (own, *others)
        ]
        self._path_selection = select_paths(explorer, self._functions[0].alternative_copies, self.covered_steps)
        self._scenarios = [*kernel.scenarios, *self._path_selection.scenarios]
        self._program = own
        stores = {step for text in self._functions for step in text.copies}
        self._executions = TransferExecutions(self._scenarios, stores)

    def rows(self) -> Iterator[Transfer]:
        """Yields the transfers of the kernel, then those of the functions that its executions called."""
        if not any(text.movements for text in self._functions):
            return
        lines = {step: line for text in self._functions for step, line in text.lines.items()}
        completions = CompletionMechanisms(self._program, self._scenarios, lines.__getitem__)
        crossings = self._crossings_by_step()
        reached = self.covered_steps | self._path_selection.reached_steps
        for text in self._functions:
            rows: dict[Step, Transfer] = {}
            for step, route in text.movements.items():
                seen = self._executions.executions_of(step, route.tracked_access)
                completion, waits = completions.completion_of(step, route, seen)
                row = text.make_row(step, route, seen, completion)
                choice = _choice_of(step, self._path_selection.decisions, lines)
                fences = tuple(_proxy_fences_of(step, crossings.get(step, ()), lines)[:MAX_NAMED_FENCES])
                rows[step] = replace(row, waits=waits, fences=fences, reached=step in reached, choice=choice)
            fenced = self._share_fences(rows, lines)
            for step, row in fenced.items():
                fenced[step] = replace(
                    row, fences=(*row.fences, *self._map_fences_of(step, text.movements[step], lines))
                )
            yield from text.drop_ambiguous_stores(list(fenced.values()))

    def _share_fences(self, rows: Mapping[Step, Transfer], lines: Mapping[Step, int]) -> dict[Step, Transfer]:
        """Adds fences to the rows of copies of the same tile for which the executions showed no crossing.

        A proxy fence covers all accesses of its thread, not one object: it is sufficient that it is after the write, or
        before the read, in the thread that issues the copy.
        """
        known: dict[str, set[int]] = defaultdict(set)
        for row in rows.values():
            known[row.variable or ""].update(fence.line for fence in row.fences if fence.line is not None)
        found: dict[Step, Transfer] = {}
        for step, row in rows.items():
            wanted = known[row.variable or ""] if row.variable and not row.fences else ()
            line = self._nearest_fence(step, row, wanted, lines) if wanted else None
            found[step] = row if line is None else replace(row, fences=(Fence(line, "generic and async"),))
        return found

    def _nearest_fence(
        self, step: Step, row: Transfer, wanted: Collection[int], lines: Mapping[Step, int]
    ) -> int | None:
        """Returns the first wanted fence after a generic write, or the last one before an async read."""
        generic = row.unit in (Unit.LDGSTS, Unit.REMOTE, Unit.PLAIN)
        if not generic and row.source not in ("shared", "cluster"):
            return None
        for each in self._executions.executions_of(step, self._tracked_access(step)):
            at = each.copy.completion_position if generic else each.copy.position
            fences = [(where, lines[event.step]) for where, event in each.thread.positions(ProxyFence)]
            passed = [line for where, line in fences if at is not None and line in wanted and (where > at) == generic]
            if passed:
                return passed[0] if generic else passed[-1]
        return None

    def _tracked_access(self, step: Step) -> Access | None:
        return next((text.movements[step].tracked_access for text in self._functions if step in text.movements), None)

    def _crossings_by_step(self) -> dict[Step, list[ProxyCrossing]]:
        """Returns the crossings by either of their two instructions, in the order of the text."""
        found: dict[Step, list[ProxyCrossing]] = defaultdict(list)
        crossings = {each for facts in self._scenarios for each in find_proxy_crossings(facts)}
        for crossing in sorted(crossings, key=lambda each: (each.write.start, each.read.start)):
            found[crossing.write].append(crossing)
            found[crossing.read].append(crossing)
        return found

    def _map_fences_of(self, step: Step, route: DataMovement, lines: Mapping[Step, int]) -> list[Fence]:
        """Returns the fences that order changes of a tensor map before the reads of it, in the copying thread.

        Fences for another map do not count. Fences for maps that cannot be distinguished count only if no fence is
        certainly for this map.
        """
        found: dict[bool, dict[Fence, None]] = {True: {}, False: {}}
        for each in self._executions.executions_of(step, route.tracked_access) if route.unit == Unit.TENSOR else ():
            place = each.thread.map_addresses.get((step, each.copy.event.visit))
            for at, event in each.thread.positions(ProxyFence):
                if at < each.copy.position and _is_map_acquire(event.effect):
                    is_same = _is_same_address(place, event.address)
                    if is_same is not False:
                        found[bool(is_same)][Fence(lines[event.step], "tensormap")] = None
        return list(found[True] or found[False])


def _is_same_address(one: Value | None, other: Value | None) -> bool | None:
    """Returns whether two addresses are the same; None where it is unknown."""
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    if isinstance(one, SymbolicValue) and isinstance(other, SymbolicValue) and one.identity == other.identity:
        return one.offset == other.offset
    return None


def _is_map_acquire(effect: Effect) -> bool:
    return proxy_fence_direction(effect, "tensormap") in ("both", "acquire")


def _choice_of(step: Step, decisions: Mapping[Step, PathDecision], lines: Mapping[Step, int]) -> UnitSelection | None:
    found = decisions.get(step)
    if found is None:
        return None
    branch = lines[found.branch] if found.branch is not None else None
    others = tuple(sorted(lines[other] for other in decisions if other is not step))
    return UnitSelection("run time", found.words, branch, others)


def _proxy_fences_of(step: Step, crossings: Sequence[ProxyCrossing], lines: Mapping[Step, int]) -> list[Fence]:
    """Returns a fence for each line with one, with the nearest of the other accesses."""
    found: dict[int | None, Fence] = {}
    for crossing in sorted(crossings, key=lambda each: abs(each.read.start - each.write.start)):
        other = crossing.write if crossing.read is step else crossing.read
        if other is not step:
            fence = lines[crossing.fence] if crossing.fence is not None else None
            found.setdefault(fence, Fence(fence, "generic and async", lines[other]))
    return sorted(found.values(), key=lambda fence: fence.line or 0)
