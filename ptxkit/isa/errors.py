"""The error of the notation. (It is not in the module of the parser, which takes time to load.)"""

from __future__ import annotations

from collections.abc import Callable


class NotationError(ValueError):
    """An error in an `.isa` file; its text shows file, line and a caret."""

    def __init__(self, message: str, path: str, text: str, line: int, column: int) -> None:
        lines = text.split("\n")
        shown = lines[line - 1].rstrip("\r") if 0 < line <= len(lines) else ""
        before = "".join("\t" if char == "\t" else " " for char in shown[: max(column, 1) - 1])
        super().__init__(f"{path}:{line}:{column}: {message}\n    {shown}\n    {before}^")
        self.message, self.path, self.line, self.column = message, path, line, column

    @classmethod
    def from_message(cls, text: str) -> NotationError:
        """Returns the error with the text of another process."""
        error = cls.__new__(cls)
        error.args = (text,)
        return error

    def __reduce__(self) -> tuple[Callable[[str], NotationError], tuple[str]]:
        return NotationError.from_message, (str(self),)
