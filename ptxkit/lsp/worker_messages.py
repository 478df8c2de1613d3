"""What the server and the process that checks tell each other.

A message is eight bytes of length, the lowest first, and a pickled `Job`; an answer the same with an `Answer`.
"""

from __future__ import annotations

import pickle
from typing import Any, Literal, TypeAlias

from ptxkit.fast_dataclasses import dataclass
from ptxkit.settings.model import Settings
from ptxkit.source import Span

LENGTH_BYTES = 8
"""Bytes that say how long a message is."""

RequestKind: TypeAlias = Literal["check", "offer", "mend"]

FindingKey: TypeAlias = tuple[str, Span, str]


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """What to do with a text. check: its result. offer: the mend that holds for a finding, or None. mend: the text
    after all safe ones. finding: its code, place and message.
    """

    kind: RequestKind
    path: str
    text: str
    settings: Settings
    finding: FindingKey | None = None


@dataclass(frozen=True, slots=True)
class AnalysisReply:
    """value: what the job gives. error: why there is nothing."""

    value: Any
    error: str = ""


def encode_message(message: object) -> bytes:
    """A message with its length in front."""
    data = pickle.dumps(message)
    return len(data).to_bytes(LENGTH_BYTES, "little") + data
