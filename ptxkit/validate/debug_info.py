"""Debugging information: `.file`, `.loc` and `.section`, as far as an assembler checks them.

Source: PTX ISA, "Debugging Directives".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ptxkit.diagnostics import Severity
from ptxkit.diagnostics.catalogue import directive_helps, ptx1xx
from ptxkit.isa.functions import is_type
from ptxkit.isa.wording import clip_text
from ptxkit.syntax.constants import parse_constant
from ptxkit.syntax.tree import Directive, Section
from ptxkit.validate.directives import directive_forms
from ptxkit.validate.gate_checker import GateChecker
from ptxkit.validate.limits import MAX_U32, MAX_U32_DIGITS
from ptxkit.validate.problem import Problem, WordLocation
from ptxkit.validate.variables import data_types

_RANGES = {
    ".b8": (-128, 255),
    ".b16": (-(1 << 15), (1 << 16) - 1),
    ".b32": (-(1 << 31), (1 << 64) - 1),
    ".b64": (1 - (1 << 63), (1 << 64) - 1),
}
_INLINED = r"function_name ([^ ]+) inlined_at (\S+) (\S+) (\S+)"
_NUMBER = r"-?[0-9][0-9A-Za-z]*"
# Most lines are bytes, and numerous; all such numbers are valid.
_BYTE = r"(?:1[0-9][0-9]|2[0-4][0-9]|25[0-5]|[1-9]?[0-9])"
_ALL_BYTES = re.compile(rf"{_BYTE}(?:, {_BYTE})*")
_LOC_SECTION = "Debugging Directives: .loc"
_DATA_SECTION = "Debugging Directives: .section"


class DebugChecker:
    """Checks debugging directives, and records what later directives refer to: file numbers, locations, labels of
    sections.
    """

    def __init__(self, gates: GateChecker) -> None:
        self._gates = gates
        self._files: set[int] = set()
        self._locations: set[tuple[int | None, ...]] = set()
        self._unparsed: list[tuple[str, ...]] = []
        self._seen_locs: set[tuple[str, ...]] = set()
        self._labels: set[str] = set()

    def check_file(self, directive: Directive, start: int) -> Iterator[Problem]:
        """`.file number "name"[, time, size]`."""
        number = parse_constant(directive.words[0])
        if number in self._files:
            message = ptx1xx.FILE_NUMBER_TWICE(number=number)
            yield Problem(message, WordLocation(start, directive.words[0]), help=directive_helps.NUMBER_FILES_APART())
        elif number is not None:
            self._files.add(number)
        if len(directive.words) > 2:
            yield from self._gates.check_feature("file_time", start, directive.words[2])
        if len(directive.words) > 4:
            message = ptx1xx.FILE_WITH_MORE_WORDS()
            yield Problem(message, WordLocation(start, directive.words[4]), help=directive_helps.REMOVE_REST())
        yield from _oversized_numbers(directive.words[:1], start)
        for word in directive.words[2:]:
            if (parse_constant(word) or 0) >> 64:
                yield Problem(ptx1xx.NUMBER_TOO_LARGE(word=clip_text(word)), WordLocation(start, word))

    def check_loc(self, directive: Directive, start: int) -> Iterable[Problem]:
        """Checks `.loc file line column[, function_name label, inlined_at file line column]`; equal ones are checked
        once.
        """
        words = directive.words
        if words in self._seen_locs:
            return ()
        if len(words) > 3:
            found = list(self._check_inlined(words, start))
            if not found:
                self._seen_locs.add(words)
            return found
        self._seen_locs.add(words)
        self._unparsed.append(words)
        return () if max(map(len, words)) < MAX_U32_DIGITS else _oversized_numbers(words, start)

    def _check_inlined(self, words: tuple[str, ...], start: int) -> Iterator[Problem]:
        yield from _oversized_numbers(words[:3], start)
        match = re.fullmatch(_INLINED, " ".join(words[3:]))
        if match is None:
            message = ptx1xx.INLINED_LOC_INCOMPLETE()
            help_ = directive_helps.WRITE_INLINED_LOC()
            yield Problem(message, WordLocation(start, words[3]), help=help_, section=_LOC_SECTION)
            return
        yield from self._gates.check_feature("inlined_at", start, "inlined_at")
        label, *above = match.groups()
        if label[0] == "." and _is_reserved_name(label[1:].partition("+")[0]):
            message = ptx1xx.LOC_LABEL_IS_PTX_WORD(label=clip_text(label))
            yield Problem(message, WordLocation(start, label.partition("+")[0]), section=_LOC_SECTION)
        if not self._has_location(above):
            message = ptx1xx.INLINED_LOC_WITHOUT_OUTER(location=" ".join(above))
            yield Problem(
                message,
                WordLocation(start, "inlined_at"),
                help=directive_helps.ADD_IT(),
                section=_LOC_SECTION,
            )
        self._unparsed.append(words[:3])

    def _has_location(self, words: Sequence[str]) -> bool:
        """Returns whether a `.loc` names this file, line and column; numbers are parsed on the first call."""
        self._locations.update(tuple(map(parse_constant, each)) for each in self._unparsed)
        self._unparsed.clear()
        return tuple(map(parse_constant, words)) in self._locations

    def check_section(self, section: Section, start: int) -> Iterator[Problem]:
        """Checks the lines of a `.section`; equal lines are checked once."""
        if _is_reserved_name(section.name[1:]):
            message = ptx1xx.SECTION_NAME_IS_PTX_WORD(name=clip_text(section.name))
            yield Problem(message, WordLocation(start, section.name), section=_DATA_SECTION)
        labels = [line[:-1] for line in section.lines if line.endswith(":")]
        for label in labels:
            if label in self._labels:
                message = ptx1xx.SECTION_LABEL_TWICE(label=clip_text(label))
                yield Problem(
                    message,
                    WordLocation(start, label, 1),
                    help=directive_helps.RENAME_SECTION(),
                    section=_DATA_SECTION,
                )
            self._labels.add(label)
        if labels:
            yield from self._gates.check_feature("section_label", start, labels[0])
        for line in dict.fromkeys(section.lines):
            if line[0] == ".":
                yield from self._check_data(line, start)

    def _check_data(self, line: str, start: int) -> Iterator[Problem]:
        word, _, rest = line.partition(" ")
        bounds = _RANGES.get(word)
        if bounds is None:
            message = ptx1xx.NO_DEBUG_DATA_TYPE(word=clip_text(word))
            yield Problem(
                message,
                WordLocation(start, word),
                help=directive_helps.USE_UNTYPED_DATA(),
                section=_DATA_SECTION,
            )
            return
        if (rest.isdigit() and len(rest) < 3) or _ALL_BYTES.fullmatch(rest):
            return
        for value in rest.split(", "):
            if re.fullmatch(_NUMBER, value):
                number = _number(value)
                if number < 0:
                    yield from self._gates.check_feature("section_negative", start, value[1:])
                is_minus_zero = number == 0 and value[0] == "-" and word != ".b64"
                if not bounds[0] <= number <= bounds[1] or is_minus_zero:
                    # An assembler reads 32 bits of a number without a sign.
                    is_cut = number > 0 and number & MAX_U32 <= bounds[1] and number < 1 << 64
                    severity = Severity.WARNING if is_cut else Severity.ERROR
                    message = ptx1xx.DEBUG_VALUE_TOO_LARGE(value=clip_text(value), type=word)
                    digits = value.lstrip("-")
                    yield Problem(
                        message,
                        WordLocation(start, digits),
                        severity=severity,
                        section=_DATA_SECTION,
                    )
            elif value[0] == "." and _is_reserved_name(value.partition("+")[0][1:]):
                message = ptx1xx.DEBUG_LABEL_IS_PTX_WORD(value=clip_text(value))
                yield Problem(message, WordLocation(start, word), section=_DATA_SECTION)
            elif word in (".b8", ".b16"):
                message = ptx1xx.DEBUG_LABEL_NEEDS_WIDTH(value=clip_text(value))
                yield Problem(
                    message,
                    WordLocation(start, word),
                    help=directive_helps.USE_WIDE_DATA(),
                    section=_DATA_SECTION,
                )
            elif "-" in value:
                yield from self._gates.check_feature("section_difference", start, word)


def _oversized_numbers(words: Sequence[str], start: int) -> Iterator[Problem]:
    """Yields the numbers that have more than 32 bits; an assembler treats those from 2**63 on as small negative
    ones.
    """
    for word in words:
        value = parse_constant(word) or 0
        if MAX_U32 < value < 1 << 63 or value >> 64:
            help_ = directive_helps.LOC_NUMBERS_HAVE_32_BITS()
            yield Problem(
                ptx1xx.NUMBER_TOO_LARGE(word=clip_text(word)),
                WordLocation(start, word),
                help=help_,
            )


def _is_reserved_name(word: str) -> bool:
    """Returns whether a word is reserved, so that no section can have this name."""
    return is_type(word) or word in directive_forms() or word in data_types()


def _number(text: str) -> int:
    value = parse_constant(text.lstrip("-"))
    return -(value or 0) if text[0] == "-" else value or 0
