"""The standard observers of a launch, which track the order of accesses and check accesses against it.

Source: PTX ISA, "Memory Consistency Model": "Causality Order", "Release and Acquire Patterns", "Asynchronous
Operations".
"""

from __future__ import annotations

from ptxkit.emulator.races.access_history import AccessHistory
from ptxkit.emulator.races.collective_checks import CollectiveChecks
from ptxkit.emulator.races.grid_dependency_reads import GridDependencyReads
from ptxkit.emulator.races.inflight_conflicts import InflightAccessChecker
from ptxkit.emulator.races.mbarrier_clocks import MbarrierClocks
from ptxkit.emulator.races.ordering_clocks import OrderingClocks
from ptxkit.emulator.races.polled_flags import PolledFlags
from ptxkit.emulator.races.proxy_checker import OperandStoreChecker, ProxyChecker
from ptxkit.emulator.races.race_detector import RaceDetector
from ptxkit.emulator.races.release_patterns import ReleasePatterns
from ptxkit.emulator.races.sc_fences import ScFences
from ptxkit.emulator.races.shared_memory_lifetime import SharedMemoryLifetime
from ptxkit.emulator.races.tensor_memory_order import TensorMemoryOrder
from ptxkit.emulator.races.tensormap_fences import TensormapFences
from ptxkit.emulator.threads.machine_observer import MachineObserver


class HappensBeforeMonitor:
    """The observers that compare each access with earlier ones and with the asynchronous operations in flight.

    They share one `history`. An observer that handles releases precedes the race detector, which records the access;
    one that stores the clocks when an operation starts follows all checks of the operation.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self.history = history = AccessHistory(strict=strict)
        tensormap_fences, releases = TensormapFences(history), ReleasePatterns(history)
        only_strict = (GridDependencyReads(history), PolledFlags(), OperandStoreChecker(history)) if strict else ()
        self.observers: tuple[MachineObserver, ...] = (
            InflightAccessChecker(),
            CollectiveChecks(),
            releases,
            ScFences(history),
            SharedMemoryLifetime(history),
            *only_strict,
            RaceDetector(history, releases),
            ProxyChecker(history),
            MbarrierClocks(history),
            OrderingClocks(history, tensormap_fences),
            tensormap_fences,
            TensorMemoryOrder(history),
        )
