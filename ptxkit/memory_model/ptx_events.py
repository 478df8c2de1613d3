"""The events of one PTX instruction, from its effects in the instruction table.

A load, a store or an atomic operation has one event, or two, for each scalar element. An asynchronous instruction has
an issue, the reads and writes of the locations that other accesses use, and the signal of its completion. Of the
matrices that wgmma.mma_async reads in shared memory, the first word stands for the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.isa import table
from ptxkit.isa.effects import (
    ALL,
    Access,
    AsyncRegisters,
    Barrier,
    Cancellation,
    CommitGroup,
    CtaGroup,
    Effect,
    Grid,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
    MemoryFence,
    Prefetch,
    ProxyFence,
    TensorFence,
    TensorMemory,
    Value,
    WaitGroup,
)
from ptxkit.isa.expressions import Expression, OperandRole
from ptxkit.isa.value_semantics import Semantics
from ptxkit.memory_model.errors import LitmusError
from ptxkit.memory_model.events import (
    ASYNC,
    BarrierUse,
    EventKind,
    FencedProxy,
    MbarrierUse,
    MemoryEvent,
    Placement,
)
from ptxkit.memory_model.litmus_test import Input, TimedEvent
from ptxkit.memory_model.ptx_memory import PtxLocation, PtxMemory
from ptxkit.memory_model.ptx_state import PtxState
from ptxkit.memory_model.ptx_values import PtxOperandReader, PtxStep, Registers
from ptxkit.semantics.ordering import ACQUIRE_ORDERS, CLUSTER_LEVEL, IMPLICIT_FENCE_GROUPS, RELEASE_ORDERS, scope_level
from ptxkit.semantics.value_ops import WRAPPING, bit_mask
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.tree import Name, Vector

_REFUSED = (Prefetch, Grid, Cancellation, TensorMemory, TensorFence, CtaGroup)
_OUTCOMES = (0, 1)
_SOURCES = ".read"
"""The suffix of the group of a kind that has only the reads."""

_READ_PART = {"acquire": "acquire", "acq_rel": "acquire", "weak": "weak"}
_WRITE_PART = {"release": "release", "acq_rel": "release", "weak": "weak"}


def is_refused(effect: Effect) -> bool:
    """Returns whether the model does not cover an effect."""
    if isinstance(effect, Access):
        is_copy = effect.completion is not None or effect.via == "address"
        return effect.space in ("local", "const", "tensor") or effect.via in ("tensormap", "multimem") or not is_copy
    return isinstance(effect, _REFUSED) or (isinstance(effect, AsyncRegisters) and effect.group != "wgmma")


@dataclass(frozen=True, slots=True)
class _Copy:
    """The locations of an asynchronous instruction. pairs: each written location with its source, which is None where
    the value is an operand. sources: the locations that are only read.
    """

    sources: tuple[PtxLocation, ...]
    pairs: tuple[tuple[PtxLocation | None, PtxLocation], ...]
    reads: Access | None
    writes: Access | None


@dataclass(slots=True, eq=False)
class EventMaker:
    """Makes the events of the instructions of one thread."""

    memory: PtxMemory
    place: Placement
    reader: PtxOperandReader
    _semantics: dict[int, Semantics | None] = field(default_factory=dict)

    def inputs(self, step: PtxStep, state: PtxState) -> list[Input]:
        """Returns what the events of an instruction depend on: locations that it reads, or the outcomes of a wait."""
        registers = dict(state.registers)
        if any(isinstance(effect, MbarrierWait) for effect in step.match.effects):
            return [_OUTCOMES]
        copy = self._copy(step, registers)
        if copy is not None:
            updated = [target.name for _, target in copy.pairs] if _is_update(copy.writes) else []
            return [*(each.name for each in copy.sources), *updated]
        return [
            each.name
            for access in _direct(step)
            if access.kind != "write"
            for each in self._elements(step, access, registers)
        ]

    def perform(
        self, step: PtxStep, state: PtxState, values: Sequence[int], at: int, depends: frozenset[int]
    ) -> tuple[Sequence[TimedEvent], PtxState]:
        """Returns the events of an instruction, and the following state. at: the number of events before."""
        made = _StepEvents(self, step, state, at, depends)
        made.run(values)
        control = state.control | (depends if step.step.instruction.guard is not None else frozenset())
        return made.events, replace(made.state, at=state.at + 1, control=control)

    def parameter_value(self, step: PtxStep, registers: Registers) -> int | None:
        """Returns the value that an instruction loads from a parameter; None for any other."""
        for effect in step.match.effects:
            if isinstance(effect, Access) and effect.space.startswith("param"):
                offset = self.reader.require_role(step, effect.address, registers)
                return self.memory.parameter_values.get(offset, 0)
        return None

    def semantics(self, step: PtxStep) -> Semantics | None:
        """Returns the semantics of an instruction in the table."""
        key = id(step.match)
        if key not in self._semantics:
            self._semantics[key] = next(iter(table().semantics_of(step.match)), None)
        return self._semantics[key]

    def result_names(self, step: PtxStep, role: str) -> list[str]:
        """Returns the registers of a result."""
        operand = step.match.operand(role, step.step.instruction)
        parts = operand.elements if isinstance(operand, Vector) else (operand,)
        return [step.step.scope.declared_name(each.text) if isinstance(each, Name) else "_" for each in parts]

    # ------------------------------------------------------------------------------------------- locations

    def _elements(self, step: PtxStep, access: Access, registers: Registers) -> list[PtxLocation]:
        """Returns the locations of the scalar elements of a load, a store or an atomic operation."""
        semantics = self.semantics(step)
        if semantics is None or semantics.function not in ("load", "store", "atomic"):
            raise LitmusError(
                f"the model does not cover `{step.text}`", "it covers loads, stores and atomic operations"
            )
        address = self.reader.require_role(step, access.address, registers)
        size = self._size(step, access.size, registers)
        count = int(semantics.named_arguments.get("count") or 1)
        each = size // count
        return [
            self.memory.use(self.memory.locate(access.space, address + at * each, each, self.place))
            for at in range(count)
        ]

    def _size(self, step: PtxStep, size: Expression | None, registers: Registers) -> int:
        if size is None:
            raise LitmusError(f"the size of `{step.text}` is not known", "copy without a tensor map")
        return self.reader.require(step, self.reader.evaluate(step, size, registers))

    def _copy(self, step: PtxStep, registers: Registers) -> _Copy | None:
        """Returns the locations of an asynchronous instruction; None for any other."""
        accesses = [each for each in step.match.effects if isinstance(each, Access) and each.completion is not None]
        if not accesses:
            return None
        reads = next((each for each in accesses if each.kind == "read"), None)
        writes = next((each for each in accesses if each.kind != "read"), None)
        if writes is None:  # matrices in shared memory
            sources = tuple(self._matrix(step, each, registers) for each in accesses)
            return _Copy(sources, (), reads, None)
        targets = list(self._targets(step, writes, registers))
        if reads is None:
            return _Copy((), tuple((None, self.memory.use(target)) for target in targets), None, writes)
        source = self._range(step, reads, registers)
        pairs = tuple((one, other) for target in targets for one, other in self.memory.copy_pairs(source, target))
        return _Copy(tuple(dict.fromkeys(one for one, _ in pairs)), pairs, reads, writes)

    def _range(self, step: PtxStep, access: Access, registers: Registers) -> PtxLocation:
        address = self.reader.require_role(step, access.address, registers)
        return self.memory.locate(access.space, address, self._size(step, access.size, registers), self.place)

    def _targets(self, step: PtxStep, access: Access, registers: Registers) -> Iterator[PtxLocation]:
        whole = self._range(step, access, registers)
        for cta in self.ctas(step, access.multicast, registers, whole.cta):
            yield PtxLocation(whole.variable, cta, whole.offset, whole.size, whole.space)

    def ctas(self, step: PtxStep, mask_role: str | None, registers: Registers, own: int | None) -> list[int | None]:
        """Returns the CTAs in a mask; without one, the CTA that an address belongs to."""
        if mask_role is None:
            return [own]
        ctas = sorted({each.cta for each in self.memory.places if each.cluster == self.place.cluster})
        if mask_role == ALL:
            return [self.memory.home(cta) for cta in ctas]
        mask = self.reader.require_role(step, mask_role, registers)
        return [self.memory.home(cta) for rank, cta in enumerate(ctas) if mask >> rank & 1]

    def _matrix(self, step: PtxStep, access: Access, registers: Registers) -> PtxLocation:
        """Returns the first word of the matrix that a descriptor denotes ("Matrix Descriptor Format": the address
        without its low four bits is in the low 14 bits).
        """
        descriptor = self.reader.require_role(step, access.address, registers)
        rank = self.memory.rank_of(self.place.cta)
        address = self.memory.map_rank("shared", (descriptor & bit_mask(14)) << 4, rank)
        start = self.memory.locate("shared::cta", address, 1, self.place)
        known = [
            each
            for each in self.memory.used
            if (each.variable, each.cta, each.offset) == (start.variable, start.cta, start.offset)
        ]
        return known[0] if known else replace(start, size=4)

    def barrier_name(self, step: PtxStep, role: str, registers: Registers, cta: int | None = None) -> str:
        """Returns the name of the mbarrier object at an address, or of that at the same offset in another CTA."""
        address = self.reader.require_role(step, role, registers)
        space = "generic" if address >> 32 else "shared::cluster"
        found = self.memory.locate(space, address, 8, self.place)
        return (found if cta is None else replace(found, cta=cta)).name


def _direct(step: PtxStep) -> list[Access]:
    """Returns the accesses of an instruction that are complete when it is."""
    return [
        each
        for each in step.match.effects
        if isinstance(each, Access) and each.completion is None and not each.space.startswith("param")
    ]


def _is_update(access: Access | None) -> bool:
    return access is not None and access.kind == "update"


class _StepEvents:
    """The events of one execution of an instruction, as they are made."""

    def __init__(self, maker: EventMaker, step: PtxStep, state: PtxState, at: int, depends: frozenset[int]) -> None:
        self.maker, self.step, self.state, self.at, self.depends = maker, step, state, at, depends
        self.events: list[TimedEvent] = []
        self.registers: Mapping[str, int] = dict(state.registers)

    def run(self, values: Sequence[int]) -> None:
        """Makes the events for the values of the inputs."""
        copy = self.maker._copy(self.step, self.registers)
        if copy is not None:
            self._make_copy(copy, values)
        elif _direct(self.step):
            self._make_accesses(values)
        for effect in self.step.match.effects:
            self._make_effect(effect, values)

    def _add(self, event: MemoryEvent, value: int = 0) -> int:
        self.events.append((replace(event, depends=event.depends | self.depends), value))
        return self.at + len(self.events) - 1

    def _assign(self, role: str, values: Sequence[int], taint: frozenset[int] = frozenset()) -> None:
        for name, value in zip(self.maker.result_names(self.step, role), values, strict=False):
            if name != "_":
                self.state = self.state.assign(name, value, taint)

    # ------------------------------------------------------------------------------------------- accesses

    def _make_accesses(self, values: Sequence[int]) -> None:
        left, loaded, reads = list(values), [], []
        for access in _direct(self.step):
            locations = self.maker._elements(self.step, access, self.registers)
            for number, location in enumerate(locations):
                if access.kind != "write":
                    old = left.pop(0)
                    loaded.append(old)
                    reads.append(self._add(self._access(EventKind.READ, access, location), old))
                if access.kind == "update":
                    new = self._updated_value(loaded[-1], self._operand(1, number), number, location)
                    self._add(
                        replace(self._access(EventKind.WRITE, access, location), depends=frozenset(reads[-1:])), new
                    )
                elif access.kind == "write":
                    self._add(self._access(EventKind.WRITE, access, location), self._operand(1, number))
        for effect in self.step.match.effects:
            if isinstance(effect, Value):
                self._assign(effect.result, loaded, frozenset(reads))

    def _access(self, kind: EventKind, access: Access, location: PtxLocation, issue: int | None = None) -> MemoryEvent:
        parts = _READ_PART if kind is EventKind.READ else _WRITE_PART
        order = "relaxed" if access.order in ("volatile", "mmio") else access.order
        if access.kind == "update":
            order = parts.get(order, "relaxed")
        implied = access.completion in IMPLICIT_FENCE_GROUPS or access.completion == "mbarrier"
        return MemoryEvent(
            kind,
            self.step.text,
            address=location.name,
            location=location.name,
            space=location.space,
            order=order,
            scope=scope_level(access.scope),
            proxy=access.proxy,
            is_atomic=access.kind == "update",
            is_reduction=access.kind == "update" and not self.step.match.results,
            issue=issue,
            implies_fence=implied and access.proxy == ASYNC,
        )

    def _operand(self, number: int, element: int) -> int:
        """Returns an input of the semantics, or of a vector its element. An unknown value is 0."""
        semantics = self.maker.semantics(self.step)
        if semantics is None or number >= len(semantics.operands):
            return 0
        argument = semantics.operands[number]
        if not isinstance(argument, OperandRole):
            return 0
        operand = self.step.match.operand(argument.name, self.step.step.instruction)
        if isinstance(operand, Vector):
            operand = operand.elements[element]
        value = None if operand is None else self.maker.reader.operand(self.step, operand, self.registers)
        return value or 0

    def _updated_value(self, old: int, operand: int, number: int, location: PtxLocation) -> int:
        semantics = self.maker.semantics(self.step)
        operation = "" if semantics is None else semantics.named_arguments.get("operation")
        mask = bit_mask(8 * location.size)
        match operation:
            case "exch":
                return operand & mask
            case "cas":
                return self._operand(2, number) & mask if old == operand & mask else old
            case "min" | "max":
                return (min if operation == "min" else max)(old, operand & mask)
            case "inc":
                return 0 if old >= operand else old + 1
            case "dec":
                return operand if old == 0 or old > operand else old - 1
            case str() if operation in WRAPPING:
                result: int = WRAPPING[operation](old, operand)
                return result & mask
        raise LitmusError(f"the model does not cover `{self.step.text}`", "use an integer operation")

    # ---------------------------------------------------------------------------------- asynchronous instructions

    def _make_copy(self, copy: _Copy, values: Sequence[int]) -> None:
        access = copy.reads or copy.writes
        assert access is not None
        issue = self._add(MemoryEvent(EventKind.ISSUE, self.step.text, is_ordered_issue=access.completion != "wgmma"))
        given = dict(zip(copy.sources, values, strict=False))
        old = list(values[len(copy.sources) :])
        reads = []
        if copy.reads is not None:
            reads = [
                self._add(self._access(EventKind.READ, copy.reads, each, issue), given[each]) for each in copy.sources
            ]
        written = []
        for number, (source, target) in enumerate(copy.pairs):
            assert copy.writes is not None
            value = self._operand(1, number) if source is None else given[source]
            depends = frozenset(reads)
            if copy.writes.kind == "update":
                before = old[number]
                read = self._add(self._access(EventKind.READ, copy.writes, target, issue), before)
                written.append(read)
                depends |= {read}
                value = self._updated_value(before, value, number, target)
            event = replace(self._access(EventKind.WRITE, copy.writes, target, issue), depends=depends)
            written.append(self._add(event, value))
        self._note_group(access.completion or "", reads, written)
        for effect in self.step.match.effects:
            if isinstance(effect, MbarrierComplete):
                self._make_signals(effect, issue)

    def _note_group(self, kind: str, reads: Sequence[int], written: Sequence[int]) -> None:
        self.state = self.state.issue(kind, (*reads, *written)).issue(kind + _SOURCES, reads)
        if kind == "cp.async":
            self.state = replace(self.state, copies=(*self.state.copies, *reads, *written))

    def _make_signals(self, effect: MbarrierComplete, issue: int | None) -> None:
        size = self.maker._size(self.step, effect.size, self.registers)
        for name in self._barriers(effect.barrier, effect.multicast):
            use = MbarrierUse(name, "complete", size=size)
            self._add_use(use, order="release", scope=CLUSTER_LEVEL, issue=issue)

    def _barriers(self, role: str, mask: str | None) -> list[str]:
        ctas = self.maker.ctas(self.step, mask, self.registers, None)
        return [self.maker.barrier_name(self.step, role, self.registers, cta) for cta in ctas]

    def _add_use(
        self, use: MbarrierUse | BarrierUse, *, order: str = "relaxed", scope: int = 0, issue: int | None = None
    ) -> int:
        return self._add(MemoryEvent(EventKind.SYNC, self.step.text, order=order, scope=scope, use=use, issue=issue))

    # ------------------------------------------------------------------------------------------- synchronization

    def _make_effect(self, effect: Effect, values: Sequence[int]) -> None:
        match effect:
            case MemoryFence():
                self._add(
                    MemoryEvent(
                        EventKind.FENCE,
                        self.step.text,
                        order=effect.order,
                        scope=scope_level(effect.scope),
                        only_mbarriers=effect.only is not None,
                    )
                )
            case ProxyFence():
                self._make_proxy_fence(effect)
            case Barrier():
                self._make_barrier(effect)
            case CommitGroup():
                self.state = self.state.commit(effect.group).commit(effect.group + _SOURCES)
            case WaitGroup():
                self._make_group_wait(effect)
            case MbarrierInit() | MbarrierInvalidate():
                count = self._require(effect.count) if isinstance(effect, MbarrierInit) else 0
                action = "init" if isinstance(effect, MbarrierInit) else "inval"
                self._add_use(MbarrierUse(self._barriers(effect.barrier, None)[0], action, count))
            case MbarrierArrive():
                self._make_arrival(effect)
            case MbarrierExpect():
                for name in self._barriers(effect.barrier, effect.multicast):
                    self._add_use(MbarrierUse(name, "expect", size=self._require(effect.size)))
            case MbarrierComplete(asynchronous=False):
                self._make_signals(effect, None)
            case MbarrierTrack():
                self._make_tracked_arrival(effect)
            case MbarrierWait():
                self._make_wait(effect, values[0])

    def _require(self, expression: Expression | None) -> int:
        return self.maker._size(self.step, expression, self.registers)

    def _make_proxy_fence(self, effect: ProxyFence) -> None:
        location = None
        if effect.address is not None:
            address = self.maker.reader.require_role(self.step, effect.address, self.registers)
            location = self.maker.memory.locate("generic", address, 128, self.maker.place).name
        fenced = FencedProxy(effect.proxy, effect.direction, effect.spaces, location)
        is_both = effect.direction == "both"
        kind, order = (EventKind.PROXY_FENCE, "weak") if is_both else (EventKind.FENCE, effect.direction)
        self._add(MemoryEvent(kind, self.step.text, order=order, scope=scope_level(effect.scope), fenced=fenced))

    def _make_barrier(self, effect: Barrier) -> None:
        number = 0 if effect.number is None else self._require(effect.number)
        awaited = None if effect.threads is None else self._require(effect.threads) // WARP_SIZE
        scope = CLUSTER_LEVEL if effect.level == "cluster" else 0
        self._add_use(BarrierUse(effect.level, number, effect.action, awaited), order=effect.order, scope=scope)

    def _make_group_wait(self, effect: WaitGroup) -> None:
        if effect.commits:
            self.state = self.state.commit(effect.group).commit(effect.group + _SOURCES)
        kind = effect.group + (_SOURCES if effect.read_only else "")
        completes = self.state.awaited_events(kind, self._require(effect.pending))
        self._add(MemoryEvent(EventKind.SYNC, self.step.text, completes=completes))

    def _make_arrival(self, effect: MbarrierArrive) -> None:
        order = effect.order if effect.order in RELEASE_ORDERS else "relaxed"
        expected = 0 if effect.expect is None else self._require(effect.expect)
        at = self.at + len(self.events)
        for name in self._barriers(effect.barrier, effect.multicast):
            use = MbarrierUse(name, "arrive", self._require(effect.count), expected, drops=effect.drop)
            self._add_use(use, order=order, scope=scope_level(effect.scope))
        if effect.state is not None:
            self._assign(effect.state, [at])

    def _make_tracked_arrival(self, effect: MbarrierTrack) -> None:
        (name,) = self._barriers(effect.barrier, None)
        if not effect.counted:
            self._add_use(MbarrierUse(name, "pend", 1))
        issue = self._add(MemoryEvent(EventKind.ISSUE, self.step.text))
        signal = MemoryEvent(
            EventKind.SYNC,
            self.step.text,
            order="release",
            use=MbarrierUse(name, "arrive", 1),
            issue=issue,
            completes=frozenset(self.state.copies),
        )
        self._add(signal)

    def _make_wait(self, effect: MbarrierWait, outcome: int) -> None:
        order = "acquire" if effect.order in ACQUIRE_ORDERS else "relaxed"
        phase = self.maker.reader.require_role(self.step, effect.phase, self.registers)
        by_state = effect.by == "state"
        if by_state:
            phase = self.at + len(self.events) - phase
        (name,) = self._barriers(effect.barrier, None)
        use = MbarrierUse(name, "wait", phase=phase, by_state=by_state, holds=bool(outcome))
        self._add_use(use, order=order, scope=scope_level(effect.scope))
        self._assign(effect.result, [outcome])
