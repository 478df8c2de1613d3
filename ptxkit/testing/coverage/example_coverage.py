"""The coverage of examples: forms of the table and values of their modifiers, rules, and branches of the analysis."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any, TypeAlias

from ptxkit.diagnostics.catalogue import ptx2xx, ptx3xx, ptx4xx, ptx5xx, ptx6xx
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa import table
from ptxkit.isa.binding import bind_form
from ptxkit.isa.forms import Form, Match
from ptxkit.isa.instance_generator import modifier_choices
from ptxkit.isa.targets import parse_target, unmet_gates
from ptxkit.linter import lint
from ptxkit.rules import RULES
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.syntax.tree import Instruction
from ptxkit.testing.differential.campaign import all_forms, form_label

PACKAGE = Path(__file__).resolve().parent.parent.parent
TRACED_PACKAGES = ("analysis", "rules")
"""Packages whose branches are counted."""

ModifierValue: TypeAlias = tuple[str, str, str]
"""(form, modifier slot, value)."""


@dataclass(slots=True)
class ExampleCoverage:
    """The coverage of examples. forms: instructions of each form; codes: findings of each code; arms: first lines of
    branches. executed: the forms in whole kernels.
    """

    forms: Counter[str] = field(default_factory=Counter)
    kernel_forms: set[str] = field(default_factory=set)
    values: Counter[ModifierValue] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    branch_lines: set[tuple[str, int]] = field(default_factory=set)

    def add_text(self, text: str, *, is_whole: bool = False) -> None:
        """Counts the forms of a module's instructions, as far as it can be parsed. is_whole: they are those of a
        kernel."""
        try:
            module = parse(text)
        except PTXSyntaxError:
            return
        known = table()
        for instruction in instructions_of(module):
            match = known.match(instruction)
            if isinstance(match, Match):
                self.add_match(match)
                if is_whole:
                    self.kernel_forms.add(form_label(match.form))

    def add_match(self, match: Match) -> None:
        """Counts a form, and the values of its modifiers."""
        name = form_label(match.form)
        self.forms[name] += 1
        for slot in match.form.modifiers:
            chosen = match.modifiers.get(slot.name)
            if chosen:
                self.values[name, slot.name, str(chosen)] += 1

    def add_lint_result(self, text: str, *, branches: bool = True) -> None:
        """Counts the findings of all rules in a text, and the executed branches if requested, which slows the linter
        down.
        """
        with BranchTracer(self.branch_lines) if branches else nullcontext():
            verdict = lint(text, policy="strict", notes=True)
        self.codes.update({each.code for each in verdict.diagnostics})


def instructions_of(module: Any) -> Iterator[Instruction]:
    """Yields the instructions of a module's functions."""
    for function in module.functions():
        if function.body is not None:
            yield from (each for each, _ in function.body.flatten_blocks() if isinstance(each, Instruction))


# ------------------------------------------------------------------------------------------- gaps


def find_missed_forms(reached: ExampleCoverage, wanted: Callable[[Form], bool]) -> Iterator[str]:
    """Yields the forms that no example contains."""
    yield from (name for form in all_forms() if wanted(form) and (name := form_label(form)) not in reached.forms)


def available_values(forms: Iterable[Form], version: tuple[int, int], target: str) -> set[ModifierValue]:
    """Returns the possible values of the modifiers of forms."""
    aimed, gates = parse_target(target), table().value_gates
    found: set[ModifierValue] = set()
    for form in forms:
        most = max((len(slot.values) for slot in form.modifiers), default=0) + 1
        for chosen in modifier_choices(form, Random(1), _CHOICES_PER_VALUE * most):
            if any(not unmet_gates(tuple(match.gates), version, aimed) for match in bind_form(form, chosen, gates)):
                found |= {(form_label(form), slot, value) for slot, value in chosen.items() if value}
    return found


_CHOICES_PER_VALUE = 12
"""Counts how often each value of a modifier occurs, with values of the other modifiers."""


def find_missed_values(
    reached: ExampleCoverage, had: set[ModifierValue] | None = None
) -> Iterator[tuple[str, str, list[str]]]:
    """Yields (form, slot, values): the missing modifier values of forms that some example contains. had: the existing
    values.
    """
    for form in all_forms():
        name = form_label(form)
        if name not in reached.forms:
            continue
        for slot in form.modifiers:
            missed = [
                each
                for each in slot.values
                if (value := (name, slot.name, str(each))) not in reached.values and (had is None or value in had)
            ]
            if missed:
                yield name, slot.name, missed


_NOT_GENERATED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("no generated kernel has tcgen05, which needs sm_100a", (ptx4xx.OPERAND_OVERWRITE_WITHOUT_FENCE, "PTX70.")),
    ("no generated kernel changes a tensor map", (ptx4xx.TENSOR_MAP_FENCE,)),
    ("no generated kernel writes memory that a copy issued by another CTA reads", (ptx4xx.MISSING_REMOTE_PROXY_FENCE,)),
    (
        "no generated kernel shares a word of global memory between CTAs",
        (
            ptx4xx.POLLED_COPY_WITHOUT_FENCE,
            ptx4xx.MIXED_REDUCTIONS,
            ptx6xx.ATOMIC_SCOPE_TOO_NARROW,
            ptx6xx.LAST_BLOCK_UNORDERED,
        ),
    ),
    ("no generated kernel waits for another grid", (ptx6xx.READ_BEFORE_GRID_WAIT,)),
    (
        "no generated kernel uses setmaxnreg or clusterlaunchcontrol",
        (ptx6xx.REGISTER_COUNTS, ptx6xx.CANCEL_AFTER_FAILURE),
    ),
    (
        "no fault makes one kernel write what it loads, or use a multimem address otherwise",
        (ptx2xx.MULTIMEM_ADDRESS, ptx4xx.WRITE_TO_READ_ONLY_DATA),
    ),
    (
        "no fault makes a generic address outside the state spaces that its instruction accepts",
        (ptx2xx.GENERIC_WINDOW_MISMATCH,),
    ),
    ("a note about code that is right, but slow", ("PTX9..",)),
    (
        "the reference machine shows the fault; the rules leave it undecided, or report another one",
        (ptx3xx.OPERANDS_REUSED, ptx5xx.MBARRIER_WITHOUT_ORDERING),
    ),
)
"""The reason why no example of the strategies violates some rules. All of these rules have kernels in
`corpus/rules`.
"""


def find_missed_rules(reached: ExampleCoverage) -> list[tuple[str, str]]:
    """Returns (code, reason) of the rules that the linter reported for no example."""
    return [
        (code, _not_generated_reason(code)) for code in sorted({rule.code for rule in RULES} - reached.codes.keys())
    ]


def _not_generated_reason(code: str) -> str:
    for reason, codes in _NOT_GENERATED:
        if any(re.fullmatch(each, code) for each in codes):
            return reason
    return "its faults were not met: more kernels, or another seed"


def find_missed_branches(reached: ExampleCoverage) -> Iterator[tuple[str, int, str]]:
    """Yields (file, line, text): the branches of the analysis that no example executed."""
    for path in traced_files():
        name = path.relative_to(PACKAGE).as_posix()
        lines = path.read_text("utf-8").splitlines()
        for line in branch_lines("\n".join(lines)):
            if (name, line) not in reached.branch_lines:
                yield name, line, lines[line - 1].strip()


def traced_files() -> list[Path]:
    """Returns the files whose branches are counted."""
    return sorted(path for folder in TRACED_PACKAGES for path in (PACKAGE / folder).rglob("*.py"))


@cache
def branch_lines(source: str) -> tuple[int, ...]:
    """Returns the first lines of conditional code: branches of `if`, `match` and `try`, and bodies of loops."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        for body in _bodies(node):
            if body:
                found.add(body[0].lineno)
    return tuple(sorted(found))


def _bodies(node: ast.AST) -> Iterable[list[ast.stmt]]:
    match node:
        case ast.If(body=body, orelse=orelse, test=test):
            is_for_types = isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
            is_elif = len(orelse) == 1 and isinstance(orelse[0], ast.If)
            return () if is_for_types else (body, [] if is_elif else orelse)
        case ast.For(body=body) | ast.While(body=body):
            return (body,)
        case ast.match_case(body=body) | ast.ExceptHandler(body=body):
            return (body,)
    return ()


class BranchTracer:
    """Records the executed first lines of branches while it is active. Code whose branches are all recorded has no
    further cost.
    """

    def __init__(self, arms: set[tuple[str, int]]) -> None:
        self._reached_lines = arms
        self._lines_by_file: dict[str, tuple[str, frozenset[int]]] = {}
        self._pending: dict[CodeType, set[int]] = {}
        self._previous_trace: Any = None

    def __enter__(self) -> BranchTracer:
        self._previous_trace = sys.gettrace()
        sys.settrace(self._trace_call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._previous_trace)

    def _trace_call(self, frame: FrameType, _event: str, _argument: object) -> Any:
        left = self._pending.get(frame.f_code)
        if left is None:
            left = self._pending[frame.f_code] = self._pending_lines(frame.f_code)
        return self._trace_line if left else None

    def _trace_line(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            left = self._pending[frame.f_code]
            if frame.f_lineno in left:
                left.discard(frame.f_lineno)
                self._reached_lines.add((self._lines_by_file[frame.f_code.co_filename][0], frame.f_lineno))
        return self._trace_line

    def _pending_lines(self, code: CodeType) -> set[int]:
        name, arms = self._file_branches(code.co_filename)
        lines = {line for _, _, line in code.co_lines() if line is not None} if arms else set()
        return {line for line in arms & lines if (name, line) not in self._reached_lines}

    def _file_branches(self, file: str) -> tuple[str, frozenset[int]]:
        found = self._lines_by_file.get(file)
        if found is None:
            path = Path(file)
            arms: frozenset[int] = frozenset()
            name = file
            if path.is_relative_to(PACKAGE) and path.relative_to(PACKAGE).parts[0] in TRACED_PACKAGES:
                arms, name = frozenset(branch_lines(path.read_text("utf-8"))), path.relative_to(PACKAGE).as_posix()
            found = self._lines_by_file[file] = name, arms
        return found
