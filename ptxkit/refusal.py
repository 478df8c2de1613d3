"""The base of errors about something that the user wrote or named."""

from __future__ import annotations


class RefusedError(ValueError):
    """Something cannot be used. message: what, and why. remedy: what to write or to do instead, if that is known.

    The text of the error has both.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(f"{message}; {remedy}" if remedy else message)
        self.message, self.remedy = message, remedy
