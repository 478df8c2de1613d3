"""Parses the TOML of settings files with limits, because some texts keep the standard parser busy for hours."""

from __future__ import annotations

import re
import sys
import tomllib
from typing import Any

from ptxkit.settings.limits import MAX_SETTINGS_DEPTH

_KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?:{_KEY_PART}){{{MAX_SETTINGS_DEPTH}}}")
"""A key with very many parts, for which the parser needs time proportional to the square of their number."""


def parse_toml(text: str) -> dict[str, Any]:
    """Parses a text. Raises ValueError, which states the error."""
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MAX_SETTINGS_DEPTH} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise ValueError("lists or tables are nested too deeply") from error
    except ValueError as error:  # Python's limit, whose text names a function of Python
        raise ValueError(f"an integer has more than {sys.get_int_max_str_digits():,} digits") from error
