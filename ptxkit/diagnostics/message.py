"""Messages: the templates of the catalogue, and the messages that verifiers report with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import Formatter

from ptxkit.diagnostics.code import DiagnosticCode
from ptxkit.fast_dataclasses import dataclass


class _CountFormatter(Formatter):
    """Formats fields as `str.format` does, and a field such as `{count:1 arrival}` as `1 arrival` or `2 arrivals`."""

    def format_field(self, value: object, format_spec: str) -> str:
        """Returns the value, with the noun of its format specification if it has one, in the number of the value."""
        if not format_spec.startswith("1 "):
            return str(super().format_field(value, format_spec))
        noun = format_spec.removeprefix("1 ")
        return f"{value} {noun if str(value) == '1' else noun + 's'}"


_FORMATTER = _CountFormatter()


@dataclass(frozen=True, slots=True)
class OpenLinesText:
    """A text that contains lines that are not yet known: pieces of text, and between them the indices of the
    locations.
    """

    pieces: tuple[str | int, ...]

    def at_lines(self, lines: Sequence[object]) -> str:
        """Returns the text with these lines of the locations."""
        return "".join(str(lines[each]) if isinstance(each, int) else each for each in self.pieces)

    def with_indices(self, indices: Sequence[int]) -> OpenLinesText:
        """Returns the text with other indices of the locations: for each old one the new one."""
        return OpenLinesText(tuple(indices[each] if isinstance(each, int) else each for each in self.pieces))


@dataclass(frozen=True, slots=True)
class MessageTemplate:
    """A text of a code, with its named fields in braces. A part of a message is the value of a field of another one.

    missing: for violations in a run, the missing synchronization that would have ordered the two accesses.
    """

    code: DiagnosticCode
    text: str
    missing: str = ""

    def __call__(self, **fields: object) -> Message:
        """Returns the message with these values of its fields."""
        return Message(self.code, self, fields)


@dataclass(frozen=True, slots=True)
class TextTemplate:
    """A text that belongs to no code, such as the title of a fix that serves several. Named fields are in braces."""

    text: str

    def __call__(self, **fields: object) -> str:
        """Returns the text with these values of its fields."""
        return _FORMATTER.format(self.text, **fields)


@dataclass(frozen=True, slots=True)
class Message:
    """A reported message. fields: the facts that it states, by the names of the template's fields.

    `{0}` in the template of a rule is the line of the finding, `{1}`, `{2}`... are those of its labels.
    """

    code: DiagnosticCode
    template: MessageTemplate
    fields: Mapping[str, object]

    def under(self, code: DiagnosticCode) -> Message:
        """Returns the same message for another code, because several rules may state the same facts."""
        return Message(code, self.template, self.fields)

    def with_fields(self, **fields: object) -> Message:
        """Returns the same message with the values of further fields."""
        return Message(self.code, self.template, {**self.fields, **fields})

    def at_lines(self, *lines: object) -> str:
        """Returns the text with these lines of the finding and its labels."""
        return self.with_open_lines().at_lines(lines)

    def with_open_lines(self) -> OpenLinesText:
        """Returns the text with the lines of all locations left open."""
        joined: list[str | int] = [""]
        for piece in self._pieces():
            last = joined[-1]
            if isinstance(last, str) and isinstance(piece, str):
                joined[-1] = last + piece
            else:
                joined.append(piece)
        return OpenLinesText(tuple(joined))

    def _pieces(self) -> Iterator[str | int]:
        """Yields the parts of the text, and between them the indices of the locations whose lines are named."""
        for literal, name, spec, conversion in _FORMATTER.parse(self.template.text):
            yield literal
            if name is None:
                continue
            value = LabelLine(int(name)) if name.isdigit() else _FORMATTER.get_field(name, (), self.fields)[0]
            if isinstance(value, LabelLine):
                yield value.index
            elif isinstance(value, Message):
                yield from value._pieces()
            else:
                yield _FORMATTER.format_field(_FORMATTER.convert_field(value, conversion), spec or "")

    def __str__(self) -> str:
        return self.at_lines()

    def __hash__(self) -> int:
        return hash((self.code, self.template))


@dataclass(frozen=True, slots=True)
class LabelLine:
    """A field of a message that is the line of a label; 0 is the line of the finding itself."""

    index: int
