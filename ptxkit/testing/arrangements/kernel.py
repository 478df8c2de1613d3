"""A pipeline as an example: its text, how it is launched, and what it leaves."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any

import numpy as np

from ptxkit.emulate.tensor_maps import TensorMap
from ptxkit.records import dataclass, replace
from ptxkit.testing.arrangements import clusters, drains, products
from ptxkit.testing.arrangements.fills import WORDS
from ptxkit.testing.arrangements.plan import (
    CLUSTERED,
    DRAINS,
    MECHANISMS,
    MULTICASTS,
    PRODUCTS,
    Choose,
    Plan,
    planned,
    target_number,
)
from ptxkit.testing.arrangements.room import EMPTY, FULL, TILES, setup
from ptxkit.testing.arrangements.rounds import written
from ptxkit.testing.arrangements.script import Passage, Script, Site, lines_of
from ptxkit.testing.device_process import DeviceLaunch

Words = np.ndarray[Any, np.dtype[np.uint32]]
Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A kernel with asynchronous copies, and its launch. fault: the number of the fault that it has; None: it is right.

    Two arguments: what it reads, and what it writes; either may be a tensor map.
    """

    plan: Plan
    version: Version = (8, 7)
    fault: int | None = None
    name: str = "kernel"

    @property
    def target(self) -> str:
        return self.plan.target

    @property
    def grid(self) -> int:
        return self.plan.grid

    @property
    def block(self) -> int:
        return self.plan.threads

    @property
    def sites(self) -> tuple[Site, ...]:
        """All the faults that can be put into it."""
        return _sites(self.plan)

    @property
    def site(self) -> Site | None:
        """The fault that it has."""
        return None if self.fault is None else self.sites[self.fault]

    def broken(self, fault: int) -> Pipeline:
        """The same with one of the faults of `sites`."""
        return replace(self, fault=fault)

    def module(self) -> str:
        """The PTX."""
        major, minor = self.version
        head = f".version {major}.{minor}\n.target {self.target}\n.address_size 64\n"
        passages, declarations = _written(self.plan)
        body = "\n".join([*_shared(self.plan), *declarations, *lines_of(passages, self.site), "ret;"])
        entry = f".visible .entry {self.name}({_parameters(self.plan)})\n.reqntid {self.block}, 1, 1"
        if self.plan.cluster > 1:
            entry += f"\n.explicitcluster\n.reqnctapercluster {self.plan.cluster}, 1, 1"
        return f"{head}{entry}\n{{\n{body}\n}}\n"

    @property
    def launch(self) -> DeviceLaunch:
        """How it is launched, with its arguments."""
        return DeviceLaunch(self.name, self.grid, self.block, self.arguments(), self.plan.cluster)

    def arguments(self) -> tuple[Any, ...]:
        """What it reads, and what it writes."""
        plan = self.plan
        data, out = self.data(), self.before()
        first: Any = data
        if plan.has_map:
            first = _mapped(plan, data)
        second: Any = out
        if plan.drain == "tensor":
            second = TensorMap.tiled(out, box=(plan.consumers, 1))
        return first, second

    def data(self) -> Words:
        """The tiles: u32 of shape (inputs, rounds, consumers, words of an element)."""
        plan = self.plan
        if plan.mechanism in PRODUCTS:
            return products.operands_of(plan).view(np.uint32)
        chance = np.random.default_rng(plan.seed)
        shape = (plan.inputs, plan.rounds, plan.consumers, plan.size // 4)
        return chance.integers(1, 1 << 32, shape, dtype=np.uint32)

    def before(self) -> Words:
        """The output before the launch."""
        plan = self.plan
        if plan.drain == "sum":
            words = 4 if plan.mechanism in PRODUCTS else 1
            return np.zeros((plan.grid, plan.consumers * words), np.uint32)
        if plan.drain == "bulk reduce":
            return np.full((plan.grid, plan.consumers), 7, np.uint32)
        return np.zeros((plan.grid * plan.rounds, plan.consumers), np.uint32)

    def expected(self) -> Words:
        """The output behind the launch."""
        plan = self.plan
        if plan.mechanism in PRODUCTS:
            return products.expected_of(plan).view(np.uint32).reshape(plan.grid, -1)
        data = self.data()[_readers(plan)]
        if plan.zeros:
            data[..., -plan.zeros // 4 :] = 0
        other = np.arange(plan.consumers) ^ 1 if plan.shift == 1 else np.roll(np.arange(plan.consumers), -plan.shift)
        values: Words = data[:, :, other].sum(axis=3, dtype=np.uint32)
        if plan.drain == "sum":
            total: Words = np.zeros((plan.grid, plan.consumers), np.uint32)
            for number in range(plan.rounds):
                total = total * np.uint32(3) + values[:, number]
            return total
        if plan.drain == "bulk reduce":
            total = values.sum(axis=1, dtype=np.uint32)
            return total + np.uint32(7)
        return values.reshape(plan.grid * plan.rounds, plan.consumers)


def _readers(plan: Plan) -> list[int]:
    """The part of the input that each CTA gets."""
    size = plan.cluster
    if plan.mechanism in MULTICASTS:
        return [cta // size for cta in range(plan.grid)]
    return [cta - cta % size + (cta - 1) % size for cta in range(plan.grid)]


def _mapped(plan: Plan, data: Words) -> TensorMap:
    """The map of the tiles: one behind the other, or side by side in rows."""
    part = plan.tile // plan.parts // 4
    if plan.rank == 1:
        return TensorMap.tiled(data.reshape(-1), box=(part,))
    rows = plan.tile // 4 // WORDS
    side_by_side = data.reshape(plan.inputs, plan.rounds, rows, WORDS).transpose(0, 2, 1, 3)
    if plan.rank == 2:
        return TensorMap.tiled(
            np.ascontiguousarray(side_by_side.reshape(plan.inputs * rows, -1)), box=(WORDS, part // WORDS)
        )
    return TensorMap.tiled(
        np.ascontiguousarray(side_by_side.reshape(plan.inputs, rows, -1)), box=(WORDS, part // WORDS, 1)
    )


def _parameters(plan: Plan) -> str:
    first, second = (
        f".param .align 64 .b8 {name}[128]" if maps else f".param .u64 .ptr .global .align 16 {name}"
        for name, maps in (("in_", plan.has_map), ("out_", plan.drain == "tensor"))
    )
    return f"{first}, {second}"


def _shared(plan: Plan) -> list[str]:
    found = [f".shared .align 128 .b8 {TILES}[{plan.stages * plan.tile}];"]
    if plan.has_full:
        found.append(f".shared .align 8 .b64 {FULL}[{plan.stages}];")
    if plan.roles == "producer" and plan.handover == "mbarrier":
        found.append(f".shared .align 8 .b64 {EMPTY}[{plan.stages}];")
    if plan.mechanism in PRODUCTS:
        found += products.shared_of(plan)
    if plan.cluster > 1:
        found += clusters.shared_of(plan)
    return found + drains.shared_of(plan)


@lru_cache(maxsize=64)
def _written(plan: Plan) -> tuple[tuple[Passage, ...], tuple[str, ...]]:
    script = Script(branches=plan.branches)
    writer = products.written if plan.mechanism in PRODUCTS else clusters.written if plan.cluster > 1 else written
    writer(setup(plan, script))
    return tuple(script.passages), tuple(script.declarations())


@lru_cache(maxsize=64)
def _sites(plan: Plan) -> tuple[Site, ...]:
    passages, _ = _written(plan)
    return tuple(Site(place, fault) for place, passage in enumerate(passages) for fault in passage.faults)


def _mechanisms(target: str, version: Version) -> tuple[str, ...]:
    """What a version and a target have."""
    number = target_number(target)
    if number < 80 or version < (7, 1):
        raise ValueError(f"pipelines need sm_80 and PTX 7.1; PTX {version[0]}.{version[1]} for {target} has none")
    if number < 90 or version < (8, 0):
        return MECHANISMS[:2]
    clustered = CLUSTERED if version >= (8, 1) else tuple(each for each in CLUSTERED if ".async" not in each)
    return (*MECHANISMS, *clustered, *(PRODUCTS if target == "sm_90a" else ()))


def pipeline(choose: Choose, target: str = "sm_90a", version: Version = (8, 7)) -> Pipeline:
    """A correct pipeline out of choices. Raises ValueError where the version and target have no asynchronous copies."""
    plan = planned(choose, target, _mechanisms(target, version), DRAINS)
    return Pipeline(_fitting(plan), version)


def _fitting(plan: Plan) -> Plan:
    """What goes together."""
    if plan.mechanism == "red.async":
        plan = replace(plan, size=4, rounds=min(plan.rounds, plan.stages))
    if plan.mechanism in MULTICASTS:
        shares = plan.shares and not (plan.has_map and plan.tile // plan.cluster % 128)
        plan = replace(plan, shares=shares, parts=plan.cluster if shares else 1)
        if plan.rank == 1 and plan.tile // 4 > 256 * plan.parts:
            plan = replace(plan, rank=2)
    if plan.mechanism == "tensor":
        parts = plan.parts if plan.tile // plan.parts % 128 == 0 else 1
        if plan.rank == 1 and plan.tile // 4 > 256 * parts:
            parts = 2
        plan = replace(plan, parts=parts)
        if plan.rank == 1 and plan.tile // parts // 4 > 256:
            plan = replace(plan, rank=2)
    if plan.mechanism != "cp.async" and plan.ahead != plan.stages:
        plan = replace(plan, ahead=plan.stages)
    return plan


def broken_one(choose: Choose, correct: Pipeline) -> Pipeline:
    """A pipeline with one of its faults."""
    return correct.broken(choose(len(correct.sites)))


def random_pipeline(random: Random, target: str = "sm_90a", version: Version = (8, 7)) -> Pipeline:
    """Without Hypothesis."""
    return pipeline(random.randrange, target, version)
