"""What a kernel is while it is written: statements in order, each with the user's line, and the registers they use.

There are two lists. The *prologue* holds what is true for the whole kernel and is wanted anywhere in it: parameters,
special registers, addresses of variables. It runs first, so a value read there may be used on every path. The *body*
holds what the user writes, in the order it is written.
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
"""Threads may write one kernel together, where no block is open: their registers and labels have names of their own."""

_PROLOGUE_LOCK = RLock()
"""Held by the thread that writes to a prologue."""


@dataclass(frozen=True, slots=True)
class RecordedStatement:
    """One recorded statement.

    `match` is the form of an instruction, None for a label. `copy_bytes` is what a tensor copy brings. `fallback` is an
    instruction that does the same on older targets, and replaces it where nothing else in the module needs newer ones.
    """

    statement: tree.Statement
    location: Location
    match: Match | None = None
    copy_bytes: int | None = None
    fallback: RecordedStatement | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """A place in the kernel that a branch may go to."""

    name: str


class UsageState:
    """Whether a kernel or function was of any use.

    `was_used` says that what it is written for has happened, `was_interrupted` that an exception ended a block of it,
    and `errors_at_start` how many errors the builder had raised when it began.
    """

    __slots__ = ("errors_at_start", "was_interrupted", "was_used")

    def __init__(self) -> None:
        self.was_used = self.was_interrupted = False
        self.errors_at_start = BuildError.raised_count


class StatementRecorder:
    """Records statements in order and makes the names of registers and labels."""

    def __init__(self) -> None:
        self.prologue: list[RecordedStatement] = []
        self.body: list[RecordedStatement] = []
        self.register_counts: Counter[tuple[str, str]] = Counter()
        self.usage = UsageState()
        self._labels: Counter[str] = Counter()
        self._placed_labels: set[Label] = set()  # branches may come first: checked when the kernel is assembled
        self._prologue_thread = 0  # the one that writes to the prologue now
        self._block_threads: list[int] = []  # the threads that are inside blocks, each the innermost one last

    # ------------------------------------------------------------------------------------------- names

    def new_register_name(self, scalar: type[Scalar]) -> str:
        """The name of a register that nothing uses yet."""
        kind = register_class(scalar)
        with _NUMBERING_LOCK:
            number = self.register_counts[kind]
            self.register_counts[kind] += 1
        return f"{kind[1]}{number}"

    def label(self, name: str = "label") -> Label:
        """A new label, not placed yet; `name` only helps the reader of the PTX."""
        with _NUMBERING_LOCK:
            number = self._labels[name]
            self._labels[name] += 1
        return Label(f"${name}_{number}")

    @property
    def in_prologue(self) -> bool:
        """Whether what this thread writes goes to the prologue."""
        return self._prologue_thread == get_ident()

    def enter_block(self) -> None:
        """This thread is inside a block, until it leaves."""
        self._block_threads.append(get_ident())

    def leave_block(self, failure: type[BaseException] | None) -> None:
        """This thread leaves a block; where an exception made it, what was written is no kernel yet."""
        self._block_threads.pop()
        if failure is not None:
            self.usage.was_interrupted = True

    # --------------------------------------------------------------------------------------- statements

    def place(self, label: Label) -> None:
        """Puts a label here."""
        if label in self._placed_labels:
            raise BuildError(f"label {label.name} is placed already")
        self._placed_labels.add(label)
        self.record(tree.LabelStatement(label.name))

    def remove_label(self, label: Label) -> None:
        """Takes a label back that was the last thing written."""
        self._placed_labels.remove(label)
        self.body.pop()

    def record(self, statement: tree.Statement, match: Match | None = None) -> None:
        """Appends a statement to the prologue or the body; `match` is the form of an instruction."""
        if self._block_threads and not self.in_prologue and self._block_threads[-1] != get_ident():
            raise BuildError(
                "another thread is inside a block of this kernel: which block this is in depends on timing"
            )
        target = self.prologue if self.in_prologue else self.body
        target.append(RecordedStatement(statement, find_caller(), match))

    def set_copy_bytes(self, size: int) -> None:
        """Says how many bytes the copy brings that was recorded last: the verifier counts them."""
        self.body[-1] = replace(self.body[-1], copy_bytes=size)

    def fold_fallback(self) -> None:
        """Makes one of the last two instructions: the last stands for the one before it on older targets."""
        older = self.body.pop()
        self.body[-1] = replace(self.body[-1], fallback=older)

    def entries(self) -> tuple[RecordedStatement, ...]:
        """Prologue, then body."""
        return (*self.prologue, *self.body)


class PrologueContext:
    """`with PrologueContext(recorder):` what is recorded inside goes to the prologue."""

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
