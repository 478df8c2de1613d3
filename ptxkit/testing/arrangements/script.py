"""The text of a kernel as passages, each with the faults that can be put into it.

Who writes a passage knows what it is there for, and so says what becomes of the kernel without it: the fault is named
as its family is in `ptxkit.testing.faults`, and has the codes of which at least one must be reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ptxkit.records import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """Other lines in the place of a passage. family: its name; codes: one of them must be reported.

    unguarded: whether the lines stand without the guard of the passage; such a fault is there only where one is.
    """

    family: str
    lines: tuple[str, ...]
    codes: frozenset[str]
    unguarded: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines that belong together, and what can be wrong there. value: the register that they are there for alone."""

    lines: tuple[str, ...]
    faults: tuple[Fault, ...] = ()
    value: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """A fault in its place. passage: which of the script's."""

    passage: int
    fault: Fault


Index = int | str
"""A number that is known, or the register that holds it."""


def without(family: str, *codes: str) -> Fault:
    """The passage is left out."""
    return Fault(family, (), frozenset(codes))


def instead(family: str, lines: str | tuple[str, ...], *codes: str, unguarded: bool = False) -> Fault:
    """Other lines stand there."""
    return Fault(family, (lines,) if isinstance(lines, str) else lines, frozenset(codes), unguarded)


class Script:
    """Writes a kernel's body. branches: whether what few threads do is branched around, or each line has a guard."""

    def __init__(self, *, branches: bool) -> None:
        self.passages: list[Passage] = []
        self.branches = branches
        self._counts: dict[str, int] = {}
        self._labels = 0
        self._guard = ""
        self._branched = False

    def do(self, *lines: str, faults: tuple[Fault, ...] = (), value: str = "") -> None:
        """One passage. What has a label must not stand under a guard."""
        kept = []
        for fault in faults:
            if not fault.unguarded:
                kept.append(Fault(fault.family, self._guarded(fault.lines), fault.codes))
            elif self._guard and not self._branched:
                kept.append(fault)
        self.passages.append(Passage(self._guarded(lines), tuple(kept), value))

    def _guarded(self, lines: tuple[str, ...]) -> tuple[str, ...]:
        return lines if self._branched or not self._guard else tuple(self._guard + line for line in lines)

    @contextmanager
    def only(self, predicate: str, *, branch: bool = False) -> Iterator[None]:
        """What is written inside is done by threads whose predicate holds (`!%p`: does not). It cannot be nested."""
        assert not self._guard, "one guard at a time"
        self._guard, self._branched = f"@{predicate} ", branch or self.branches
        end = self.label("OVER")
        if self._branched:
            negated = predicate[1:] if predicate.startswith("!") else f"!{predicate}"
            self.passages.append(Passage((f"@{negated} bra {end};",)))
        yield
        if self._branched:
            self.passages.append(Passage((f"{end}:",)))
        self._guard, self._branched = "", False

    def new(self, kind: str = "b32") -> str:
        """A register of its own."""
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        return f"%{kind}_{number}"

    def label(self, name: str) -> str:
        """A label of its own."""
        self._labels += 1
        return f"{name}_{self._labels}"

    def declarations(self) -> list[str]:
        """Of the registers so far."""
        return [f".reg .{kind} %{kind}_<{count}>;" for kind, count in self._counts.items()]

    def value(self, *parts: str, kind: str = "b32") -> str:
        """A new register with the value that an instruction gives: its opcode, and the operands behind the result."""
        result = self.new(kind)
        opcode, *operands = parts
        self.do(f"{opcode} {', '.join([result, *operands])};", value=result)
        return result

    def place(self, base: str, index: Index, stride: int) -> str:
        """The address, as it stands in brackets, of an element of an array that a register or variable begins."""
        if isinstance(index, int):
            return f"{base}+{index * stride}" if index else base
        start = base if base.startswith("%") else self.value("mov.u32", base)
        return self.value("mad.lo.u32", index, str(stride), start)

    def far(self, base: str, index: Index, stride: int) -> str:
        """The same in global memory: 64 bits."""
        if isinstance(index, int):
            return f"{base}+{index * stride}" if index else base
        return self.value("mad.wide.u32", index, str(stride), base, kind="b64")


_REGISTER = re.compile(r"%\w+_\d+")


def lines_of(passages: Sequence[Passage], site: Site | None = None) -> list[str]:
    """The text, with the fault of a site, without values that nothing reads: so a kernel shrinks to what matters.

    What the fault alone does not read stays: it differs from what is right in its passage.
    """
    wrong = site.fault.lines if site is not None else ()
    mentions = Counter(_registers(wrong))
    for passage in passages:
        mentions.update(_registers(passage.lines))
    kept: list[str] = []
    for place, passage in reversed(list(enumerate(passages))):
        if passage.value and mentions[passage.value] == 1:
            mentions.subtract(_registers(passage.lines))
        else:
            kept += reversed(wrong if site is not None and place == site.passage else passage.lines)
    return kept[::-1]


def _registers(lines: Sequence[str]) -> list[str]:
    return [name for line in lines for name in _REGISTER.findall(line)]
