"""Limits of the search in rules."""

from __future__ import annotations

MAX_CONSTANT_CANDIDATES = 8
"""Constants that are tried in place of a wrong one: each costs a check of the whole text."""

MAX_FENCE_LOOKBACK = 64
"""Fences and multiplications before an issue that PTX312 examines, starting with the last one."""
