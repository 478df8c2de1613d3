"""Hostile texts that no compiler writes: deeply nested, repeated, extremely long, or truncated, with unusual
characters."""

from __future__ import annotations

from random import Random

from ptxkit.testing.limits import MAX_REPEATED_LINES

_COUNTS = (50, 199, 201, 1000, 5000, 20_000)
_STRANGE_CHARACTERS = "\0\a\x7f\x80\xff\u2028\udcff\ufeff\U0001f600"
_REPEATED_INSERTIONS = (("{", ""), ("(", ""), ("(", ")"), ("9", ""), ("-", "!~"), ("/*", '"'), (", %r1", ""), ("a", ""))
"""Strings that are repeated in a text, each with a string that follows as often."""


def hostile_text(text: str, chance: Random) -> str:
    """Returns the text with one or two such changes."""
    for _ in range(chance.choice((1, 1, 2))):
        if text:
            text = _distort(text, chance)
    return text


def _distort(text: str, chance: Random) -> str:
    at, count = chance.randrange(len(text)), chance.choice(_COUNTS)
    match chance.randrange(9):
        case 0:
            return text[:at]
        case 1:
            return text[at:]
        case 2:
            return text + text
        case 3:
            lines = text.splitlines(keepends=True)
            place = chance.randrange(len(lines))
            return "".join([*lines[:place], *lines[place : place + 1] * min(count, MAX_REPEATED_LINES), *lines[place:]])
        case 4:
            return text[:at] + "".join(chance.choices(_STRANGE_CHARACTERS, k=min(count, 20))) + text[at:]
        case _:
            what, after = chance.choice(_REPEATED_INSERTIONS)
            return text[:at] + what * count + after * count + text[at:]
