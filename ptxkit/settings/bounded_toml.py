"""TOML as settings files may have it: the standard reader, which a text can keep busy for hours, within bounds."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from ptxkit.settings.limits import MAX_SETTINGS_DEPTH

_KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?:{_KEY_PART}){{{MAX_SETTINGS_DEPTH}}}")
"""A key of very many parts, for which the reader takes the square of their number."""


def parse_toml(text: str) -> dict[str, Any]:
    """The document that a text says. Raises ValueError, which says what is wrong with it."""
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MAX_SETTINGS_DEPTH} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("lists or tables are nested too deeply") from error
