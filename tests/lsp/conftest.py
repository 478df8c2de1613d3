"""No answer of the server in this process depends on how fast the machine is."""

from __future__ import annotations

import pytest

from ptxkit.lsp import inlay_hints, tolerant_parse
from tests.lsp.session import PATIENCE


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inlay_hints, "MAX_HINT_SECONDS", PATIENCE)
    monkeypatch.setattr(tolerant_parse, "MAX_PARSE_SECONDS", PATIENCE)
