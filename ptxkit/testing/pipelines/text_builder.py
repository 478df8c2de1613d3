"""The text of a kernel as passages, each with the faults that can be injected into it.

The code that emits a passage knows its purpose, and so it states the effect of its removal: the fault has the name of
its family in `ptxkit.testing.mutation`, and codes of which at least one must be reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """Lines that replace a passage. family: the name of the fault; codes: one of them must be reported.

    unguarded: whether the lines omit the guard of the passage; such a fault exists only if there is a guard.
    """

    family: str
    lines: tuple[str, ...]
    codes: frozenset[str]
    unguarded: bool = False


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines that belong together, and their faults. value: the register that they only compute."""

    lines: tuple[str, ...]
    faults: tuple[InjectedFault, ...] = ()
    value: str = ""


@dataclass(frozen=True, slots=True)
class FaultSite:
    """A fault at its location. passage: the index of the passage."""

    snippet: int
    fault: InjectedFault


StaticOrRegister = int | str
"""A constant number, or the register that holds it."""


def omit(family: str, *codes: str) -> InjectedFault:
    """Returns the fault that omits the passage."""
    return InjectedFault(family, (), frozenset(codes))


def substitute(family: str, lines: str | tuple[str, ...], *codes: str, unguarded: bool = False) -> InjectedFault:
    """Returns the fault that replaces the lines of the passage."""
    return InjectedFault(family, (lines,) if isinstance(lines, str) else lines, frozenset(codes), unguarded)


class TextBuilder:
    """Builds a kernel's body. branches: whether the code of few threads is in a branch, or each line has a guard."""

    def __init__(self, *, branches: bool) -> None:
        self.snippets: list[Snippet] = []
        self.branches = branches
        self._counts: dict[str, int] = {}
        self._labels = 0
        self._guard = ""
        self._is_branched = False

    def emit(self, *lines: str, faults: tuple[InjectedFault, ...] = (), value: str = "") -> None:
        """Appends one passage. A passage with a label must not be under a guard."""
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
        """The block is executed by threads whose predicate holds (`!%p`: does not hold). It cannot be nested."""
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
        """Returns a new register."""
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        return f"%{kind}_{number}"

    def new_label(self, name: str) -> str:
        """Returns a new label."""
        self._labels += 1
        return f"{name}_{self._labels}"

    def declarations(self) -> list[str]:
        """Returns the declarations of the registers so far."""
        return [f".reg .{kind} %{kind}_<{count}>;" for kind, count in self._counts.items()]

    def value(self, *parts: str, kind: str = "b32") -> str:
        """Returns a new register with the result of an instruction: its opcode, and the operands after the result."""
        result = self.new_register(kind)
        opcode, *operands = parts
        self.emit(f"{opcode} {', '.join([result, *operands])};", value=result)
        return result

    def shared_address(self, base: str, index: StaticOrRegister, stride: int) -> str:
        """Returns the address, in brackets, of an element of an array that begins at a register or variable."""
        if isinstance(index, int):
            return f"{base}+{index * stride}" if index else base
        start = base if base.startswith("%") else self.value("mov.u32", base)
        return self.value("mad.lo.u32", index, str(stride), start)

    def global_address(self, base: str, index: StaticOrRegister, stride: int) -> str:
        """Returns the address of an element in global memory, with 64 bits."""
        if isinstance(index, int):
            return f"{base}+{index * stride}" if index else base
        return self.value("mad.wide.u32", index, str(stride), base, kind="b64")


_REGISTER = re.compile(r"%\w+_\d+")


def render_lines(crossings: Sequence[Snippet], site: FaultSite | None = None) -> list[str]:
    """Returns the text with the fault of a site, without values that nothing reads, so that a kernel shrinks to what
    matters.

    Values that only the fault does not read remain, so that the fault differs from the correct text in its passage
    only.
    """
    wrong = site.fault.lines if site is not None else ()
    mentions = Counter(_registers(wrong))
    for crossing in crossings:
        mentions.update(_registers(crossing.lines))
    kept: list[str] = []
    for place, crossing in reversed(list(enumerate(crossings))):
        if crossing.value and mentions[crossing.value] == 1:
            mentions.subtract(_registers(crossing.lines))
        else:
            kept += reversed(wrong if site is not None and place == site.snippet else crossing.lines)
    return kept[::-1]


def _registers(lines: Sequence[str]) -> list[str]:
    return [name for line in lines for name in _REGISTER.findall(line)]
