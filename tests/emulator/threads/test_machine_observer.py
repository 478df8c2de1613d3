"""A launch sends each observer the events that it handles, in the order of the observers, and no others."""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator import run
from ptxkit.emulator.races.happens_before_monitor import HappensBeforeMonitor
from ptxkit.emulator.races.race_detector import RaceDetector
from ptxkit.emulator.threads.machine_observer import AccessEvent, MachineObserver, ObserverList
from tests.emulator.support import kernel


class _First(MachineObserver):
    def __init__(self, events: list[tuple[str, Any]]) -> None:
        self.events = events

    def on_access(self, event: AccessEvent) -> None:
        self.events.append(("first", (event.kind, event.buffer.name, event.size, event.order)))

    def on_fence(self, group: Any, order: str, scope: str) -> None:
        self.events.append(("first", (order, scope)))


class _Second(MachineObserver):
    def __init__(self, events: list[tuple[str, Any]]) -> None:
        self.events = events

    def on_access(self, event: AccessEvent) -> None:
        self.events.append(("second", int(event.buffer.data[int(event.byte_offsets[0])])))


def test_observers_receive_shared_and_global_accesses_before_memory_changes() -> None:
    events: list[tuple[str, Any]] = []
    body = """ ld.param.u64 %d1, [a]; mov.u32 %r1, 7; membar.gl; st.global.u32 [%d1], %r1; st.local.u32 [far], %r1;
"""
    text = kernel(" .local .align 4 .b8 far[4];\n" + body, ".param .u64 a")
    found = run(
        text, "k", block=1, arguments=[numpy.array([5], numpy.uint32)], observers=(_First(events), _Second(events))
    )
    assert found.outputs[0].tolist() == [7]
    assert [who for who, _ in events] == ["first", "first", "second"]
    assert events[1:] == [("first", ("write", "global", 4, "weak")), ("second", 5)]


def test_an_observer_is_found_by_its_class() -> None:
    observers = ObserverList(HappensBeforeMonitor().observers)
    assert isinstance(observers.find(RaceDetector), RaceDetector)
    assert observers.find(_First) is None
    assert observers.is_checking
    assert not ObserverList().is_checking
