"""Records a kernel under construction: its statements in order, each with the user's line, and its registers.

There are two lists. The *prologue* holds values that the whole kernel uses: parameters, special registers, addresses of
variables. It is executed first, so its values are defined on every path. The *body* holds the statements of the user in
order.
"""

from __future__ import annotations

from collections import Counter
from threading import Lock, RLock, get_ident
from typing import TYPE_CHECKING

from ptxkit.build.errors import BuildError, find_caller
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.kernel_model.scalar_types import Scalar, register_class
from ptxkit.kernel_model.source_lines import Location
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from ptxkit.isa.forms import Match


_NUMBERING_LOCK = Lock()
"""Threads may build one kernel together outside of blocks; the lock keeps the names of registers and labels unique."""

_PROLOGUE_LOCK = RLock()
"""The thread that writes to a prologue holds this lock."""


@dataclass(frozen=True, slots=True)
class RecordedStatement:
    """One recorded statement.

    `match` is the form of an instruction, or None for a label. `copy_bytes` is the number of bytes that a tensor copy
    transfers. `fallback` is an equivalent instruction for older targets, which is used if nothing else in the module
    needs a newer one.
    """

    statement: tree.Statement
    location: Location
    match: Match | None = None
    copy_bytes: int | None = None
    fallback: RecordedStatement | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """A position in the kernel that a branch may target."""

    name: str


class UsageState:
    """Whether a kernel or function was used.

    `was_used` states that it was printed, run or called, `was_interrupted` that an exception ended one of its blocks,
    and `errors_at_start` is the number of errors that the builder had raised when it was created.
    """

    __slots__ = ("errors_at_start", "was_interrupted", "was_used")

    def __init__(self) -> None:
        self.was_used = self.was_interrupted = False
        self.errors_at_start = BuildError.raised_count


class StatementRecorder:
    """Records statements in order, and generates the names of registers and labels."""

    def __init__(self) -> None:
        self.prologue: list[RecordedStatement] = []
        self.body: list[RecordedStatement] = []
        self.register_counts: Counter[tuple[str, str]] = Counter()
        self.usage = UsageState()
        self._labels: Counter[str] = Counter()
        self._placed_labels: set[Label] = set()  # assembly checks that all are placed
        self._prologue_thread = 0  # the thread that writes to the prologue at the moment
        self._block_threads: list[int] = []  # the threads that are inside blocks, with that of the innermost block last

    # ------------------------------------------------------------------------------------------- names

    def new_register_name(self, scalar: type[Scalar]) -> str:
        """Returns the name of a new register."""
        kind = register_class(scalar)
        with _NUMBERING_LOCK:
            number = self.register_counts[kind]
            self.register_counts[kind] += 1
        return f"{kind[1]}{number}"

    def label(self, name: str = "label") -> Label:
        """Returns a new label that is not placed yet. `name` becomes part of the label's name in the PTX."""
        with _NUMBERING_LOCK:
            number = self._labels[name]
            self._labels[name] += 1
        return Label(f"${name}_{number}")

    @property
    def in_prologue(self) -> bool:
        """Whether this thread's statements are appended to the prologue."""
        return self._prologue_thread == get_ident()

    def enter_block(self) -> None:
        """Records that this thread enters a block."""
        self._block_threads.append(get_ident())

    def leave_block(self, failure: type[BaseException] | None) -> None:
        """Records that this thread leaves a block. If an exception ends the block, the kernel is incomplete."""
        self._block_threads.pop()
        if failure is not None:
            self.usage.was_interrupted = True

    # --------------------------------------------------------------------------------------- statements

    def place(self, label: Label) -> None:
        """Places a label before the next statement."""
        if label in self._placed_labels:
            raise BuildError(f"label {label.name} is placed already")
        self._placed_labels.add(label)
        self.record(tree.LabelStatement(label.name))

    def remove_label(self, label: Label) -> None:
        """Removes a label that is the last statement."""
        self._placed_labels.remove(label)
        self.body.pop()

    def record(self, statement: tree.Statement, match: Match | None = None) -> None:
        """Appends a statement to the prologue or the body. `match` is the form of an instruction."""
        if self._block_threads and not self.in_prologue and self._block_threads[-1] != get_ident():
            raise BuildError(
                "another thread is inside a block of this kernel: which block this is in depends on timing"
            )
        target = self.prologue if self.in_prologue else self.body
        target.append(RecordedStatement(statement, find_caller(), match))

    def set_copy_bytes(self, size: int) -> None:
        """Records the number of bytes that the last copy transfers, which the verifier counts."""
        self.body[-1] = replace(self.body[-1], copy_bytes=size)

    def fold_fallback(self) -> None:
        """Combines the last two instructions to one: the last is its form on older targets."""
        older = self.body.pop()
        self.body[-1] = replace(self.body[-1], fallback=older)

    def entries(self) -> tuple[RecordedStatement, ...]:
        """Returns the statements of the prologue, followed by those of the body."""
        return (*self.prologue, *self.body)


class PrologueContext:
    """`with PrologueContext(recorder):` appends the statements of its block to the prologue."""

    __slots__ = ("_previous_thread", "_recorder")

    def __init__(self, recorder: StatementRecorder) -> None:
        self._recorder = recorder
        self._previous_thread = 0

    def __enter__(self) -> None:
        _PROLOGUE_LOCK.acquire()
        self._previous_thread, self._recorder._prologue_thread = self._recorder._prologue_thread, get_ident()

    def __exit__(self, *_: object) -> None:
        self._recorder._prologue_thread = self._previous_thread
        _PROLOGUE_LOCK.release()
