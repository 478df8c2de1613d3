"""Litmus tests in Dat3M's format for PTX, and their kernels, in which each thread is the first of its own warp.

A test has threads with their CTAs, the initial values of registers and locations, the threads' instructions side by
side, and a condition on final states. Its kernel keeps all locations in one array and writes the final registers into
another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

WARP = 32
SCOPES = {"cta": 0, "cluster": 1, "gpu": 2, "sys": 3}
_ATOMICS = {"add", "sub", "exch", "cas", "and", "or", "xor", "min", "max"}
_HEAD = re.compile(r"P(\d+)\s*@\s*cta\s*(\d+)\s*,\s*gpu\s*(\d+)")
_INITIAL = re.compile(r"(?:P(\d+):)?(\w+)\s*=\s*(\w+)")
_ATOM = re.compile(r"P?(\d+):(\w+)|(\w+)")

State = tuple[tuple[tuple[str, int], ...], ...]
"""The final registers of each thread, in the order of their names, and at the end the locations."""


class UnsupportedTestError(Exception):
    """A test that cannot be expressed as a kernel, or uses an unsupported part of the format."""


@dataclass(frozen=True)
class Step:
    """One instruction. kind: load, store, update, fence, barrier, branch, goto or add.

    scope: a level of `SCOPES`. operands: names of registers, or numbers. word: the operation of an update, the
    condition of a branch, or how a thread uses a barrier. target: the step of a branch's target.
    """

    kind: str
    word: str = ""
    order: str = "weak"
    scope: int = 3
    register: str = ""
    place: str = ""
    operands: tuple[str | int, ...] = ()
    target: int = 0


@dataclass
class Thread:
    """A thread of a test. rank: among the threads of its CTA. registers: all of them, with their initial values."""

    cta: int
    rank: int
    steps: list[Step] = field(default_factory=list)
    registers: dict[str, int] = field(default_factory=dict)


@dataclass
class Test:
    """A test. places: locations and their initial values. quantifier, condition: of the verdict."""

    name: str
    text: str
    threads: list[Thread]
    places: dict[str, int]
    quantifier: str
    condition: Callable[[State], bool]

    @property
    def ctas(self) -> int:
        """The number of CTAs."""
        return max(each.cta for each in self.threads) + 1

    @property
    def block(self) -> int:
        """The threads of a CTA: a warp for each of the test's threads."""
        return WARP * (max(each.rank for each in self.threads) + 1)


def parse(source: str) -> Test:
    """Parses a test. Raises UnsupportedTestError."""
    texts = re.findall(r'"([^"]*)"', source)
    source = re.sub(r'"[^"]*"', "", source)
    head, rest = source.split("{", 1)
    initial, rest = rest.split("}", 1)
    found = re.search(r"(~\s*exists|\bexists\b|\bforall\b)", rest)
    if found is None:
        raise UnsupportedTestError("no condition")
    table, condition = rest[: found.start()], rest[found.end() :]
    rows = [[cell.strip() for cell in row.split("|")] for row in table.split(";") if row.strip()]
    threads = list(_threads(rows[0]))
    places = _initial(initial, threads)
    for number, thread in enumerate(threads):
        cells = [row[number] for row in rows[1:] if number < len(row) and row[number]]
        _program(thread, cells, places)
    _count_barriers(threads)
    quantifier = found.group(1).replace(" ", "")
    judge = _condition(condition, threads, places)
    return Test(head.split(None, 1)[1].strip(), " ".join(texts), threads, places, quantifier, judge)


def _threads(cells: list[str]) -> Iterator[Thread]:
    numbers: dict[tuple[int, int], int] = {}
    ranks: dict[int, int] = {}
    for cell in cells:
        found = _HEAD.fullmatch(cell)
        if found is None:
            raise UnsupportedTestError(f"threads: {cell}")
        if int(found.group(3)):
            raise UnsupportedTestError("several GPUs")
        cta = numbers.setdefault((int(found.group(3)), int(found.group(2))), len(numbers))
        ranks[cta] = ranks.get(cta, -1) + 1
        yield Thread(cta, ranks[cta])


def _initial(text: str, threads: list[Thread]) -> dict[str, int]:
    places: dict[str, int] = {}
    for each in filter(None, (part.strip() for part in text.split(";"))):
        found = _INITIAL.fullmatch(each)
        if found is None or not found.group(3).isdigit():
            raise UnsupportedTestError(f"initial state: {each}")
        where = places if found.group(1) is None else threads[int(found.group(1))].registers
        where[found.group(2)] = int(found.group(3))
    return places


def _program(thread: Thread, cells: list[str], places: dict[str, int]) -> None:
    labels: dict[str, int] = {}
    waiting: list[tuple[int, str]] = []
    for cell in cells:
        if cell.endswith(":"):
            labels[cell[:-1]] = len(thread.steps)
            continue
        opcode, _, rest = cell.partition(" ")
        operands = [each.strip() for each in rest.split(",")] if rest.strip() else []
        if opcode in ("bne", "beq", "goto"):
            waiting.append((len(thread.steps), operands.pop()))
        thread.steps.append(_step(opcode, operands, thread, places))
    for at, label in waiting:
        if label not in labels:
            raise UnsupportedTestError(f"no label {label}")
        old = thread.steps[at]
        thread.steps[at] = Step(old.kind, old.word, operands=old.operands, target=labels[label])


def _step(opcode: str, operands: list[str], thread: Thread, places: dict[str, int]) -> Step:
    words = opcode.split(".")

    def value(text: str) -> str | int:
        if re.fullmatch(r"-?\d+", text):
            return int(text)
        thread.registers.setdefault(text, 0)
        return text

    def place(text: str) -> str:
        places.setdefault(text, 0)
        return text

    def register(text: str) -> str:
        thread.registers.setdefault(text, 0)
        return text

    order = words[1] if len(words) > 1 else ""
    scope = SCOPES.get(words[2] if len(words) > 2 else "sys", -1)
    match words[0]:
        case "ld" if not order:  # of a number
            return Step("add", register=register(operands[0]), operands=(value(operands[1]), 0))
        case "ld" if order in ("weak", "relaxed", "acquire") and scope >= 0:
            return Step("load", "", order, scope, register(operands[0]), place(operands[1]))
        case "st" if order in ("weak", "relaxed", "release") and scope >= 0:
            return Step("store", "", order, scope, place=place(operands[0]), operands=(value(operands[1]),))
        case "atom" | "red" if len(words) == 4 and words[3] in _ATOMICS and scope >= 0:
            target = register(operands.pop(0)) if words[0] == "atom" else ""
            where = place(operands.pop(0))
            return Step("update", words[3], order, scope, target, where, tuple(map(value, operands)))
        case "fence" if order in ("acq_rel", "sc") and len(words) == 3:
            return Step("fence", "", order, scope)
        case "bar" if order == "cta":
            # A single operand is the barrier; if there are more, the first one numbers the statement.
            number = value(operands[1 if len(operands) > 1 else 0])
            count = value(operands[2]) if len(operands) > 2 else 0
            return Step("barrier", words[2], operands=(number, count))
        case "bne" | "beq":
            return Step("branch", words[0][1:], operands=tuple(map(value, operands)))
        case "goto":
            return Step("goto")
        case "add":
            return Step("add", register=register(operands[0]), operands=tuple(map(value, operands[1:])))
    raise UnsupportedTestError(f"`{opcode}`")


def _count_barriers(threads: list[Thread]) -> None:
    """Sets the threads of barriers without a count: the threads of the CTA that name the barrier, as in Dat3M."""
    users: dict[tuple[int, str | int], set[int]] = {}
    for thread in threads:
        for step in thread.steps:
            if step.kind == "barrier":
                users.setdefault((thread.cta, step.operands[0]), set()).add(thread.rank)
    for thread in threads:
        for at, step in enumerate(thread.steps):
            number = step.operands[0] if step.kind == "barrier" else ""
            if any(cta == thread.cta and isinstance(which, str) for cta, which in users):
                continue  # the barriers of a thread depend on its values: all threads of the CTA
            if step.kind == "barrier" and not step.operands[1]:
                thread.steps[at] = Step("barrier", step.word, operands=(number, len(users[thread.cta, number])))


def _condition(text: str, threads: list[Thread], places: dict[str, int]) -> Callable[[State], bool]:
    """Returns the condition as a function of a final state; each of its words is a register, a location, a number or
    `and`.
    """
    text = text.replace("/\\", " and ").replace("\\/", " or ").replace("~", " not ")
    text = re.sub(r"(?<![!=<>])=(?!=)", "==", text)

    def register_atom(found: re.Match[str]) -> str:
        thread, register, word = found.groups()
        if thread is not None:
            threads[int(thread)].registers.setdefault(register, 0)
            return f"R[{thread}]['{register}']"
        if word in ("and", "or", "not") or word.isdigit():
            return word
        if word not in places:
            raise UnsupportedTestError(f"condition: {word}")
        return f"R[-1]['{word}']"

    code = compile(re.sub(r"\s+", " ", _ATOM.sub(register_atom, text)).strip(), "condition", "eval")
    return lambda state: bool(eval(code, {}, {"R": [dict(each) for each in state]}))


def kernel(test: Test) -> str:
    """Returns a module with one kernel `k(m, o)`: the locations, and the output for the registers of each thread."""
    lines = [
        ".version 8.6",
        ".target sm_90",
        ".address_size 64",
        ".visible .entry k(.param .u64 m, .param .u64 o)",
        "{",
        " .reg .b32 %t, %c; .reg .pred %p, %q; .reg .b64 %m, %o;",
        " ld.param.u64 %m, [m]; ld.param.u64 %o, [o]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;",
    ]
    for number, thread in enumerate(test.threads):
        lines.append(
            f" setp.eq.u32 %p, %t, {thread.rank * WARP}; setp.eq.and.u32 %p, %c, {thread.cta}, %p; @%p bra T{number};"
        )
    lines.append(" ret;")
    at = 0
    offsets = {name: 4 * place for place, name in enumerate(test.places)}
    for number, thread in enumerate(test.threads):
        lines.append(f"T{number}:\n {{")
        lines += [f" .reg .b32 {name}; mov.u32 {name}, {first};" for name, first in thread.registers.items()]
        for place, step in enumerate(thread.steps):
            lines.append(f"T{number}_{place}: {_instruction(step, number, offsets)}")
        lines.append(f"T{number}_{len(thread.steps)}:")
        for name in thread.registers:
            lines.append(f" st.global.u32 [%o+{at}], {name};")
            at += 4
        lines.append(" ret;\n }")
    return "\n".join([*lines, "}"]) + "\n"


def _instruction(step: Step, thread: int, offsets: dict[str, int]) -> str:
    scope = next(name for name, level in SCOPES.items() if level == step.scope)
    order = "weak" if step.order == "weak" else f"{step.order}.{scope}"
    values = ", ".join(map(str, step.operands))
    match step.kind:
        case "load":
            return f"ld.{order}.global.u32 {step.register}, [%m+{offsets[step.place]}];"
        case "store":
            return f"st.{order}.global.u32 [%m+{offsets[step.place]}], {values};"
        case "update":
            type_ = "b32" if step.word in ("exch", "cas", "and", "or", "xor") else "u32"
            word, negated = ("add", "-") if step.word == "sub" else (step.word, "")
            start = f"atom.{order}.global.{word}.{type_} {step.register or '_'}"
            return f"{start}, [%m+{offsets[step.place]}], {negated}{values};"
        case "fence":
            return f"fence.{order};"
        case "barrier":
            number, count = step.operands
            return f"barrier.{step.word} {number}{f', {count * WARP}' if isinstance(count, int) and count else ''};"
        case "branch":
            return f"setp.{step.word}.u32 %q, {values}; @%q bra T{thread}_{step.target};"
        case "goto":
            return f"bra T{thread}_{step.target};"
        case _:
            return f"add.u32 {step.register}, {values};"
