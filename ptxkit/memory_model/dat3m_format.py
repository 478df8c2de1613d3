"""Reads litmus tests for PTX in the format of Dat3M (the files `*.litmus` of hernanponcedeleon/Dat3M).

After a name and comments in quotes there are the initial state in braces, the threads side by side with their CTA and
GPU, and a condition on final states. `y @ generic aliases x` makes `y` another virtual address of the location of `x`;
an alias of the texture, surface or constant proxy has the address of its target. `bar.cta.sync 1` waits for all threads
of the CTA that use this barrier, and so does `bar.cta.sync 1, b` for barrier b; `bar.cta.sync 1, b, n` waits for n.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.memory_model import register_code
from ptxkit.memory_model.conditions import parse_condition
from ptxkit.memory_model.errors import LitmusError
from ptxkit.memory_model.events import (
    ALIAS,
    CONSTANT,
    SURFACE,
    TEXTURE,
    BarrierUse,
    EventKind,
    MemoryEvent,
    Placement,
)
from ptxkit.memory_model.limits import MAX_THREADS
from ptxkit.memory_model.litmus_test import LitmusTest, LitmusThread
from ptxkit.memory_model.register_code import ACCESSES, BRANCH_TESTS, COMPUTATIONS, RegisterCode, RegisterStep, Value
from ptxkit.semantics.ordering import SYSTEM_LEVEL, scope_level

_THREAD = re.compile(r"P(\d+)\s*@\s*cta\s*(\d+)\s*,\s*gpu\s*(\d+)(?:\s*,\s*cluster\s*(\d+))?")
_INITIAL = re.compile(r"(?:P?(\d+)\s*:\s*)?(\w+)\s*=\s*&?\s*(-?\d+)")
_ALIAS = re.compile(r"(\w+)\s*@\s*(generic|texture|surface|constant)\s+aliases\s+(\w+)")
_CONDITION = re.compile(r"(~\s*exists|\bexists\b|\bforall\b|\brace\b)")
_QUOTED = re.compile(r'"([^"]*)"')

_ORDERS = {"weak", "relaxed", "acquire", "release", "acq_rel", "sc"}
_SCOPES = {"cta", "cluster", "gpu", "sys"}
_FENCED = {"texture": TEXTURE, "surface": SURFACE, "constant": CONSTANT, "alias": ALIAS}


@dataclass(slots=True)
class AddressNames:
    """What the names of locations mean. addresses, locations: by name, where it is not the name itself."""

    addresses: dict[str, str] = field(default_factory=dict)
    locations: dict[str, str] = field(default_factory=dict)

    def add_alias(self, name: str, of: str, *, is_virtual: bool) -> None:
        """Makes a name an alias. is_virtual: whether it shares the virtual address, too, and differs in its proxy."""
        self.addresses[name] = self.address(of) if is_virtual else name
        self.locations[name] = self.location(of)

    def address(self, name: str) -> str:
        """Returns the virtual address of a name."""
        return self.addresses.get(name, name)

    def location(self, name: str) -> str:
        """Returns the memory location of a name."""
        return self.locations.get(name, name)


def parse_dat3m(text: str) -> LitmusTest:
    """Parses a test. Raises LitmusError, which names the line or the word that cannot be read."""
    notes = tuple(each.strip() for each in _QUOTED.findall(text))
    plain = _QUOTED.sub("", text)
    head, brace, rest = plain.partition("{")
    initial, closing, rest = rest.partition("}")
    if not brace or not closing:
        raise LitmusError("the initial state in braces is missing", "write `{ x = 0; }` after the name of the test")
    asked = _CONDITION.search(rest)
    if asked is None:
        raise LitmusError("the condition is missing", "end with `exists`, `~exists` or `forall` and a condition")
    names, memory, registers = _read_initial_state(initial)
    rows = [[cell.strip() for cell in row.split("|")] for row in rest[: asked.start()].split(";") if row.strip()]
    places = list(_read_threads(rows[0] if rows else []))
    codes = []
    for at, _ in enumerate(places):
        cells = [row[at] for row in rows[1:] if at < len(row) and row[at]]
        codes.append(RegisterCode(ThreadReader(names).read(cells), registers.get(at, {})))
    threads = tuple(
        LitmusThread(f"P{at}", place, code) for at, (place, code) in enumerate(zip(places, codes, strict=True))
    )
    quantifier = asked.group(1).replace(" ", "")
    condition = None if quantifier == "race" else parse_condition(rest[asked.end() :], names.location)
    title = head.split(None, 1)[1].strip() if len(head.split()) > 1 else ""
    return LitmusTest(title, threads, memory, quantifier, condition, notes=notes)


def _read_initial_state(text: str) -> tuple[AddressNames, dict[str, int], dict[int, dict[str, int]]]:
    names = AddressNames()
    memory: dict[str, int] = {}
    registers: dict[int, dict[str, int]] = {}
    for part in filter(None, (each.strip() for each in text.split(";"))):
        alias, value = _ALIAS.fullmatch(part), _INITIAL.fullmatch(part)
        if alias is not None:
            names.add_alias(alias.group(1), alias.group(3), is_virtual=alias.group(2) != "generic")
        elif value is None:
            raise LitmusError(f"`{part}` in the initial state cannot be read", "write `x = 0` or `P0:r0 = 0`")
        elif value.group(1) is None:
            memory[names.location(value.group(2))] = int(value.group(3))
        else:
            registers.setdefault(int(value.group(1)), {})[value.group(2)] = int(value.group(3))
    return names, memory, registers


def _read_threads(cells: Sequence[str]) -> Iterator[Placement]:
    if not cells or len(cells) > MAX_THREADS:
        raise LitmusError(f"a test has from 1 to {MAX_THREADS} threads", "write `P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;`")
    ctas: dict[tuple[int, int], int] = {}
    ranks: dict[int, int] = {}
    for cell in cells:
        found = _THREAD.fullmatch(cell)
        if found is None:
            raise LitmusError(f"`{cell}` does not place a thread", "write `P0@cta 0,gpu 0`")
        gpu, named = int(found.group(3)), int(found.group(2))
        cta = ctas.setdefault((gpu, named), len(ctas))
        rank = ranks[cta] = ranks.get(cta, -1) + 1
        # Without a number, each CTA is a separate cluster.
        cluster = cta if found.group(4) is None else -1 - int(found.group(4))
        yield Placement(cta, cluster, gpu, rank)


class ThreadReader:
    """Reads the instructions of one thread."""

    def __init__(self, names: AddressNames) -> None:
        self.names = names
        self.steps: list[RegisterStep] = []
        self.labels: dict[str, int] = {}
        self.jumps: list[tuple[int, str]] = []

    def read(self, cells: Sequence[str]) -> list[RegisterStep]:
        """Returns the steps of the instructions. Raises LitmusError."""
        for cell in cells:
            label = re.fullmatch(r"(\w+)\s*:", cell)
            if label is not None:
                self.labels[label.group(1)] = len(self.steps)
            else:
                self.steps.append(self._step(cell))
        for at, label_name in self.jumps:
            if label_name not in self.labels:
                raise LitmusError(f"there is no label `{label_name}`", f"write `{label_name}:` before an instruction")
            old = self.steps[at]
            self.steps[at] = RegisterStep(old.kind, old.word, operands=old.operands, target=self.labels[label_name])
        return self.steps

    def _step(self, text: str) -> RegisterStep:
        opcode, _, rest = text.partition(" ")
        operands = [each.strip() for each in rest.split(",")] if rest.strip() else []
        words = opcode.split(".")
        try:
            return register_code.check_step(self._step_of(text, words, operands), text)
        except (IndexError, ValueError) as error:
            raise LitmusError(f"`{text}` cannot be read", "it lacks an operand, or has one too many") from error

    def _step_of(self, text: str, words: list[str], operands: list[str]) -> RegisterStep:
        name = words[0]
        if name == "fence" and words[1] == "proxy":
            return register_code.proxy_fence(text, _FENCED[words[2]]) if words[2] in _FENCED else self._refuse(text)
        if name == "fence":
            return self._fence(text, words)
        if name == "bar":
            return self._barrier(text, words, operands)
        if name in BRANCH_TESTS or name == "goto":
            self.jumps.append((len(self.steps), operands.pop()))
            kind = "goto" if name == "goto" else "branch"
            return RegisterStep(kind, name, operands=tuple(map(self._value, operands)))
        if name in ACCESSES and len(words) > 1:
            return self._access(text, words, operands)
        if name == "ld":  # of a number
            return RegisterStep("compute", register=operands[0], operands=(self._value(operands[1]),))
        if name in COMPUTATIONS:
            return RegisterStep("compute", name, operands[0], tuple(map(self._value, operands[1:3])))
        return self._refuse(text)

    def _refuse(self, text: str) -> RegisterStep:
        raise LitmusError(f"`{text}` is no instruction of this format", "the format has ld, st, atom, red, fence, bar")

    def _fence(self, text: str, words: list[str]) -> RegisterStep:
        if len(words) != 3 or words[1] not in ("acq_rel", "sc", "acquire", "release") or words[2] not in _SCOPES:
            return self._refuse(text)
        event = MemoryEvent(EventKind.FENCE, text, order=words[1], scope=scope_level(words[2]))
        return RegisterStep("fence", event=event)

    def _barrier(self, text: str, words: list[str], operands: list[str]) -> RegisterStep:
        if words[1:] not in (["cta", "sync"], ["cta", "arrive"]):
            return self._refuse(text)
        number = self._value(operands[1 if len(operands) > 1 else 0])
        quorum = self._value(operands[2]) if len(operands) > 2 else None
        use = BarrierUse("cta", 0, words[2], only_users=quorum is None)
        return RegisterStep(
            "barrier", operands=(number,), quorum=quorum, event=MemoryEvent(EventKind.SYNC, text, use=use)
        )

    def _access(self, text: str, words: list[str], operands: list[str]) -> RegisterStep:
        kind, proxy = ACCESSES[words[0]]
        order, scope = words[1], words[2] if len(words) > 2 else "sys"
        if order not in _ORDERS or scope not in _SCOPES:
            return self._refuse(text)
        register = "" if kind == "store" or words[0].endswith("red") else operands.pop(0)
        where, *values = operands
        event = MemoryEvent(
            EventKind.WRITE if kind == "store" else EventKind.READ,
            text,
            address=self.names.address(where),
            location=self.names.location(where),
            order=order,
            scope=scope_level(scope) if order != "weak" else SYSTEM_LEVEL,
            proxy=proxy,
            is_atomic=kind == "update",
            is_reduction=words[0].endswith("red"),
        )
        word = words[3] if kind == "update" else ""
        if kind == "update" and word not in (*COMPUTATIONS, "cas"):
            return self._refuse(text)
        return RegisterStep(kind, word, register, tuple(map(self._value, values)), event=event)

    def _value(self, text: str) -> Value:
        return int(text) if re.fullmatch(r"-?\d+", text) else text
