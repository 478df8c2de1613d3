"""A pipeline as an example: its text, its launch, and its expected output."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any

import numpy as np

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.emulator.state.tensor_maps import TensorMapArgument
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.testing.pipelines import clusters, consumers, wgmma
from ptxkit.testing.pipelines.build_context import EMPTY, FULL, TILES, build_setup
from ptxkit.testing.pipelines.main_loop import write_body
from ptxkit.testing.pipelines.plan import (
    CLUSTER_MECHANISMS,
    DRAINS,
    MECHANISMS,
    MULTICASTS,
    WGMMA_MECHANISMS,
    Choose,
    PipelinePlan,
    choose_plan,
    target_number,
)
from ptxkit.testing.pipelines.producers import ROW_WORDS
from ptxkit.testing.pipelines.text_builder import FaultSite, Snippet, TextBuilder, render_lines

Words = np.ndarray[Any, np.dtype[np.uint32]]
Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class GeneratedPipeline:
    """A kernel with asynchronous copies, and its launch. fault: the number of the injected fault, or None if it is
    correct.

    It has two arguments: its input and its output; either may be a tensor map.
    """

    plan: PipelinePlan
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
    def sites(self) -> tuple[FaultSite, ...]:
        """All faults that can be injected into it."""
        return _fault_sites(self.plan)

    @property
    def site(self) -> FaultSite | None:
        """The injected fault."""
        return None if self.fault is None else self.sites[self.fault]

    def with_fault(self, fault: int) -> GeneratedPipeline:
        """Returns the same pipeline with one of the faults of `sites`."""
        return replace(self, fault=fault)

    def module(self) -> str:
        """Returns the PTX."""
        major, minor = self.version
        head = f".version {major}.{minor}\n.target {self.target}\n.address_size 64\n"
        crossings, declarations = _write_pipeline(self.plan)
        body = "\n".join([*_declare_shared(self.plan), *declarations, *render_lines(crossings, self.site), "ret;"])
        entry = f".visible .entry {self.name}({_parameters(self.plan)})\n.reqntid {self.block}, 1, 1"
        if self.plan.cluster > 1:
            entry += f"\n.explicitcluster\n.reqnctapercluster {self.plan.cluster}, 1, 1"
        return f"{head}{entry}\n{{\n{body}\n}}\n"

    @property
    def launch(self) -> DeviceLaunch:
        """Its launch with the arguments."""
        return DeviceLaunch(self.name, self.grid, self.block, self.arguments(), self.plan.cluster)

    def arguments(self) -> tuple[Any, ...]:
        """Returns its input and its output."""
        plan = self.plan
        data, out = self.input_data(), self.initial_output()
        first: Any = data
        if plan.has_map:
            first = _tensor_map(plan, data)
        second: Any = out
        if plan.drain == "tensor":
            second = TensorMapArgument.tiled(out, box=(plan.consumers, 1))
        return first, second

    def input_data(self) -> Words:
        """Returns the tiles: u32 of shape (inputs, rounds, consumers, words of an element)."""
        plan = self.plan
        if plan.mechanism in WGMMA_MECHANISMS:
            return wgmma.input_operands(plan).view(np.uint32)
        chance = np.random.default_rng(plan.seed)
        shape = (plan.input_count, plan.rounds, plan.consumers, plan.size // 4)
        return chance.integers(1, 1 << 32, shape, dtype=np.uint32)

    def initial_output(self) -> Words:
        """Returns the output before the launch."""
        plan = self.plan
        if plan.drain == "sum":
            words = 4 if plan.mechanism in WGMMA_MECHANISMS else 1
            return np.zeros((plan.grid, plan.consumers * words), np.uint32)
        if plan.drain == "bulk reduce":
            return np.full((plan.grid, plan.consumers), 7, np.uint32)
        return np.zeros((plan.grid * plan.rounds, plan.consumers), np.uint32)

    def expected_output(self) -> Words:
        """Returns the expected output."""
        plan = self.plan
        if plan.mechanism in WGMMA_MECHANISMS:
            return wgmma.expected_output(plan).view(np.uint32).reshape(plan.grid, -1)
        data = self.input_data()[_input_parts(plan)]
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


def _input_parts(plan: PipelinePlan) -> list[int]:
    """Returns the part of the input that each CTA reads."""
    size = plan.cluster
    if plan.mechanism in MULTICASTS:
        return [cta // size for cta in range(plan.grid)]
    return [cta - cta % size + (cta - 1) % size for cta in range(plan.grid)]


def _tensor_map(plan: PipelinePlan, data: Words) -> TensorMapArgument:
    """Returns the map of the tiles: one after the other, or side by side in rows."""
    part = plan.tile_bytes // plan.parts // 4
    if plan.rank == 1:
        return TensorMapArgument.tiled(data.reshape(-1), box=(part,))
    rows = plan.tile_bytes // 4 // ROW_WORDS
    side_by_side = data.reshape(plan.input_count, plan.rounds, rows, ROW_WORDS).transpose(0, 2, 1, 3)
    if plan.rank == 2:
        return TensorMapArgument.tiled(
            np.ascontiguousarray(side_by_side.reshape(plan.input_count * rows, -1)), box=(ROW_WORDS, part // ROW_WORDS)
        )
    return TensorMapArgument.tiled(
        np.ascontiguousarray(side_by_side.reshape(plan.input_count, rows, -1)), box=(ROW_WORDS, part // ROW_WORDS, 1)
    )


def _parameters(plan: PipelinePlan) -> str:
    first, second = (
        f".param .align 64 .b8 {name}[128]" if maps else f".param .u64 .ptr .global .align 16 {name}"
        for name, maps in (("in_", plan.has_map), ("out_", plan.drain == "tensor"))
    )
    return f"{first}, {second}"


def _declare_shared(plan: PipelinePlan) -> list[str]:
    found = [f".shared .align 128 .b8 {TILES}[{plan.stages * plan.tile_bytes}];"]
    if plan.has_full_barriers:
        found.append(f".shared .align 8 .b64 {FULL}[{plan.stages}];")
    if plan.roles == "producer" and plan.handover == "mbarrier":
        found.append(f".shared .align 8 .b64 {EMPTY}[{plan.stages}];")
    if plan.mechanism in WGMMA_MECHANISMS:
        found += wgmma.shared_declarations(plan)
    if plan.cluster > 1:
        found += clusters.shared_declarations(plan)
    return found + consumers.shared_declarations(plan)


@lru_cache(maxsize=64)
def _write_pipeline(plan: PipelinePlan) -> tuple[tuple[Snippet, ...], tuple[str, ...]]:
    script = TextBuilder(branches=plan.branches)
    writer = (
        wgmma.write_body
        if plan.mechanism in WGMMA_MECHANISMS
        else clusters.write_body
        if plan.cluster > 1
        else write_body
    )
    writer(build_setup(plan, script))
    return tuple(script.snippets), tuple(script.declarations())


@lru_cache(maxsize=64)
def _fault_sites(plan: PipelinePlan) -> tuple[FaultSite, ...]:
    crossings, _ = _write_pipeline(plan)
    return tuple(FaultSite(place, fault) for place, crossing in enumerate(crossings) for fault in crossing.faults)


def _mechanisms(target: str, version: Version) -> tuple[str, ...]:
    """Returns the mechanisms that a version and a target support."""
    number = target_number(target)
    if number < 80 or version < (7, 1):
        raise ValueError(f"pipelines need sm_80 and PTX 7.1; PTX {version[0]}.{version[1]} for {target} has none")
    if number < 90 or version < (8, 0):
        return MECHANISMS[:2]
    clustered = (
        CLUSTER_MECHANISMS if version >= (8, 1) else tuple(each for each in CLUSTER_MECHANISMS if ".async" not in each)
    )
    return (*MECHANISMS, *clustered, *(WGMMA_MECHANISMS if target == "sm_90a" else ()))


def choose_pipeline(choose: Choose, target: str = "sm_90a", version: Version = (8, 7)) -> GeneratedPipeline:
    """Returns a correct pipeline from choices. Raises ValueError if the version and target have no asynchronous
    copies.
    """
    plan = choose_plan(choose, target, _mechanisms(target, version), DRAINS)
    return GeneratedPipeline(_make_consistent(plan), version)


def _make_consistent(plan: PipelinePlan) -> PipelinePlan:
    """Adjusts choices that exclude each other."""
    if plan.mechanism == "red.async":
        plan = replace(plan, size=4, rounds=min(plan.rounds, plan.stages))
    if plan.mechanism in MULTICASTS:
        shares = plan.shares and not (plan.has_map and plan.tile_bytes // plan.cluster % 128)
        plan = replace(plan, shares=shares, parts=plan.cluster if shares else 1)
        if plan.rank == 1 and plan.tile_bytes // 4 > 256 * plan.parts:
            plan = replace(plan, rank=2)
    if plan.mechanism == "tensor":
        parts = plan.parts if plan.tile_bytes // plan.parts % 128 == 0 else 1
        if plan.rank == 1 and plan.tile_bytes // 4 > 256 * parts:
            parts = 2
        plan = replace(plan, parts=parts)
        if plan.rank == 1 and plan.tile_bytes // parts // 4 > 256:
            plan = replace(plan, rank=2)
    if plan.mechanism != "cp.async" and plan.ahead != plan.stages:
        plan = replace(plan, ahead=plan.stages)
    return plan


def break_pipeline(choose: Choose, correct: GeneratedPipeline) -> GeneratedPipeline:
    """Returns a pipeline with one of its faults."""
    return correct.with_fault(choose(len(correct.sites)))


def random_pipeline(random: Random, target: str = "sm_90a", version: Version = (8, 7)) -> GeneratedPipeline:
    """Returns a random pipeline without Hypothesis."""
    return choose_pipeline(random.randrange, target, version)
