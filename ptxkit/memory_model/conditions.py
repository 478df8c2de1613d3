r"""Conditions on final states: comparisons of registers, locations and numbers, joined by `and`, `or` and `not`.

`/\`, `&&` and `and` are the same, and so are `\/`, `||` and `or`, and `~`, `!` and `not`; `=` is `==`. A register is
`P1:r0` or `1:r0`; `resolve` gives other names a meaning.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ptxkit.fast_dataclasses import dataclass
from ptxkit.memory_model.errors import LitmusError

FinalState: TypeAlias = Mapping[str, int]
"""The values of registers (`P1:r0`) and locations (`x`) at the end of an execution."""

_TOKEN = re.compile(
    r"\s*(?:(/\\|&&|\\/|\|\||==|!=|<=|>=|[=<>~!()])|(P?\d+\s*:\s*%?\w+)|(-?\d+)|(\[?%?[\w$][\w$.+@\[\]]*))"
)
_TESTS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ALL, _ANY, _NONE = {"/\\", "&&", "and"}, {"\\/", "||", "or"}, {"~", "!", "not"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two names or numbers."""

    test: str
    left: str | int
    right: str | int


@dataclass(frozen=True, slots=True)
class Junction:
    """Several conditions. all_of: whether each of them must hold, or any."""

    all_of: bool
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """The opposite of a condition."""

    part: Condition


Condition: TypeAlias = Comparison | Junction | Negation


def holds(condition: Condition, state: FinalState) -> bool:
    """Returns whether a condition holds in a final state. A name that the state lacks is 0."""
    match condition:
        case Comparison(test, left, right):
            one, other = (each if isinstance(each, int) else state.get(each, 0) for each in (left, right))
            return _TESTS[test](one, other)
        case Junction(all_of, parts):
            return (all if all_of else any)(holds(each, state) for each in parts)
        case Negation(part):
            return not holds(part, state)


def names_in(condition: Condition) -> Iterator[str]:
    """Yields the registers and locations of a condition."""
    match condition:
        case Comparison(_, left, right):
            yield from (each for each in (left, right) if isinstance(each, str))
        case Junction(_, parts):
            for each in parts:
                yield from names_in(each)
        case Negation(part):
            yield from names_in(part)


def condition_text(condition: Condition) -> str:
    """Returns a condition in words."""
    match condition:
        case Comparison(test, left, right):
            return f"{left} {'==' if test == '=' else test} {right}"
        case Junction(all_of, parts):
            texts = (f"({condition_text(e)})" if isinstance(e, Junction) else condition_text(e) for e in parts)
            return (" and " if all_of else " or ").join(texts)
        case Negation(part):
            return f"not ({condition_text(part)})"


def parse_condition(text: str, resolve: Callable[[str], str] = str) -> Condition:
    """Parses a condition. resolve: returns the name in a final state of a word. Raises LitmusError."""
    return _ConditionParser(text, resolve).parse()


class _ConditionParser:
    def __init__(self, text: str, resolve: Callable[[str], str]) -> None:
        self.text, self.resolve = " ".join(text.split()), resolve
        self.tokens = list(self._tokens(text))
        self.at = 0

    def parse(self) -> Condition:
        found = self._any_of()
        if self.at < len(self.tokens):
            raise self._error(f"`{self.tokens[self.at]}` is not expected")
        return found

    def _tokens(self, text: str) -> Iterator[str]:
        at, end = 0, len(text.rstrip())
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._error(f"`{text[at:].split(maxsplit=1)[0]}` cannot be read")
            yield re.sub(r"\s", "", found.group())
            at = found.end()

    def _error(self, message: str) -> LitmusError:
        return LitmusError(f"{message} in the condition `{self.text}`", "write for instance `P0:r0 == 1 /\\ x != 2`")

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        if self.at >= len(self.tokens):
            raise self._error("something is missing at the end")
        self.at += 1
        return self.tokens[self.at - 1]

    def _any_of(self) -> Condition:
        return self._junction(False, _ANY, lambda: self._junction(True, _ALL, self._single))

    def _junction(self, all_of: bool, words: set[str], inner: Callable[[], Condition]) -> Condition:
        parts = [inner()]
        while self._peek() in words:
            self._take()
            parts.append(inner())
        return parts[0] if len(parts) == 1 else Junction(all_of, tuple(parts))

    def _single(self) -> Condition:
        if self._peek() in _NONE:
            self._take()
            return Negation(self._single())
        if self._peek() == "(":
            self._take()
            found = self._any_of()
            if self._take() != ")":
                raise self._error("a `)` is missing")
            return found
        left, test, right = self._value(), self._take(), None
        if test not in _TESTS:
            raise self._error(f"`{test}` is not a comparison")
        right = self._value()
        return Comparison(test, left, right)

    def _value(self) -> str | int:
        token = self._take()
        if re.fullmatch(r"-?\d+", token):
            return int(token)
        register = re.fullmatch(r"P?(\d+):(%?\w+)", token)
        if register is not None:
            return f"P{register.group(1)}:{register.group(2)}"
        if not re.match(r"[%\w\[]", token):
            raise self._error(f"`{token}` is not a register, a location or a number")
        return self.resolve(token.strip("[]"))
