"""What the server and the process that checks tell each other.

A message is eight bytes of length, the lowest first, and a pickled `Job`; an answer the same with an `Answer`.
"""

from __future__ import annotations

import pickle
from typing import Any, Literal, TypeAlias

from ptxkit.records import dataclass
from ptxkit.settings.model import Settings
from ptxkit.source import Span

LENGTH = 8
"""Bytes that say how long a message is."""

Kind: TypeAlias = Literal["check", "offer", "mend"]

Finding: TypeAlias = tuple[str, Span, str]


@dataclass(frozen=True, slots=True)
class Job:
    """What to do with a text. check: its result. offer: the mend that holds for a finding, or None. mend: the text
    after all safe ones. finding: its code, place and message.
    """

    kind: Kind
    path: str
    text: str
    settings: Settings
    finding: Finding | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """value: what the job gives. error: why there is nothing."""

    value: Any
    error: str = ""


def packed(message: object) -> bytes:
    """A message with its length in front."""
    data = pickle.dumps(message)
    return len(data).to_bytes(LENGTH, "little") + data
