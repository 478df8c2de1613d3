"""Litmus tests: programs of a few threads, which are known tests of memory models, with the outcomes that the model
allows.

The threads are in one warp, in one CTA, in the CTAs of a cluster or of a grid; their shared variables are in global or
in shared memory. Orders, scopes and fences are chosen freely, so some programs have races.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.fast_dataclasses import dataclass
from ptxkit.linter import lint
from ptxkit.testing.oracles.budgeted_run import emulate_within_budget
from ptxkit.testing.oracles.litmus_programs import (
    PLACEMENTS,
    SCOPES,
    AllowedBehavior,
    LitmusProgram,
    ModelEvent,
    compute_behavior,
)
from ptxkit.testing.oracles.session import track_oracle
from ptxkit.testing.pipelines.plan import Choose

POLICIES = ("eager", "random", "random", "random")
_VARIABLE_STRIDE = 128
"""Bytes between two variables."""


@dataclass(frozen=True, slots=True)
class Litmus:
    """A program with its launch. shape: the name of the test; space: `global` or `shared`. It has one argument: 32-bit
    words, first the variables, each in its own line, then the registers."""

    shape: str
    program: LitmusProgram
    space: str
    target: str = "sm_90a"
    version: tuple[int, int] = (8, 7)
    name: str = "litmus"

    @property
    def behaviour(self) -> AllowedBehavior:
        """The behavior that the memory consistency model allows."""
        return compute_behavior(self.program)

    @property
    def registers(self) -> int:
        """The number of registers that are read."""
        return sum(each.kind == "read" for events in self.program.threads for each in events)

    @property
    def launch(self) -> DeviceLaunch:
        count, place = len(self.program.threads), self.program.place
        block = {"lanes": 32, "warps": 32 * count}.get(place, 32)
        grid = count if place in ("cluster", "grid") else 1
        words = np.zeros(_VARIABLE_STRIDE // 4 * 4 + max(self.registers, 1), np.uint32)
        return DeviceLaunch(self.name, grid, block, (words,), grid if place == "cluster" else None)

    def outcome(self, words: np.ndarray[Any, Any]) -> tuple[int, ...]:
        """Returns the final values of the registers of a run."""
        start = _VARIABLE_STRIDE // 4 * 4
        return tuple(int(each) for each in words[start : start + self.registers])

    def module(self) -> str:
        """Returns the PTX."""
        major, minor = self.version
        launch = self.launch
        lines = [f".version {major}.{minor}", f".target {self.target}", ".address_size 64"]
        lines += [f".visible .entry {self.name}(.param .u64 .ptr .global .align 16 words)", f".reqntid {launch.block}"]
        if launch.cluster:
            lines += [".explicitcluster", f".reqnctapercluster {launch.cluster}"]
        return "\n".join([*lines, "{", *self._body(), "ret;", "}", ""])

    def _body(self) -> list[str]:
        place = self.program.place
        lines = [
            f".reg .b32 %who, %r<{self.registers + 1}>; .reg .b64 %words, %at; .reg .pred %is;",
            "ld.param.u64 %words, [words];",
            {"lanes": "mov.u32 %who, %tid.x;", "warps": "mov.u32 %who, %tid.x;"}.get(place, "mov.u32 %who, %ctaid.x;"),
        ]
        if place == "warps":
            lines += [".reg .b32 %lane; and.b32 %lane, %who, 31; shr.u32 %who, %who, 5;"]
        if self.space == "shared":
            lines += [
                f".reg .b32 %tile; .shared .align 128 .b8 tile[{4 * _VARIABLE_STRIDE}]; mov.u32 %tile, tile;",
                *self._zeros(),
            ]
        if place != "lanes":
            start = "" if place == "warps" else ".reg .b32 %lane; mov.u32 %lane, %tid.x; "
            lines += [f"{start}setp.ne.u32 %is, %lane, 0; @%is bra DONE;"]
        for number, events in enumerate(self.program.threads):
            lines.append(f"setp.ne.u32 %is, %who, {number}; @%is bra NEXT_{number};")
            for at, event in enumerate(events):
                lines += self._event(event, f"{number}_{at}")
            for event in events:
                if event.kind == "read":
                    lines.append(
                        f"st.global.u32 [%words+{4 * (_VARIABLE_STRIDE + event.register)}], %r{event.register};"
                    )
            lines += ["bra DONE;", f"NEXT_{number}:"]
        lines.append("DONE:")
        if place == "cluster" and self.space == "shared":
            lines += ["barrier.cluster.arrive;", "barrier.cluster.wait;"]
        return lines

    def _zeros(self) -> list[str]:
        stores = [f"@!%is st.shared.u32 [%tile+{_VARIABLE_STRIDE * each}], 0;" for each in range(4)]
        lines = [".reg .b32 %own; mov.u32 %own, %tid.x; setp.ne.u32 %is, %own, 0;", *stores]
        if self.program.place == "cluster":
            return [
                *lines,
                "barrier.cluster.arrive;",
                "barrier.cluster.wait;",
                "mapa.shared::cluster.u32 %tile, %tile, 0;",
            ]
        return [*lines, "bar.sync 0;"]

    def _event(self, event: ModelEvent, label: str) -> list[str]:
        if event.kind == "barrier":
            return ["bar.warp.sync -1;"]
        if event.kind == "fence":
            return [f"fence.{event.order}.{event.scope};"]
        space = self.space if self.program.place != "cluster" or self.space != "shared" else "shared::cluster"
        base = "%tile" if self.space == "shared" else "%words"
        at = f"[{base}+{_VARIABLE_STRIDE * event.variable}]"
        order = "" if event.order == "weak" else f".{event.order}.{event.scope}"
        if event.kind == "write":
            return [f"st{order}.{space}.u32 {at}, {event.value};"]
        read = f"ld{order}.{space}.u32 %r{event.register}, {at};"
        if event.value is None:
            return [read]
        return [f"SPIN_{label}:", read, f"setp.ne.u32 %is, %r{event.register}, {event.value}; @%is bra SPIN_{label};"]


# ------------------------------------------------------------------------------------------------ shapes


@dataclass(slots=True)
class _EventGenerator:
    """Creates events with chosen orders, scopes and fences; the simplest is relaxed, with a scope that includes all
    threads.

    scopes: to choose from; weak: 1 if accesses may be weak; waits: whether a read may be repeated until it has its
    value, which it may never get if its scope is too narrow.
    """

    choose: Choose
    scopes: Sequence[str]
    weak: int
    may_poll: bool
    next_register: int = 0

    def scope(self) -> str:
        return self.scopes[self.choose(len(self.scopes))]

    def write(self, variable: int, value: int = 1) -> list[ModelEvent]:
        order = ("relaxed", "release", "weak")[self.choose(2 + self.weak)]
        event = ModelEvent("write", variable, value, order, "" if order == "weak" else self.scope())
        return [*self.fence(), event]

    def read_event(self, variable: int, wanted: int | None = None) -> list[ModelEvent]:
        order = ("relaxed", "acquire", "weak")[self.choose(2 + (self.weak if wanted is None else 0))]
        self.next_register += 1
        event = ModelEvent(
            "read", variable, wanted, order, "" if order == "weak" else self.scope(), self.next_register - 1
        )
        return [event, *self.fence()]

    def fence(self) -> list[ModelEvent]:
        kind = ("", "acq_rel", "sc")[self.choose(3)]
        return [ModelEvent("fence", order=kind, scope=self.scope())] if kind else []


def _message_passing(make: _EventGenerator) -> list[list[ModelEvent]]:
    spins = 1 if make.may_poll and make.choose(2) else None
    return [[*make.write(0), *make.write(1)], [*make.read_event(1, spins), *make.read_event(0)]]


def _store_buffering(make: _EventGenerator) -> list[list[ModelEvent]]:
    return [[*make.write(0), *make.fence(), *make.read_event(1)], [*make.write(1), *make.fence(), *make.read_event(0)]]


def _load_buffering(make: _EventGenerator) -> list[list[ModelEvent]]:
    return [[*make.read_event(0), *make.write(1)], [*make.read_event(1), *make.write(0)]]


def _two_reads(make: _EventGenerator) -> list[list[ModelEvent]]:
    return [make.write(0), [*make.read_event(0), *make.read_event(0)]]


def _write_to_read(make: _EventGenerator) -> list[list[ModelEvent]]:
    return [make.write(0), [*make.read_event(0), *make.write(1)], [*make.read_event(1), *make.read_event(0)]]


def _independent_reads(make: _EventGenerator) -> list[list[ModelEvent]]:
    return [
        make.write(0),
        make.write(1),
        [*make.read_event(0), *make.read_event(1)],
        [*make.read_event(1), *make.read_event(0)],
    ]


def _two_writes(make: _EventGenerator) -> list[list[ModelEvent]]:
    return [[*make.write(0), *make.write(1, 2)], [*make.write(1), *make.read_event(0)]]


SHAPES: dict[str, Callable[[_EventGenerator], list[list[ModelEvent]]]] = {
    "two reads": _two_reads,
    "message passing": _message_passing,
    "store buffering": _store_buffering,
    "load buffering": _load_buffering,
    "write to read": _write_to_read,
    "write and read": _two_writes,
    "independent reads": _independent_reads,
}


def litmus_test(choose: Choose) -> Litmus:
    """Returns a litmus test with random choices."""
    shape = list(SHAPES)[choose(len(SHAPES))]
    place = PLACEMENTS[choose(len(PLACEMENTS))]
    space = "global" if place == "grid" else ("global", "shared")[choose(2)]
    narrow = SCOPES.index({"lanes": "cta", "warps": "cta", "cluster": "cluster", "grid": "gpu"}[place])
    scopes = SCOPES[narrow:]
    # The machine lets a CTA spin for a long time, although another CTA of its cluster could continue.
    weak, waits = 0, place != "cluster"
    match ("strong", "weak", "narrow", "strong")[choose(4)]:
        case "weak":
            weak = 1
        case "narrow":
            scopes, waits = (*scopes, *SCOPES[:narrow]), False
    events = SHAPES[shape](_EventGenerator(choose, scopes, weak, waits))
    return Litmus(shape, LitmusProgram(tuple(tuple(each) for each in events), place), space)


# ------------------------------------------------------------------------------------------------ comparison with the
# machine


@track_oracle
def assert_litmus(test: Litmus, seeds: int = 1) -> frozenset[tuple[int, ...]]:
    """Asserts that the machine and the rules agree with the memory model, and returns the outcomes of the machine.

    The machine must report a race that the model has in every execution. If the model has no race, the machine must
    report none, and have only outcomes that the model allows. The rules must report nothing for a program without a
    race.
    """
    text, launch, allowed = test.module(), test.launch, test.behaviour
    shown = set()
    for seed in range(seeds):
        for place, policy in enumerate(POLICIES):
            found = emulate_within_budget(launch, text, policy=policy, seed=seed * len(POLICIES) + place)
            if found.unsupported_reason or found.incomplete_reason:
                raise AssertionError(
                    f"the machine has no verdict: {found.unsupported_reason or found.incomplete_reason}\n{text}"
                )
            if found.findings and not allowed.may_race:
                raise AssertionError(f"there is no race, and the machine finds {found.findings[0]}\n{text}")
            if not found.findings and allowed.always_races:
                raise AssertionError(f"there is a race, and the machine finds nothing (policy {policy})\n{text}")
            if not found.findings:
                shown.add(test.outcome(found.outputs[0]))
    strange = sorted(shown - allowed.outcomes) if not allowed.may_race else []
    if strange:
        raise AssertionError(f"the machine shows {strange}, the model allows {sorted(allowed.outcomes)}\n{text}")
    reported = [each for each in lint(text).diagnostics if each.severity != "note"]
    if reported and not allowed.may_race:
        raise AssertionError(f"there is no race, and the rules report {reported[0].code}\n{text}")
    return frozenset(shown)
