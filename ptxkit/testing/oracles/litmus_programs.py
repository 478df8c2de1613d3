"""Generated litmus programs as tests of the memory model: their outcomes, and whether they race."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.memory_model import LitmusTest, LitmusThread
from ptxkit.memory_model.checker import enumerate_outcomes
from ptxkit.memory_model.events import BarrierUse, EventKind, MemoryEvent, Placement
from ptxkit.memory_model.register_code import RegisterCode, RegisterStep
from ptxkit.semantics.ordering import scope_level

SCOPES = ("cta", "cluster", "gpu", "sys")
PLACEMENTS = ("lanes", "warps", "cluster", "grid")
"""The placement of the threads: in one warp, in one CTA, in the CTAs of a cluster, in any CTAs."""


@dataclass(frozen=True, slots=True)
class ModelEvent:
    """kind: `write`, `read`, `fence`, `barrier`. variable: the accessed location. value: the written value, or the
    value that a read waits for.

    order: `weak`, `relaxed`, `acquire`, `release`; for fences `acq_rel`, `sc`. register: the number of a read's
    register.
    """

    kind: str
    variable: int = 0
    value: int | None = None
    order: str = "weak"
    scope: str = ""
    register: int = 0


@dataclass(frozen=True, slots=True)
class LitmusProgram:
    """The events of each thread in program order. place: one of `PLACEMENTS`."""

    threads: tuple[tuple[ModelEvent, ...], ...]
    place: str

    def as_test(self) -> LitmusTest:
        """Returns the test whose question is about races."""
        threads = tuple(
            LitmusThread(f"P{at}", self._placement(at), RegisterCode(list(_steps(events)), {}))
            for at, events in enumerate(self.threads)
        )
        return LitmusTest("generated", threads, {}, "race", None)

    def _placement(self, thread: int) -> Placement:
        if self.place in ("lanes", "warps"):
            return Placement(0, 0, 0, thread)
        return Placement(thread, 0 if self.place == "cluster" else thread, 0)


def _steps(events: Sequence[ModelEvent]) -> Iterator[RegisterStep]:
    at = 0
    for each in events:
        scope = scope_level(each.scope)
        text = " ".join((each.kind, each.order, each.scope)).strip()
        if each.kind == "fence":
            yield RegisterStep("fence", event=MemoryEvent(EventKind.FENCE, text, order=each.order, scope=scope))
        elif each.kind == "barrier":
            event = MemoryEvent(EventKind.SYNC, text, use=BarrierUse("warp", 0, "sync"))
            yield RegisterStep("barrier", operands=(0,), event=event)
        else:
            name = f"v{each.variable}"
            kind = EventKind.READ if each.kind == "read" else EventKind.WRITE
            event = MemoryEvent(kind, text, address=name, location=name, order=each.order, scope=scope)
            if each.kind == "write":
                yield RegisterStep("store", operands=(each.value or 0,), event=event)
            else:
                yield RegisterStep("load", register=f"r{each.register}", event=event)
                if each.value is not None:
                    at += 1
                    yield RegisterStep("branch", "bne", operands=(f"r{each.register}", each.value), target=at - 1)
        at += 1


@dataclass(frozen=True, slots=True)
class AllowedBehavior:
    """outcomes: the values of the registers in executions without a race. always, ever: whether all executions, or any,
    have a race.
    """

    outcomes: frozenset[tuple[int, ...]]
    always_races: bool
    may_race: bool


def compute_behavior(program: LitmusProgram) -> AllowedBehavior:
    """Returns the behavior that the model allows for a program."""
    found = enumerate_outcomes(program.as_test())
    registers = sorted(
        {
            (each.register, f"P{at}:r{each.register}")
            for at, events in enumerate(program.threads)
            for each in events
            if each.kind == "read"
        }
    )
    outcomes = frozenset(tuple(dict(state).get(name, 0) for _, name in registers) for state in found.race_free)
    return AllowedBehavior(outcomes, bool(found.states) and not found.race_free, found.has_race)
