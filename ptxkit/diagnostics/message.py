"""Messages: the templates of the catalogue, and what a verifier reports by one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptxkit.diagnostics.code import DiagnosticCode
from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OpenLinesText:
    """A text that names lines, before these are known: pieces of text, and between them the places by their index."""

    pieces: tuple[str | int, ...]

    def at_lines(self, lines: Sequence[object]) -> str:
        """The text, where the places are on these lines."""
        return "".join(str(lines[each]) if isinstance(each, int) else each for each in self.pieces)


@dataclass(frozen=True, slots=True)
class MessageTemplate:
    """A text of a code, with its named fields in braces. A part of a message is the value of a field of another one.

    missing: for violations in a run, what would have ordered the two accesses.
    """

    code: DiagnosticCode
    text: str
    missing: str = ""

    def __call__(self, **fields: object) -> Message:
        """The message with these values of its fields."""
        return Message(self.code, self, fields)


@dataclass(frozen=True, slots=True)
class Message:
    """What is reported. fields: the facts that it states, by the names of the template's fields.

    `{0}` in the template of a rule stands for the line of the finding, `{1}`, `{2}`... for those of its labels.
    """

    code: DiagnosticCode
    template: MessageTemplate
    fields: Mapping[str, object]

    def under(self, code: DiagnosticCode) -> Message:
        """The same message for another code: several rules may state the same facts."""
        return Message(code, self.template, self.fields)

    def with_fields(self, **fields: object) -> Message:
        """The same message, with the values of further fields."""
        return Message(self.code, self.template, {**self.fields, **fields})

    def at_lines(self, *lines: object) -> str:
        """The text, where the finding and its labels are on these lines."""
        values = {name: _at_lines(value, lines) for name, value in self.fields.items()}
        return self.template.text.format(*lines, **values)

    def with_open_lines(self, count: int) -> OpenLinesText:
        """The text with the lines of `count` places left open."""
        pieces = self.at_lines(*(f"\0{number}\0" for number in range(count))).split("\0")
        return OpenLinesText(tuple(int(each) if number % 2 else each for number, each in enumerate(pieces)))

    def __str__(self) -> str:
        return self.at_lines()

    def __hash__(self) -> int:
        return hash((self.code, self.template))


@dataclass(frozen=True, slots=True)
class LabelLine:
    """A field of a message that is the line of a label; 0 is the line of the finding itself."""

    index: int


def _at_lines(value: object, lines: Sequence[object]) -> object:
    if isinstance(value, LabelLine):
        return lines[value.index]
    return value.at_lines(*lines) if isinstance(value, Message) else value
