"""The text of a kernel as passages, each with the faults that can be put into it.

Who writes a passage knows what it is there for, and so states the effect of its removal: the fault is named as its
family is in `ptxkit.testing.mutation`, and has the codes of which at least one must be reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """Other lines in the place of a passage. family: its name; codes: one of them must be reported.

    unguarded: whether the lines are without the guard of the passage; such a fault is there only where one is.
    """

    family: str
    lines: tuple[str, ...]
    codes: frozenset[str]
    unguarded: bool = False


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines that belong together, and what can be wrong there. value: the register that they are there for alone."""

    lines: tuple[str, ...]
    faults: tuple[InjectedFault, ...] = ()
    value: str = ""


@dataclass(frozen=True, slots=True)
class FaultSite:
    """A fault in its place. passage: which of the script's."""

    snippet: int
    fault: InjectedFault


StaticOrRegister = int | str
"""A number that is known, or the register that holds it."""


def omit(family: str, *codes: str) -> InjectedFault:
    """The passage is left out."""
    return InjectedFault(family, (), frozenset(codes))


def substitute(family: str, lines: str | tuple[str, ...], *codes: str, unguarded: bool = False) -> InjectedFault:
    """Other lines are there."""
    return InjectedFault(family, (lines,) if isinstance(lines, str) else lines, frozenset(codes), unguarded)


class TextBuilder:
    """Writes a kernel's body. branches: whether what few threads do is branched around, or each line has a guard."""

    def __init__(self, *, branches: bool) -> None:
        self.snippets: list[Snippet] = []
        self.branches = branches
        self._counts: dict[str, int] = {}
        self._labels = 0
        self._guard = ""
        self._is_branched = False

    def emit(self, *lines: str, faults: tuple[InjectedFault, ...] = (), value: str = "") -> None:
        """One passage. What has a label must not be under a guard."""
        kept = []
        for fault in faults:
            if not fault.unguarded:
                kept.append(InjectedFault(fault.family, self._add_guard(fault.lines), fault.codes))
            elif self._guard and not self._is_branched:
                kept.append(fault)
        self.snippets.append(Snippet(self._add_guard(lines), tuple(kept), value))

    def _add_guard(self, lines: tuple[str, ...]) -> tuple[str, ...]:
        return lines if self._is_branched or not self._guard else tuple(self._guard + line for line in lines)

    @contextmanager
    def guarded_by(self, predicate: str, *, branch: bool = False) -> Iterator[None]:
        """What is written inside is done by threads whose predicate holds (`!%p`: does not). It cannot be nested."""
        assert not self._guard, "one guard at a time"
        self._guard, self._is_branched = f"@{predicate} ", branch or self.branches
        end = self.new_label("OVER")
        if self._is_branched:
            negated = predicate[1:] if predicate.startswith("!") else f"!{predicate}"
            self.snippets.append(Snippet((f"@{negated} bra {end};",)))
        yield
        if self._is_branched:
            self.snippets.append(Snippet((f"{end}:",)))
        self._guard, self._is_branched = "", False

    def new_register(self, kind: str = "b32") -> str:
        """A register of its own."""
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        return f"%{kind}_{number}"

    def new_label(self, name: str) -> str:
        """A label of its own."""
        self._labels += 1
        return f"{name}_{self._labels}"

    def declarations(self) -> list[str]:
        """Of the registers so far."""
        return [f".reg .{kind} %{kind}_<{count}>;" for kind, count in self._counts.items()]

    def value(self, *parts: str, kind: str = "b32") -> str:
        """A new register with the value that an instruction gives: its opcode, and the operands after the result."""
        result = self.new_register(kind)
        opcode, *operands = parts
        self.emit(f"{opcode} {', '.join([result, *operands])};", value=result)
        return result

    def shared_address(self, base: str, index: StaticOrRegister, stride: int) -> str:
        """The address, as it is written in brackets, of an element of an array that a register or variable begins."""
        if isinstance(index, int):
            return f"{base}+{index * stride}" if index else base
        start = base if base.startswith("%") else self.value("mov.u32", base)
        return self.value("mad.lo.u32", index, str(stride), start)

    def global_address(self, base: str, index: StaticOrRegister, stride: int) -> str:
        """The same in global memory: 64 bits."""
        if isinstance(index, int):
            return f"{base}+{index * stride}" if index else base
        return self.value("mad.wide.u32", index, str(stride), base, kind="b64")


_REGISTER = re.compile(r"%\w+_\d+")


def render_lines(passages: Sequence[Snippet], site: FaultSite | None = None) -> list[str]:
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
            kept += reversed(wrong if site is not None and place == site.snippet else passage.lines)
    return kept[::-1]


def _registers(lines: Sequence[str]) -> list[str]:
    return [name for line in lines for name in _REGISTER.findall(line)]
