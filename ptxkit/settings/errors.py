"""An error in a settings file or option: what is wrong, where, and what was meant."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.refusal import RefusedError
from ptxkit.settings.limits import MAX_MESSAGE_CHARS
from ptxkit.untrusted_text import escape_path, escape_text


class SettingsError(RefusedError):
    """The settings cannot be used. path, line: if they are written; None for those of the command line."""

    def __init__(self, message: str, path: str | None = None, line: int | None = None, *, remedy: str = "") -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        remedy = _one_line(remedy, MAX_MESSAGE_CHARS // 2)
        message = _one_line(message, MAX_MESSAGE_CHARS - len(remedy))
        super().__init__(escape_path(place) + message, remedy)
        self.message, self.path, self.line = message, path, line


def _one_line(message: str, limit: int) -> str:
    """Returns a message on one line of bounded length, even if it contains names and values of the file."""
    return escape_text(message if len(message) <= limit else f"{message[:limit]} ...")


def nearest_hint(word: str, known: Iterable[str]) -> str:
    """Returns `did you mean X?`, or the list of known words."""
    from difflib import get_close_matches

    words = sorted(known)
    near = get_close_matches(word, words, n=1)
    return f"did you mean `{near[0]}`?" if near else f"valid ones are {', '.join(f'`{each}`' for each in words)}"
