"""The messages between the server and the process that checks: an `AnalysisRequest`, and an `AnalysisReply` to it."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from ptxkit.fast_dataclasses import dataclass
from ptxkit.settings.model import Settings
from ptxkit.source import Span

RequestKind: TypeAlias = Literal["check", "offer", "fix"]

FindingKey: TypeAlias = tuple[str, Span, str]


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """A job for a text. check: its result. `offer`: a fix for a finding, or None. `fix`: the text after all safe fixes.
    finding: its code, location and message.
    """

    kind: RequestKind
    path: str
    text: str
    settings: Settings
    finding: FindingKey | None = None


@dataclass(frozen=True, slots=True)
class AnalysisReply:
    """value: the result of the job. error: the reason why none exists."""

    value: Any
    error: str = ""
