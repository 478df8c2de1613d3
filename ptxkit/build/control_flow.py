"""Structured control flow: `if_`, `elif_`, `else_`, `while_`, `loop`, `for_range` (`for_`), `thread_is`, `elect_one`.

Each method returns a context manager, and the statements inside its block are the branch or the loop's body. The
methods emit only labels, branches and the arithmetic of loop counters, so that the PTX text corresponds to the Python
code.

Source: PTX ISA, "Control Flow Instructions: bra", "Predicated Execution".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, cast, overload

from ptxkit.build.errors import BuildError, BuildTypeError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.recorder import Label
from ptxkit.build.registers import Number, Register, Variable, check_predicate, known_multiple
from ptxkit.build.special_registers import read_special
from ptxkit.kernel_model.scalar_types import IntegerScalar, ScalarT, pred, u32
from ptxkit.syntax import tree

if TYPE_CHECKING:
    from typing import Self


class IfBlock:
    """`with k.if_(p):` executes the statements of its block in the threads where `p` holds."""

    __slots__ = ("_end", "_flow", "_predicate")

    def __init__(self, flow: InstructionBuilder, predicate: Register[pred]) -> None:
        self._flow = flow
        self._predicate = predicate
        self._end = flow.label("endif")

    def __enter__(self) -> None:
        self._flow.branch(self._end, unless=self._predicate)
        self._flow.recorder.enter_block()

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        self._flow.recorder.leave_block(failure)
        if failure is None:
            end_branch(self._flow, self._end)


class PredicatedBlock:
    """`with k.predicated(p):` gives the instructions of its block the guard `@p`."""

    __slots__ = ("_flow", "_predicate")

    def __init__(self, flow: InstructionBuilder, predicate: Register[pred]) -> None:
        self._flow = flow
        self._predicate = predicate

    def __enter__(self) -> None:
        if self._flow.guard is not None:
            raise BuildError("an instruction has one guard: join the predicates, `k.predicated(p & q)`")
        self._flow.guard = self._predicate
        self._flow.recorder.enter_block()

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        self._flow.recorder.leave_block(failure)
        self._flow.guard = None


class ElseBlock:
    """`with k.else_():` or `with k.elif_(...):`, directly after an `if_` or another `elif_`."""

    __slots__ = ("_condition", "_flow", "_labels")

    def __init__(self, flow: InstructionBuilder, condition: Callable[[], Register[pred]] | None = None) -> None:
        self._flow = flow
        self._condition = condition
        self._labels: tuple[Label, Label] | None = None

    def __enter__(self) -> None:
        flow = self._flow
        before, whole = reopen_branch(flow)
        whole = whole or flow.label("endelse")
        flow.branch(whole)
        flow.place(before)
        if self._condition is not None:
            after = flow.label("endif")
            flow.branch(after, unless=check_predicate(self._condition()))
            self._labels = (after, whole)
        else:
            self._labels = (whole, whole)
        flow.recorder.enter_block()

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        self._flow.recorder.leave_block(failure)
        if failure is not None or self._labels is None:
            return
        after, whole = self._labels
        if after is whole:
            self._flow.place(whole)
        else:
            end_branch(self._flow, after, whole)


class LoopBlock:
    """`with k.loop() as loop:` repeats its block until `loop.break_()`."""

    __slots__ = ("_flow", "_head", "_next", "end")

    def __init__(self, flow: InstructionBuilder) -> None:
        self._flow = flow
        self._head = flow.label("loop")
        self._next = flow.label("next")
        self.end = flow.label("endloop")

    def break_(self, when: Register[pred] | None = None) -> None:
        """Leaves the loop, either always or if the predicate `when` holds."""
        self._flow.branch(self.end, when=when)

    def continue_(self, when: Register[pred] | None = None) -> None:
        """Continues with the next iteration, either always or if the predicate `when` holds."""
        self._flow.branch(self._next, when=when)

    def __enter__(self) -> Self:
        self._flow.place(self._head)
        self._emit_loop_start()
        self._flow.recorder.enter_block()
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        self._flow.recorder.leave_block(failure)
        if failure is None:
            self._flow.place(self._next)
            self._emit_loop_end()
            self._flow.branch(self._head)
            self._flow.place(self.end)

    def _emit_loop_start(self) -> None:
        """Emits the statements before the body of each iteration."""

    def _emit_loop_end(self) -> None:
        """Emits the statements after the body of each iteration."""


class WhileBlock(LoopBlock):
    """A loop whose condition is computed before each iteration."""

    __slots__ = ("_condition",)

    def __init__(self, flow: InstructionBuilder, condition: Callable[[], Register[pred]]) -> None:
        super().__init__(flow)
        self._condition = condition

    def _emit_loop_start(self) -> None:
        self._flow.branch(self.end, unless=self._condition())


class ForRangeBlock(Generic[ScalarT]):
    """`with k.for_range(start, stop, step) as i:` iterates as Python's `range`; `i` has the type of the bounds."""

    __slots__ = ("_counter", "_end", "_flow", "_head", "_multiple", "_start", "_step", "_stop", "_unroll")

    def __init__(
        self,
        flow: InstructionBuilder,
        start: Register[ScalarT] | int,
        stop: Register[ScalarT] | int,
        step: Register[ScalarT] | int,
        scalar: type[ScalarT],
        unroll: bool,
    ) -> None:
        self._flow = flow
        self._unroll = unroll
        self._start, self._stop, self._step = start, stop, step
        self._multiple = min(known_multiple(start), known_multiple(step))
        self._head, self._end = flow.label("for"), flow.label("endfor")
        self._counter = Variable(flow, scalar, flow.recorder.new_register_name(scalar))

    def __enter__(self) -> Register[ScalarT]:
        counter = self._counter
        counter.set(self._start)
        self._flow.place(self._head)
        if not self._unroll:
            pragma(self._flow, "nounroll")
        down = isinstance(self._step, int) and self._step < 0
        done = counter <= self._stop if down else counter >= self._stop
        self._flow.branch(self._end, when=done)
        self._flow.recorder.enter_block()
        return Register(self._flow, counter.type, counter.name, self._multiple)

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        self._flow.recorder.leave_block(failure)
        if failure is not None:
            return
        counter = self._counter
        if isinstance(self._step, int) and self._step < 0:
            self._flow.instruction("sub", (counter, -self._step), into=counter)
        else:
            self._flow.instruction("add", (counter, self._step), into=counter)
        self._flow.branch(self._head)
        self._flow.place(self._end)


def if_(k: InstructionBuilder, predicate: Register[pred]) -> IfBlock:
    """Executes the statements of the block in the threads where the predicate holds: `with k.if_(i < n):`.

    Raises `BuildTypeError` if the condition is not a predicate register.
    """
    return IfBlock(k, check_predicate(predicate))


def elif_(k: InstructionBuilder, condition: Callable[[], Register[pred]]) -> ElseBlock:
    """Executes the block in the threads that no earlier branch of the `if_` has taken and where the condition holds.

    `condition` is a function, which is called where the condition is computed: `with k.elif_(lambda: i < n):`. Raises
    `BuildError` if the statement before is not the block of an `if_` or `elif_`.
    """
    return ElseBlock(k, _check_condition_function(condition))


def else_(k: InstructionBuilder) -> ElseBlock:
    """Executes the block in the threads that no branch of the preceding `if_` and its `elif_` has taken.

    Raises `BuildError` if the statement before is not the block of an `if_` or `elif_`.
    """
    return ElseBlock(k)


def predicated(k: InstructionBuilder, predicate: Register[pred]) -> PredicatedBlock:
    """Executes the instructions of the block where the predicate holds, with a guard on each and without a branch.

    It suits few instructions. Registers that they write have no value in the threads where the predicate does not hold.
    """
    return PredicatedBlock(k, check_predicate(predicate))


def thread_is(k: InstructionBuilder, number: int) -> IfBlock:
    """Executes the block in the thread with that `%tid.x`: `with k.thread_is(0):`."""
    return IfBlock(k, read_special(k, "%tid.x") == number)


def elect_one(k: InstructionBuilder, members: int = 0xFFFFFFFF) -> IfBlock:
    """Executes the block in one thread of each warp, which the hardware selects: `elect.sync`.

    All lanes of the mask `members` must reach it together. Needs sm_90.
    """
    _, elected = cast("tuple[Register[Any], Register[pred]]", k.instruction("elect_sync", (members,)))
    return IfBlock(k, elected)


def loop(k: InstructionBuilder) -> LoopBlock:
    """Repeats the block until `break_` is executed: `with k.loop() as loop:`."""
    return LoopBlock(k)


def while_(k: InstructionBuilder, condition: Callable[[], Register[pred]]) -> WhileBlock:
    """Repeats the block while a condition holds, which is computed before each iteration: `k.while_(lambda: i < n)`."""
    return WhileBlock(k, _check_condition_function(condition))


@overload
def for_range(
    k: InstructionBuilder, start: int, stop: int, step: int = 1, *, unroll: bool = True
) -> ForRangeBlock[u32]: ...


@overload
def for_range(
    k: InstructionBuilder,
    start: Register[ScalarT] | int,
    stop: Register[ScalarT] | int,
    step: Register[ScalarT] | int = 1,
    *,
    unroll: bool = True,
) -> ForRangeBlock[ScalarT]: ...


def for_range(
    k: InstructionBuilder,
    start: Register[ScalarT] | int,
    stop: Register[ScalarT] | int,
    step: Register[ScalarT] | int = 1,
    *,
    unroll: bool = True,
) -> ForRangeBlock[ScalarT]:
    """Counts from `start` up to, but not including, `stop`, or down if `step` is a negative constant.

    The bounds and the step are constants or registers of one integer type, which is u32 if all are constants. `unroll`
    permits ptxas to unroll the loop; `k.unroll(4)` unrolls a loop in the builder. Raises `BuildTypeError` if the types
    differ or are not integers, and `BuildError` for a step of 0.
    """
    if isinstance(step, int) and step == 0:
        raise BuildError("a range with step 0 never ends")
    types = {end.type for end in (start, stop, step) if isinstance(end, Register)}
    if len(types) > 1:
        raise BuildTypeError(f"the ends of the range have different types: {start!r}, {stop!r}")
    scalar = types.pop() if types else cast("type[ScalarT]", u32)
    if not issubclass(scalar, IntegerScalar):
        raise BuildTypeError(f"a range counts integers, not .{scalar.word}")
    return ForRangeBlock(k, start, stop, step, scalar, unroll)


def unroll(k: InstructionBuilder, start: int, stop: int | None = None, step: int = 1) -> range:  # noqa: ARG001
    """Returns the iterations of a loop that the builder unrolls: `for i in k.unroll(4):`, where `i` is a Python
    integer.

    Raises `BuildTypeError` if a bound is not a constant.
    """
    if not all(isinstance(each, int) for each in (start, stop, step) if each is not None):
        raise BuildTypeError("a loop that is written out has constant ends; `k.for_range` counts at run time")
    return range(start) if stop is None else range(start, stop, step)


def pragma(k: InstructionBuilder, text: str) -> None:
    """Adds a `.pragma` for the code that follows, such as `nounroll` at the head of a loop."""
    k.recorder.record(tree.Directive("pragma", (f'"{text}"',)))


def variable(
    k: InstructionBuilder, scalar: type[ScalarT], value: Register[ScalarT] | Number, *, multiple: int = 1
) -> Variable[ScalarT]:
    """Returns a register that may be written more than once, initialized with `value`.

    `multiple` is a power of two that divides every value of the register. With it, addresses that are computed from the
    register keep their alignment.
    """
    made = Variable(k, scalar, k.recorder.new_register_name(scalar), multiple)
    made.set(value)
    return made


def end_branch(k: InstructionBuilder, end: Label, whole: Label | None = None) -> None:
    """Ends the branch of an `if_` or `elif_`, so that an `else_` can follow; all branches end at `whole`."""
    k.recorder.place(end)
    if whole is not None:
        k.recorder.place(whole)
    k.last_branch = (end, whole, len(k.recorder.body))


def reopen_branch(k: InstructionBuilder) -> tuple[Label, Label | None]:
    """Removes the end labels of the preceding `if_` or `elif_`, and returns them."""
    if k.last_branch is None or k.last_branch[2] != len(k.recorder.body):
        raise BuildError("`else_` and `elif_` come directly after the `with` block of an `if_` or `elif_`")
    end, whole, _ = k.last_branch
    if whole is not None:
        k.recorder.remove_label(whole)
    k.recorder.remove_label(end)
    return end, whole


def _check_condition_function(condition: object) -> Callable[[], Register[pred]]:
    if not callable(condition):
        raise BuildTypeError("the condition is computed where it is tested: pass a function, `lambda: i < n`")
    return condition
