"""Reads litmus tests in the format of NVlabs/mixedproxy (the files `*.test`), and its templates of many tests.

Locations and their aliases come first, then the threads by device, block and number, and statements about final
states: `permit(C) as NAME;` states that C is possible, `assert(C) as NAME;` that it always holds. A load may state
what it returns, `ld r0, [x] == 1;`, as a part of the condition. In a template, `$0` to `$9` stand for the columns of
each row below `$$`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit.memory_model import register_code
from ptxkit.memory_model.conditions import Comparison, Condition, Junction, Negation, parse_condition
from ptxkit.memory_model.dat3m_format import AddressNames
from ptxkit.memory_model.errors import LitmusError
from ptxkit.memory_model.events import EventKind, MemoryEvent, Placement
from ptxkit.memory_model.litmus_test import LitmusTest, LitmusThread
from ptxkit.memory_model.register_code import ACCESSES, COMPUTATIONS, RegisterCode, RegisterStep, Value
from ptxkit.semantics.ordering import SYSTEM_LEVEL, scope_level

_COMMENT = re.compile(r"//[^\n]*")
_LOCATION = re.compile(r"\.(global|shared)\s+(\w+)(?:\s+physically\s+aliases\s+(\w+))?\s*;")
_REFERENCE = re.compile(r"\.(texref|surfref|constref)\s+(\w+)\s+virtually\s+aliases\s+(\w+)\s*;")
_THREAD = re.compile(r"d(\d+)\.b(\d+)\.t(\d+)\s*\{([^}]*)\}")
_STATEMENT = re.compile(r"\b(check|permit|assert)\s*\((.*?)\)\s*as\s+(\w+)\s*;", re.DOTALL)
_RETURNED = re.compile(r"(.*\S)\s*==\s*(-?\d+)$")
_ROWS = "$$"

_ORDERS = ("weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile")
_SCOPES = ("cta", "gpu", "sys")


def is_mixedproxy(text: str) -> bool:
    """Returns whether a text is in this format."""
    return _THREAD.search(_COMMENT.sub("", text)) is not None


def parse_mixedproxy(text: str, name: str) -> Iterator[LitmusTest]:
    """Yields the tests of a file: one for each statement, in a template for each row. Raises LitmusError.

    name: of the file, for the names of the tests.
    """
    template, marker, rows = _COMMENT.sub("", text).partition(_ROWS)
    if not marker:
        yield from _parse_test(template, name)
        return
    for number, row in enumerate((each for each in rows.splitlines() if each.strip()), 1):
        columns = [each.strip() for each in row.split("|")]
        used = {int(each) for each in re.findall(r"\$(\d)", template)}
        if used and max(used) >= len(columns):
            raise LitmusError(f"row {number} of the template has no column `${max(used)}`", "separate columns by `|`")
        filled = template
        for at, column in enumerate(columns):
            filled = filled.replace(f"${at}", column)
        yield from _parse_test(filled, f"{name}[{number}]")


def _parse_test(text: str, name: str) -> Iterator[LitmusTest]:
    names = AddressNames()
    for _, alias, target in _LOCATION.findall(text):
        if target:
            names.add_alias(alias, target, is_virtual=False)
    for _, alias, target in _REFERENCE.findall(text):
        names.add_alias(alias, target, is_virtual=True)
    threads: list[LitmusThread] = []
    registers: dict[str, str] = {}
    returned: list[Condition] = []
    ctas: dict[tuple[str, str], int] = {}
    for at, (device, block, _, body) in enumerate(_THREAD.findall(text)):
        reader = _ThreadReader(names, f"P{at}", returned)
        steps = [reader.step(each.strip()) for each in body.split(";") if each.strip()]
        registers |= dict.fromkeys((step.register for step in steps if step.register), f"P{at}")
        cta = ctas.setdefault((device, block), len(ctas))
        threads.append(LitmusThread(f"P{at}", Placement(cta, cta, int(device), at), RegisterCode(steps, {})))

    def resolve(word: str) -> str:
        return f"{registers[word]}:{word}" if word in registers else names.location(word)

    for kind, condition_words, label in _STATEMENT.findall(text):
        condition = parse_condition(condition_words, resolve)
        wanted = condition if kind != "assert" else Negation(condition)
        whole = Junction(True, (*returned, wanted)) if returned else wanted
        yield LitmusTest(f"{name}:{label}", tuple(threads), {}, "~exists" if kind == "assert" else "exists", whole)


class _ThreadReader:
    def __init__(self, names: AddressNames, thread: str, returned: list[Condition]) -> None:
        self.names, self.thread, self.returned = names, thread, returned

    def step(self, text: str) -> RegisterStep:
        """Returns the step of an instruction, and notes what it is stated to return. Raises LitmusError."""
        stated = _RETURNED.fullmatch(text)
        plain = text if stated is None else stated.group(1)
        opcode, _, rest = plain.partition(" ")
        words, operands = opcode.split("."), [each.strip() for each in rest.split(",") if each.strip()]
        try:
            step = register_code.check_step(self._step_of(plain, words, operands), text)
        except (IndexError, ValueError) as error:
            raise LitmusError(f"`{text}` cannot be read", "it lacks an operand, or has one too many") from error
        if stated is not None:
            self.returned.append(Comparison("==", f"{self.thread}:{step.register}", int(stated.group(2))))
        return step

    def _step_of(self, text: str, words: list[str], operands: list[str]) -> RegisterStep:
        order = next((each for each in words[1:] if each in _ORDERS), "weak")
        scope = scope_level(next((each for each in words[1:] if each in _SCOPES), "sys"))
        if words[0] == "fence" and words[1] in ("proxy", "alias"):
            return register_code.proxy_fence(text, words[-1])
        if words[0] == "fence":
            return RegisterStep("fence", event=MemoryEvent(EventKind.FENCE, text, order=order, scope=scope))
        if words[0] not in ACCESSES:
            raise LitmusError(f"`{text}` is no instruction of this format", "the format has ld, st, atom, red, fence")
        kind, proxy = ACCESSES[words[0]]
        is_reduction = words[0].endswith("red")
        register = "" if kind == "store" or is_reduction else operands.pop(0)
        where, *values = operands
        name = where.strip("[] ")
        event = MemoryEvent(
            EventKind.WRITE if kind == "store" else EventKind.READ,
            text,
            address=self.names.address(name),
            location=self.names.location(name),
            order=order if kind != "update" or order != "weak" else "relaxed",
            scope=scope if order != "weak" else SYSTEM_LEVEL,
            proxy=proxy,
            is_atomic=kind == "update",
            is_reduction=is_reduction,
        )
        operation = next((each for each in words[1:] if each in COMPUTATIONS), "") if kind == "update" else ""
        return RegisterStep(kind, operation, register, tuple(map(_value, values)), event=event)


def _value(text: str) -> Value:
    return int(text) if re.fullmatch(r"-?\d+", text) else text
