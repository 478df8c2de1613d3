"""A mistake in a settings file or option: what is wrong, where, and what was meant."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.settings.limits import MAX_MESSAGE_CHARS
from ptxkit.untrusted_text import escape_path, escape_text


class SettingsError(ValueError):
    """The settings cannot be used; the text says where (`ptxkit.toml:3:`, or nothing for the command line) and why."""

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        self.message, self.path, self.line = _one_line(message), path, line
        super().__init__(escape_path(place) + self.message)


def _one_line(message: str) -> str:
    """A message on one line of bounded length, whatever names and values of the file it repeats."""
    return escape_text(message if len(message) <= MAX_MESSAGE_CHARS else f"{message[:MAX_MESSAGE_CHARS]} ...")


def nearest_hint(word: str, known: Iterable[str]) -> str:
    """`; did you mean X?`, or the words that there are."""
    from difflib import get_close_matches

    words = sorted(known)
    near = get_close_matches(word, words, n=1)
    return f"; did you mean `{near[0]}`?" if near else f"; valid ones are {', '.join(f'`{each}`' for each in words)}"
