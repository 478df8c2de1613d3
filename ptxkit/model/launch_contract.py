"""The conditions that a kernel imposes on its launches: plain data that analyses derive, and that launches are held to.

A condition of a contract is necessary: if a launch does not satisfy it, some instruction that the launch executes is
wrong. The conditions of a question are sufficient: if a launch satisfies them, the question is decided as correct.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import prod
from typing import TypeAlias

from ptxkit.diagnostics.catalogue import contract_words
from ptxkit.diagnostics.catalogue.contract_words import DEMANDED, STATED
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.source import SourceLine

LaunchShape: TypeAlias = tuple[int, int, int]


_PURPOSES = {"load": contract_words.LOADS, "store": contract_words.STORES, "reduce": contract_words.REDUCTIONS}


class ConditionScope(StrEnum):
    """The launches that a condition is about."""

    LAUNCH = "launch"
    """Each launch."""
    LINE = "line"
    """Each launch that executes the line of the condition."""
    SOME = "some"
    """Some launches: with other arguments, or on other paths, the kernel may be correct."""


@dataclass(frozen=True, slots=True)
class PassedMap:
    """A tensor map that is passed.

    rank: the number of dimensions. mode: `tiled` or `im2col`. box_bytes: the bytes of a box; None if they are unknown.
    """

    rank: int
    mode: str
    box_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ProposedLaunch:
    """A launch that is compared with conditions; a part that is None, or absent, is not known.

    block, cluster: the extents in x, y and z. shared: the bytes of dynamic shared memory. values: the numbers and
    addresses that are passed, by the index of the parameter and the byte in it. maps: the same for tensor maps.
    """

    block: LaunchShape | None = None
    cluster: LaunchShape | None = None
    shared: int | None = None
    values: Mapping[tuple[int, int], int] = field(default_factory=dict)
    maps: Mapping[tuple[int, int], PassedMap] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BlockLimits:
    """The number of threads of a block.

    exact: the required extents. most: the largest number. failing: the numbers that the analysis proved to be wrong, of
    blocks with one dimension. possible: the other numbers that it tried, or, if none is wrong, those with which a
    question is decided. failing_shapes, shapes: the same for blocks with several dimensions. code: the violation that
    occurs with the failing ones.
    """

    exact: LaunchShape | None = None
    most: int | None = None
    failing: tuple[int, ...] = ()
    possible: tuple[int, ...] = ()
    code: str = ""
    shapes: tuple[LaunchShape, ...] = ()
    failing_shapes: tuple[LaunchShape, ...] = ()

    def clause(self, verbs: Mapping[str, str] = DEMANDED) -> str:
        if self.exact is not None:
            return contract_words.BLOCK_EXACTLY(threads=_extents(self.exact), **verbs)
        if self.most is not None:
            return contract_words.BLOCK_AT_MOST(threads=self.most, **verbs)
        possible = (*map(str, self.possible), *map(_extents, self.shapes))
        if possible and (verbs is not DEMANDED or not self.failing):
            wrong = _wrong_with((*map(str, self.failing), *map(_extents, self.failing_shapes)), self.code)
            return contract_words.BLOCK_ONE_OF(possible=_either(possible), wrong=wrong, **verbs)
        words = contract_words.BLOCK_NOT if self.possible else contract_words.BLOCK_NONE_OF
        return words(failing=_either(self.failing), code=self.code, possible=_either(self.possible), **verbs)

    def is_broken_by(self, launch: ProposedLaunch) -> bool:
        if launch.block is None:
            return False
        if self.exact is not None:
            return launch.block != self.exact
        threads = prod(launch.block)
        return threads > self.most if self.most is not None else launch.block in [(n, 1, 1) for n in self.failing]


@dataclass(frozen=True, slots=True)
class ClusterLimits:
    """The number of CTAs of a cluster: the required extents, the smallest or the largest number.

    possible: the numbers with which a question is decided, of those that the analysis tried. failing: those with which
    it found a violation. code: that violation.
    """

    exact: LaunchShape | None = None
    least: int | None = None
    most: int | None = None
    possible: tuple[int, ...] = ()
    failing: tuple[int, ...] = ()
    code: str = ""

    def clause(self, verbs: Mapping[str, str] = DEMANDED) -> str:
        if self.exact is not None:
            return contract_words.CLUSTER_EXACTLY(ctas=_extents(self.exact), **verbs)
        if self.possible:
            wrong = _wrong_with(self.failing, self.code)
            return contract_words.CLUSTER_ONE_OF(ctas=_either(self.possible), wrong=wrong, **verbs)
        if self.most is not None:
            return contract_words.CLUSTER_AT_MOST(ctas=self.most, **verbs)
        return contract_words.CLUSTER_AT_LEAST(ctas=self.least, **verbs)

    def is_broken_by(self, launch: ProposedLaunch) -> bool:
        if launch.cluster is None:
            return False
        ctas = prod(launch.cluster)
        if self.exact is not None:
            return launch.cluster != self.exact
        if self.possible:
            return False  # other numbers may be correct
        return ctas > self.most if self.most is not None else ctas < (self.least or 1)


@dataclass(frozen=True, slots=True)
class DynamicShared:
    """Dynamic shared memory: its least number of bytes, or the number of which its first address is a multiple."""

    least: int | None = None
    alignment: int | None = None

    def clause(self, verbs: Mapping[str, str] = DEMANDED) -> str:
        if self.least is not None:
            return contract_words.SHARED_AT_LEAST(bytes=self.least, **verbs)
        return contract_words.SHARED_ALIGNED(bytes=self.alignment, **verbs)

    def is_broken_by(self, launch: ProposedLaunch) -> bool:
        return self.least is not None and launch.shared is not None and launch.shared < self.least


@dataclass(frozen=True, slots=True)
class ParameterPlace:
    """A kernel parameter, or a part of one that is a structure.

    name: as its author wrote it. symbol: its name in the text. index: its number, from 0. offset: of the part, in
    bytes.
    """

    name: str
    symbol: str
    index: int
    offset: int = 0

    def __str__(self) -> str:
        part = contract_words.PART_OF_PARAMETER(offset=self.offset) if self.offset else ""
        return contract_words.PARAMETER(part=part, index=self.index, name=self.name)


@dataclass(frozen=True, slots=True)
class ParameterMultiple:
    """A number or an address of which the remainder modulo `divisor` must be `remainder`."""

    parameter: ParameterPlace
    divisor: int
    remainder: int = 0
    is_address: bool = False

    def clause(self, verbs: Mapping[str, str] = DEMANDED) -> str:
        words = contract_words.MULTIPLE_AND_MORE if self.remainder else contract_words.MULTIPLE
        unit = contract_words.BYTES() if self.is_address else ""
        return words(parameter=self.parameter, divisor=self.divisor, remainder=self.remainder, unit=unit, **verbs)

    def is_broken_by(self, launch: ProposedLaunch) -> bool:
        value = launch.values.get((self.parameter.index, self.parameter.offset))
        return value is not None and value % self.divisor != self.remainder


@dataclass(frozen=True, slots=True)
class ParameterSpace:
    """A generic address in a state space."""

    parameter: ParameterPlace
    space: str

    def clause(self, verbs: Mapping[str, str] = DEMANDED) -> str:
        return contract_words.SPACE(parameter=self.parameter, space=self.space, **verbs)

    def is_broken_by(self, launch: ProposedLaunch) -> bool:  # noqa: ARG002 (the windows of the state spaces differ)
        return False


@dataclass(frozen=True, slots=True)
class TensorMapUse:
    """A tensor map, in a parameter or at the address in one.

    rank: the number of dimensions. mode: `tiled` or `im2col`. operations: of `load`, `store` and `reduce`, those for
    which it is used. box_bytes: the bytes of a box, where they are known. is_pointer: whether the parameter holds the
    address of the map.
    """

    parameter: ParameterPlace
    rank: int
    mode: str
    operations: tuple[str, ...]
    box_bytes: int | None = None
    is_pointer: bool = False

    def clause(self, verbs: Mapping[str, str] = DEMANDED) -> str:
        words = contract_words.TENSOR_MAP_ADDRESS if self.is_pointer else contract_words.TENSOR_MAP
        box = "" if self.box_bytes is None else contract_words.BOX_OF(bytes=self.box_bytes)
        used = join_words([_PURPOSES[each]() for each in self.operations])
        return words(parameter=self.parameter, rank=self.rank, mode=self.mode, purposes=used, box=box, **verbs)

    def is_broken_by(self, launch: ProposedLaunch) -> bool:
        passed = launch.maps.get((self.parameter.index, self.parameter.offset))
        if passed is None:
            return False
        differs = self.box_bytes is not None and passed.box_bytes not in (None, self.box_bytes)
        return (passed.rank, passed.mode) != (self.rank, self.mode) or differs


@dataclass(frozen=True, slots=True)
class BoxBytes:
    """The bytes of boxes of tensor maps together, as an mbarrier expects them.

    boxes: the maps, with the number of boxes of each.
    """

    boxes: tuple[tuple[ParameterPlace, int], ...]
    size: int

    def clause(self, verbs: Mapping[str, str] = DEMANDED) -> str:
        named = [
            contract_words.BOX(parameter=place) if count == 1 else contract_words.BOXES(count=count, parameter=place)
            for place, count in self.boxes
        ]
        is_single = len(self.boxes) == 1 and self.boxes[0][1] == 1
        words = contract_words.BOX_SIZE if is_single else contract_words.TOTAL_SIZE
        return words(boxes=join_words(named), bytes=self.size, **verbs)

    def is_broken_by(self, launch: ProposedLaunch) -> bool:
        passed = [(launch.maps.get((place.index, place.offset)), count) for place, count in self.boxes]
        sizes = [each.box_bytes * count for each, count in passed if each is not None and each.box_bytes is not None]
        return len(sizes) == len(passed) and sum(sizes) != self.size


@dataclass(frozen=True, slots=True)
class Residency:
    """CTAs wait for each other, so that those that wait for others and these others run at the same time."""

    def clause(self, verbs: Mapping[str, str] = DEMANDED) -> str:
        return contract_words.RESIDENT(**verbs)

    def is_broken_by(self, launch: ProposedLaunch) -> bool:  # noqa: ARG002 (the GPU decides how many CTAs it holds)
        return False


Requirement: TypeAlias = (
    BlockLimits
    | ClusterLimits
    | DynamicShared
    | ParameterMultiple
    | ParameterSpace
    | TensorMapUse
    | BoxBytes
    | Residency
)

KINDS: Mapping[type, str] = {
    BlockLimits: "block",
    ClusterLimits: "cluster",
    DynamicShared: "shared",
    ParameterMultiple: "multiple",
    ParameterSpace: "space",
    TensorMapUse: "tensor map",
    BoxBytes: "boxes",
    Residency: "grid",
}
"""The kind of each requirement, in the order in which a contract lists them."""
_ORDER = {kind: number for number, kind in enumerate(KINDS)}


def rank_of(requirement: Requirement) -> int:
    """Returns the place of a requirement's kind in the order in which contracts list them."""
    return _ORDER[type(requirement)]


@dataclass(frozen=True, slots=True)
class LaunchCondition:
    """A condition that a launch must satisfy.

    line: the line of the PTX from which it follows. source_line: that of the program, where `.loc` states it.
    is_declared: whether the module declares it, so that the driver, or a caller who reads the declaration, knows it.
    """

    requirement: Requirement
    line: int
    source_line: SourceLine | None = None
    scope: ConditionScope = ConditionScope.LAUNCH
    is_declared: bool = False

    @property
    def kind(self) -> str:
        return KINDS[type(self.requirement)]

    @property
    def sentence(self) -> str:
        """The condition as a sentence."""
        words = self.requirement.clause()
        if self.scope is ConditionScope.LINE:
            return contract_words.WHERE_EXECUTED(condition=words)
        if self.scope is ConditionScope.SOME:
            return contract_words.IN_SOME_LAUNCHES(condition=words)
        return f"{words[:1].upper()}{words[1:]}."


@dataclass(frozen=True, slots=True)
class SufficientCondition:
    """A condition under which a question, or what an instruction demands, is decided as correct.

    A question may have several; then all of them together suffice. codes: the rules. line, source_line: of the first
    instruction, as for a condition.
    """

    requirement: Requirement
    codes: tuple[str, ...]
    line: int
    source_line: SourceLine | None = None

    @property
    def kind(self) -> str:
        return KINDS[type(self.requirement)]

    @property
    def sentence(self) -> str:
        """The condition as a sentence."""
        return contract_words.SUFFICES(codes=join_words(self.codes), clause=self.requirement.clause(STATED))


@dataclass(frozen=True, slots=True)
class LaunchContract:
    """The conditions of one kernel, by kind.

    conditions: the necessary ones. sufficient: those that no necessary condition implies, if they were requested.
    """

    kernel: str
    conditions: tuple[LaunchCondition, ...] = ()
    sufficient: tuple[SufficientCondition, ...] = ()

    def not_satisfied_by(self, launch: ProposedLaunch) -> tuple[LaunchCondition, ...]:
        """Returns the conditions that a launch does not satisfy, also those that are not about all launches."""
        return tuple(each for each in self.conditions if each.requirement.is_broken_by(launch))

    @property
    def undeclared(self) -> tuple[LaunchCondition, ...]:
        """The conditions that the module does not declare."""
        return tuple(each for each in self.conditions if not each.is_declared)


def _extents(shape: LaunchShape) -> str:
    """Returns `128`, or `32x4` for several dimensions."""
    kept = list(shape)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return "x".join(map(str, kept))


def _wrong_with(failing: Sequence[int | str], code: str) -> str:
    return contract_words.WRONG_WITH(failing=_either(failing), code=code) if failing else ""


def _either(numbers: Sequence[int | str]) -> str:
    *others, last = map(str, numbers or (0,))
    return contract_words.OR(first=", ".join(others), last=last) if others else last


def join_words(words: Sequence[str]) -> str:
    """Returns `a, b and c`."""
    *others, last = words
    return contract_words.AND(first=", ".join(others), last=last) if others else last
