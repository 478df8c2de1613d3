"""The launches of correct kernels: `corpus/kernels/launches.toml`, by the name of the kernel."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.syntax import parse
from ptxkit.verifier import VerifyRequest, parse_argument

LAUNCHES_FILE = Path(__file__).resolve().parent.parent.parent.parent / "corpus" / "kernels" / "launches.toml"


@dataclass(frozen=True, slots=True)
class LaunchTable:
    """The requests with the launches of a kernel, by its name."""

    requests: Mapping[str, VerifyRequest]

    def requests_for(self, text: str, name: str, **more: Any) -> list[VerifyRequest]:
        """Returns a request for each kernel of a text that the table contains. more: other fields of the requests."""
        functions = parse(text, name).functions()
        entries = [each.name for each in functions if each.kind == "entry" and each.body is not None]
        return [replace(self.requests[each], **more) for each in entries if each in self.requests]


def load_launch_table() -> LaunchTable:
    """Reads the table. Raises ValueError for an invalid entry."""
    entries = tomllib.loads(LAUNCHES_FILE.read_text(encoding="utf-8"))["launch"]
    return LaunchTable({each["kernel"]: _request(each) for each in entries})


def _request(entry: Mapping[str, Any]) -> VerifyRequest:
    return VerifyRequest(
        (entry["kernel"],),
        grid=_shape(entry.get("grid")),
        block=_shape(entry.get("block")),
        cluster=_shape(entry.get("cluster")),
        shared=entry.get("shared", 0),
        arguments=dict(parse_argument(each) for each in entry["args"]),
    )


def _shape(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(int(each) for each in text.split("x"))
