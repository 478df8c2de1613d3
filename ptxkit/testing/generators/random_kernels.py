"""Generates kernels from choices: those of Hypothesis, which shrink, or those of a random generator, which are fast.

The smallest choice is always the simplest: no more statements, the first form, the register written last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from random import Random
from typing import TypeAlias, TypeVar

from ptxkit.emulator.core.dtypes import width_of
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.testing.generators.carry_chains import chains
from ptxkit.testing.generators.kernel_ast import (
    UPDATE_SLOTS,
    ExchangeStatement,
    GeneratedKernel,
    IfStatement,
    LoadStatement,
    LoopStatement,
    Statement,
    StepStatement,
    UpdateStatement,
    register_bits,
)
from ptxkit.testing.generators.load_forms import loads_of
from ptxkit.testing.generators.step_catalog import Steps, StepTemplate, Version, steps_of
from ptxkit.testing.limits import MAX_BLOCK_DEPTH, MAX_RESULT_REGISTERS

T = TypeVar("T")

Choose: TypeAlias = Callable[[int], int]
"""A function that returns a number below its argument; the smallest is the simplest choice."""

StatementMaker: TypeAlias = Callable[[Callable[[], T]], T]
"""A function that makes a part that can be omitted separately when an example shrinks."""

_BLOCKS = (32, 64, 128)
_FIXED_NAN_PERIOD = 4
"""One of this many kernels has only steps with a specified NaN, and is compared with all bits of NaNs."""


# The kinds of statements by their frequency, with the simplest first.
_NESTED_KINDS = ("compute",) * 8 + ("guarded",)
_DIVERGENT_KINDS = (*_NESTED_KINDS, "if", "loop", "update")
_CONVERGED_KINDS = (*_DIVERGENT_KINDS, "warp", "warp", "exchange", "meeting")


def random_kernel(
    random: Random, version: Version, target: str, statements: int = 16, name: str = "kernel"
) -> GeneratedKernel:
    """Generates a kernel without Hypothesis."""
    return generate_kernel(random.randrange, version, target, statements, name)


def make_unsplit(make: Callable[[], T]) -> T:
    """Makes a part that cannot be omitted separately."""
    return make()


def generate_kernel(
    choose: Choose,
    version: Version,
    target: str,
    statements: int = 16,
    name: str = "kernel",
    part: StatementMaker[list[Statement]] = make_unsplit,
) -> GeneratedKernel:
    """Generates a kernel of at most `statements` statements at its top level. part: makes a statement."""
    block = _BLOCKS[choose(len(_BLOCKS))]
    grid = 1 + choose(2)
    one_nan = choose(_FIXED_NAN_PERIOD) != _FIXED_NAN_PERIOD - 1
    loads = (loads_of(version, target), loads_of(version, target, acquiring=False))
    maker = _KernelGenerator(choose, available_steps(version, target, one_nan), loads, block, part)
    body = maker.block(1 + choose(statements), _RegisterScope(), together=True)
    kept = tuple(maker.top_registers[-MAX_RESULT_REGISTERS:])
    seed, probes = choose(1 << 16), choose(2) == 1
    return GeneratedKernel(version, target, grid, block, tuple(maker.rows), body, kept, seed, probes, name, one_nan)


@cache
def available_steps(version: Version, target: str, one_nan: bool) -> dict[str, Steps]:
    """Returns all steps, or those that specify which NaN they return."""
    known = dict(steps_of(version, target))
    known["compute"] += chains(version, target)
    if one_nan:
        return known
    fixing = {
        name: [tuple(step for step in form if step.fixes_nans) for form in forms] for name, forms in known.items()
    }
    return {name: tuple(form for form in forms if form) for name, forms in fixing.items()}


@dataclass(slots=True)
class _RegisterScope:
    """The registers that hold a value at a point, by their width; `outside`: those that the enclosing blocks can use,
    too.
    """

    values: dict[int, list[str]] = field(default_factory=dict)
    outside: dict[int, list[str]] = field(default_factory=dict)
    depth: int = 0

    def inner(self) -> _RegisterScope:
        copied = {bits: list(each) for bits, each in self.values.items()}
        return _RegisterScope(copied, {bits: list(each) for bits, each in self.values.items()}, self.depth + 1)

    def add(self, register: str) -> None:
        known = self.values.setdefault(register_bits(register), [])
        if register not in known:
            known.append(register)


class _KernelGenerator:
    """Generates the statements of one kernel."""

    def __init__(
        self,
        choose: Choose,
        steps: dict[str, Steps],
        loads: tuple[dict[int, tuple[str, ...]], dict[int, tuple[str, ...]]],
        threads: int,
        part: StatementMaker[list[Statement]],
    ) -> None:
        self.choose, self.steps, self.loads, self.threads, self.make_statement = choose, steps, loads, threads, part
        self.rows: list[str] = []
        self.top_registers: list[str] = []
        self.numbers: dict[str, int] = {}
        self.slots = {"shared": 0, "global": 0}

    def block(self, count: int, scope: _RegisterScope, *, together: bool) -> tuple[Statement, ...]:
        made: list[Statement] = []
        for _ in range(count):
            made += self.make_statement(lambda: self.statement(scope, together))
        return tuple(made)

    def statement(self, scope: _RegisterScope, together: bool) -> list[Statement]:
        """Returns a statement, after the loads that it needs."""
        deep = scope.depth >= MAX_BLOCK_DEPTH
        kinds = _NESTED_KINDS if deep else _CONVERGED_KINDS if together else _DIVERGENT_KINDS
        before: list[Statement] = []
        match kinds[self.choose(len(kinds))]:
            case "if":
                predicate = self.choose_operand("pred", scope, before)
                then = self.block(1 + self.choose(4), scope.inner(), together=False)
                otherwise = self.block(self.choose(4), scope.inner(), together=False)
                return [*before, IfStatement(predicate, then, otherwise)]
            case "loop":
                divergent = self.choose(2) == 1
                counter, turns = self.new_register("b32"), 1 + self.choose(4)
                body = self.block(1 + self.choose(4), scope.inner(), together=together and not divergent)
                return [LoopStatement(counter, turns, divergent, body)]
            case "update":
                return self.update(scope, before)
            case "exchange":
                return self.exchange(scope, before)
            case "warp" | "meeting" as kind:
                return self.step(self.choose_step(kind), scope, before, guarded=False)
            case way:
                return self.step(self.choose_step("compute"), scope, before, guarded=way == "guarded")

    def choose_step(self, kind: str) -> StepTemplate:
        forms = self.steps[kind]
        form = forms[self.choose(len(forms))]
        return form[self.choose(len(form))]

    def step(
        self, step: StepTemplate, scope: _RegisterScope, before: list[Statement], *, guarded: bool
    ) -> list[Statement]:
        operands = tuple(
            self.load_input(word, scope, before) if place in step.fresh else self.choose_operand(word, scope, before)
            for place, word in enumerate(step.operands)
        )
        guard = ""
        wanted = Counter(_register_bits(word) for word in step.results)
        known = all(len(scope.values.get(bits, ())) >= count for bits, count in wanted.items())
        if (
            guarded and step.takes_guard and known
        ):  # a thread whose guard is false keeps the old value, so there must be one
            guard = f"@{self.choose_operand('pred', scope, before)} "
        results: list[str] = []
        for word in step.results:
            results.append(self.choose_result(word, scope, results, guarded=bool(guard)))
        for register in results:
            self.define(register, scope)
        return [*before, StepStatement(step, tuple(results), operands, guard)]

    def choose_result(self, word: str, scope: _RegisterScope, taken: list[str], *, guarded: bool) -> str:
        """Returns a new register, or, if enclosing blocks may need the value, one that they know."""
        known = scope.values if guarded else scope.outside
        free = [each for each in known.get(_register_bits(word), []) if each not in taken]
        if free and (guarded or self.choose(2)):
            return free[-1 - self.choose(len(free))]
        return self.new_register(_declared_type(word))

    def exchange(self, scope: _RegisterScope, before: list[Statement]) -> list[Statement]:
        word = ("b32", "b64", "b16")[self.choose(3)]
        operand = self.choose_operand(word, scope, before)
        result = self.new_register(word)
        self.define(result, scope)
        distance = 1 + self.choose(self.threads - 1)
        barriers = [step for form in self.steps["meeting"] for step in form if not step.results]
        meets = barriers[self.choose(len(barriers))].text((), ())
        return [*before, ExchangeStatement(result, operand, distance, meets)]

    def update(self, scope: _RegisterScope, before: list[Statement]) -> list[Statement]:
        step = self.choose_step("update")
        slot = self.slots[step.space]
        if slot == UPDATE_SLOTS:
            return []
        self.slots[step.space] += 1
        operand = self.choose_operand(step.operands[0], scope, before)
        return [*before, UpdateStatement(step, operand, slot)]

    def choose_operand(self, word: str, scope: _RegisterScope, before: list[Statement]) -> str:
        """Returns a register that holds a value, or one to which an element of the input is loaded."""
        known = scope.values.get(_register_bits(word), [])
        place = self.choose(len(known) + 2)
        if place < len(known):
            return known[-1 - place]
        return self.load_input(word, scope, before)

    def load_input(self, word: str, scope: _RegisterScope, before: list[Statement]) -> str:
        """Returns a new register to which an element of the input is loaded."""
        register = self.new_register(_declared_type(word))
        # After an unused acquire in a branch, ptxas may lose a descriptor: corpus/vendor/lost_descriptors.
        kinds = self.loads[scope.depth > 0].get(_register_bits(word), ("",))
        before.append(LoadStatement(register, len(self.rows), kinds[self.choose(len(kinds))]))
        self.rows.append(word)
        self.define(register, scope, kept=False)
        return register

    def define(self, register: str, scope: _RegisterScope, *, kept: bool = True) -> None:
        scope.add(register)
        if scope.depth == 0 and kept and register not in self.top_registers:
            self.top_registers.append(register)

    def new_register(self, kind: str) -> str:
        number = self.numbers.get(kind, 0)
        self.numbers[kind] = number + 1
        return f"%{kind}_{number}"


def _register_bits(word: str) -> int:
    return 1 if word == "pred" else max(width_of(word), 8)


def _declared_type(word: str) -> str:
    return "pred" if word == "pred" else f"b{_register_bits(word)}"
