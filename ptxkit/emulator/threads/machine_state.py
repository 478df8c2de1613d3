"""The interfaces of the machine that its parts use: the launch, its CTAs and their code.

A thread group refers to its CTA, the CTA to the launch, and the launch to its asynchronous operations and observers.
Their classes are in packages that import this one (`sync`, `races`, `engine`), so packages below the engine use these
interfaces. If a member is an object of such a package, its type is `Any` here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ptxkit.emulator.core.address_windows import AddressWindows
from ptxkit.emulator.core.findings import ExecutionFault, ViolationReport
from ptxkit.emulator.core.lane_set import ThreadIndex
from ptxkit.emulator.core.semantics_registry import Bits
from ptxkit.emulator.core.uninitialized_reads import UninitializedReads
from ptxkit.emulator.state.memory import ClusterMemory, CtaMemory, LaunchMemory
from ptxkit.emulator.state.memory_layout import SharedLayout
from ptxkit.emulator.state.symbols import FrameLayout, RegisterSlots
from ptxkit.emulator.state.textures import TextureHandles
from ptxkit.emulator.tensor.tensor_memory import CtaTensorMemory
from ptxkit.emulator.threads.launch_geometry import Dim3, LaunchGeometry
from ptxkit.semantics.layout import DeclaredVariable
from ptxkit.syntax.tree import Function, Instruction

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_observer import ObserverList
    from ptxkit.emulator.threads.thread_groups import Step, ThreadGroup
    from ptxkit.emulator.threads.waitable import Waitable


class FunctionCode(Protocol):
    """A decoded function: for each step, the instruction that it executes and its offset in the text."""

    name: str
    frame: FrameLayout
    steps: list[Step]
    instructions: list[Instruction]
    offsets: list[int]
    parameters: list[RegisterSlots | DeclaredVariable]
    results: list[RegisterSlots | DeclaredVariable]

    @property
    def opcodes(self) -> set[str]:
        """The opcodes in the function."""

    def branch_targets(self, pc: int) -> tuple[int, ...]:
        """Returns the steps that an instruction can branch to."""

    def new_registers(self, cta: CtaState) -> list[Bits]:
        """Returns the initial values of the frame's slots for the threads of a CTA."""


class ProgramCode(Protocol):
    """The module and the kernel of a launch."""

    entry: Function
    memory: LaunchMemory
    shared: SharedLayout
    windows: AddressWindows
    address_size: int
    texture_handles: TextureHandles

    @property
    def decoded_functions(self) -> Iterable[FunctionCode]:
        """The functions that were called so far."""

    def decode_function(self, name: str) -> FunctionCode:
        """Returns the decoded function, which is created on its first call."""

    def function_address(self, name: str) -> int:
        """Returns the address of a function."""

    def function_at(self, address: int) -> FunctionCode | None:
        """Returns the function at an address, or None if none exists."""

    def syscall(self, name: str) -> Callable[..., Any] | None:
        """Returns a function that the system provides, unless the module defines it."""

    def is_changing_special(self, name: str) -> bool:
        """Returns whether a special register may have another value at each read."""


class AsyncOperations(Protocol):
    """The asynchronous operations of a launch."""

    @property
    def inflight(self) -> Any:
        """The bytes that operations in flight access: `InflightAccesses`."""

    def committed_groups(self, cta: CtaState, kind: str) -> Any:
        """Returns the number of groups that each thread has committed."""

    def issue(self, operation: Any) -> None:
        """Starts an operation."""

    def defer_arrive(self, group: ThreadGroup, index: Any, barrier: Any, kind: str = ...) -> None:
        """Arrives at an mbarrier once for each thread when the thread's earlier operations of a kind are complete."""

    def commit(self, group: ThreadGroup, kind: str) -> None:
        """Commits the current groups of the threads."""

    def wait(self, group: ThreadGroup, kind: str, pending: Any, *, reads_only: bool = False) -> Waitable | None:
        """Completes all groups of the threads except the last `pending`. Returns what to wait for first, if
        anything.
        """

    def on_mbarrier_change(self) -> None:
        """Handles a change of an mbarrier."""

    def spin_limit(self) -> int:
        """Returns the number of failed polls after which threads block."""


class MachineState(Protocol):
    """A launch."""

    launch: LaunchGeometry
    policy: str
    seed: int
    memory: LaunchMemory
    report: ViolationReport
    output: list[str]
    observer: ObserverList
    uninit_pattern: int
    uninitialized_reads: UninitializedReads
    laneless: frozenset[int]
    used_global: bool
    pauses_before_access: bool
    progress_count: int

    @property
    def program(self) -> ProgramCode:
        """The module and its kernel."""

    @property
    def async_engine(self) -> AsyncOperations:
        """The asynchronous operations of the launch."""

    @property
    def clusters(self) -> Sequence[ClusterState]:
        """The clusters that are resident."""

    def line_of(self, offset: int) -> int:
        """Returns the line of the PTX at an offset, or 0 if there is no text."""

    def thread_of(self, number: int) -> Dim3:
        """Returns the thread's index in its CTA."""

    def report_fault(self, fault: ExecutionFault) -> None:
        """Reports a fault whose position and CTA are known."""

    def read_clock(self) -> int:
        """Returns the number of steps so far."""

    def cancel_cluster(self) -> Dim3 | None:
        """Cancels a cluster that has not started, and returns its first CTA."""


class ClusterState(ClusterMemory, Protocol):
    """A cluster. `mbarriers` are the mbarrier objects by their offsets in the shared memory of the cluster."""

    id: Dim3
    number: int
    mbarriers: dict[int, Any]
    barrier: Any

    @property
    def ctas(self) -> Sequence[CtaState]:
        """The CTAs by rank."""


class CtaState(CtaMemory, Protocol):
    """A CTA and its threads. `alive` states for each thread whether it has not exited."""

    block: Dim3
    threads: int
    warps: int
    shared_start: int
    all_threads: ThreadIndex
    barriers: dict[int, Any]
    rendezvous: dict[tuple[object, ...], Any]
    cancel_refused: Any
    completed_groups: dict[str, Any]
    blocked_groups: list[tuple[ThreadGroup, Waitable]]

    @property
    def machine(self) -> MachineState:
        """The launch."""

    @property
    def tensor_memory(self) -> CtaTensorMemory:
        """The Tensor Memory of the CTA."""

    @property
    def cluster(self) -> ClusterState:
        """The cluster of the CTA."""

    def initial_register(self, width: int) -> Bits:
        """Returns the value of a register that was never written."""

    def filled_register(self, width: int) -> Bits:
        """Returns a register whose bits differ from those of `initial_register`."""

    def constant_special(self, name: str, width: int) -> Bits:
        """Returns the value of a special register that does not change while the CTA runs."""

    def changing_special(self, name: str, group: ThreadGroup) -> Bits:
        """Returns the present value of a special register."""

    def reserve_local(self, size: int) -> None:
        """Reserves local memory of `size` bytes for each thread."""

    def copy_local(self, index: ThreadIndex, source: Any, target: Any, size: int) -> None:
        """Copies bytes of threads' local memory; addresses are in the space."""

    def store_local(self, index: ThreadIndex, address: Any, value: Bits) -> None:
        """Writes a value to threads' local memory."""

    def load_local(self, index: ThreadIndex, address: Any, size: int) -> Bits:
        """Reads a value of `size` bytes from threads' local memory."""

    def resume(self, group: ThreadGroup) -> None:
        """Makes a group runnable, merged with those at the same position."""
